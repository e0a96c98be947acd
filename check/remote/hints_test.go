package remote

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/fetch"
)

// TestHints: each host answers well, and a person should look at the page all the same. What
// is certain makes the link doubtful.
func TestHints(t *testing.T) {
	pages := map[string]string{
		"/soft":     "<title>404 | Example</title>",
		"/soft-de":  "<title>Seite nicht gefunden</title>",
		"/soft-ru":  "<meta charset=iso-8859-1><title>P\xe1gina no encontrada</title>",
		"/media":    "<title>404 Media</title>",
		"/parked":   "<title>example</title><p>This domain may be FOR SALE",
		"/login":    "<title>Log in</title><input type=password>",
		"/secret":   `<title>Sign in - Example</title><form><input name=p type="password"></form>`,
		"/form":     `<title>News</title><form><input name=p type="password"></form>`,
		"/":         "<title>Example</title>",
		"/accounts": "<title>Who are you?</title><INPUT class=x TYPE='password'>",
		"/plain":    "<title>Plain &amp; simple\u202e</title>",
		"/article":  "<title>Parking</title><p>It says: this domain may be for sale." + strings.Repeat("<p>Much more text about it", 200),
		"/refresh":  `<meta http-equiv="refresh" content="0; url=/404.html">`,
		"/onward":   `<META content="0;URL='/nowhere'" http-equiv="Refresh">`,
		"/further":  `<meta http-equiv=refresh content=3;url=/plain>`,
		"/later":    `<meta http-equiv=refresh content="600;url=/nowhere">`,
		"/404.html": "<title>Oh</title>",
	}
	moves := map[string]string{"/account": "/login", "/private": "/accounts", "/deep/page": "/", "/index.html": "/", "/en/": "/", "/pricing": "/#pricing", "/none": "/404.html"}
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		if to := moves[r.URL.Path]; to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/nowhere" {
			w.WriteHeader(404)
		}
		fmt.Fprint(w, pages[r.URL.Path])
	})
	doubtful := map[string]Reason{
		"/parked": Parked, "/deep/page": SoftMissing, "/none": SoftMissing, "/refresh": SoftMissing, "/onward": SoftMissing,
	}
	want := map[string]string{
		"/soft":       "the title of the page says that it was not found: 404 | Example",
		"/soft-de":    "the title of the page says that it was not found: Seite nicht gefunden",
		"/soft-ru":    "the title of the page says that it was not found: Página no encontrada",
		"/media":      "",
		"/parked":     `the page offers the domain for sale, or shows only advertisements: it has "this domain may be for sale"`,
		"/article":    "the domain seems to be parked",
		"/none":       "a redirect leads to SITE/404.html",
		"/refresh":    "the page sends its visitors on to SITE/404.html",
		"/onward":     "the page sends its visitors on to SITE/nowhere, which is missing",
		"/further":    "",
		"/later":      "",
		"/en/":        "",
		"/pricing":    "",
		"/404.html":   "",
		"/login":      "",
		"/secret":     "the page is a login page: Sign in - Example",
		"/form":       "",
		"/account":    "a redirect leads to a login page: SITE/login",
		"/private":    "a redirect leads to a login page: SITE/accounts",
		"/deep/page":  "a redirect leads to the home page",
		"/index.html": "",
		"/plain":      "",
	}
	var urls []string
	for path := range want {
		urls = append(urls, w.URL+path)
	}
	report := ask(t, memory(t), quick(), links(urls...))
	for path, hint := range want {
		r, _ := report.Of(w.URL + path)
		if got := strings.ReplaceAll(strings.Join(r.Hints, "; "), w.URL, "SITE"); got != hint || r.Reason != doubtful[path] || (r.Code == check.Doubtful) != (r.Reason != "") {
			t.Errorf("%s: %s %s %q, want %q", path, brief(r), r.Reason, got, hint)
		}
	}
	if r, _ := report.Of(w.URL + "/plain"); r.Title != "Plain & simple" {
		t.Errorf("title %q", r.Title)
	}
	if r, _ := report.Of(w.URL + "/account"); !slices.Equal(r.Hops, []Hop{{302, w.URL + "/login"}}) {
		t.Errorf("hops %v", r.Hops)
	}
}

// A redirect from https to http is a hint, and the link still works.
func TestHintDowngrade(t *testing.T) {
	plain := newWeb(t, site)
	secure := newTLSWeb(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, plain.URL+"/page", http.StatusFound) })
	report := ask(t, memory(t), quick(), links(secure.URL+"/page"))
	if r, _ := report.Of(secure.URL + "/page"); brief(r) != "ok" || !slices.Equal(r.Hints, []string{"a redirect leads from https to http"}) {
		t.Errorf("%s %q", brief(r), r.Hints)
	}
}

// Content drift: a title that has nothing in common with the first one is a hint until
// the title returns or the cache is reset.
func TestHintDrift(t *testing.T) {
	title := "Growing tomatoes on a balcony"
	w := newWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>%s</title>", title)
	})
	c, opt := memory(t), quick()
	opt.Policy = func(string) Policy { return Policy{MaxAge: -1} }
	hints := func() string {
		report := ask(t, c, opt, links(w.URL+"/"))
		r, _ := report.Of(w.URL + "/")
		return strings.Join(r.Hints, "; ")
	}
	drift := "the title was: Growing tomatoes on a balcony, and is now: Online casino"
	for i, step := range []struct{ title, want string }{
		{title, ""}, {"Tomatoes: the balcony guide", ""}, {"Online casino", drift}, {"Online casino", drift}, {"", ""}, {title, ""}, {"Online casino", drift},
	} {
		title = step.title
		if got := hints(); got != step.want {
			t.Errorf("step %d: %q, want %q", i+1, got, step.want)
		}
	}
	if r := c.Get(w.URL + "/"); !r.Reset() || len(r.Hints) > 0 || r.Title != "" {
		t.Errorf("after the reset: %q %q", r.Title, r.Hints)
	} else {
		c.Put(r)
	}
	if got := hints(); got != "" {
		t.Errorf("after the reset: %q", got)
	}
}

func TestTitleDiffers(t *testing.T) {
	for _, c := range []struct {
		old, now string
		want     bool
	}{
		{"Go 1.20 release notes", "Release Notes", false},
		{"The Go Blog", "The best casino", true},
		{"a b", "c d", true},
		{"a b", "b", false},
		{"", "x", false},
		{"东京旅行指南", "旅行", false},
		{"东京旅行指南", "在线赌场", true},
		{"Über uns", "ÜBER", false},
	} {
		if got := differs(c.old, c.now); got != c.want {
			t.Errorf("%q, %q: %v", c.old, c.now, got)
		}
	}
}

// A fragment that a page may have behind the part that was read is not missing.
func TestLookPart(t *testing.T) {
	page := []byte(`<h1 id="a">x</h1><h2 id="user-content-b">x</h2>`)
	for _, c := range []struct {
		name string
		cut  bool
		err  error
		want []string
	}{
		{"whole", false, nil, []string{"c"}},
		{"cut off", true, nil, nil},
		{"too slow", false, &fetch.Error{Kind: fetch.TooSlow}, nil},
	} {
		opt := quick()
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: page, Truncated: c.cut}, c.err
		}
		report := ask(t, memory(t), opt, []Target{{URL: "https://a.example/", Fragments: []string{"a", "b", "c"}}})
		if r, _ := report.Of("https://a.example/"); !slices.Equal(r.Missing, c.want) || brief(r) != "ok" {
			t.Errorf("%s: missing %q", c.name, r.Missing)
		}
	}
}

// A fragment that no element of a page has is left to a script of the page only on
// evidence: the script is known or reads the fragment, and no id of the page is similar or
// has the same form.
func TestLookScripts(t *testing.T) {
	const text = "<title>x</title><h1 id=intro>This page has enough text for a visitor without scripts.</h1>"
	const reads = "<script>show(location.hash)</script>"
	cases := []struct {
		path, page, asked, missing string // fragments, separated by spaces
	}{
		{"/no-script", text, "intro none /route L10 tab=2 line-7", "/route L10 line-7 none tab=2"},
		{"/other-script", text + "<script>count(location)</script>", "intro none /route", "/route none"},
		{"/reads", text + reads, "none /route !route L10 tab=2 a/b line-7", "none"},
		{"/counts-visits", text + "<script>gtag('config', location.hash)</script>", "/route", "/route"},
		{"/similar-id", text + reads + "<p id=tab=settings><p id=L1>", "tab=setting L99 /route", "L99 tab=setting"},
		{"/range", text + reads + "<p id=L1><p id=L9>", "L1-L9 L1-L99", "L1-L99"},
		{"/library", text + "<script src=/jquery.min.js></script>", "/route", "/route"},
		{"/unread", text + "<script src=/assets/app-1f2e.js></script>", "none /route L10", "none"},
		{"/framework", text + "<script src=https://cdn.example/npm/vue-router@4></script>", "/route L10", "L10"},
		{"/docsify", text + "<script src=//cdn.jsdelivr.net/npm/docsify@4></script>", "guide", ""},
		{"/comments", text + "<script src=https://x.disqus.com/embed.js></script>", "comment-12 none", "none"},
		{"/comments-built", text + "<p id=comment-1><script src=https://x.disqus.com/embed.js></script>", "comment-12", "comment-12"},
		{"/scaladoc", text + "<script>function setFrameSrcFromUrlFragment() { location.hash }</script>", "scala.Option@map", ""},
		{"/alias", "<meta http-equiv=refresh content='0; url=/no-script'>" + text + "<script>location.replace('/no-script' + location.hash)</script>", "none", ""},
		{"/built", "<title>x</title><div id=root>Loading</div><noscript>Please enable scripts to see this page in its full beauty.</noscript><script src=/app.js></script>", "none install", ""},
		{"/empty", "<title>x</title><div id=root></div>", "none", "none"},
	}
	w := newWeb(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for _, c := range cases {
			if c.path == r.URL.Path {
				w.Write([]byte("<!doctype html>" + c.page))
				return
			}
		}
		t.Errorf("%s was asked for", r.URL)
	})
	var all []Target
	for _, c := range cases {
		all = append(all, Target{URL: w.URL + c.path, Fragments: strings.Fields(c.asked)})
	}
	report := ask(t, memory(t), quick(), all)
	for _, c := range cases {
		if r, _ := report.Of(w.URL + c.path); strings.Join(r.Missing, " ") != c.missing || brief(r) != "ok" {
			t.Errorf("%s: %s, missing %q, want %q", c.path, brief(r), r.Missing, c.missing)
		}
	}
}

// Pages that ask whether the visitor is a person are known by a field of their header, or
// by a script that they load.
func TestWalls(t *testing.T) {
	for _, c := range []struct {
		status            int
		field, body, want string
	}{
		{200, "Cf-Mitigated: challenge", "", "unchecked blocked"},
		{202, "X-Amzn-Waf-Action: challenge", "", "unchecked blocked"},
		{403, "X-Datadome: protected", "", "unchecked blocked"},
		{200, "X-Datadome: protected", "", "ok"},
		{503, "", `<script src="/cdn-cgi/challenge-platform/x">`, "unchecked blocked"},
		{200, "", `<script src="/cdn-cgi/challenge-platform/x">`, "ok"},
		{200, "", `<title>Just a moment...</title><script>window._cf_chl_opt={}</script>`, "unchecked blocked"},
		{200, "", `<script>var dd={'host':'geo.captcha-delivery.com'}</script>`, "unchecked blocked"},
		{200, "", `<iframe src="/_Incapsula_Resource?x">Request unsuccessful. Incapsula incident ID: 1-2</iframe>`, "unchecked blocked"},
		{200, "", `<p>` + strings.Repeat("This page is about walls. ", 40) + `<script src="/_Incapsula_Resource?x">`, "ok"},
		{503, "", `<p>To discuss automated access write to api-services-support@amazon.com`, "unchecked blocked"},
		{400, "", `<center>No required SSL certificate was sent</center>`, "unchecked blocked"},
	} {
		opt := quick()
		opt.exchange = func(context.Context, fetch.Request) (*fetch.Response, error) {
			h := http.Header{"Etag": {strings.Repeat("x", maxField+1)}}
			if name, value, ok := strings.Cut(c.field, ": "); ok {
				h.Set(name, value)
			}
			return &fetch.Response{Status: c.status, Header: h, Body: []byte(c.body)}, nil
		}
		report := ask(t, memory(t), opt, links("https://a.example/"))
		if r, _ := report.Of("https://a.example/"); brief(r) != c.want || (r.Reason == BotWall) != (c.want != "ok") || r.ETag != "" {
			t.Errorf("%d %q %q: %s %s, ETag of %d bytes", c.status, c.field, c.body, brief(r), r.Reason, len(r.ETag))
		}
	}
}
