package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in releases: -ldflags "-X main.version=1.2.3".
var version string

func versionCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version, the commit and the Go version",
		Example: "  sitelink version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.print("sitelink " + versionLine() + "\n")
		},
	}
}

// versionNumber returns the version alone, or "" if the binary does not know it.
func versionNumber() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
}

// versionLine returns "1.2.3 (commit 0123456789ab, go1.26.0 linux/amd64)",
// without the parts that the binary does not know.
func versionLine() string {
	v, commit := versionNumber(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		commit = commitOf(info)
	}
	if v == "" {
		v = "devel"
	}
	if commit != "" {
		commit = "commit " + commit + ", "
	}
	return fmt.Sprintf("%s (%s%s %s/%s)", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// commitOf returns the revision that the binary was built from, with a + if the
// working tree had changes.
func commitOf(info *debug.BuildInfo) string {
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+"
		}
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
