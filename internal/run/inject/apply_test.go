package inject

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/testkit"
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
		}, wantUndone: baseof},
		{name: "taken_out_by_hand", edit: func(s string) string { return strings.Replace(s, "\t"+call+"\n", "", 1) },
			wantUndone: baseof, wantRun: "any"},
		{name: "more_in_the_created_file", otherFile: head, edit: func(s string) string { return s + "<link rel=me href=x>\n" },
			wantUndone: "<link rel=me href=x>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, again := range []bool{false, true} {
				root := newProject(t, map[string]string{"hugo.toml": toml, ownBaseof: baseof})
				mustApply(t, mustFind(t, root, blog(config.Templates{})))
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
					plan := mustFind(t, root, blog(config.Templates{}))
					if plan.Clean() != (c.wantRun == "") {
						t.Errorf("another run: %s", plan.Diff())
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
// that file, without a build.
func TestConfigurationChanges(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": toml, ownBaseof: baseof, "content/post/a.md": ""})
	before := hashOf(t, root)
	mustApply(t, mustFind(t, root, blog(config.Templates{})))
	cfg := blog(config.Templates{Pages: []string{"post/**"}, Exclude: []string{"post/`x`/*"}, Kinds: []string{"list", "page"}})
	cfg.Templates.Pingback = "https://other.example/"
	plan := mustRefresh(t, root, cfg)
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
	for name, text := range with(theme("themes/coder", `{{ partial "head/extensions.html" . }}`), "themes/coder/layouts/partials/head/extensions.html", "") {
		testkit.Check(t, root.MkdirAll(name[:strings.LastIndexByte(name, '/')], 0o755))
		put(t, root, name, text)
	}
	put(t, root, "hugo.toml", "theme = 'coder'\n")
	testkit.Check(t, root.Rename(ownBaseof, "layouts/_default/old.txt"))
	mustApply(t, mustFind(t, root, blog(config.Templates{})))
	read(t, root, "layouts/partials/head/extensions.html")
	mustUndo(t, root)
	testkit.Check(t, root.Rename("layouts/_default/old.txt", ownBaseof))
	mustUndo(t, root)
	put(t, root, "hugo.toml", toml)
	testkit.Check(t, root.RemoveAll("themes"))
	if hashOf(t, root) != before {
		t.Error("after the undo the project differs from what it was")
	}
}

// The next run finishes what a crash interrupted, or --undo reverts it.
func TestCrash(t *testing.T) {
	files := func() map[string]string {
		return with(theme("themes/x", `{{ partial "a.html" . }}`), "hugo.toml", "theme = 'x'\n", "themes/x/layouts/partials/a.html", "<link>",
			"layouts/post/baseof.html", baseof, "content/post/a.md", "", "content/b.md", "")
	}
	total := len(mustFind(t, newProject(t, files()), blog(config.Templates{})).Changes)
	if total < 4 {
		t.Fatalf("only %d changes", total)
	}
	for done := range total + 1 {
		for _, undo := range []bool{false, true} {
			root := newProject(t, files())
			before := hashOf(t, root)
			plan := mustFind(t, root, blog(config.Templates{}))
			plan.Changes = plan.Changes[:done]
			mustApply(t, plan)
			put(t, root, "layouts/post/.baseof.html.sitelink-123-0.tmp", "half of")
			if !undo {
				mustApply(t, mustFind(t, root, blog(config.Templates{})))
				if again := mustFind(t, root, blog(config.Templates{})); !again.Clean() {
					t.Errorf("after %d of %d changes: %s", done, total, again.Diff())
				}
			}
			mustUndo(t, root)
			if hashOf(t, root) != before {
				t.Errorf("after a crash after %d changes, and undo, the project differs", done)
			}
		}
	}
}

// A crash in the undo is finished by the next one: the called template is removed last.
func TestCrashInUndo(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": toml, ownBaseof: baseof})
	before := hashOf(t, root)
	mustApply(t, mustFind(t, root, blog(config.Templates{})))
	plan, err := Undo(openProject(t, root, nil))
	if err != nil || len(plan.Changes) != 2 || !strings.HasSuffix(plan.Changes[1].Path, headPartial) {
		t.Fatalf("the called template must be the last change: %v %v", plan.Changes, err)
	}
	plan.Changes = plan.Changes[:1]
	mustApply(t, plan)
	mustUndo(t, root)
	if hashOf(t, root) != before {
		t.Error("the project differs")
	}
}

// A file that was edited between plan and change is not overwritten.
func TestChangedMeanwhile(t *testing.T) {
	root := newProject(t, map[string]string{"hugo.toml": toml, ownBaseof: baseof})
	plan := mustFind(t, root, blog(config.Templates{}))
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
	files := map[string]string{"hugo.toml": toml, ownBaseof: strings.ReplaceAll(baseof, "\n", "\r\n")}
	a, b := newProject(t, files), newProject(t, files)
	plan := mustFind(t, a, blog(config.Templates{}))
	cmd := exec.Command(git, "apply", "-")
	cmd.Dir = b.Name()
	cmd.Stdin = strings.NewReader(string(plan.Diff()))
	testkit.Run(t, cmd)
	mustApply(t, plan)
	for _, c := range plan.Changes {
		if read(t, a, c.Path) != read(t, b, c.Path) {
			t.Errorf("%s differs from what the diff makes", c.Path)
		}
	}
}
