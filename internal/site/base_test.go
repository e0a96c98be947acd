package site

import (
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

// baseFixture is the page of LL-35: /d/b.html with a link before the base and
// three behind it.
const baseFixture = `<!doctype html>
<a href=p.html><base href="http://www.example.com/x/y/z.html"><a href=r.html><a href=/s.html><a href=../u.html>`

// TestBase proves both readings of <base href> (A-LL-4).
func TestBase(t *testing.T) {
	bases := []string{"http://www.example.com/"}
	tests := []struct {
		name string
		rule host.BaseRule
		page string
		want []string // targets, in order
	}{
		{"LL-35/document_order", host.BaseDocumentOrder, baseFixture, []string{"/d/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}},
		{"LL-35/html5_rules_what_is_before", host.BaseHTML5, baseFixture, []string{"/x/y/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}},
		{"LL-35/document_order_later_overrides", host.BaseDocumentOrder,
			`<!doctype html><base href=/one/><a href=a><base href=/two/><a href=a>`, []string{"/one/a", "/two/a"}},
		{"LL-35/html5_first_wins", host.BaseHTML5,
			`<!doctype html><base href=/one/><a href=a><base href=/two/><a href=a>`, []string{"/one/a", "/one/a"}},
		{"LL-35/document_order_second_base_from_page", host.BaseDocumentOrder,
			`<!doctype html><base href=/one/><base href=sub/><a href=a>`, []string{"/d/sub/a"}},
		{"LL-36/html5", host.BaseHTML5, `<!doctype html><base href="http://other.example/q/"><a href=r.html><a href=/s.html><a href="?z"><a href="//h.example/">`,
			[]string{"http://other.example/q/r.html", "http://other.example/s.html", "http://other.example/q/?z", "http://h.example/"}},
		{"LL-36/document_order", host.BaseDocumentOrder, `<!doctype html><base href="http://other.example/q/"><a href=r.html><a href=/s.html>`,
			[]string{"http://other.example/q/r.html", "http://other.example/s.html"}},
		{"LL-36/scheme_alone_from_base", host.BaseHTML5, `<!doctype html><base href="https://other.example/q/"><a href="//www.example.com/d/">`, []string{"/d/"}},
		{"LL-37/html5_without_scheme", host.BaseHTML5, `<!doctype html><base href="/x/y/z.html"><a href=r.html>`, []string{"/x/y/r.html"}},
		{"LL-37/document_order_without_scheme", host.BaseDocumentOrder, `<!doctype html><base href="/x/y/z.html"><a href=r.html>`, []string{"/x/y/r.html"}},
		{"LL-37/target_only_html5", host.BaseHTML5, `<!doctype html><base target=_top><a href=r.html>`, []string{"/d/r.html"}},
		{"LL-37/target_only_document_order", host.BaseDocumentOrder, `<!doctype html><base target=_top><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/first_base_with_href", host.BaseHTML5, `<!doctype html><base target=_top><base href=/x/><a href=r.html>`, []string{"/x/r.html"}},
		{"HTML_4.2.3/data_is_no_base", host.BaseHTML5, `<!doctype html><base href="data:,x"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/javascript_is_no_base", host.BaseHTML5, `<!doctype html><base href="javascript:1"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/bad_url_is_no_base", host.BaseHTML5, `<!doctype html><base href="http://[/"><a href=r.html>`, []string{"/d/r.html"}},
		{"HTML_4.2.3/base_in_template_is_none", host.BaseHTML5, `<!doctype html><template><base href=/x/></template><a href=r.html>`, []string{"/d/r.html"}},
		{"browser/fragment_leads_to_base", host.BaseHTML5, `<!doctype html><base href=/x/y.html><a href="#f">`, []string{"/x/y.html"}},
		{"browser/empty_leads_to_base", host.BaseHTML5, `<!doctype html><base href=/x/y.html><a href="">`, []string{"/x/y.html"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"d/b.html": tc.page}, Options{BaseURLs: bases, Base: tc.rule})
			if got := targets(t, s, "d/b.html"); !slices.Equal(got, tc.want) {
				t.Errorf("got %q\nwant %q", got, tc.want)
			}
		})
	}
}

// TestLinklintProfileBase: the profile of that name reads base in document
// order without being told to.
func TestLinklintProfileBase(t *testing.T) {
	s := loadFiles(t, files{"d/b.html": baseFixture}, Options{BaseURLs: []string{"http://www.example.com/"}, Profile: host.Linklint})
	want := []string{"/d/p.html", "/x/y/r.html", "/s.html", "/x/u.html"}
	if got := targets(t, s, "d/b.html"); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// TestBaseOwnURL: a base that is the page's own URL changes nothing, and
// neither does one that is only a fragment.
func TestBaseOwnURL(t *testing.T) {
	for _, base := range []string{"b.html", "#x", "", "/d/b.html", "./"} {
		page := `<!doctype html><base href="` + base + `"><a href=c.html><a href="../e.html#f">`
		s := loadFiles(t, files{"d/b.html": page, "d/c.html": plain, "e.html": plain}, Options{})
		for i, want := range []string{"OK 200 /d/c.html = d/c.html", "OK 200 /e.html = e.html # f"} {
			d := details(t, s, "d/b.html")
			if got := answerOf(t, s, &d[i]); got != want {
				t.Errorf("base %q: got %s, want %s", base, got, want)
			}
		}
	}
}

// TestBaseDiffers: A-LL-4, pages on which the two readings could differ are
// known, others are not accused.
func TestBaseDiffers(t *testing.T) {
	tests := []struct {
		name, page string
		want       bool
	}{
		{"link_before", `<a href=x><base href=/y/>`, true},
		{"second_base", `<base href=/y/><base href=/z/><a href=x>`, true},
		{"one_base_in_front", `<base href=/y/><a href=x>`, false},
		{"none", `<a href=x>`, false},
		{"target_only", `<a href=x><base target=_top>`, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := loadFiles(t, files{"p.html": "<!doctype html>" + tc.page}, Options{})
			if got := s.Page(0).BaseDiffers(); got != tc.want {
				t.Errorf("got %t, want %t", got, tc.want)
			}
		})
	}
}

// TestRecordsFollowBase: what a page's records say when it is loaded and what
// its details say when it is read again come from the same base.
func TestRecordsFollowBase(t *testing.T) {
	page := `<!doctype html><a href=a.html><base href=/x/><a href=a.html><base href=/y/><a href=a.html>`
	fs := files{"p.html": page, "x/a.html": plain}
	for rule, want := range map[host.BaseRule][]host.State{
		host.BaseHTML5:         {host.StateOK, host.StateOK, host.StateOK},
		host.BaseDocumentOrder: {host.StateMissingFile, host.StateOK, host.StateMissingFile},
	} {
		s := loadFiles(t, fs, Options{Base: rule})
		for i, d := range details(t, s, "p.html") {
			if d.State != want[i] || s.Page(pageID(t, s, "p.html")).All()[i].State != want[i] {
				t.Errorf("rule %d, link %d: detail %s, want %s", rule, i, stateName(t, d.State), stateName(t, want[i]))
			}
		}
	}
}
