package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string // made below a new directory; names ending in / are directories
		cd    string
		want  string
	}{
		{"here", []string{".git/", "sitelink.toml"}, ".", "sitelink.toml"},
		{"hidden", []string{".git/", ".sitelink.toml"}, ".", ".sitelink.toml"},
		{"in .config", []string{".git/", ".config/sitelink.toml"}, ".", ".config/sitelink.toml"},
		{"above", []string{".git/", "sitelink.toml", "a/b/"}, "a/b", "../../sitelink.toml"},
		{"nearest wins", []string{".git/", "sitelink.toml", "a/.sitelink.toml", "a/b/"}, "a/b", "../.sitelink.toml"},
		{"not beyond the repository", []string{".git/", "sitelink.toml", "a/.git/", "a/b/"}, "a/b", ""},
		{"a worktree's .git is a file", []string{".git/", "sitelink.toml", "a/.git", "a/b/"}, "a/b", ""},
		{"at the root of the repository", []string{".git/", "a/.git", "a/sitelink.toml", "a/b/"}, "a/b", "../sitelink.toml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for _, name := range c.files {
				if strings.HasSuffix(name, "/") {
					testkit.Check(t, os.MkdirAll(name, 0o755))
				} else {
					testkit.Write(t, name, "")
				}
			}
			fromAbove, err := Find(c.cd)
			if err != nil || filepath.ToSlash(fromAbove) != c.want {
				t.Errorf("Find(%q) = %q, %v, want %q", c.cd, fromAbove, err, c.want)
			}
			t.Chdir(c.cd)
			got, err := Find("")
			if err != nil || filepath.ToSlash(got) != c.want {
				t.Errorf("Find(\"\") = %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// Where the working directory was entered by a symbolic link, "above" is where
// the system says, and the name found can be opened.
func TestFindThroughSymlink(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, "real/sitelink.toml", "")
	testkit.Write(t, "real/.git", "")
	testkit.Check(t, os.Mkdir("real/sub", 0o755))
	if err := os.Symlink("real/sub", "link"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if got, err := Find("link"); err != nil || filepath.ToSlash(got) != "../sitelink.toml" {
		t.Errorf("Find(link) = %q, %v", got, err)
	}
	t.Chdir("link")
	got, err := Find("")
	if err != nil || filepath.ToSlash(got) != "../sitelink.toml" {
		t.Fatalf("Find() = %q, %v", got, err)
	}
	if _, err := os.Stat(got); err != nil {
		t.Error(err)
	}
}

func TestFindTwo(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, "sitelink.toml", "")
	testkit.Write(t, ".config/sitelink.toml", "")
	_, err := Find("")
	if got, want := filepath.ToSlash(message(err)), ".config/sitelink.toml:1: there is also a sitelink.toml in this directory"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Paths in the file are relative to the directory of the project, those of
// flags to the working directory.
func TestPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, ".git", "")
	testkit.Write(t, ".config/sitelink.toml", "docroot = \"dist/site\"\n[check]\noutput = \"reports/x.txt\"\n")
	testkit.Check(t, os.MkdirAll("a/b", 0o755))
	c, err := Load(Input{Dir: "a/b"})
	if err != nil || filepath.ToSlash(c.Docroot) != "../../dist/site" || filepath.ToSlash(c.File) != "../../.config/sitelink.toml" {
		t.Errorf("in a/b: got %+v, %v", c, err)
	}
	if c, err := Load(Input{Dir: "a/b", File: "../../.config/sitelink.toml"}); err != nil || filepath.ToSlash(c.Docroot) != "../../dist/site" {
		t.Errorf("file named from a/b: got %+v, %v", c, err)
	}
	t.Chdir("a/b")
	c = testkit.Must(Load(Input{}))(t)
	if got := filepath.ToSlash(c.Docroot); got != "../../dist/site" {
		t.Errorf("got docroot %s", got)
	}
	if filepath.ToSlash(c.Output) != "../../reports/x.txt" {
		t.Errorf("got output %s", c.Output)
	}
	c, err = Load(Input{Flags: []Setting{{"docroot", []string{"dist"}}, {"output", []string{"-"}}}})
	if err != nil || c.Docroot != "dist" || c.Output != "-" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, "big.toml", strings.Repeat("#\n", maxFileBytes))
	testkit.Check(t, os.Mkdir("dir.toml", 0o755))
	for name, want := range map[string]string{
		"none.toml":   "read config none.toml: no such file or directory",
		"dir.toml":    "read config dir.toml: is a directory",
		os.DevNull:    "read config /dev/null: not a regular file",
		"big.toml":    "read config big.toml: larger than 131072 bytes",
		"big.toml/no": "read config big.toml/no: not a directory",
	} {
		_, err := Load(Input{File: name})
		if got := message(err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if _, err := Load(Input{File: "none.toml"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the cause is lost: %v", err)
	}
	// A link that leads nowhere was meant to be a configuration.
	if err := os.Symlink("nowhere", "sitelink.toml"); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := Load(Input{}); message(err) != "read config sitelink.toml: no such file or directory" {
		t.Errorf("got %v", err)
	}
}

// TestFoundPathsStayInside checks every key with a path: in a file that was
// found it may not leave the repository; in one that was named, in a variable or
// in a flag it may.
func TestFoundPathsStayInside(t *testing.T) {
	base := t.TempDir()
	t.Chdir(base)
	testkit.Write(t, "repo/.git/hooks/x", "")
	testkit.Write(t, "repo/sub/x", "")
	testkit.Write(t, "elsewhere/x", "")
	for name, to := range map[string]string{"repo/link": "../elsewhere", "repo/new": "../elsewhere/new", "repo/git": ".git"} {
		if err := os.Symlink(to, name); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	t.Chdir("repo")
	for _, k := range allKeys(root) {
		if foundKeys[k.path()] != inside {
			continue
		}
		prefix := ""
		if k.Kind == Reports {
			prefix = "json="
		}
		for path, ok := range map[string]bool{
			"x": true, "sub/x": true, "sub/../x": true,
			base + "/elsewhere/x": false, "../elsewhere/x": false, "link/x": false, "new": false,
			".git/config": false, ".git/hooks/x": false, "git/hooks/x": false, "sub/.git/config": false,
		} {
			text := k.Name + " = \"" + prefix + filepath.ToSlash(path) + "\"\n"
			if k.Table != "" {
				text = "[" + k.Table + "]\n" + text
			}
			testkit.Write(t, "sitelink.toml", text)
			_, err := Load(Input{})
			if (err == nil) != ok {
				t.Errorf("%s: found: error %v, want one: %v", text, err, !ok)
			}
			flag := "--config"
			if k.HasFlag {
				flag = "--" + k.Name
			}
			if err != nil && (!strings.Contains(err.Error(), k.Name+": ") || !strings.Contains(err.(interface{ Unwrap() []error }).Unwrap()[0].(*Error).Hint, flag)) {
				t.Errorf("%s: the message does not say what is wrong and what to do: %v", text, err)
			}
			if _, err := Load(Input{File: "sitelink.toml"}); err != nil {
				t.Errorf("%s: named: %v", text, err)
			}
			if !k.HasFlag {
				continue
			}
			if _, err := Load(Input{Flags: []Setting{{k.Name, []string{prefix + path}}}}); err != nil {
				t.Errorf("%s: flag: %v", text, err)
			}
			testkit.Write(t, "sitelink.toml", "")
			if _, err := Load(Input{Getenv: func(name string) string { return map[string]string{k.Env(): prefix + path}[name] }}); err != nil {
				t.Errorf("%s: variable: %v", text, err)
			}
		}
	}
	// The file itself.
	testkit.Write(t, "../elsewhere/real.toml", "")
	testkit.Check(t, os.Remove("sitelink.toml"))
	testkit.Check(t, os.Symlink("../elsewhere/real.toml", "sitelink.toml"))
	if _, err := Load(Input{}); err == nil || !strings.Contains(err.Error(), "outside the repository") {
		t.Errorf("a link out of the repository was read: %v", err)
	}
	if _, err := Load(Input{File: "sitelink.toml"}); err != nil {
		t.Error(err)
	}
}

// allKeys returns the keys of a table that hold a value, with those of the tables in it.
func allKeys(t *table) (all []Key) {
	for _, k := range t.keys {
		if k.table != nil {
			all = append(all, allKeys(k.table)...)
		} else {
			all = append(all, k)
		}
	}
	return all
}

// TestFoundKeys: the list of what a found file may set has every key that could hold a
// path, an address, a program or the destination of a secret, and no others. What only
// a named file may set has no effect in one that was found, and the error says so.
func TestFoundKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	listed := maps.Clone(foundKeys)
	withheld := 0
	for _, k := range allKeys(root) {
		holdsText := len(k.Values) == 0 && (k.Kind == Text || k.Kind == List || k.Kind == Path || k.Kind == Directory) || k.Kind == Reports || k.Kind == Fields
		if rule, ok := listed[k.path()]; ok != holdsText || ok && (k.Kind == Path || k.Kind == Directory) && rule != inside {
			t.Errorf("%s: in the list: %v, want %v, and paths inside", k.path(), ok, holdsText)
		}
		delete(listed, k.path())
		if foundKeys[k.path()] != named {
			continue
		}
		withheld++
		value, header, line := `"127.0.0.1:25"`, "["+k.Table+"]", 2
		switch k.Name {
		case "allow-address":
			value = `"127.0.0.0/8"`
		case "webhook":
			value = `"https://evil.example/"`
		case "header":
			value, header, line = `{ X-Key = "env:KEY" }`, "[["+k.Table+"]]", 3
		}
		text := header + "\n" + strings.Repeat("host = \"evil.example\"\n", line-2) + k.Name + " = " + value + "\n"
		testkit.Write(t, "sitelink.toml", text)
		defaults, err := Load(Input{})
		if err != nil {
			t.Errorf("%s: %v", k.path(), err)
			continue
		}
		if err := defaults.Withheld(k.Table); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("sitelink.toml:%d: %s in %s is not used", line, k.Name, header)) {
			t.Errorf("%s: found: %v", k.path(), err)
		}
		given, err := Load(Input{File: "sitelink.toml"})
		if err != nil || given.Withheld(k.Table) != nil {
			t.Errorf("%s: named: %v, %v", k.path(), err, given.Withheld(k.Table))
		}
		if reflect.DeepEqual(given.Incoming, defaults.Incoming) && reflect.DeepEqual(given.External, defaults.External) {
			t.Errorf("%s: the found file sets it too, or the named one does not", k.path())
		}
	}
	for name := range listed {
		t.Errorf("%s: there is no such key", name)
	}
	if withheld == 0 {
		t.Error("no key is tested")
	}
}
