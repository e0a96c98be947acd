//go:build integration

package source

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hugos returns the programs to test with: Debian's, and a newer one that
// .ci/run installs.
func hugos(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range []string{"hugo", os.Getenv("SITELINK_HUGO")} {
		if path, err := exec.LookPath(name); err == nil {
			names = append(names, path)
		}
	}
	if len(names) == 0 {
		t.Skip("no hugo on PATH and no SITELINK_HUGO: .ci/run installs both")
	}
	return names
}

var hugoVersion = regexp.MustCompile(`v\d+\.\d+\.\d+`)

func versionOf(t *testing.T, hugo string) string {
	t.Helper()
	out, err := exec.Command(hugo, "version").Output()
	testkit.Check(t, err)
	return hugoVersion.FindString(string(out))
}

// minor returns the number that distinguishes versions of Hugo, 126 for
// v0.126.0.
func minor(t *testing.T, version string) (n int) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.TrimPrefix(version, "v"), "0.%d.", &n); err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return n
}

// TestHugoProjectsBuilt repeats [TestHugoProjects] with what each real Hugo
// builds and answers now.
func TestHugoProjectsBuilt(t *testing.T) {
	for _, hugo := range hugos(t) {
		version := versionOf(t, hugo)
		for _, file := range hugoProjects(t) {
			t.Run(version+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				p := unpackHugo(t, file)
				if since := strings.TrimSpace(p.entries["since"]); since != "" && minor(t, version) < minor(t, since) {
					t.Skipf("Hugo %s is older than %s", version, since)
				}
				testkit.Check(t, os.RemoveAll(filepath.Join(p.site(), "public")))
				cmd := exec.Command(hugo, "--quiet")
				cmd.Dir = p.site()
				testkit.Run(t, cmd)
				if *update {
					p.rewrite(t, hugo)
				}
				p.check(t, hugo)
			})
		}
	}
}

// rewrite replaces what Hugo built and answered in the archive.
func (p *hugoProject) rewrite(t *testing.T, hugo string) {
	t.Helper()
	archive, err := txtar.ParseFile(p.file)
	testkit.Check(t, err)
	kept := archive.Files[:0]
	for _, f := range archive.Files {
		if f.Name != "list" && f.Name != "mounts" && !strings.HasPrefix(f.Name, "site/public/") {
			kept = append(kept, f)
		}
	}
	for entry, args := range map[string][]string{"list": {"list", "all"}, "mounts": {"config", "mounts"}} {
		cmd := exec.Command(hugo, args...)
		cmd.Dir = p.site()
		out, err := cmd.Output()
		testkit.Check(t, err)
		kept = append(kept, txtar.File{Name: entry, Data: bytes.ReplaceAll(out, []byte(p.work), []byte("$WORK"))})
	}
	if kept[len(kept)-1].Name == "list" { // maps have no order
		kept[len(kept)-1], kept[len(kept)-2] = kept[len(kept)-2], kept[len(kept)-1]
	}
	err = filepath.WalkDir(filepath.Join(p.site(), "public"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.work, name)
		kept = append(kept, txtar.File{Name: filepath.ToSlash(rel), Data: text})
		return err
	})
	testkit.Check(t, err)
	archive.Files = kept
	testkit.Check(t, os.WriteFile(p.file, txtar.Format(archive), 0o644))
}
