//go:build integration

package main

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// The key status-cache of a configuration that is named chooses a database, which then
// keeps everything: verdicts, suggestions and the pauses that hosts ask for.
func TestExternalDatabase(t *testing.T) {
	server := testkit.StartPostgres(t)
	address := server.Schema()
	n := newNeighbour(t, `<a href="SITE/docs">1</a> <a href="SITE/post">2</a> <a href="SITE/good">3</a>`)
	var pause atomic.Bool
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/good", "/docs/":
			fmt.Fprint(w, "<title>x</title>")
		case "/robots.txt":
			if pause.Load() {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(429)
			}
		case "/available":
			fmt.Fprint(w, `{"archived_snapshots":{"closest":{"available":true,"status":"200","url":"http://web.archive.org/web/2026/http://x.example/post"}}}`)
		default:
			w.WriteHeader(404)
		}
	}
	n.write(t, "sitelink.toml", "[external]\nstrikes = 1\nstatus-cache = \""+address+"\"\narchive-api = \""+n.URL+"/available\"\n")
	rows := func(where string) int {
		return server.Number(address, "SELECT count(*) FROM sitelink_status_row WHERE record LIKE '%"+where+"%'")
	}
	_, errs := n.sitelink(t, exitUsage, "external", "public")
	mentions(t, errs, "is not used, because --config does not name the configuration")
	if asked := n.take(); len(asked) > 0 || rows("") != -1 {
		t.Errorf("asked %q, %d rows", asked, rows(""))
	}
	out, errs := n.sitelink(t, 1, "external", "public", "--config", "sitelink.toml")
	mentions(t, out, "SITE/docs: the host answers 404", "[dead-link]", "other sites: 3 URLs")
	if rows("dead-link") != 2 || rows("") != 3 || errs != "" {
		t.Errorf("%d of %d rows are dead\n%s", rows("dead-link"), rows(""), errs)
	}
	n.take()

	// The robots.txt cannot be read now: no request for a variant, and none to this host
	// before the time it names, by any run.
	pause.Store(true)
	n.sitelink(t, 1, "external", "public", "--config", "sitelink.toml", "--probe")
	if asked := n.take(); !slices.Equal(asked, []string{"GET /robots.txt"}) {
		t.Errorf("asked %q", asked)
	}
	for _, more := range [][]string{{"--probe"}, {"--archive"}, {"--max-age", "0s"}} {
		n.sitelink(t, 1, append([]string{"external", "public", "--config", "sitelink.toml"}, more...)...)
		if asked := n.take(); len(asked) > 0 {
			t.Errorf("%s: asked %q", more, asked)
		}
	}
	pause.Store(false)
	server.At(address, "DELETE FROM sitelink_status_row WHERE url LIKE '%robots.txt'; UPDATE sitelink_status_host SET until = NULL")

	out, _ = n.sitelink(t, 1, "external", "public", "--config", "sitelink.toml", "--probe", "--archive", "--format", "jsonl")
	mentions(t, out, `"suggestion":"SITE/docs/"`, `"suggestion":"https://web.archive.org/web/2026/http://x.example/post"`)
	if asked := slices.Compact(n.take()); !slices.Equal(asked, []string{"GET /available", "GET /docs/", "GET /post/", "GET /robots.txt"}) {
		t.Errorf("asked %q", asked)
	}
	n.sitelink(t, 1, "external", "public", "--config", "sitelink.toml", "--probe", "--archive")
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("asked again %q", asked)
	}
	n.plain(t, t.Context(), nil, 0, "fix", "public", "--config", "sitelink.toml", "--write", "--likely")
	page, err := os.ReadFile(n.dir + "/public/index.html")
	if want := `<a href="` + n.URL + `/docs/">1</a> <a href="https://web.archive.org/web/2026/http://x.example/post">2</a> <a href="` + n.URL + `/good">3</a>`; err != nil || string(page) != want {
		t.Errorf("%s%v", page, err)
	}
}

// A database that is away at the end of a run: the run waits for it.
func TestExternalDatabaseDies(t *testing.T) {
	server := testkit.StartPostgres(t)
	n := newNeighbour(t, `<a href="SITE/one">1</a> <a href="SITE/two">2</a> <a href="SITE/last">3</a>`)
	n.answer = func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			server.Stop()
			go server.Start()
		}
	}
	args := []string{"external", "public", "--per-host", "1", "--status-cache", server.Schema()}
	out, errs := n.sitelink(t, 0, args...)
	mentions(t, out, "ok: checked 1 page")
	if errs != "" { // the server was not back before it was needed
		mentions(t, errs, "status cache postgres://sitelink:xxxxx@", "; the run waits up to 1m0s for it")
	}
	if strings.Contains(errs, "s3cret") {
		t.Error(errs)
	}
	n.take()
	out, errs = n.sitelink(t, 0, args...)
	mentions(t, out, "the status cache answered for 3 URLs")
	if asked := n.take(); len(asked) > 0 || errs != "" {
		t.Errorf("asked %q\n%s", asked, errs)
	}
	if rows := server.Number(args[len(args)-1], "SELECT count(*) FROM sitelink_status_row"); rows != 3 {
		t.Errorf("%d rows", rows)
	}
}
