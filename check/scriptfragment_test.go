package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
)

const (
	// readsHash is a script that can serve fragments, noHash one that cannot.
	readsHash = "<script>show(location.hash)</script>"
	noHash    = "<script>x()</script>"
)

// asking returns a docroot where p.html links to fragments of t.html. target is
// the text of t.html.
func asking(target string, fragments ...string) files {
	var p strings.Builder
	p.WriteString(plain)
	for _, f := range fragments {
		fmt.Fprintf(&p, "<a href=\"t.html#%s\">x</a>\n", f)
	}
	return files{"p.html": p.String(), "t.html": plain + target}
}

// routes returns n fragments that a script serves, if there is one.
func routes(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("/m%d", i))
	}
	return all
}

// TestScriptEvidence: what makes a missing fragment one that a script serves.
// evidence is empty if it is an error.
func TestScriptEvidence(t *testing.T) {
	const inline = "an inline script reads location.hash"
	tests := []struct {
		name, target, fragment string
		more                   files
		evidence               string
	}{
		{"route", readsHash, "/guide", nil, inline},
		{"bang", readsHash, "!guide", nil, inline},
		{"line", readsHash, "L10", nil, inline},
		{"setting", readsHash, "tab=2", nil, inline},
		{"path", readsHash, "tag/pets", nil, inline},
		{"ordinary", readsHash, "guide", nil, ""},
		{"ordinary_other_script", readsHash, "%E6%A6%82%E8%A6%81", nil, ""},
		{"route_no_script", "", "/guide", nil, ""},
		{"line_no_script", "", "L10", nil, ""},
		{"bang_no_script", "", "!guide", nil, ""},
		{"route_other_inline", noHash, "/guide", nil, ""},
		{"event", "<script>window.addEventListener('hashchange', go)</script>", "/guide", nil, "an inline script handles hashchange"},
		{"only_sets_it", "<script>location.hash = x</script>", "/guide", nil, ""},
		{"only_a_comment", "<script>f() // location.hash</script>", "/guide", nil, ""},
		{"not_run", "<script type=text/template>location.hash</script>", "/guide", nil, ""},
		{"inert", "<template>" + readsHash + "</template>", "/guide", nil, ""},
		{"analytics", "<script>gtag('config', 'G-1', {page_path: location.pathname + location.hash})</script>", "/guide", nil, ""},
		{"local", "<script src=/js/app.js></script>", "/guide", files{"js/app.js": "go(window.location.hash)"}, "js/app.js reads location.hash"},
		{"local_other", "<script src=/js/app.js></script>", "/guide", files{"js/app.js": "go()"}, ""},
		{"local_missing", "<script src=/js/app.js></script>", "/guide", nil, ""},
		{"external", "<script src=https://cdn.example/app.js></script>", "/guide", nil, ""},
		{"jquery", "<script src=jquery.min.js></script>", "/guide", files{"jquery.min.js": "f(location.hash)"}, ""},
		{"jquery_bundle", "<script src=v.js></script>", "/guide", files{"v.js": "/*! jQuery v3.7.1 */ f(location.hash)"}, ""},
		{"docsify", "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "/guide?id=x", nil, "Docsify (//cdn.jsdelivr.net/npm/docsify@4)"},
		{"docsify_ordinary", "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "guide", nil, ""},
		{"docsify_file", "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "guide", files{"guide.md": ""}, "Docsify (//cdn.jsdelivr.net/npm/docsify@4)"},
		{"docsify_directory", "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "d/e/", files{"d/e/README.md": ""}, "Docsify (//cdn.jsdelivr.net/npm/docsify@4)"},
		{"docsify_no_file", "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "d/e", files{"d/e/README.md": ""}, ""},
		{"docsify_local", "<script src=lib/docsify.min.js></script>", "/guide", files{"lib/docsify.min.js": ""}, "Docsify (lib/docsify.min.js)"},
		{"range", "<script src=source-script1.63.0.js></script><i id=2></i><i id=9></i>", "2-9", nil, "rustdoc (source-script1.63.0.js)"},
		{"range_letters", readsHash + "<i id=L2></i><i id=L9></i>", "L2-9", nil, inline},
		{"range_first_missing", readsHash + "<i id=9></i>", "2-9", nil, ""},
		{"range_last_missing", readsHash + "<i id=L2></i>", "L2-L9", nil, ""},
		{"range_no_script", noHash + "<i id=2></i><i id=9></i>", "2-9", nil, ""},
		{"disqus", "<div id=disqus_thread></div><script>s.src = 'https://blog.disqus.com/embed.js'</script>", "comment-429725642", nil, "Disqus (an inline script)"},
		{"disqus_address", "<script src=//blog.disqus.com/embed.js></script>", "comment-42", nil, "Disqus (//blog.disqus.com/embed.js)"},
		{"disqus_loaded_by_a_file", "<script src=/js/d.js></script>", "comment-42", files{"js/d.js": "s.src = '//x.disqus.com/embed.js'"}, "Disqus (js/d.js)"},
		{"disqus_other_id", "<script src=//blog.disqus.com/embed.js></script>", "comments", nil, ""},
		{"disqus_ids_of_the_page", "<script src=//blog.disqus.com/embed.js></script><i id=comment-7></i>", "comment-4298", nil, ""},
		{"disqus_similar_id", "<script src=//blog.disqus.com/embed.js></script><i id=Comment-42></i>", "comment-42", nil, ""},
		{"disqus_id_elsewhere", "<script src=//blog.disqus.com/embed.js></script>", "comment-42", files{"u.html": plain + "<i id=comment-42></i>"}, ""},
		{"giscus", "<script src=https://giscus.app/client.js></script>", "comment-42", nil, ""},
		{"comment_without_script", "", "comment-42", nil, ""},
		{"isso", "<script src=//comments.example/isso/js/embed.min.js></script><script src=//isso.example/js/embed.min.js></script>", "isso-12", nil, "Isso (//isso.example/js/embed.min.js)"},
		{"isso_copy", "<script src=/embed.js></script>", "isso-12", files{"embed.js": `location.hash.match("^#isso-[0-9]+$")`}, "Isso (embed.js)"},
		{"artalk", "<script src=https://unpkg.com/artalk@2.9.1/dist/Artalk.js></script>", "atk-comment-12", nil, "Artalk (https://unpkg.com/artalk@2.9.1/dist/Artalk.js)"},
		{"twikoo", "<script src=https://cdn.jsdelivr.net/npm/twikoo@1.7.9/dist/twikoo.min.js></script>", "0123456789abcdef0123456789abcdef", nil, "Twikoo (https://cdn.jsdelivr.net/npm/twikoo@1.7.9/dist/twikoo.min.js)"},
		{"comment_utils", "<script src=https://cdn.jsdelivr.net/npm/@xiee/utils/js/comment-utils.min.js></script>", "comment-42", nil, "comment-utils of @xiee/utils (https://cdn.jsdelivr.net/npm/@xiee/utils/js/comment-utils.min.js)"},
		// template.js of scaladoc 2.12 and later, which has no frame set, shows the
		// member that has the id.
		{"scaladoc_2.13", scaladoc213 + "<a id=map(f:A=&gt;B):B></a>", "map(f:B=>A):A", nil, ""},
		{"scaladoc_2.13_ordinary", scaladoc213, "size:Int", nil, ""},
		{"similar_id", readsHash + "<i id=guide></i>", "/guide", nil, ""},
		{"same_form_id", readsHash + "<i id=/start></i>", "/guide/more", nil, ""},
		{"line_among_lines", readsHash + "<i id=L1></i><i id=L2></i>", "L6000", nil, ""},
		{"id_elsewhere", readsHash, "/guide", files{"u.html": plain + "<i id=/guide></i>"}, ""},
		{"id_elsewhere_decoded", readsHash, "/gu%C3%ADde", files{"u.html": "<!doctype html><meta charset=utf-8><i id=/guíde></i>"}, ""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			fs := asking(tc.target, tc.fragment)
			for name, text := range tc.more {
				fs[name] = text
			}
			s := load(t, tempDocroot(t, fs), isite.Options{})
			wantCode := ScriptFragment
			if tc.evidence == "" {
				wantCode = MissingFragment
			}
			found := 0
			r, err := Links(t.Context(), handle(s), Options{}, Query{From: "p.html"}, func(l *Link) error {
				if found++; l.Code != wantCode || l.Evidence != tc.evidence {
					t.Errorf("the row has %s and %q, want %s and %q", l.Code, l.Evidence, wantCode, tc.evidence)
				}
				return nil
			})
			if err != nil || found != 1 {
				t.Errorf("%d rows, %v", found, err)
			}
			want := []ScriptFragmentCount{{tc.evidence, 1, 1, 1}}
			if tc.evidence == "" {
				want = nil
			}
			if got := r.Summary.ScriptFragments; len(got) != len(want) || len(want) == 1 && got[0] != want[0] {
				t.Errorf("the summary has %v, want %v", got, want)
			}
			x, err := Explain(t.Context(), handle(s), Options{}, "p.html", "t.html#"+tc.fragment)
			if err != nil || (x.Link.Code == ScriptFragment) != (tc.evidence != "") || !strings.Contains(x.String(), tc.evidence) {
				t.Errorf("explain: %v, %s\n%s", err, x.Link.Code, x)
			}
		})
	}
}

// TestManyMissingFragments: the number of links that ask for missing fragments
// changes nothing, whatever scripts the page runs.
func TestManyMissingFragments(t *testing.T) {
	for _, script := range []string{noHash, readsHash, "<script src=gtag.js></script>"} {
		for _, n := range []int{1, 7, 8, 500} {
			var fragments []string
			for i := range n {
				fragments = append(fragments, fmt.Sprintf("m%d", i))
			}
			fs := asking(script, fragments...)
			fs["gtag.js"] = "send(location.hash)"
			r := checkFiles(t, fs, isite.Options{}, Options{})
			if r.Summary.Errors != n || r.Summary.Unchecked != 0 || len(r.Findings) != n || r.Findings[0].Code != MissingFragment {
				t.Errorf("%s: %d links: %+v", script, n, r.Summary)
			}
		}
	}
}

// scaladoc is a small API documentation with the frame set of scaladoc 2.11.
var scaladoc = files{
	"api/index.html":        plain + `<script src=lib/jquery.js></script><script src=lib/index.js></script><div id=library></div><div id=browser></div>`,
	"api/lib/index.js":      "function setFrameSrcFromUrlFragment() { var fragment = location.hash.slice(1); }",
	"api/lib/jquery.js":     "// XSS via location.hash",
	"api/package.html":      plain + "<a id=scala></a>",
	"api/scala/Option.html": plain + `<a id="map[B](f:A=>B)"></a>`,
}

// TestScaladocRoutes: the frame set of scaladoc shows the page of the class that
// a fragment names. The page and the member must exist.
func TestScaladocRoutes(t *testing.T) {
	good := []string{"package", "package@scala", "scala.Option", "scala.Option@map[B](f:A=%3EB)"}
	broken := []string{"scala.Optoin", "scala.Option@map", "scala", "broken-17", "/scala/Option", "package@", "index", "lib.index.js"}
	fs := files{}
	for name, text := range scaladoc {
		fs[name] = text
	}
	var p strings.Builder
	p.WriteString(plain)
	for _, f := range slices.Concat(good, good, broken) {
		fmt.Fprintf(&p, "<a href=\"api/index.html#%s\">x</a>\n", f)
	}
	fs["p.html"] = p.String()
	r := checkFiles(t, fs, isite.Options{}, Options{})
	var missing []string
	for _, f := range r.Findings {
		if f.Code == MissingFragment {
			missing = append(missing, f.Fragment)
		}
	}
	// api/index.html exists, so the frame set would show itself.
	want := slices.DeleteFunc(slices.Clone(broken), func(f string) bool { return f == "index" })
	if !slices.Equal(missing, want) {
		t.Errorf("missing %q, want %q", missing, want)
	}
	if len(r.Findings) != len(want)+1 || r.Findings[0].Count != 9 || !strings.Contains(r.Findings[0].Message, "5 fragments of api/index.html, such as #package, are left to a script: scaladoc (api/lib/index.js)") {
		t.Errorf("%v: %s", briefs(r.Findings), r.Findings[0].Message)
	}
	if got := r.Summary.ScriptFragments; len(got) != 1 || got[0] != (ScriptFragmentCount{"scaladoc (api/lib/index.js)", 5, 1, 9}) {
		t.Errorf("the summary has %v", got)
	}
}

// TestScriptModes: the three settings for fragments that a script serves.
func TestScriptModes(t *testing.T) {
	for name, fs := range map[string]files{
		"route": asking(readsHash, "/r", "/r", "/r", "/r", "/r", "!r", "!s", "!t"),
		"range": asking(readsHash+"<i id=2></i><i id=9></i>", "2-9", "2-9", "2-9", "2-9", "2-9", "2-9", "2-9", "2-9"),
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, tempDocroot(t, fs), isite.Options{})
			warn, fail, silent := run(t, s, Options{}), run(t, s, Options{ScriptFragments: ScriptError}), run(t, s, Options{ScriptFragments: ScriptSilent})
			if len(warn.Findings) != 1 || warn.Findings[0].Count != 8 || warn.Summary.Unchecked != 8 || !warn.HasWarnings() {
				t.Errorf("warn: %v, %+v", briefs(warn.Findings), warn.Summary)
			}
			if len(fail.Findings) != 8 || fail.Summary.Errors != 8 || fail.Findings[0].Code != MissingFragment || len(fail.Summary.ScriptFragments) != 0 {
				t.Errorf("error: %v, %+v", briefs(fail.Findings), fail.Summary)
			}
			if len(silent.Findings) != 0 || silent.Summary.Unchecked != 8 || silent.HasWarnings() || len(silent.Summary.Reasons) != 1 || silent.Summary.Reasons[0] != (CodeCount{ScriptFragment, 8}) ||
				len(silent.Summary.ScriptFragments) != 1 {
				t.Errorf("silent: %v, %+v", briefs(silent.Findings), silent.Summary)
			}
		})
	}
}

// TestScriptRules: the configuration can say which fragments scripts serve. They
// are counted and not reported, whatever script-fragments says.
func TestScriptRules(t *testing.T) {
	fs := asking("", "a1", "a1", "a2", "b%C3%A41", "c")
	fs["p.html"] += "<a href=#a1>"
	for _, tc := range []struct {
		name    string
		rules   []ScriptRule
		missing int
		notes   []string
		count   ScriptFragmentCount
	}{
		{"fragment", []ScriptRule{{Fragment: "a*", Origin: "x:1"}}, 2, nil, ScriptFragmentCount{"x:1 says so", 3, 2, 4}},
		{"decoded", []ScriptRule{{Fragment: "bä1", Origin: "x:1"}}, 5, nil, ScriptFragmentCount{"x:1 says so", 1, 1, 1}},
		{"page", []ScriptRule{{Page: "t.html", Origin: "x:1"}}, 1, nil, ScriptFragmentCount{"x:1 says so", 4, 1, 5}},
		{"both", []ScriptRule{{Page: "t.html", Fragment: "a1", Origin: "x:1"}}, 4, nil, ScriptFragmentCount{"x:1 says so", 1, 1, 2}},
		{"unused", []ScriptRule{{Page: "t.html", Origin: "x:1"}, {Page: "u.html", Origin: "x:5"}}, 1,
			[]string{"x:5: [[script-fragments]] matches no missing fragment; remove it"}, ScriptFragmentCount{"x:1 says so", 4, 1, 5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := load(t, tempDocroot(t, fs), isite.Options{})
			for _, mode := range []ScriptFragments{ScriptWarn, ScriptError, ScriptSilent} {
				r := run(t, s, Options{ScriptFragments: mode, ScriptRules: tc.rules})
				if r.Summary.Errors != tc.missing || len(r.Findings) != tc.missing || r.HasWarnings() || !slices.Equal(r.Summary.Notes, tc.notes) ||
					!slices.Equal(r.Summary.ScriptFragments, []ScriptFragmentCount{tc.count}) {
					t.Errorf("%v: %v, %+v", mode, briefs(r.Findings), r.Summary)
				}
			}
			x, err := Explain(t.Context(), handle(s), Options{ScriptRules: []ScriptRule{{Fragment: "a*", Origin: "x:1"}}}, "p.html", "t.html#a1")
			if err != nil || x.Link.Verdict != Unchecked || !strings.Contains(x.String(), "x:1 says so") {
				t.Errorf("explain: %v\n%s", err, x)
			}
		})
	}
	for _, r := range []ScriptRule{{Origin: "x:1"}, {Page: "[", Origin: "x:1"}} {
		if _, err := Run(t.Context(), handle(load(t, tempDocroot(t, fs), isite.Options{})), Options{ScriptRules: []ScriptRule{r}}); err == nil || !strings.HasPrefix(err.Error(), "x:1: ") {
			t.Errorf("%+v: got %v", r, err)
		}
	}
}

// TestScriptPerTarget: each target page has one warning, with an example that
// does not depend on the order of work. Two scripts are two pieces of evidence.
func TestScriptPerTarget(t *testing.T) {
	fs := files{"source-script.js": "", "t1.html": plain + readsHash, "t2.html": plain + readsHash + "<script src=source-script.js></script><i id=1></i><i id=2></i>"}
	for i := range 70 {
		fs[fmt.Sprintf("p%02d.html", i)] = plain + "<a href=t1.html#/a><a href=t2.html#/b><a href=t1.html#/c><a href=t2.html#1-2>"
	}
	r := checkFiles(t, fs, isite.Options{}, Options{Jobs: 3})
	if len(r.Findings) != 2 || r.Findings[0].Count+r.Findings[1].Count != 280 || r.Summary.Unchecked != 280 {
		t.Errorf("got %v, %+v", briefs(r.Findings), r.Summary)
	}
	compareBriefs(t, r.Findings, "p00.html:1:40 warning script-fragment t1.html#/a", "p00.html:1:59 warning script-fragment t2.html#/b")
	if m := r.Findings[1].Message; !strings.Contains(m, "2 fragments of t2.html") || !strings.Contains(m, ": an inline script reads location.hash; rustdoc (source-script.js);") {
		t.Error(m)
	}
	want := []ScriptFragmentCount{{"an inline script reads location.hash", 3, 2, 210}, {"rustdoc (source-script.js)", 1, 1, 70}}
	if !slices.Equal(r.Summary.ScriptFragments, want) {
		t.Errorf("the summary has %v", r.Summary.ScriptFragments)
	}
}

// TestScriptAndWarning: a link keeps the warning about its path.
func TestScriptAndWarning(t *testing.T) {
	r := checkFiles(t, files{"p.html": plain + "<a href=d//t.html#/r>", "d/t.html": plain + readsHash}, isite.Options{}, Options{})
	compareBriefs(t, r.Findings, "p.html:1:40 warning double-slash d//t.html#/r")
	if r.Summary.Warnings != 1 || r.Summary.Unchecked != 0 {
		t.Errorf("%+v", r.Summary)
	}
}

// TestAliasPassesFragmentOn: the script of an alias page can pass the fragment on
// to the new page. The link then has the warning of the alias, and it is an error
// if the new page lacks the fragment too.
func TestAliasPassesFragmentOn(t *testing.T) {
	alias := func(to string) string {
		return `<!doctype html><meta http-equiv=refresh content="0;url=` + to + `">`
	}
	passing := alias("new.html") + `<script>location.replace("new.html" + location.hash)</script>`
	s := load(t, tempDocroot(t, files{
		"p.html":   plain + "<a href=old.html#here><a href=old.html#gone><a href=older.html#h%C3%A9re><a href=plain.html#here><a href=away.html#x><a href=loop.html#x>",
		"old.html": passing, "older.html": alias("old.html") + "<script>go(location.hash)</script>", "plain.html": alias("new.html"),
		"away.html": alias("https://other.example/") + "<script>go(location.hash)</script>", "loop.html": alias("loop2.html") + "<script>go(location.hash)</script>",
		"loop2.html": alias("loop.html"), "new.html": "<!doctype html><meta charset=utf-8><i id=here></i><i id=h\u00e9re></i>",
	}), isite.Options{})
	var got []string
	for _, f := range run(t, s, Options{}).Findings {
		if f.Page == "p.html" {
			got = append(got, string(f.Code)+" "+f.Raw)
		}
	}
	want := []string{"via-redirect old.html#here", "missing-fragment old.html#gone", "via-redirect older.html#h%C3%A9re",
		"missing-fragment plain.html#here", "via-redirect away.html#x", "missing-fragment loop.html#x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for i, raw := range []string{"old.html#here", "old.html#gone"} {
		x, err := Explain(t.Context(), handle(s), Options{}, "p.html", raw)
		if want := []Code{ViaRedirect, MissingFragment}[i]; err != nil || x.Link.Code != want {
			t.Errorf("explain %s: %v, %s, want %s\n%s", raw, err, x.Link.Code, want, x)
		}
	}
}

// TestRangeIsAnID: an id with the text of a range is found.
func TestRangeIsAnID(t *testing.T) {
	compareBriefs(t, checkFiles(t, asking(readsHash+"<i id=2-9></i>", "2-9"), isite.Options{}, Options{}).Findings)
}

// scaladoc213 is the part of lib/template.js of scaladoc 2.13 that reads the hash.
const scaladoc213 = `<script>function findElementByHash(locationHash) { return $('#' + escapeJquery(locationHash.replace('#', ''))); }
if (window.location.hash) {
    var jqElem = findElementByHash(decodeURIComponent(window.location.hash));
    if (jqElem.length > 0) { if (jqElem.hasClass("toggleContainer")) toggleShowContentFct(jqElem); else exposeMember(jqElem); }
}</script>`

// TestScriptCause: the same script on many pages is one cause.
func TestScriptCause(t *testing.T) {
	fs := files{"app.js": "go(location.hash)", "p.html": plain + "<a href=a.html#/x><a href=b.html#/y><a href=c.html#/z>", "c.html": plain + readsHash}
	for _, name := range []string{"a.html", "b.html"} {
		fs[name] = plain + "<script src=app.js></script>"
	}
	r := checkFiles(t, fs, isite.Options{}, Options{})
	causes := Causes(r.Findings)
	if len(r.Findings) != 3 || len(causes) != 2 || causes[0].Links != 2 || causes[1].Links != 1 {
		t.Errorf("got %v, %+v", briefs(r.Findings), causes)
	}
}
