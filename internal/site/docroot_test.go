package site

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"maps"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// files describes a docroot, and the functions below create docroots.
type files = testkit.Files

var (
	tempDocroot = testkit.MakeDocroot
	addFiles    = testkit.AddFiles
	mkdir       = testkit.Mkdir
	chmod       = testkit.Chmod
)

func load(t testing.TB, root string, opt Options) *Site {
	t.Helper()
	s := testkit.Must(Load(context.Background(), root, opt))(t)
	return s
}

// loadFiles creates a docroot and loads it.
func loadFiles(t testing.TB, fs files, opt Options) *Site {
	t.Helper()
	return load(t, tempDocroot(t, fs), opt)
}

// pageID returns the page at a path.
func pageID(t testing.TB, s *Site, path string) PageID {
	t.Helper()
	n, ok := s.Lookup(path)
	if !ok {
		t.Fatalf("no file %s", path)
	}
	id, ok := s.PageOf(n)
	if !ok {
		t.Fatalf("%s is not a page", path)
	}
	return id
}

// details returns all links of a page.
func details(t testing.TB, s *Site, path string) []Detail {
	t.Helper()
	r := s.NewReader()
	defer r.Close()
	var out []Detail
	err := r.Details(pageID(t, s, path), nil, func(_ int, d *Detail) {
		kept := *d
		kept.Raw, kept.Fragment = strings.Clone(d.Raw), strings.Clone(d.Fragment)
		out = append(out, kept)
	})
	testkit.Check(t, err)
	return out
}

// raws returns the links of a page as written.
func raws(t testing.TB, s *Site, path string) []string {
	t.Helper()
	var out []string
	for _, d := range details(t, s, path) {
		out = append(out, d.Raw)
	}
	return out
}

// targets returns the requests that the links of a page make.
func targets(t testing.TB, s *Site, path string) []string {
	t.Helper()
	var out []string
	for _, d := range details(t, s, path) {
		out = append(out, d.Target)
	}
	return out
}

// answerOf writes a detail as "State status target = file > final # fragment",
// leaving out what is empty.
func answerOf(t testing.TB, s *Site, d *Detail) string {
	t.Helper()
	out := fmt.Sprintf("%s %d %s", stateName(t, d.State), d.Status, d.Target)
	if d.Node != docroot.NoNode {
		out += " = " + s.Tree().Path(d.Node)
	}
	if d.Final != "" {
		out += " > " + d.Final
	}
	if d.Fragment != "" {
		out += " # " + d.Fragment
	}
	return out
}

// row is one link and the answer to it, in the form of answerOf.
type row struct{ name, href, want string }

// table adds a page with the links of all rows to a docroot, loads it, and
// compares the answers: those in the page's records, made when it was loaded,
// and those of its details.
func table(t *testing.T, fs files, opt Options, page string, rows []row) {
	t.Helper()
	var b strings.Builder
	b.WriteString("<!doctype html><meta charset=utf-8>\n" + fs[page])
	for _, r := range rows {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", html.EscapeString(r.href))
	}
	fs = maps.Clone(fs)
	fs[page] = b.String()
	root := tempDocroot(t, fs)
	s := load(t, root, opt)
	compareRows(t, s, page, rows)
}

func compareRows(t *testing.T, s *Site, page string, rows []row) {
	t.Helper()
	all := details(t, s, page)
	records := s.Page(pageID(t, s, page)).All()
	if len(all) < len(rows) {
		t.Fatalf("%d links, want %d", len(all), len(rows))
	}
	records = records[len(all)-len(rows):]
	all = all[len(all)-len(rows):]
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := answerOf(t, s, &all[i]); got != r.want {
				t.Errorf("%q:\n got %s\nwant %s", r.href, got, r.want)
			}
			rec := &records[i]
			if s.State(rec) != all[i].State {
				t.Errorf("%q: the record has %s, but the detail has %s", r.href, stateName(t, s.State(rec)), stateName(t, all[i].State))
			}
			if all[i].State.Answers() && rec.Node != all[i].Node {
				t.Errorf("%q: the record has node %d, but the detail has %d", r.href, rec.Node, all[i].Node)
			}
		})
	}
}

// stateNames are the constants of type State that state.go declares, in order
// and without their prefix.
func stateNames(t testing.TB) []string {
	t.Helper()
	f := testkit.Must(parser.ParseFile(token.NewFileSet(), "../host/state.go", nil, 0))(t)
	var out []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			for _, n := range spec.(*ast.ValueSpec).Names {
				if name, ok := strings.CutPrefix(n.Name, "State"); ok {
					out = append(out, name)
				}
			}
		}
	}
	if len(out) < 20 {
		t.Fatalf("only %d states in host/state.go", len(out))
	}
	return out
}

var cachedStateNames []string

func stateName(t testing.TB, s host.State) string {
	t.Helper()
	if cachedStateNames == nil {
		cachedStateNames = stateNames(t)
	}
	if int(s) >= len(cachedStateNames) {
		return fmt.Sprintf("state(%d)", s)
	}
	return cachedStateNames[s]
}
