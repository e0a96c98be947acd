package host

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// row is one link and the answer to it, in the form of answerOf.
type row struct{ name, href, want string }

// table adds a page to a docroot and compares the answers to its links.
func table(t *testing.T, fs testkit.Files, opt Options, from string, rows []row) {
	t.Helper()
	fs = maps.Clone(fs)
	fs[from] += page
	compareRows(t, loadHost(t, testkit.MakeDocroot(t, fs), opt), from, rows)
}

func compareRows(t *testing.T, h *Host, from string, rows []row) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			if got := answerOf(t, h, from, r.href); got != r.want {
				t.Errorf("%q:\n got %s\nwant %s", r.href, got, r.want)
			}
		})
	}
}

// answerOf writes the answer to a link on a page as "State status target = file >
// final # fragment", leaving out what is empty. If the quick way answers, it must
// answer the same.
func answerOf(t *testing.T, h *Host, from, href string) string {
	t.Helper()
	id, ok := h.Lookup(from)
	if !ok {
		t.Fatalf("no page %s", from)
	}
	r := quickOn(h, id)
	u, err := must(weburl.Parse(h.PageAddress(id))).Resolve(href)
	if err != nil {
		return err.Error()
	}
	res := h.Resolve(u, nil)
	if diff, _ := compareQuick(&r, href, res, u.Fragment()); diff != "" {
		t.Error(diff)
	}
	out := fmt.Sprintf("%s %d %s", stateName(t, res.State), res.Status, res.Target)
	if res.Node != docroot.NoNode {
		out += " = " + h.tree.Path(res.Node)
	}
	if res.Final != "" {
		out += " > " + res.Final
	}
	if f := u.Fragment(); f != "" {
		out += " # " + f
	}
	return out
}

// quickOn returns a resolver that is ready for the links of a page.
func quickOn(h *Host, page docroot.NodeID) PathResolver {
	r := NewPathResolver(h)
	r.Open(page)
	r.PlainBase = r.AtOwnAddress()
	return r
}

// compareQuick describes how [PathResolver] differs from the answer of
// [Host.Resolve] to a link; "" if they agree or it leaves the link to Resolve.
// took reports whether it answers.
func compareQuick(r *PathResolver, href string, want Resolved, fragment string) (diff string, took bool) {
	state, node, frag, ok := r.ResolvePath([]byte(href))
	if ok && (state != want.State || state.Answers() && (node != want.Node || string(frag) != fragment) || !state.Answers() && node != docroot.NoNode) {
		return fmt.Sprintf("%q: the quick way says state %d, node %d, fragment %q, but Resolve %d, %d, %q (%s)", href, state, node, frag, want.State, want.Node, fragment, want.Target), true
	}
	return "", ok
}

// stateName is the name of the constant in state.go, without its prefix.
func stateName(t testing.TB, s State) string {
	t.Helper()
	if stateNames == nil {
		f, err := parser.ParseFile(token.NewFileSet(), "state.go", nil, 0)
		testkit.Check(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok {
				stateNames = append(stateNames, strings.TrimPrefix(v.Names[0].Name, "State"))
			}
			return true
		})
	}
	return stateNames[s]
}

var stateNames []string
