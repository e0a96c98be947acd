package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/fault"
)

func TestReportErrors(t *testing.T) {
	invalid := &config.Error{Name: "sitelink.toml", Line: 2, Column: 1, Msg: "unknown key", Hint: "look"}
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{nil, exitClean, ""},
		{errFindings, exitFindings, ""},
		{fault.Usage("bad flag", ""), exitUsage, "sitelink: error: bad flag\n"},
		{errors.Join(invalid, invalid), exitUsage, strings.Repeat("sitelink: error: sitelink.toml:2:1: unknown key\nsitelink: hint: look\n", 2)},
		{fault.New(errors.New("read docroot x: gone"), "build it"), exitFailed, "sitelink: error: read docroot x: gone\nsitelink: hint: build it\n"},
		{errors.New("disk on fire"), exitFailed, "sitelink: error: disk on fire\n"},
		{fmt.Errorf("load: %w", context.Canceled), exitInterrupted, "sitelink: interrupted\n"},
		{errors.New("read \x1b[2J\n\xff\u202e: no"), exitFailed, `sitelink: error: read \x1b[2J\n\xff\u202e: no` + "\n"},
	} {
		var stderr bytes.Buffer
		code := testApp(nil, &stderr).ui.report(c.err)
		if code != c.code || stderr.String() != c.want {
			t.Errorf("%v\n got %d %q\nwant %d %q", c.err, code, stderr.String(), c.code, c.want)
		}
	}
}

// A context that was cancelled before or during the work is 130, also where
// the work ended all the same.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"check", t.TempDir()}, env{Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }})
	if code != exitInterrupted || stdout.Len() > 0 || stderr.String() != "sitelink: interrupted\n" {
		t.Errorf("got %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

func TestWantsColor(t *testing.T) {
	for _, c := range []struct {
		when string
		tty  bool
		env  string
		want bool
	}{
		{"auto", false, "", false},
		{"auto", true, "", true},
		{"auto", true, "NO_COLOR=1", false},
		{"auto", true, "NO_COLOR=", true},
		{"auto", true, "TERM=dumb", false},
		{"auto", false, "CLICOLOR_FORCE=1", true},
		{"auto", false, "CLICOLOR_FORCE=0", false},
		{"auto", true, "NO_COLOR=1 CLICOLOR_FORCE=1", false},
		{"always", false, "NO_COLOR=1 TERM=dumb", true},
		{"never", true, "CLICOLOR_FORCE=1", false},
	} {
		vars := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		if got := wantsColor(c.when, c.tty, func(name string) string { return vars[name] }); got != c.want {
			t.Errorf("--color %s, terminal %v, %q: %v", c.when, c.tty, c.env, got)
		}
	}
}

// Progress waits a second, is drawn ten times a second at most, and is erased
// before anything else is printed.
func TestProgress(t *testing.T) {
	var stderr bytes.Buffer
	a := testApp(nil, &stderr)
	a.ui.env.StderrTTY = true
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	p := newProgress(a.ui, "auto", func() time.Time { return clock })
	for i := range 1000 { // 2.5 seconds of work
		p.pages(i, 32101)
		clock = clock.Add(2500 * time.Microsecond)
	}
	drawn := strings.Count(stderr.String(), "reading pages")
	if drawn != 15 {
		t.Errorf("drawn %d times in 1.5 seconds", drawn)
	}
	if !strings.HasPrefix(stderr.String(), "\r\x1b[Kreading pages: 400 of 32,101\r\x1b[K") {
		t.Errorf("got %.80q", stderr.String())
	}
	a.ui.note("hello")
	p.done()
	p.done()
	if !strings.HasSuffix(stderr.String(), "of 32,101\r\x1b[Ksitelink: note: hello\n") {
		t.Errorf("got the end %q", stderr.String()[stderr.Len()-60:])
	}
	for _, c := range []struct {
		when string
		tty  bool
		want bool
	}{{"auto", false, false}, {"auto", true, true}, {"false", true, false}, {"true", false, true}} {
		a.ui.env.StderrTTY = c.tty
		got := newProgress(a.ui, c.when, time.Now)
		if (got != nil) != c.want {
			t.Errorf("--progress=%s, terminal %v: %v", c.when, c.tty, got)
		}
		if got == nil { // a nil progress is callable
			got.pages(1, 2)
			got.done()
		}
	}
}

// The codes that ignore rules may name are those of findings.
func TestFindingCodes(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../check/code.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, d := range file.Decls {
		d, ok := d.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST || !strings.HasPrefix(d.Doc.Text(), "Codes of findings") {
			continue
		}
		for _, s := range d.Specs {
			want = append(want, strings.Trim(s.(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value, `"`))
		}
	}
	if len(want) == 0 {
		t.Fatal("no codes found in code.go")
	}
	if got := codeNames(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// Each key of the configuration is a flag of check with the same name, and the
// help says which profiles there are.
func TestFlagsAreKeys(t *testing.T) {
	cmd := checkCommand(testApp(nil, nil))
	for _, k := range config.Keys() {
		f := cmd.Flags().Lookup(k.Name)
		if f == nil {
			t.Errorf("no flag --%s", k.Name)
			continue
		}
		if !strings.HasPrefix(f.Usage, k.Help) {
			t.Errorf("--%s says %q", k.Name, f.Usage)
		}
		if k.Name == "profile" {
			for _, name := range profileNames() {
				if !strings.Contains(f.Usage, name) {
					t.Errorf("the help of --profile does not name %s", name)
				}
			}
		}
	}
}
