package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLicenses: licenses.txt has the licence of each module that is linked, in the version
// of go.mod, and no other; archives and packages have the file. Nothing for tests is
// linked. go generate ./cmd/sitelink rewrites the file for all systems of a release.
func TestLicenses(t *testing.T) {
	testkit.Long(t)
	list := func(system, what string) (lines []string) {
		cmd := exec.Command("go", "list", "-deps", "-f", what, ".")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		lines = strings.Split(strings.TrimSpace(string(out)), "\n")
		slices.Sort(lines)
		return slices.Compact(lines)
	}
	const modules = "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}"
	if *update {
		goroot := testkit.Must(exec.Command("go", "env", "GOROOT").Output())(t)
		dirs := slices.Concat([]string{"sitelink\t../..", "the Go standard library\t" + strings.TrimSpace(string(goroot))}, list("linux", modules), list("darwin", modules), list("windows", modules))
		slices.Sort(dirs[2:])
		var text strings.Builder
		for _, line := range slices.Compact(dirs) {
			name, dir, _ := strings.Cut(line, "\t")
			var files []string
			for _, pattern := range []string{"LICENSE*", "NOTICE*", "COPYING*", "PATENTS*"} {
				found, _ := filepath.Glob(filepath.Join(dir, pattern))
				files = append(files, found...)
			}
			if line != "" && len(files) == 0 {
				t.Fatalf("%s has no licence in %s", name, dir)
			}
			for _, file := range files {
				licence := testkit.Read(t, file)
				fmt.Fprintf(&text, "==== %s: %s\n\n%s\n\n", name, filepath.Base(file), strings.TrimSpace(strings.ReplaceAll(string(licence), "\r", "")))
			}
		}
		text.WriteString("==== The Public Suffix List, the data of golang.org/x/net/publicsuffix\n\nIts licence is the Mozilla Public License 2.0, https://mozilla.org/MPL/2.0/.\n" +
			"Its source is https://publicsuffix.org/list/public_suffix_list.dat.\n")
		testkit.Check(t, os.WriteFile("licenses.txt", []byte(text.String()), 0o644))
		licenses = text.String()
	}
	for _, line := range list(runtime.GOOS, modules) {
		if name, _, ok := strings.Cut(line, "\t"); ok && !strings.Contains(licenses, "==== "+name+": LICENSE") {
			t.Errorf("licenses.txt does not have %s; go generate ./cmd/sitelink adds it", name)
		}
	}
	mod := testkit.Read(t, "../../go.mod")
	for line := range strings.Lines(licenses) {
		name, file, ok := strings.Cut(strings.TrimPrefix(line, "==== "), ": ")
		if ok && strings.HasPrefix(line, "==== ") && strings.Contains(name, ".") && !strings.Contains(string(mod), name) {
			t.Errorf("licenses.txt has %s of %s, which go.mod does not require; go generate ./cmd/sitelink removes it", strings.TrimSpace(file), name)
		}
	}
	for _, name := range list(runtime.GOOS, "{{.ImportPath}}") {
		if name == "testing" || strings.HasPrefix(name, "testing/") || strings.Contains(name, "testify") {
			t.Errorf("package %s is linked into the program", name)
		}
	}
	release, err := os.ReadFile("../../.goreleaser.yaml")
	if n := strings.Count(string(release), "src: cmd/sitelink/licenses.txt"); err != nil || n != 2 {
		t.Errorf("%d of archives and packages have licenses.txt, %v", n, err)
	}
}
