package project

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"
)

// TestPatterns checks patterns that the forges document.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		d       ownersDialect
		yes, no string // paths, separated by blanks
	}{
		// gitHub, "CODEOWNERS syntax": the example file and the gitignore rules.
		{"*", gitHub, "a.md docs/a.md a/b/c.html .hidden", ""},
		{"*.js", gitHub, "a.js src/a.js", "a.json src/js"},
		{"/build/logs/", gitHub, "build/logs/a build/logs/x/y", "build/logs src/build/logs/a"},
		{"docs/*", gitHub, "docs/a.md", "docs/build-app/a.md src/docs/a.md"},
		{"apps/", gitHub, "apps/a src/apps/b/c", "apps myapps/a"},
		{"/docs/", gitHub, "docs/a docs/b/c", "src/docs/a"},
		{"/scripts", gitHub, "scripts scripts/a scripts/b/c", "scriptsx/a src/scripts/a"},
		{"**/logs", gitHub, "logs logs/a build/logs/a deep/er/logs/x/y", "mylogs/a"},
		{"/apps/github", gitHub, "apps/github apps/github/x", "apps/githubx"},
		{"content/blog", gitHub, "content/blog/a.md", "x/content/blog/a.md"},
		{"blog", gitHub, "blog content/blog/a.md", "blogs/a"},
		{"a/**/z", gitHub, "a/z a/b/z a/b/c/z a/z/in", "a/zz ab/z"},
		{"a/**", gitHub, "a/b a/b/c", "a ab/c"},
		{"p?ge.html", gitHub, "page.html x/pige.html", "pge.html p/ge.html"},
		{"a+b(1).md", gitHub, "a+b(1).md", "aab1.md"},
		{`with\ blank/`, gitHub, "", "with"},
		{"/", gitHub, "", "a a/b"},
		// gitLab: File::fnmatch with FNM_PATHNAME and FNM_DOTMATCH.
		{"*", gitLab, "a.md docs/a.md .hidden", ""},
		{"README.md", gitLab, "README.md a/b/README.md", "READMExmd"},
		{"/README.md", gitLab, "README.md", "a/README.md"},
		{"/docs/*", gitLab, "docs/a", "docs/a/b"},
		{"/docs/**/*.md", gitLab, "docs/a.md docs/b/c.md", "docs/a.txt x/docs/a.md"},
		{"/docs", gitLab, "docs", "docs/a"},
		{"/docs/", gitLab, "docs/a docs/b/c", "docs"},
		{"lib/", gitLab, "lib/a x/lib/b/c", "mylib/a"},
		{"model/db/", gitLab, "model/db/a x/model/db/b", "model/a"},
		{"**/*.rb", gitLab, "a.rb config/a.rb a/b/c.rb", "a.rbx"},
		{"a[0-9].md", gitLab, "a1.md x/a2.md", "ab.md a10.md"},
		{"a[!0-9].md", gitLab, "ab.md", "a1.md"},
		{`\#x.rb`, gitLab, "#x.rb", `\#x.rb`},
	} {
		o := parseOwners(c.pattern+" @x\n", c.d)
		if len(o.Faults) > 0 {
			t.Errorf("%q: %v", c.pattern, o.Faults)
			continue
		}
		for _, path := range strings.Fields(c.yes) {
			if len(o.Of(path)) == 0 {
				t.Errorf("dialect %d: %q does not match %s", c.d, c.pattern, path)
			}
		}
		for _, path := range strings.Fields(c.no) {
			if len(o.Of(path)) > 0 {
				t.Errorf("dialect %d: %q matches %s", c.d, c.pattern, path)
			}
		}
	}
	if o := parseOwners("with\\ blank/ @x\n", gitHub); len(o.Of("with blank/a")) != 1 {
		t.Error("an escaped blank ends the pattern")
	}
}

// TestOwners checks the parts of a line, and that the last match wins.
func TestOwners(t *testing.T) {
	o := parseOwners("\ufeff# comment\n*  @all a@example.org\n\n/docs/ @org/docs-team # why\r\n/docs/api/\n*.go\t@go @go\n", gitHub)
	for path, want := range map[string]string{
		"x": "@all a@example.org", "docs/a": "@org/docs-team", "docs/api/b": "", "docs/api/b.go": "@go",
	} {
		if got := strings.Join(o.Of(path), " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if len(o.Faults) > 0 {
		t.Errorf("faults %v", o.Faults)
	}
}

// TestSections checks that each GitLab section adds its own owners.
func TestSections(t *testing.T) {
	text := `* @general
!*.lock
[Documentation][2] @docs-team
docs/
README.md @@maintainer nobody
^[Database] @database-team @group/sub/team
model/db/
config/db/setup.md @docs-team
!model/db/generated/
[documentation]
*.txt @text
`
	o := parseOwners(text, gitLab)
	for path, want := range map[string]string{
		"a": "@general", "docs/a": "@general @docs-team", "README.md": "@general @@maintainer",
		"model/db/x": "@general @database-team @group/sub/team", "config/db/setup.md": "@general @docs-team",
		"model/db/generated/x": "@general", "docs/a.txt": "@general @text", "docs/yarn.lock": "@docs-team",
	} {
		if got := strings.Join(o.Of(path), " "); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if len(o.Faults) > 0 {
		t.Errorf("faults %v", o.Faults)
	}
}

// TestFaults checks that a wrong line is reported and skipped, and the others count.
func TestFaults(t *testing.T) {
	o := parseOwners("!a @x\n[S] @x\n* @ok\na nobody\na//b @x\n"+strings.Repeat("x", 5000)+" @x\n\xff @x\n", gitHub)
	var lines []int
	for _, f := range o.Faults {
		lines = append(lines, f.Line)
		if f.Msg == "" || strings.Contains(f.Msg, "\n") || !utf8.ValidString(f.Msg) {
			t.Errorf("line %d: message %q", f.Line, f.Msg)
		}
	}
	if want := []int{1, 2, 4, 5, 6, 7}; !slices.Equal(lines, want) {
		t.Errorf("faults in lines %v, want %v", lines, want)
	}
	if got := o.Of("a"); !slices.Equal(got, []string{"@ok"}) {
		t.Errorf("owners %q", got)
	}
	if o := parseOwners("a[ @x\na[] @x\n", gitLab); len(o.Faults) != 2 {
		t.Errorf("faults %v, want 2", o.Faults)
	}
}

// TestLoadOwners checks where LoadOwners finds the file, and with which dialect it parses it.
func TestLoadOwners(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, c := range []struct {
		name string
		tree fstest.MapFS
		want string
		d    ownersDialect
	}{
		{"none", fstest.MapFS{"README": file("")}, "", gitHub},
		{"root", fstest.MapFS{"CODEOWNERS": file("* @a")}, "CODEOWNERS", gitHub},
		{"github first", fstest.MapFS{"CODEOWNERS": file("* @a"), ".github/CODEOWNERS": file("* @b")}, ".github/CODEOWNERS", gitHub},
		{"docs", fstest.MapFS{"docs/CODEOWNERS": file("* @a"), ".gitlab/CODEOWNERS": file("* @b")}, "docs/CODEOWNERS", gitHub},
		{"gitlab", fstest.MapFS{".gitlab/CODEOWNERS": file("* @b")}, ".gitlab/CODEOWNERS", gitLab},
		{"gitlab by its pipeline", fstest.MapFS{"CODEOWNERS": file("* @a"), ".gitlab-ci.yml": file("")}, "CODEOWNERS", gitLab},
		{"gitlab by its sections", fstest.MapFS{"CODEOWNERS": file("^[A]\n* @a")}, "CODEOWNERS", gitLab},
	} {
		o, err := LoadOwners(c.tree)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if o == nil {
			if c.want != "" {
				t.Errorf("%s: nothing found", c.name)
			}
			continue
		}
		if o.Name != c.want || o.dialect != c.d {
			t.Errorf("%s: read %s as dialect %d, want %s, %d", c.name, o.Name, o.dialect, c.want, c.d)
		}
	}
	_, err := LoadOwners(fstest.MapFS{"CODEOWNERS": file(strings.Repeat("#\n", maxOwnersBytes/2+1))})
	if err == nil || err.Error() != "read CODEOWNERS: larger than 3145728 bytes" {
		t.Errorf("a huge file: %v", err)
	}
	_, err = LoadOwners(fstest.MapFS{"CODEOWNERS/x": file("")})
	if err == nil || !strings.HasPrefix(err.Error(), "read CODEOWNERS: ") {
		t.Errorf("a directory: %v", err)
	}
}

// FuzzOwners checks that any text can be parsed, that faults have increasing lines
// and a message, and that every owner of a path is in the text.
func FuzzOwners(f *testing.F) {
	f.Add("* @a\n/docs/** b@c # x\n!x\n[S][2] @d\n\\#a @e\na[b-c]?\\", "docs/a/b", false)
	f.Add("[S] @d\n**/x/ \n*", "a/x/y", true)
	f.Fuzz(func(t *testing.T, text, path string, gitlab bool) {
		d := gitHub
		if gitlab {
			d = gitLab
		}
		o := parseOwners(text, d)
		for _, owner := range o.Of(path) {
			if !strings.Contains(text, owner) || strings.ContainsAny(owner, " \t\n") {
				t.Errorf("owner %q", owner)
			}
		}
		last := 0
		for _, fault := range o.Faults {
			if fault.Line <= last || fault.Line > strings.Count(text, "\n")+1 || fault.Msg == "" {
				t.Errorf("fault %+v after line %d", fault, last)
			}
			last = fault.Line
		}
	})
}
