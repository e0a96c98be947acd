package inject

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/templates"
)

const ownBaseof = "layouts/_default/baseof.html"

// A user's edits survive the next run and the undo, wherever they are.
func TestUserEdits(t *testing.T) {
	const head = "layouts/partials/sitelink/head.html"
	for _, c := range []struct {
		name       string
		edit       func(text string) string
		wantRun    string // after another run, "" for no change
		wantUndone string
		otherFile  string
	}{
		{name: "around", edit: func(s string) string { return strings.Replace(s, "<title>", "<meta name=x><title>", 1) },
			wantUndone: strings.Replace(baseof, "<title>", "<meta name=x><title>", 1)},
		{name: "moved", edit: func(s string) string {
			s = strings.Replace(s, "\t"+call+"\n", "", 1)
			return strings.Replace(s, "</head>", "\t"+call+"\n</head>", 1)
		}, wantUndone: baseof},
		{name: "on_one_line_with_others", edit: func(s string) string { return strings.Replace(s, call+"\n", call+"<link rel=x>\n", 1) },
			wantUndone: strings.Replace(baseof, "\t<title>", "\t<link rel=x>\n\t<title>", 1)},
		{name: "formatted", edit: func(s string) string {
			return strings.Replace(s, call, "{{- /* sitelink:begin */ -}}\n\t{{ partial \"sitelink/head.html\" . }}\n\t{{- /* sitelink:end */ -}}", 1)
		}, wantUndone: baseof, wantRun: "any"},
		{name: "taken_out_by_hand", edit: func(s string) string { return strings.Replace(s, "\t"+call+"\n", "", 1) },
			wantUndone: baseof, wantRun: "any"},
		{name: "more_in_the_created_file", otherFile: head, edit: func(s string) string { return s + "<link rel=me href=x>\n" },
			wantUndone: "<link rel=me href=x>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, again := range []bool{false, true} {
				root := newProject(t, map[string]string{"hugo.toml": config, ownBaseof: baseof})
				mustApply(t, mustFind(t, root, blog))
				file := ownBaseof
				if c.otherFile != "" {
					file = c.otherFile
				}
				edited := c.edit(read(t, root, file))
				if edited == read(t, root, file) {
					t.Fatal("the edit changes nothing")
				}
				put(t, root, file, edited)
				if again {
					plan := mustFind(t, root, blog)
					if plan.Clean() != (c.wantRun == "") {
						t.Errorf("another run: %s%v", plan.Diff(), plan.Refusals)
					}
					mustApply(t, plan)
				}
				mustUndo(t, root)
				if got := read(t, root, file); got != c.wantUndone {
					t.Errorf("after the undo, with another run %v:\n%q\nwant\n%q", again, got, c.wantUndone)
				}
			}
		})
	}
}

// The configuration of the pages is in the partial, and changing it changes only
// that file.
func TestConfigurationChanges(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": config, ownBaseof: baseof})
	before := hashOf(t, root)
	mustApply(t, mustFind(t, root, blog))
	opt := blog
	opt.Endpoints.Pingback = "https://other.example/"
	opt.Choice = templates.Choice{Pages: []string{"post/**"}, Exclude: []string{"post/`x`/*"}, Kinds: []string{"list", "page"}}
	plan := mustFind(t, root, opt)
	if len(plan.Changes) != 1 || plan.Changes[0].Path != "layouts/partials/sitelink/head.html" {
		t.Fatalf("%s", plan.Diff())
	}
	mustApply(t, plan)
	text := read(t, root, "layouts/partials/sitelink/head.html")
	for _, want := range []string{
		`<link rel="pingback" href="https://other.example/"><link rel="webmention" href="https://blog.example/wm">`, // PB-20
		"(in (slice \"page\" \"section\" \"taxonomy\" \"term\" \"taxonomyTerm\") .Kind)",
		"(findRE `^(?:post(?:/.*)?)$` $path 1)",
		"(not (findRE \"^(?:post/`x`/[^/]*)$\" $path 1))",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	// Another place: the site now has a theme with a stub.
	for name, text := range theme("themes/coder", `{{ partial "head/extensions.html" . }}`) {
		if err := root.MkdirAll(name[:strings.LastIndexByte(name, '/')], 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, root, name, text)
	}
	put(t, root, "hugo.toml", "theme = 'coder'\n")
	if err := root.Rename(ownBaseof, "layouts/_default/old.txt"); err != nil {
		t.Fatal(err)
	}
	mustApply(t, mustFind(t, root, opt))
	if again := mustFind(t, root, opt); !again.Clean() {
		t.Errorf("%s", again.Diff())
	}
	read(t, root, "layouts/partials/head/extensions.html")
	if err := root.Rename("layouts/_default/old.txt", ownBaseof); err != nil {
		t.Fatal(err)
	}
	put(t, root, "hugo.toml", config)
	if err := root.RemoveAll("themes"); err != nil {
		t.Fatal(err)
	}
	plan = mustFind(t, root, opt)
	mustApply(t, plan)
	if _, err := root.Stat("layouts/partials/head"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the stub's directory is left: %v\n%s", err, plan.Diff())
	}
	mustUndo(t, root)
	if hashOf(t, root) != before {
		t.Error("after the undo the project differs from what it was")
	}
}

// The next run finishes what a crash interrupted, or --undo reverts it.
func TestCrash(t *testing.T) {
	files := func() map[string]string {
		return with(theme("themes/x", `{{ partial "a.html" . }}`), "hugo.toml", "theme = 'x'\n", "themes/x/layouts/partials/a.html", "<link>",
			"layouts/post/baseof.html", baseof)
	}
	total := len(mustFind(t, newProject(t, files()), blog).Changes)
	if total < 4 {
		t.Fatalf("only %d changes", total)
	}
	for done := range total + 1 {
		for _, undo := range []bool{false, true} {
			root := newProject(t, files())
			before := hashOf(t, root)
			plan := mustFind(t, root, blog)
			// What Apply does, up to the crash.
			plan.addDirs(recordName)
			for _, c := range plan.Changes {
				plan.addDirs(c.Path)
			}
			if err := plan.write(true); err != nil {
				t.Fatal(err)
			}
			for _, c := range plan.Changes[:done] {
				if err := plan.one(c); err != nil {
					t.Fatal(err)
				}
			}
			put(t, root, "layouts/post/.baseof.html.sitelink-123-0.tmp", "half of")
			if !undo {
				next := mustFind(t, root, blog)
				if len(next.Changes) != total-done {
					t.Errorf("after %d of %d changes, %d are left", done, total, len(next.Changes))
				}
				mustApply(t, next)
				if strings.Contains(read(t, root, recordName), "writing") {
					t.Error("the record still has the state writing")
				}
				if again := mustFind(t, root, blog); !again.Clean() {
					t.Errorf("%s", again.Diff())
				}
			}
			mustUndo(t, root)
			if hashOf(t, root) != before {
				t.Errorf("after a crash after %d changes, and undo, the project differs", done)
			}
		}
	}
}

// A crash in the undo is finished by the next one.
func TestCrashInUndo(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": config, ownBaseof: baseof})
	before := hashOf(t, root)
	mustApply(t, mustFind(t, root, blog))
	plan, err := Undo(root)
	if err != nil || len(plan.Changes) != 2 || !strings.HasSuffix(plan.Changes[1].Path, headPartial) {
		t.Fatalf("the called template must be the last change: %v %v", plan.Changes, err)
	}
	if err := plan.one(plan.Changes[0]); err != nil {
		t.Fatal(err)
	}
	mustUndo(t, root)
	if hashOf(t, root) != before {
		t.Error("the project differs")
	}
}

// A file that was edited between plan and change is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": config, ownBaseof: baseof})
	plan := mustFind(t, root, blog)
	put(t, root, ownBaseof, baseof+"<!-- new -->")
	if err := plan.Apply(); err == nil || !strings.Contains(err.Error(), "has changed in the meantime") {
		t.Errorf("%v", err)
	}
	if read(t, root, ownBaseof) != baseof+"<!-- new -->" {
		t.Error("the edit is gone")
	}
	mustUndo(t, root)
	if read(t, root, ownBaseof) != baseof+"<!-- new -->" {
		t.Error("the undo removed the edit")
	}
}

// git applies the diff, with the same result as Apply.
func TestDiff(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	files := map[string]string{"hugo.toml": config, ownBaseof: strings.ReplaceAll(baseof, "\n", "\r\n")}
	a, b := newProject(t, files), newProject(t, files)
	plan := mustFind(t, a, blog)
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir = b.Name()
	cmd.Stdin = strings.NewReader(string(plan.Diff()))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, plan.Diff())
	}
	mustApply(t, plan)
	for _, c := range plan.Changes {
		if read(t, a, c.Path) != read(t, b, c.Path) {
			t.Errorf("%s differs from what the diff makes", c.Path)
		}
	}
}

// The table is searched with the names that projects use for themes.
func TestTable(t *testing.T) {
	for name, want := range map[string]string{
		"PaperMod": "extend_head.html", "github.com/adityatelange/hugo-PaperMod": "extend_head.html",
		"github.com/google/docsy/theme": "hooks/head-end.html", "github.com/jpanther/congo/v2": "extend-head.html",
		"github.com/nunocoracao/blowfish/v2": "extend-head.html", "github.com/CaiJimmy/hugo-theme-stack/v3": "head/custom.html",
		"hugo-book": "docs/inject/head.html", "github.com/theNewDynamic/gohugo-theme-ananke/v2": "head-additions.html",
		"hugo-coder": "head/extensions.html", "hextra": "custom/head-end.html", "hugo-geekdoc": "head/custom.html",
		"hugo-bearblog": "custom_head.html", "beautifulhugo": "head_custom.html", "hugo-paged": "head_custom.html",
		"hugo-theme-relearn": "custom-header.html", "hugo-theme-terminal": "extended_head.html", "LoveIt": "",
	} {
		if got := stubOf(name, nil); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if len(Themes()) < 15 {
		t.Errorf("the table has %d rows", len(Themes()))
	}
}
