package fix

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/source"
)

// refContent are the content files of the tests below.
var refContent = []string{
	"_index.md", "posts/first-steps.md", "posts/second.md", "docs/_index.md", "docs/setup/index.md", "docs/guide.md",
	"notes/same.md", "blog/same.md", "blog/installation.md", "blog/instructions.md", "docs/Über uns.md",
}

// TestRefs: what fix writes in place of an argument of ref, and why it leaves one alone.
func TestRefs(t *testing.T) {
	for _, tt := range []struct{ from, ref, want string }{
		// they resolve
		{"docs/guide.md", "second.md", ""},
		{"docs/guide.md", "/posts/second.md", ""},
		{"docs/guide.md", "setup/", ""},
		{"docs/guide.md", "docs/setup/index.md", ""},
		{"docs/guide.md", "#anchor", ""},
		{"docs/guide.md", "https://example.org/x.md", ""},
		// exactly one page has the name: in the shortest form that resolves
		{"docs/guide.md", "old/second.md", "safe second.md"},
		{"docs/guide.md", "/old/second.md#more", "safe second.md#more"},
		{"docs/guide.md", "old/second", "safe second"},
		{"posts/second.md", "docs/first_steps.md", "safe first-steps.md"},
		{"posts/second.md", "blog/setup/index.md", "safe docs/setup/index.md"},
		{"docs/guide.md", "old/über-uns.md", "safe über-uns.md"},
		// a typing error
		{"docs/guide.md", "frist-steps.md", "likely first-steps.md"},
		{"docs/guide.md", "posts/seccond.md#x", "likely second.md#x"},
		{"docs/guide.md", "blog/instalation", "likely installation"},
		// several pages, or none
		{"docs/guide.md", "old/same.md", "it may mean several pages: blog/same or notes/same"},
		{"docs/guide.md", "nothing.md", "no page has a similar name"},
	} {
		m := testMaker(t, map[string]string{"content/" + tt.from: "---\ntitle: T\n---\nSee [x]({{< ref \"" + tt.ref + "\" >}}).\n"})
		for i, name := range refContent {
			m.content = append(m.content, source.ContentFile{File: "content/" + name, Name: name, Page: strings.TrimSuffix(name, path.Ext(name)), Module: "other"})
			if name == tt.from {
				m.content[i].Module = ""
			}
			m.byFile["content/"+name] = i
		}
		m.proposeRefs("content/" + tt.from)
		m.opt.Likely = true
		m.decide()
		got := ""
		for _, e := range m.plan.Edits {
			got = "safe " + e.New
			if e.Likely {
				got = "likely " + e.New
			}
			if e.Code != check.UnresolvedRef || e.Old != tt.ref {
				t.Errorf("%s: %+v", tt.ref, e)
			}
		}
		for _, s := range m.plan.Skips {
			got += s.Why
		}
		if got != tt.want {
			t.Errorf("%s in %s: %q, want %q", tt.ref, tt.from, got, tt.want)
		}
	}
}

// TestOwner: files of modules, and those outside of the repository, are not the author's.
func TestOwner(t *testing.T) {
	m := testMaker(t, nil)
	for _, tt := range []struct {
		p    check.Position
		want string
	}{
		{check.Position{File: "content/a.md"}, ""},
		{check.Position{File: "themes/x/layouts/a.html", Module: "x"}, "the file belongs to the theme or module x"},
		{check.Position{File: filepath.ToSlash(filepath.Join(t.TempDir(), "a.md"))}, "the file is outside the repository"},
	} {
		if got := m.owner(&tt.p); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.p, got, tt.want)
		}
	}
}

// TestSuspects: which files' edits are taken back. Two edits are in one file, one is in
// another.
func TestSuspects(t *testing.T) {
	finding := func(page, raw string, code check.Code) check.Finding {
		return check.Finding{Page: page, Raw: raw, Code: code, Message: raw + " is wrong"}
	}
	edits := []Edit{
		{File: "one.md", Old: "/A/", New: "/a/", links: []builtLink{{fault: fault{"p.html", "/A/", check.MissingFile}}}},
		{File: "one.md", Old: "/B/", New: "/b/", links: []builtLink{{fault: fault{"p.html", "/B/", check.MissingFile}}}},
		{File: "two.md", Old: "/C/", New: "/c/", links: []builtLink{{fault: fault{"q.html", "/C/", check.MissingFile}}, {fault: fault{"list.html", "/C/", check.MissingFile}}}},
		{File: "three.md", New: "an alias", Rule: KeepAddress, links: []builtLink{{fault: fault{"gone.html", "/gone/", check.AddressGone}}}},
	}
	for _, tt := range []struct {
		name       string
		fixed, new []check.Finding
		left       []check.Finding
		want       string
	}{
		{"all fixed", []check.Finding{finding("p.html", "/A/", check.MissingFile)}, nil, nil, ""},
		{"one is still there", nil, nil, []check.Finding{finding("gone.html", "/gone/", check.AddressGone)}, "three.md"},
		{"a new one of a new value", nil, []check.Finding{finding("p.html", "/b/", check.MissingFragment)}, nil, "one.md"},
		{"a new one of a new value in a list", nil, []check.Finding{finding("list.html", "https://x.example/c/", check.MissingFile)}, nil, "two.md"},
		{"a new one on a page that an edit changed", nil, []check.Finding{finding("q.html", "/other/", check.MissingFile)}, nil, "two.md"},
		{"a new one of the value on another page", nil, []check.Finding{finding("r.html", "/a/", check.MissingFile)}, nil, "one.md"},
		{"two new ones, each with its file", nil, []check.Finding{finding("p.html", "/b/", check.MissingFragment), finding("q.html", "/c/", check.MissingFragment)}, nil, "one.md two.md"},
		{"a new one that no edit explains", nil, []check.Finding{finding("r.html", "/z/", check.MissingFile)}, nil, ""},
	} {
		r := &Result{Applied: edits}
		got := r.suspects(check.Difference{Fixed: tt.fixed, New: tt.new}, &check.Result{Findings: append(tt.left, tt.new...)})
		if names := slices.Sorted(maps.Keys(got)); strings.Join(names, " ") != tt.want {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
		for name, why := range got { // the reason is that of the file
			if len(tt.new) > 0 && !slices.ContainsFunc(tt.new, func(f check.Finding) bool { return strings.Contains(why, f.Message) && strings.HasPrefix(why, f.Page) }) {
				t.Errorf("%s: %s: %s", tt.name, name, why)
			}
		}
	}
	// The generator names files by their last names.
	r := &Result{Applied: []Edit{{File: "content/posts/one.md"}, {File: "content/posts/two.md"}}}
	if got := r.named(`ERROR "/tmp/x/posts/two.md:3:1": failed`, "failed"); fmt.Sprint(got) != "map[content/posts/two.md:failed]" {
		t.Errorf("named by the generator: %v", got)
	}
}

// TestBetter: a broken link with another address is no new finding, unless it is worse.
func TestBetter(t *testing.T) {
	finding := func(page, raw string, code check.Code, verdict check.Verdict) check.Finding {
		return check.Finding{Page: page, Raw: raw, Code: code, Verdict: verdict}
	}
	r := &Result{Applied: []Edit{{File: "toc.yaml", Old: "/faq", New: "/faq/", links: []builtLink{
		{fault: fault{"new.html", "/v2/faq", ""}}, {fault: fault{"list.html", "/faq", check.MissingFile}}}}}}
	for _, tt := range []struct {
		name       string
		fixed, new []check.Finding
		want       int
	}{
		{"as in a list", nil, []check.Finding{finding("list.html", "/faq/", check.MissingFile, check.Error)}, 0},
		{"composed", []check.Finding{finding("old.html", "/v1/faq", check.MissingFile, check.Error)}, []check.Finding{finding("old.html", "/v1/faq/", check.MissingDirectory, check.Error)}, 0},
		{"of another page", []check.Finding{finding("other.html", "/v1/faq", check.MissingFile, check.Error)}, []check.Finding{finding("old.html", "/v1/faq/", check.MissingDirectory, check.Error)}, 1},
		{"one more", []check.Finding{finding("old.html", "/v1/faq", check.MissingFile, check.Error)}, []check.Finding{finding("old.html", "/v1/faq/", check.MissingDirectory, check.Error), finding("old.html", "/v1/faq/", check.MissingDirectory, check.Error)}, 1},
		{"with another beginning", []check.Finding{finding("old.html", "/v1/faq", check.MissingFile, check.Error)}, []check.Finding{finding("old.html", "/v2/faq/", check.MissingDirectory, check.Error)}, 1},
		{"an error after a warning", []check.Finding{finding("old.html", "/v1/faq", check.ViaRedirect, check.Warning)}, []check.Finding{finding("old.html", "/v1/faq/", check.MissingDirectory, check.Error)}, 1},
	} {
		if got := r.better(check.Difference{Fixed: tt.fixed, New: tt.new}); len(got) != tt.want {
			t.Errorf("%s: %d new findings, want %d", tt.name, len(got), tt.want)
		}
	}
}
