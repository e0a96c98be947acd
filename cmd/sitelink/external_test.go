package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/testkit"
)

// neighbour is another site on loopback. The site in dir links to it.
type neighbour struct {
	*httptest.Server
	dir    string
	mu     sync.Mutex
	asked  []string
	answer func(w http.ResponseWriter, r *http.Request)
}

func newNeighbour(t *testing.T, page string) *neighbour {
	t.Helper()
	t.Parallel()
	n := &neighbour{dir: t.TempDir()}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.asked = append(n.asked, r.Method+" "+r.URL.Path)
		answer := n.answer
		n.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/good":
			fmt.Fprint(w, `<h1 id="here">x</h1>`)
		case "/old":
			http.Redirect(w, r, "/good", http.StatusMovedPermanently)
		case "/wall":
			w.WriteHeader(403)
		default:
			w.WriteHeader(404)
		}
	}))
	t.Cleanup(n.Close)
	n.write(t, "public/index.html", strings.ReplaceAll(page, "SITE", n.URL))
	return n
}

func (n *neighbour) write(t *testing.T, name, text string) {
	t.Helper()
	testkit.Write(t, filepath.Join(n.dir, name), text)
}

// take returns the requests so far, sorted, and forgets them.
func (n *neighbour) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.asked
	n.asked = nil
	for i, request := range all {
		if strings.HasPrefix(request, "GET /sitelink-looks-") {
			all[i] = randomPath
		}
	}
	slices.Sort(all)
	return all
}

// randomPath stands for the address that cannot exist.
const randomPath = "GET /sitelink-looks-for-a-missing-page"

// sitelink runs a command that may ask the neighbour, without pauses.
func (n *neighbour) sitelink(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	if !slices.Contains(args, "status") {
		args = append(args, "--allow-address", "127.0.0.0/8", "--pace", "0s")
	}
	return n.plain(t, t.Context(), nil, want, args...)
}

// plain runs a command in the directory of the site, with only these variables of
// sitelink's, until the end of ctx interrupts it.
func (n *neighbour) plain(t *testing.T, ctx context.Context, variables []string, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "sitelink", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir, cmd.Stdout, cmd.Stderr = n.dir, &out, &errs
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SITELINK_") }), variables...)
	n.mu.Lock() // the server has seen what the test changed
	err := cmd.Start()
	n.mu.Unlock()
	testkit.Check(t, err)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("sitelink %q: exit code %d, want %d\n%s%s", args, code, want, out.String(), errs.String())
	}
	return strings.ReplaceAll(out.String(), n.URL, "SITE"), strings.ReplaceAll(errs.String(), n.URL, "SITE")
}

const neighbourPage = `<p id=x><a href="SITE/good">1</a> <a href="SITE/good#here">2</a> <a href="SITE/good#gone">3</a>
<a href="SITE/old">4</a> <a href="SITE/wall">5</a> <a href="SITE/missing">6</a> <a href="SITE/missing">7</a> <a href="mailto:a@b.example">8</a>`

func mentions(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

// LL-28, LL-29: links to other sites are collected, and asked for only on demand.
func TestExternalCheck(t *testing.T) {
	n := newNeighbour(t, neighbourPage)
	out, _ := n.plain(t, t.Context(), nil, 0, "check", "public")
	if asked := n.take(); len(asked) > 0 {
		t.Fatalf("asked %q", asked)
	}
	mentions(t, out, "7 external, 1 mailto")

	out, _ = n.sitelink(t, 0, "external", "public", "--all")
	mentions(t, out, "SITE/missing: the host answers 404 (Not Found)", "[doubtful]", "SITE/old moved permanently to SITE/good", "[moved]",
		`SITE/good has no element with id "gone"`, "[missing-fragment]", "1 blocked", "other sites: 4 URLs", "public/index.html:2:")
	want := []string{"GET /good", "GET /good", "GET /missing", "GET /missing", "GET /old", randomPath, "GET /wall"}
	if asked := n.take(); !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	out, _ = n.plain(t, t.Context(), nil, 0, "explain", n.URL+"/missing", "--docroot", "public")
	mentions(t, out, "the status cache says warning doubtful", ": the host answers 404 (Not Found)", "failures that counted: 1")
	out, _ = n.plain(t, t.Context(), nil, 0, "explain", "https://never.example/", "--docroot", "public")
	mentions(t, out, "the status cache does not know it: sitelink external asks for it")
	out, _ = n.sitelink(t, 0, "external", "public", "--format", "jsonl", "--show", "all")
	for _, row := range []string{`"verdict":"ok","code":"","status":200`, `"verdict":"warning","code":"moved"`, `"verdict":"unchecked","code":"blocked","status":403`,
		`"verdict":"warning","code":"doubtful","status":404`, `"verdict":"warning","code":"missing-fragment"`} {
		mentions(t, out, row)
	}
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("asked again %q", asked)
	}
}

// sees checks what a program reads in a JSON report: the object external of the summary,
// and the code and the object remote of each row.
func sees(t *testing.T, n *neighbour, name, external string, rows ...string) {
	t.Helper()
	text := testkit.Read(t, filepath.Join(n.dir, name))
	var report struct {
		Findings []struct {
			Target, Code string
			Remote       struct {
				Reason, Since, Change string
				Strikes               int
			}
		}
		Summary struct{ External json.RawMessage }
	}
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(n.URL), []byte("SITE")), &report); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if got := string(report.Summary.External); got != external {
		t.Errorf("got  %s\nwant %s", got, external)
	}
	var got []string
	for _, f := range report.Findings {
		r := f.Remote
		parts := slices.DeleteFunc([]string{r.Reason, fmt.Sprintf("%d strikes", r.Strikes), r.Change}, func(s string) bool { return s == "" })
		got = append(got, strings.TrimPrefix(f.Target, "SITE")+" "+f.Code+": "+strings.Join(parts, ", "))
		if _, err := time.Parse(time.RFC3339, r.Since); (err == nil) != (r.Strikes > 0) {
			t.Errorf("%s since %q", f.Target, r.Since)
		}
	}
	if slices.Sort(got); !slices.Equal(got, rows) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(rows, "\n"))
	}
}

func TestExternalDead(t *testing.T) {
	n := newNeighbour(t, neighbourPage)
	again := []string{"external", "public", "--strike-interval", "0s", "--max-age", "0s"}
	n.sitelink(t, 0, again...)
	out, _ := n.sitelink(t, 1, append(again, "--format", "text", "--format", "json=r.json")...)
	mentions(t, out, "dead since the last run: SITE/missing", "it failed in 2 runs since ")
	sees(t, n, "r.json", `{"urls":4,"requests":6,"remembered":0,"unasked":0,"unchanged":0,"died":["SITE/missing"],"recovered":[],`+
		`"failing":[{"host":"127.0.0.1","count":1}],"blocked":[{"host":"127.0.0.1","count":1}]}`,
		"/good missing-fragment: 0 strikes", "/missing dead-link: not-found, 2 strikes, died", "/missing dead-link: not-found, 2 strikes, died", "/old moved: 0 strikes")
	n.answer = func(http.ResponseWriter, *http.Request) {}
	out, errs := n.sitelink(t, 0, "external", "public", "--max-age", "0s", "--show", "all", "--format", "jsonl")
	mentions(t, errs, "recovered since the last run: SITE/missing")
	if !strings.Contains(out, `"remote":{"reason":"","strikes":0,"since":"","change":"recovered"}`) || strings.Count(out, `"remote":{`) != 7 || strings.Count(out, "\n") != 7 {
		t.Errorf("rows\n%s", out)
	}
	n.sitelink(t, 0, append(again, "--ignore", "code=missing-fragment", "--fail-on", "warning")...)
	// Two reports of one run ask once, and count one failure.
	n.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }
	n.take()
	out, _ = n.sitelink(t, 0, "external", "public", "--strike-interval", "0s", "--max-age", "0s", "--show", "all", "--format", "text", "--format", "jsonl=r.jsonl")
	if asked := n.take(); len(asked) != 8 || strings.Contains(out, "2 runs") || strings.Count(out, "it failed first on") != 7 {
		t.Errorf("asked %q\n%s", asked, out)
	}
}

func TestExternalOnlyNew(t *testing.T) {
	n := newNeighbour(t, neighbourPage)
	out, _ := n.sitelink(t, 1, "external", "public", "--only-new")
	mentions(t, out, "SITE/missing: the host answers 404 (Not Found) [dead-link]", "2 times in this file")
	n.take()
	n.sitelink(t, 1, "external", "public", "--only-new", "--max-age", "0s")
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	out, _ = n.sitelink(t, 0, "external", "public", "--only-new", "--ignore", "url=**/missing")
	mentions(t, out, "ignored by rule: 2 links")
	out, _ = n.sitelink(t, 0, "external", "public", "--status-cache", "other.jsonl", "--max-requests", "1")
	mentions(t, out, "external-budget", "1 request sent", "note: the budget was spent before the turn of 3 URLs; the next run asks for them first")
}

// fullDisk takes no output.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// LL-103, LL-104: external status lists what is not good or has changed, and asks nothing.
func TestExternalStatus(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/a">1</a> <a href="SITE/b">2</a>`)
	text := "first"
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			w.WriteHeader(500)
			return
		}
		fmt.Fprint(w, text)
	}
	n.sitelink(t, 0, "external", "public")
	text = "second"
	n.sitelink(t, 0, "external", "public", "--max-age", "0s")
	n.take()
	for range 2 {
		out, errs := n.sitelink(t, 0, "external", "status")
		if !regexp.MustCompile(`^SITE/a: changed by \S+Z\nSITE/b: warning doubtful \(asked on [-0-9]+\): the host answers 500 \(Internal Server Error\)\n$`).MatchString(out) {
			t.Errorf("status: %q", out)
		}
		mentions(t, errs, "the status cache knows 2 URLs")
	}
	// A reset forgets nothing that could not be printed.
	args := []string{"external", "status", "reset", "--status-cache", n.dir + "/.sitelink/status.jsonl"}
	if code := run(t.Context(), args, env{Stdout: fullDisk{}, Stderr: io.Discard, Getenv: func(string) string { return "" }}); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if out, _ := n.sitelink(t, 0, "external", "status", "reset"); !strings.HasPrefix(out, "SITE/a: changed by ") || strings.Count(out, "\n") != 1 {
		t.Errorf("changed after a failure: %q", out)
	}
	if out, _ := n.sitelink(t, 0, "external", "status"); strings.Contains(out, "changed by") {
		t.Errorf("changed after reset: %q", out)
	}
	n.sitelink(t, 0, "external", "public")
	_, errs := n.sitelink(t, 0, "external", "status", "retry")
	mentions(t, errs, "the next sitelink external asks for 1 URL")
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("status asked %q", asked)
	}
	n.sitelink(t, 0, "external", "public")
	if asked := n.take(); !slices.Equal(asked, []string{"GET /b", "GET /b"}) {
		t.Errorf("asked %q", asked)
	}
	n.write(t, "public/index.html", `<a href="`+n.URL+`/a">1</a>`)
	_, errs = n.sitelink(t, 0, "external", "status", "prune", "public")
	mentions(t, errs, "removed from the status cache: 1 URL")
	cache, err := os.ReadFile(n.dir + "/.sitelink/status.jsonl")
	if err != nil || strings.Count(string(cache), "\n") != 2 {
		t.Errorf("%s%v", cache, err)
	}
	n.write(t, "public/index.html", `<p>`)
	_, errs = n.sitelink(t, 0, "external", "status", "prune", "public")
	mentions(t, errs, "nothing was removed")
}

func TestExternalCacheFaults(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/good">1</a>`)
	n.write(t, ".sitelink/status.jsonl", `{"sitelink":"status-cache","schema":1}`+"\n{\"url\":\n")
	_, errs := n.sitelink(t, 0, "external", "public")
	mentions(t, errs, "warning: .sitelink/status.jsonl:2: not a valid JSON object; the line is dropped")
	newer := `{"sitelink":"status-cache","schema":7}` + "\n"
	n.write(t, ".sitelink/status.jsonl", newer)
	_, errs = n.sitelink(t, 3, "external", "public")
	mentions(t, errs, "its schema is 7", "hint: use the version of sitelink that wrote it")
	if text, err := os.ReadFile(n.dir + "/.sitelink/status.jsonl"); err != nil || string(text) != newer {
		t.Errorf("%q, %v", text, err)
	}
}

// An interrupt keeps what was learned.
func TestExternalInterrupted(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/a">1</a> <a href="SITE/b">2</a>`)
	ctx, cancel := context.WithCancel(context.Background())
	n.answer = func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/b" {
			cancel()
			<-r.Context().Done()
		}
	}
	n.plain(t, ctx, nil, exitInterrupted, "external", "public", "--allow-address", "127.0.0.0/8", "--pace", "0s", "--per-host", "1")
	if cache, err := os.ReadFile(n.dir + "/.sitelink/status.jsonl"); err != nil || !strings.Contains(string(cache), n.URL+"/a") {
		t.Errorf("%s%v", cache, err)
	}
}

// Keys of [external] have variables: below flags, above the file.
func TestExternalVariables(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/good">1</a><a href="SITE/missing">2</a>`)
	n.write(t, "sitelink.toml", "[external]\nstatus-cache = \"file.jsonl\"\nmax-requests = 9\npace = \"24h\"\n")
	sitelink := func(want int, variables []string, args ...string) string {
		t.Helper()
		out, errs := n.plain(t, t.Context(), variables, want, append([]string{"external", "public", "--allow-address", "127.0.0.0/8"}, args...)...)
		return out + errs
	}
	variables := []string{"SITELINK_STATUS_CACHE=variable.jsonl", "SITELINK_MAX_REQUESTS=1", "SITELINK_PACE=0s"}
	mentions(t, sitelink(0, variables), "1 external-budget")
	if asked := n.take(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
	sitelink(0, variables, "--max-requests", "0", "--status-cache", "flag.jsonl")
	if asked := n.take(); len(asked) < 2 {
		t.Errorf("a flag does not win: asked %q", asked)
	}
	for _, name := range []string{"variable.jsonl", "flag.jsonl"} {
		if _, err := os.Stat(filepath.Join(n.dir, name)); err != nil {
			t.Error(err)
		}
	}
	mentions(t, sitelink(exitUsage, []string{"SITELINK_PACE=often"}), `SITELINK_PACE: must be a time such as "90s" or "5m", not "often"`)
	mentions(t, sitelink(exitUsage, []string{"SITELINK_PER_HOST=0"}), `SITELINK_PER_HOST: must be a whole number from 1 to 64, not "0"`)
}

// A configuration that was found opens no network, chooses no database and names no file
// outside: testdata/script/external_usage.txtar has the last two, and wrong usage.
func TestExternalUsage(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/missing">1</a>`)
	n.write(t, "sitelink.toml", "[fetch]\nallow-address = [\"127.0.0.0/8\"]\n\n[[external.host]]\nhost = \"127.0.*\"\naccept = [\"404\"]\n")
	n.plain(t, t.Context(), nil, exitUsage, "external", "public")
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("a configuration that was found allowed %q", asked)
	}
	for _, args := range [][]string{{"--allow-address", "127.0.0.0/8"}, {"--config", "sitelink.toml"}} {
		out, _ := n.plain(t, t.Context(), nil, 0, append([]string{"external", "public", "--max-age", "0s"}, args...)...)
		mentions(t, out, "ok: checked 1 page, 1 link")
	}
}

// remember writes that a URL gave an answer in each of two runs.
func (n *neighbour) remember(t *testing.T, url string, a remote.Answer) {
	t.Helper()
	testkit.Check(t, os.MkdirAll(n.dir+"/.sitelink", 0o777))
	cache := testkit.Must(remote.Open(n.dir+"/.sitelink/status.jsonl", nil))(t)
	for _, days := range []time.Duration{3, 2} {
		cache.Put(remote.Judge(cache.Get(url), a, time.Now().Add(-days*24*time.Hour), remote.Policy{}))
	}
	testkit.Check(t, cache.Close())
}

// Part 4: --probe and --archive find what fix writes, and only they ask for more than
// the links.
func TestExternalSuggestions(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/docs">1</a> <a href="SITE/post#part">2</a> <a href="SITE/nothing">3</a>`)
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/docs/":
			fmt.Fprint(w, "<title>Docs</title>")
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /nothing/\n")
		case "/available":
			if strings.HasSuffix(r.URL.Query().Get("url"), "/post") {
				fmt.Fprint(w, `{"archived_snapshots":{"closest":{"available":true,"status":"200","url":"http://web.archive.org/web/2026/http://x.example/post"}}}`)
			} else {
				fmt.Fprint(w, "<html>out of order")
			}
		default:
			w.WriteHeader(404)
		}
	}
	n.write(t, "sitelink.toml", "[external]\nstrikes = 1\narchive-api = \""+n.URL+"/available\"\n")
	for _, path := range []string{"/docs", "/post", "/nothing"} {
		n.remember(t, n.URL+path, remote.Answer{Status: 404})
	}
	if n.sitelink(t, 1, "external", "public", "--max-requests", "9"); len(n.take()) > 0 {
		t.Error("there were requests without the options")
	}
	out, _ := n.sitelink(t, 1, "external", "public", "--probe", "--archive", "--format", "jsonl")
	mentions(t, out, `"suggestion":"SITE/docs/"`, `"suggestion":"https://web.archive.org/web/2026/http://x.example/post#part"`)
	if asked := slices.Compact(n.take()); !slices.Equal(asked, []string{"GET /available", "GET /docs/", "GET /post/", "GET /robots.txt"}) {
		t.Errorf("asked %q", asked)
	}
	out, _ = n.sitelink(t, 1, "external", "public")
	mentions(t, out, "did you mean SITE/docs/?")
	out, _ = n.sitelink(t, 1, "external", "public", "--archive")
	mentions(t, out, "the archive gave no answer about 1 dead URL; the next run with --archive asks again")

	out, _ = n.plain(t, t.Context(), nil, 1, "fix", "public", "--check", "--likely", "--only", "remote-archived")
	mentions(t, out, "remote-archived: SITE/post#part -> https://web.archive.org/web/2026/http://x.example/post#part")
	n.plain(t, t.Context(), nil, 0, "fix", "public", "--write", "--likely")
	page, err := os.ReadFile(n.dir + "/public/index.html")
	want := `<a href="` + n.URL + `/docs/">1</a> <a href="https://web.archive.org/web/2026/http://x.example/post#part">2</a> <a href="` + n.URL + `/nothing">3</a>`
	if err != nil || string(page) != want {
		t.Errorf("%s%v", page, err)
	}
}

// Part 5: what a run learned is in every format, and hints never fail a run.
func TestExternalReport(t *testing.T) {
	n := newNeighbour(t, `<p><a href="SITE/soft">1</a> <a href="SITE/dead">2</a> <a href="SITE/wall">3</a> <a href="SITE/back">4</a>`)
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/wall":
			w.WriteHeader(403)
		case "/dead":
			w.WriteHeader(404)
		case "/soft":
			fmt.Fprint(w, "<title>404 | <b>x</b></title>")
		}
	}
	n.write(t, "sitelink.toml", "[external]\nstrikes = 1\n")
	n.remember(t, n.URL+"/back", remote.Answer{Status: 410})
	cache := testkit.Read(t, n.dir+"/.sitelink/status.jsonl")
	lines := []string{"dead since the last run: SITE/dead", "recovered since the last run: SITE/back", "hosts that fail most: 127.0.0.1 (1)",
		"hosts that block sitelink: 127.0.0.1 (1)", "other sites: 4 URLs, 5 requests sent",
		"look at SITE/soft, linked from public/index.html:1:13: the title of the page says that it was not found: 404 | "}
	reports := func(formats ...string) (out, errs string, files []string) {
		n.write(t, ".sitelink/status.jsonl", string(cache))
		args := []string{"external", "public", "--max-age", "0s"}
		for _, f := range formats {
			args = append(args, "--format", f)
		}
		out, errs = n.sitelink(t, 1, args...)
		for _, f := range formats {
			if _, name, ok := strings.Cut(f, "="); ok {
				text := testkit.Read(t, filepath.Join(n.dir, name))
				files = append(files, strings.ReplaceAll(string(text), n.URL, "SITE"))
			}
		}
		return out, errs, files
	}
	withNotes := []string{"text", "json=r.json", "markdown=r.md", "html=r.html", "junit=r.junit"}
	out, _, files := reports(withNotes...)
	for _, text := range append(files, out) {
		mentions(t, html.UnescapeString(text), append(lines, "dead-link")...)
	}
	if strings.Contains(files[2], "<b>x") {
		t.Errorf("the title is not escaped:\n%s", files[2])
	}
	out, errs, rest := reports("jsonl", "github=r.github", "sarif=r.sarif", "gitlab=r.gitlab", "checkstyle=r.checkstyle")
	mentions(t, errs, lines...)
	for _, text := range append(rest, out) {
		mentions(t, text, "dead-link")
		if strings.Contains(text, "/soft") {
			t.Errorf("a hint counts as a finding:\n%s", text)
		}
	}
	n.write(t, "public/index.html", `<a href="`+n.URL+`/soft">1</a>`)
	out, _ = n.sitelink(t, 0, "external", "public", "--fail-on", "warning")
	mentions(t, out, "ok: ", "the status cache answered for 1 URL", "look at SITE/soft")
}

// Hints name the line of the source that has the link: a parked domain, a login page, and
// a page about something else now.
func TestExternalHintSources(t *testing.T) {
	n := newNeighbour(t, "")
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/parked":
			fmt.Fprint(w, "<title>x</title><p>This domain is for sale")
		case "/account":
			http.Redirect(w, r, "/login", http.StatusFound)
		case "/login":
			fmt.Fprint(w, "<title>Log in</title><input type=password>")
		case "/garden":
			fmt.Fprint(w, "<title>Online casino</title>")
		}
	}
	parked, account, garden := n.URL+"/parked", n.URL+"/account", n.URL+"/garden"
	n.remember(t, garden, remote.Answer{Status: 200, Read: true, Title: "Growing tomatoes on a balcony"})
	n.write(t, "mkdocs.yml", "site_name: x\n")
	n.write(t, "docs/index.md", "# Home\n\nA [house]("+parked+")\nand an [account]("+account+").\n\n- the [garden]("+garden+")\n")
	n.write(t, "site/index.html", `<title>Home</title><h1>Home</h1><p>A <a href="`+parked+`">house</a> and an <a href="`+account+
		`">account</a>.</p><ul><li>the <a href="`+garden+`">garden</a></ul>`)
	want := []string{
		"SITE/parked: the domain seems to be for sale: the page offers the domain",
		"look at SITE/account, linked from docs/index.md:4:18: a redirect leads to a login page: SITE/login",
		"look at SITE/garden, linked from docs/index.md:6:16: the title was: Growing tomatoes on a balcony, and is now: Online casino",
	}
	for _, format := range []string{"text", "json"} {
		out, _ := n.sitelink(t, 0, "external", "site", "--max-age", "0s", "--format", format)
		mentions(t, out, want...)
	}
}

// --only-new leaves out what the baseline knows: its entries, and the links of another
// build.
func TestExternalOnlyNewBaseline(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/missing">1</a> <a href="SITE/soon">2</a>`)
	n.write(t, "sitelink.toml", "[external]\nstrikes = 1\n")
	n.write(t, "sitelink-baseline.jsonl", `{"sitelink-baseline":1}`+"\n"+
		`{"page":"index.html","code":"dead-link","link":"`+n.URL+`/missing","id":"0123456789abcdef0123456789abcdef"}`+"\n")
	only := []string{"external", "public", "--only-new", "--status-cache", "new.jsonl"}
	n.take()
	out, _ := n.sitelink(t, 1, append(only, "--baseline", "sitelink-baseline.jsonl")...)
	mentions(t, out, "the baseline knows 1 URL", "1 external", "SITE/soon: the host answers 404 (Not Found) [dead-link]")
	if asked := slices.Compact(n.take()); !slices.Equal(asked, []string{"GET /soon"}) {
		t.Errorf("asked %q", asked)
	}
	if strings.Contains(out, "no longer needed") {
		t.Errorf("an entry about another site is called unneeded:\n%s", out)
	}
	n.write(t, "old/index.html", `<a href="`+n.URL+`/missing#x">1</a>`)
	os.Remove(n.dir + "/new.jsonl")
	n.answer = func(http.ResponseWriter, *http.Request) {}
	n.sitelink(t, 0, append(only, "--baseline-docroot", "old")...)
	if asked := slices.Compact(n.take()); !slices.Equal(asked, []string{"GET /soon"}) {
		t.Errorf("asked %q", asked)
	}
}

// LL-14: the addresses of a list are asked for, and nothing that their pages link to.
func TestExternalList(t *testing.T) {
	n := newNeighbour(t, "")
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/wall":
			w.WriteHeader(403)
		case "/good":
		default: // the address that cannot exist
			w.WriteHeader(404)
		}
		fmt.Fprint(w, `<title>404</title><a href="/never">x</a>`)
	}
	n.write(t, "urls.txt", "# a list\n\n"+n.URL+"/good#no-such-id\n  "+n.URL+"/wall\n"+n.URL+"/gone\n"+n.URL+"/good\n")
	n.write(t, "sitelink.toml", "[external]\nstrikes = 1\n")
	n.remember(t, n.URL+"/gone", remote.Answer{Status: 404})
	out, errs := n.sitelink(t, 1, "external", "@@urls.txt")
	mentions(t, out, "urls.txt:5:1: error: SITE/gone: the host answers 404 (Not Found)", "4 links", "not checked: 1 blocked", "look at SITE/good: the title",
		"other sites: 3 URLs, 3 requests sent")
	if asked := n.take(); !slices.Equal(asked, []string{"GET /good", randomPath, "GET /wall"}) || errs != "" {
		t.Errorf("asked %q, %s", asked, errs)
	}
	out, _ = n.sitelink(t, 0, "external", "@@urls.txt", "--ignore", "code=dead-link", "--format", "json")
	mentions(t, out, `"ignored":1`)
}

// --profile linklint: LL-29 (no anchors of other sites), LL-98 (every URL is asked for) and
// LL-103 (a reset forgets only changes of what answers well).
func TestExternalLinklint(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/a#none">1</a> <a href="SITE/b">2</a>`)
	text, status := "first", 200
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/b" {
			w.WriteHeader(status)
		}
		fmt.Fprint(w, text)
	}
	linklint := func() {
		if out, _ := n.sitelink(t, 0, "external", "public", "--profile", "linklint"); strings.Contains(out, "missing-fragment") {
			t.Errorf("LL-29: anchors are checked:\n%s", out)
		}
	}
	linklint()
	text = "second"
	linklint()
	status = 403
	linklint()
	if out, _ := n.sitelink(t, 0, "external", "status", "reset"); !regexp.MustCompile("^SITE/a: changed by .*\nSITE/b: .*; changed by .*\n$").MatchString(out) {
		t.Errorf("changed: %q", out)
	}
	if out, _ := n.sitelink(t, 0, "external", "status"); !regexp.MustCompile("^SITE/b: .*; changed by .*\n$").MatchString(out) {
		t.Errorf("after the reset: %q", out)
	}
}

// TestExternalLogin: header of [[external.host]] goes to that host alone, and its value is in
// no output and no file. A configuration that was found cannot set it.
func TestExternalLogin(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization")+r.Header.Get("X-Key") != "" {
			t.Errorf("another host got %v", r.Header)
		}
	}))
	defer other.Close()
	n := newNeighbour(t, `<a href="SITE/page">1</a> <a href="SITE/away">2</a> <a href="`+other.URL+`/page">3</a>`)
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case user != "me" || password != "s3cret:x" || r.Header.Get("X-Key") != "l1teral":
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL+"/landing", http.StatusFound)
		}
	}
	host := strings.TrimPrefix(n.URL, "http://")
	table := func(host, header string) string {
		return "[[external.host]]\nhost = \"" + host + "\"\nheader = " + header + "\n"
	}
	login := `{ Authorization = "Basic env:WIKI_LOGIN", X-Key = "l1teral" }`
	n.write(t, "own.toml", table(host, login))
	n.write(t, "sub/index.html", "")
	base64 := "bWU6czNjcmV0Ong=" // me:s3cret:x
	var outputs string
	ask := func(want int, variable string, args ...string) (stdout, stderr string) {
		t.Helper()
		args = append([]string{"external", "public", "--pace", "0s", "--allow-address", "127.0.0.0/8"}, args...)
		stdout, stderr = n.plain(t, t.Context(), []string{"WIKI_LOGIN=" + variable, "SITELINK_DEBUG=timing"}, want, args...)
		outputs += stdout + stderr
		return stdout, stderr
	}

	out, _ := ask(0, "")
	mentions(t, out, "hosts that demand a login (401); header in [[external.host]] gives it, over https; if it does already, check its value: "+host+" (2)")
	n.take()
	for _, header := range []string{login, `{ Authorization = "Basic me:s3cret:x" }`} { // a literal is no better
		n.write(t, "sitelink.toml", table(host, header))
		_, errs := ask(2, "me:s3cret:x")
		mentions(t, errs, "sitelink.toml:3: header in [[external.host]] is not used, because --config does not name the configuration", "hint: name the file with --config sitelink.toml")
	}
	testkit.Check(t, os.Remove(filepath.Join(n.dir, "sitelink.toml")))
	_, errs := ask(2, "", "--config", "own.toml")
	mentions(t, errs, `own.toml:1: Authorization for `+host+`: the variable "WIKI_LOGIN" is not set`, "hint: set it to the secret")
	_, errs = ask(2, "s3cret\nx", "--config", "own.toml")
	mentions(t, errs, "own.toml:1: Authorization for "+host+": the value is empty, or has a line break")
	for header, want := range map[string]string{
		`"Authorization: s3cret"`:     `wrong.toml:3:1: header: must be a table such as { Authorization = "Bearer env:TOKEN" }`,
		`{ X-Key = 4711 }`:            "own.toml:3:1: header: the value of X-Key must be a string",
		`{ Host = "s3cret" }`:         `own.toml:3:1: header: sitelink cannot send a header field named "Host"`,
		`{ "X Key" = "s3cret" }`:      `own.toml:3:1: header: sitelink cannot send a header field named "X Key"`,
		`{ X-Key = "s3cret` + "\n\"}": "own.toml:3:",
	} {
		n.write(t, "wrong.toml", table(host, header))
		_, errs := ask(2, "", "--config", "wrong.toml")
		mentions(t, errs, strings.ReplaceAll(want, "own.toml", "wrong.toml"))
	}
	for _, pattern := range []string{"*.example.org", "{a,b}.example.org", "https://wiki.example.org", "wiki.example.org/x", "me:s3cret@wiki.example.org"} {
		n.write(t, "wrong.toml", table(pattern, login))
		_, errs := ask(2, "", "--config", "wrong.toml")
		mentions(t, errs, "wrong.toml:1:3: external.host: header needs the name of one host", `hint: write it like host = "wiki.example.org"`)
	}
	if asked := n.take(); len(asked) > 0 {
		t.Errorf("asked %q", asked)
	}
	testkit.Check(t, os.Remove(filepath.Join(n.dir, "wrong.toml")))

	out, _ = ask(0, "me:wrong", "--config", "own.toml") // asked again although the answer is fresh
	mentions(t, out, "demand a login (401)")
	args := []string{"--config", "own.toml", "--show", "all", "--output", "r.txt", "--max-age", "0s"}
	for _, format := range []string{"text", "json", "jsonl", "markdown", "sarif", "junit", "html"} {
		args = append(args, "--format", format+"=r."+format)
	}
	ask(0, "me:s3cret:x", args[:4]...)
	ask(0, "me:s3cret:x", args[:2]...)
	ask(0, "me:s3cret:x", append(args[:2], args[6:]...)...)
	if rows := string(testkit.Read(t, filepath.Join(n.dir, ".sitelink/status.jsonl"))); strings.Contains(rows, `"status":401`) || !strings.Contains(rows, host+"/page") {
		t.Errorf("the login was not used:\n%s", rows)
	}
	if files := len(testkit.Must(filepath.Glob(filepath.Join(n.dir, "r.*")))(t)); files != 7 {
		t.Errorf("%d reports", files)
	}
	testkit.Check(t, os.Remove(filepath.Join(n.dir, "own.toml")))
	testkit.Check(t, filepath.WalkDir(n.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			outputs += string(testkit.Read(t, name))
		}
		return err
	}))
	for _, secret := range []string{"s3cret", "l1teral", "4711", base64} {
		if at := strings.Index(outputs, secret); at >= 0 {
			t.Errorf("an output or a file has %s: %s", secret, outputs[max(0, at-200):at])
		}
	}
}
