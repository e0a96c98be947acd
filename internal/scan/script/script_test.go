package script

import (
	"slices"
	"strings"
	"testing"
)

// TestByText: which scripts read the fragment of the page's address.
func TestByText(t *testing.T) {
	far := strings.Repeat("x();", 200)
	for _, tc := range []struct{ name, text, how string }{
		{"read", "show(location.hash)", "reads location.hash"},
		{"read_window", "var h = window . location\n. hash;", "reads location.hash"},
		{"compared", "if (location.hash == '#x') y()", "reads location.hash"},
		{"compared_strictly", "if (location.hash === x) y()", "reads location.hash"},
		{"in_template", "f(`a ${location.hash} b`)", "reads location.hash"},
		{"in_nested_template", "f(`a ${{a: `${1}`, b: location.hash}} b`)", "reads location.hash"},
		{"after_url", `x = "http://example.org/"; f(location.hash)`, "reads location.hash"},
		{"after_regex", `x = a.replace(/["'/*]/g, ""); f(location.hash)`, "reads location.hash"},
		{"after_division", `x = a / b; y = "/"; f(location.hash)`, "reads location.hash"},
		{"after_regex_of_slashes", `return /[/]\//.test(a) && location.hash`, "reads location.hash"},
		{"event", `addEventListener("hashchange", f)`, "handles hashchange"},
		{"jquery_event", `$(window).on('popstate hashchange.tabs', f)`, "handles hashchange"},
		{"property", `window.onhashchange = f`, "handles hashchange"},
		{"far_from_analytics", "gtag('config');" + far + "f(location.hash)", "reads location.hash"},

		{"nothing", "x()", ""},
		{"other_hash", "x.hash = hash(location)", ""},
		{"longer_name", "location.hashCode()", ""},
		{"written", "location.hash = x", ""},
		{"written_twice", "location.hash='a';location.hash= 'b'", ""},
		{"line_comment", "// see location.hash\nx()", ""},
		{"block_comment", "/* hashchange, location.hash */ x()", ""},
		{"string", `x("location.hash")`, ""},
		{"template_text", "x(`location.hash`)", ""},
		{"regex", `x(/'/, "location.hash")`, ""},
		{"gtag", `gtag('config', 'G-1', {page_path: location.pathname + location.hash})`, ""},
		{"beacon", `navigator.sendBeacon(u, location.hash); addEventListener("hashchange", f)`, ""},
		{"jquery", "/*! jQuery v3.7.1 | (c) OpenJS Foundation */ f(location.hash)", ""},
		{"jquery_ui", "/*! jQuery UI - v1.13.2 */ f(location.hash)", ""},
		{"open_string", `x("location.hash`, ""},
		{"open_template", "x(`${", ""},
		{"open_comment", "/* location.hash", ""},
		{"open_regex", "x = /location.hash", "reads location.hash"}, // it divides
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := ByText([]byte(tc.text))
			if u.How != tc.how || u.Framework != "" || u.Any() != (tc.how != "") || u.Forms.Has(FormOrdinary) {
				t.Errorf("got %+v, want %q", u, tc.how)
			}
		})
	}
	u := ByText([]byte("function setFrameSrcFromUrlFragment() { location.hash }"))
	if u.Framework != "scaladoc" || !u.Scaladoc || !u.Forms.Has(FormOrdinary) || !u.Forms.Has(FormMember) || u.Forms.Has(FormRoute) {
		t.Errorf("scaladoc: %+v", u)
	}
}

// TestByAddress: which addresses name the router of a framework.
func TestByAddress(t *testing.T) {
	for address, want := range map[string]string{
		"//cdn.jsdelivr.net/npm/docsify@4":                                     "Docsify",
		"https://unpkg.com/docsify/lib/docsify.min.js":                         "Docsify",
		"https://cdn.jsdelivr.net/npm/docsify@4/lib/plugins/search.min.js":     "Docsify",
		"lib/docsify.min.js?v=1":                                               "Docsify",
		"https://ajax.googleapis.com/ajax/libs/angularjs/1.8.2/angular.min.js": "Angular",
		"/js/angular-route-1.8.2.min.js":                                       "Angular",
		"https://unpkg.com/vue-router@3.5.1/dist/vue-router.js":                "Vue Router",
		"vue-router.global.prod.js":                                            "Vue Router",
		"../../source-script1.63.0.js":                                         "rustdoc",
		"../../static.files/src-script-39ed315d46fb705f.js":                    "rustdoc",
		"dist/reveal.js": "reveal.js",
		"https://cdn.redoc.ly/redoc/latest/bundles/redoc.standalone.js": "Redoc",
		"swagger-ui-bundle.js":       "Swagger UI",
		"app.js":                     "",
		"docsify/app.js":             "", // a directory of the site says nothing
		"https://cdn.example/app.js": "",
		"jquery.min.js":              "",
		"https://www.googletagmanager.com/gtag/js?id=G-1": "",
		"main.js":  "",
		"http://[": "",
		"":         "",
	} {
		if u := ByAddress(address); u.Framework != want || u.Any() != (want != "") {
			t.Errorf("%s: got %+v, want %q", address, u, want)
		}
	}
}

// TestIsLibrary: scripts that use the fragment only for their own purposes.
func TestIsLibrary(t *testing.T) {
	for _, address := range []string{"jquery.js", "/lib/jquery-3.7.1.min.js", "jquery-ui.js", "jquery.slim.min.js", "bootstrap.bundle.min.js", "js/matomo.js", "plausible.hash.js", "analytics.js"} {
		if !IsLibrary(address) {
			t.Errorf("%s is no library", address)
		}
	}
	for _, address := range []string{"app.js", "jquery.router.js", "main.min.js", "jquery/app.js", ""} {
		if IsLibrary(address) {
			t.Errorf("%s is a library", address)
		}
	}
}

// FuzzParts: the parts of any text are inside it, in order, and do not overlap.
func FuzzParts(f *testing.F) {
	for _, s := range []string{"", "a /b/ c", "`a${`b`}c", "'a\\", "/*", "//", "`${{}}`", "/[/]/", "}", "\"\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		parts([]byte(text), func(start, end int, _ bool) bool {
			if start < last || end <= start || end > len(text) {
				t.Fatalf("part %d-%d of %d bytes after %d", start, end, len(text), last)
			}
			last = end
			return true
		})
		u := ByText([]byte(text))
		if u.Any() && !strings.Contains(text, "hash") {
			t.Error("no hash")
		}
	})
}

// TestForms: a set has what it was made of.
func TestForms(t *testing.T) {
	s := FormSet(FormRoute, FormLines)
	var got []Form
	for f := FormOrdinary; f <= FormMember; f++ {
		if s.Has(f) {
			got = append(got, f)
		}
	}
	if !slices.Equal(got, []Form{FormRoute, FormLines}) {
		t.Errorf("got %v", got)
	}
}

// TestLineRanges: which fragments name the first and last line of a range.
func TestLineRanges(t *testing.T) {
	for in, want := range map[string]string{
		"12-34": "12 34", "L12-L34": "L12 L34", "L12-34": "L12 L34", "l1-l2": "l1 l2", "1-1": "1 1", "12-L34": "12 L34",
		"": "", "12": "", "12-": "", "-34": "", "L-L": "", "L12-": "", "12-34-56": "", "a12-34": "", "12-34x": "", "LL1-L2": "", "12--34": "", "L": "",
	} {
		from, to, ok := lineRange([]byte(in))
		got := ""
		if ok {
			got = string(from) + " " + string(to)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
