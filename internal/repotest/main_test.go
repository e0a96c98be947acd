// Package repotest holds the tests of the repository itself: which package may
// import which, how packages and files are named and cut, and whether what the
// documents say is true. It has no code of its own.
package repotest

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

const module = "github.com/sitelink/sitelink"

var update = flag.Bool("update", false, "write what is found as the expectation")

// buildDir holds the commands that [build] makes.
var buildDir string

// TestMain runs the tests only as long tests, because they read the whole repository.
func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv("SITELINK_LONG") == "" && !*update {
		log.Print("skipped without SITELINK_LONG=1")
		return
	}
	var err error
	if buildDir, err = os.MkdirTemp("", "repotest-"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := os.RemoveAll(buildDir); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

// root is the repository's top directory, seen from this package.
var root = filepath.Join("..", "..")

// goList runs "go list" in the repository's root, as on Linux, so that the
// answer is the same on every developer's machine.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 5 {
		t.Fatalf("go list %s: only %d lines, the repository has more packages", strings.Join(args, " "), len(lines))
	}
	return lines
}

// goFiles returns the slash paths, from the root, of all Go files of the main
// module and of bench, test data left out.
func goFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			// Another test of the same run may remove its files meanwhile.
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if entry.IsDir() && name != root {
			switch base := entry.Name(); {
			case base == "testdata", base == "dist", strings.HasPrefix(base, ".") && base != ".ci":
				return fs.SkipDir
			}
		}
		if strings.HasSuffix(name, ".go") && entry.Type().IsRegular() {
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	testkit.Check(t, err)
	if len(names) < 10 {
		t.Fatalf("only %d Go files found, the walk must be wrong", len(names))
	}
	return names
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text := testkit.Read(t, filepath.Join(root, filepath.FromSlash(name)))
	return string(text)
}

// compareGolden compares got with a file of testdata, or writes it there.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		testkit.Check(t, os.MkdirAll("testdata", 0o755))
		testkit.Check(t, os.WriteFile(name, []byte(got), 0o644))
		return
	}
	want := testkit.Read(t, name)
	if got != string(want) {
		t.Errorf("%s differs; run go test ./internal/repotest -update and look at the change\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// short drops the module's path from an import path: "check", "internal/site".
func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}
