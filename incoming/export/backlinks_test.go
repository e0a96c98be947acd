package export

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/site"
)

func loadSite(t *testing.T, files map[string]string) *site.Site {
	t.Helper()
	dir := t.TempDir()
	testkit.AddFiles(t, dir, files)
	s := testkit.Must(site.Load(t.Context(), dir, site.Options{BaseURLs: []string{"https://our.example/"}}))(t)
	return s
}

func TestBacklinks(t *testing.T) {
	s := loadSite(t, map[string]string{
		"index.html": `<title>Home</title><article><h1>A</h1><a href="/a/">a</a></article><article><h1>B</h1><a href="/b/">b</a></article>`,
		"a/index.html": `<html lang=de><title>A | Site</title><nav><a href="/b/">menu</a></nav><main><h1>Über <em>A</em></h1>
			<a href="/b/">b</a> <a href="/b/index.html#x">again</a> <a href="/old/">moved</a> <a href="#top">here</a> <a href="./">itself</a>
			<a href="/missing/">broken</a> <a href="/pic.png">picture</a> <a href="https://else.example/">else</a>
			<section data-no-mention><a href="/c/">mentions</a></section></main><footer><a href="/c/">footer</a></footer>`,
		"b/index.html":   `<title>B &amp; co</title><main><a rel="nofollow" href="/a/">a</a></main>`,
		"c/index.html":   `<title>C</title><main>Nothing.</main>`,
		"old/index.html": `<!doctype html><title>Moved</title><meta http-equiv="refresh" content="0; url=/c/">`,
		"pic.png":        "x",
	})
	var got []string
	for m, err := range Backlinks(t.Context(), s, outgoing.Options{}) {
		testkit.Check(t, err)
		if m.Protocol != Internal || m.State != incoming.Approved {
			t.Errorf("%+v", m)
		}
		got = append(got, strings.Join([]string{m.Source, m.Target, m.Title, m.Lang}, " "))
	}
	want := []string{
		"https://our.example/b/ https://our.example/a/ B & co ",
		"https://our.example/a/ https://our.example/b/ Über A de",
		"https://our.example/a/ https://our.example/c/ Über A de",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	dir := t.TempDir()
	joined := Join(each(from("https://x.example/", "/c/")), Backlinks(t.Context(), s, outgoing.Options{Rel: outgoing.DefaultRel}))
	if r, err := Write(t.Context(), joined, dir, Options{}); err != nil || r.Mentions != 3 || namesIn(filesOf(t, dir)) != "index.json pages/b.json pages/c.json" {
		t.Errorf("%s, %v", namesIn(filesOf(t, dir)), err)
	}

	noBase := testkit.Must(site.Load(t.Context(), s.Docroot(), site.Options{}))(t)
	for _, err := range Backlinks(t.Context(), noBase, outgoing.Options{}) {
		if !errors.Is(err, outgoing.ErrNoBase) {
			t.Errorf("without a base URL: %v", err)
		}
	}
}

func TestLive(t *testing.T) {
	store := incomingtest.NewStore(nil)
	held := from("https://held.example/", "/p/")
	held.State = incoming.Held
	store.Add(from("https://a.example/", "/p/"), from("https://b.example/", "/p/#x"), from("https://c.example/", "/q/"), held)
	get := func(method, target string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		Live(store).ServeHTTP(w, httptest.NewRequest(method, "/?target="+url.QueryEscape(target), nil))
		return w
	}
	w := get("GET", "https://our.example/p/#comments")
	var page PageFile
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || page.Page != "/p" || len(page.Mentions) != 2 || w.Header().Get("Access-Control-Allow-Origin") != "*" ||
		strings.Contains(w.Body.String(), "held.example") {
		t.Errorf("%v: %+v", err, page)
	}
	if w := get("POST", "https://our.example/p/"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
	if w := get("GET", "javascript:1"); w.Code != http.StatusBadRequest {
		t.Errorf("bad target: %d", w.Code)
	}
	store.Fail(errors.New("disk full"))
	if w := get("GET", "https://our.example/p/"); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "disk") {
		t.Errorf("failing store: %d %s", w.Code, w.Body)
	}
}
