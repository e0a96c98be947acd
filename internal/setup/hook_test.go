package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Uninstall restores the file byte for byte, however it is formatted.
func TestPostBuild(t *testing.T) {
	for _, text := range []string{
		"{\n  \"scripts\": {\n    \"build\": \"hugo\"\n  }\n}\n",
		`{"scripts":{"build":"hugo"}}`,
		"{\r\n\t\"scripts\" : {\r\n\t\t\"build\": \"hugo\",\r\n\t\t\"x\": \"y\"\r\n\t}\r\n}",
	} {
		file := filepath.Join(t.TempDir(), "package.json")
		if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := InstallPostBuild(file); err != nil {
				t.Fatal(err)
			}
		}
		if _, scripts, err := readScripts(file); err != nil || scripts["postbuild"] != "sitelink check" || scripts["build"] != "hugo" {
			t.Errorf("%q: %q, %v", text, scripts, err)
		}
		if err := UninstallPostBuild(file); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q came back as %q, %v", text, got, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
	}
}

// A file that cannot be changed safely stays as it is, and the error says why.
func TestPostBuildRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"scripts":{"build":"x","postbuild":"y"}}`: `already has a postbuild script: "y"`,
		`{"scripts":{}}`: "has no build script",
		`{}`:             "has no build script",
		`[`:              "unexpected end of JSON input",
		`{"a":{"scripts":{"q":"r"}},"scripts":{"build":"hugo"}}`: "cannot edit this file safely",
	} {
		file := filepath.Join(t.TempDir(), "package.json")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := InstallPostBuild(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}
