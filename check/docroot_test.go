package check

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/site"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// The docroots of tests are those of package testkit.
type files = testkit.Files

var (
	tempDocroot = testkit.MakeDocroot
	addFiles    = testkit.AddFiles
	mkdir       = testkit.Mkdir
	chmod       = testkit.Chmod
)

func load(t testing.TB, root string, opt isite.Options) *isite.Site {
	t.Helper()
	s := testkit.Must(isite.Load(context.Background(), root, opt))(t)
	return s
}

// handle returns the site as other modules see it.
func handle(s *isite.Site) *site.Site { return isite.Wrap(s).(*site.Site) }

func run(t testing.TB, s *isite.Site, opt Options) *Result {
	t.Helper()
	r := testkit.Must(Run(context.Background(), handle(s), opt))(t)
	return r
}

// render writes a link as one line.
func render(dst []byte, l *Link) []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return append(append(dst, b...), '\n')
}

// rows returns all links as findings, and the result with them.
func rows(t testing.TB, s *isite.Site, opt Options) ([]Finding, *Result) {
	t.Helper()
	var all []Finding
	r, err := Links(context.Background(), handle(s), opt, Query{}, func(l *Link) error {
		f := l.Finding()
		f.node, f.linkCode = 0, ""
		all = append(all, f)
		return nil
	})
	testkit.Check(t, err)
	return all, r
}

// checkFiles is tempDocroot, load and run in one.
func checkFiles(t testing.TB, fs files, sopt isite.Options, opt Options) *Result {
	t.Helper()
	return run(t, load(t, tempDocroot(t, fs), sopt), opt)
}

// brief writes a finding as "page:line:column verdict code raw".
func brief(f *Finding) string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s %s %s", f.Page, f.Line, f.Column, f.Verdict, f.Code, f.Raw))
}

func briefs(fs []Finding) []string {
	out := []string{}
	for i := range fs {
		out = append(out, brief(&fs[i]))
	}
	return out
}

// compareBriefs compares findings with lines in the form that brief writes.
func compareBriefs(t testing.TB, got []Finding, want ...string) {
	t.Helper()
	if b := briefs(got); !slices.Equal(b, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(b, "\n\t"), strings.Join(want, "\n\t"))
	}
}
