//go:build integration && linux

package main_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestVSCode: the extension in editors/vscode is packaged by VS Code's own tool,
// with everything that it loads, and the protocol library of its client and the
// language server understand each other.
func TestVSCode(t *testing.T) {
	t.Parallel()
	npm := os.Getenv("SITELINK_NPM")
	if npm == "" {
		t.Skip("SITELINK_NPM is not set: it names a directory with node_modules/@vscode/vsce")
	}
	dir := filepath.Join(t.TempDir(), "vscode")
	testkit.Check(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "editors", "vscode"))))
	if err := os.RemoveAll(filepath.Join(dir, "node_modules")); err != nil { // of a developer
		t.Fatal(err)
	}
	do := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SITELINK") })
		cmd.Env = append(cmd.Env, "SITELINK="+sitelinkProgram(t))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	do("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel", "error")
	for _, name := range []string{"extension.js", "client.js"} {
		if out := do("node", filepath.Join("test", name)); !strings.HasPrefix(out, "ok: ") {
			t.Errorf("test/%s prints %q", name, out)
		}
	}
	do(filepath.Join(npm, "node_modules", ".bin", "vsce"), "package", "--out", "sitelink.vsix")
	packaged := unzip(t, filepath.Join(dir, "sitelink.vsix"))
	for _, name := range []string{"extension.js", "package.json", "node_modules/vscode-languageclient/node.js", "node_modules/vscode-jsonrpc/node.js"} {
		if len(packaged["extension/"+name]) == 0 {
			t.Errorf("the package has no %s", name)
		}
	}
	for name := range packaged {
		if strings.HasPrefix(name, "extension/test/") {
			t.Errorf("the package has %s", name)
		}
	}
	var manifest struct{ Main, Version string }
	testkit.Check(t, json.Unmarshal(packaged["extension/package.json"], &manifest))
	if main := filepath.ToSlash(filepath.Join("extension", manifest.Main)); len(packaged[main]) == 0 || manifest.Version == "" {
		t.Errorf("the manifest is %+v, and the package has no %s", manifest, main)
	}
}

// unzip returns the files of an archive.
func unzip(t *testing.T, name string) map[string][]byte {
	t.Helper()
	archive := testkit.Must(zip.OpenReader(name))(t)
	defer archive.Close()
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		testkit.Check(t, err)
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
	}
	return files
}
