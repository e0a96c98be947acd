//go:build unix

package main

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/sitelink/sitelink/internal/testkit"
)

// receiving is a running `sitelink serve` in a directory of its own.
type receiving struct {
	t        *testing.T
	dir      string // of the project: public, mentions.db
	addr     string
	cmd      *exec.Cmd
	sources  *httptest.Server
	messages *bytes.Buffer
	ended    chan struct{} // closed when all messages are there
}

const servedBase = "http://blog.example/"

// startServe serves a docroot with the page /post/, and pages of another site from
// which that page is linked.
func startServe(t *testing.T, args ...string) *receiving {
	t.Helper()
	r := &receiving{t: t, dir: t.TempDir(), messages: &bytes.Buffer{}}
	r.write("public/index.html", `<!doctype html><title>Home</title><a href="/post/">post</a>`)
	r.write("public/post/index.html", `<!doctype html><title>Post</title><a href="https://other.example/doc">doc</a>`)
	r.sources = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if strings.HasPrefix(req.URL.Path, "/links") {
			fmt.Fprintf(w, `<!doctype html><html lang=de><title>Über %s</title><p>Siehe <a href="%spost/">dort</a>.`, req.URL.Path, servedBase)
			return
		}
		io.WriteString(w, `<!doctype html><title>Nothing</title>`)
	}))
	t.Cleanup(r.sources.Close)
	r.start(args...)
	return r
}

func (r *receiving) write(name, text string) {
	r.t.Helper()
	testkit.Write(r.t, filepath.Join(r.dir, filepath.FromSlash(name)), text)
}

// start starts the process and waits until it listens.
func (r *receiving) start(args ...string) {
	r.t.Helper()
	r.startWith(append([]string{"serve", "public", "--base-url", servedBase, "--store", "mentions.db", "--listen", "127.0.0.1:0", "--allow-address", "127.0.0.0/8"}, args...)...)
}

// startWith starts a command line and waits until it listens.
func (r *receiving) startWith(args ...string) {
	r.t.Helper()
	r.cmd = exec.Command("sitelink", args...)
	r.cmd.Dir = r.dir
	stderr := testkit.Must(r.cmd.StderrPipe())(r.t)
	testkit.Check(r.t, r.cmd.Start())
	r.t.Cleanup(func() { r.cmd.Process.Kill(); r.cmd.Wait() })
	listening := regexp.MustCompile(`receiving at http://(\S+) for`)
	addr, lines, ended := make(chan string, 1), bufio.NewScanner(stderr), make(chan struct{})
	r.ended = ended
	go func() {
		defer close(ended)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				addr <- m[1]
				continue
			}
			fmt.Fprintln(r.messages, lines.Text())
		}
		close(addr)
	}()
	select {
	case r.addr = <-addr:
		if r.addr == "" {
			r.t.Fatalf("serve ended: %s", r.messages)
		}
	case <-time.After(time.Minute):
		r.t.Fatal("serve does not listen")
	}
}

// run runs a command of sitelink mentions and returns its standard output.
func (r *receiving) run(exit int, args ...string) string {
	r.t.Helper()
	out, _ := sitelink(r.t, r.dir, exit, slices.Concat([]string{"mentions"}, args, []string{"--store", "mentions.db"})...)
	return out
}

// listed is a row of `mentions list --format json`.
type listed struct {
	ID, Action, Protocol, Source, Target, State, Title, Excerpt, Lang string
	Author                                                            struct{ Name, URL string }
	Fault                                                             int
	Received, Verified                                                time.Time
}

func (r *receiving) list() (all []listed) {
	r.t.Helper()
	testkit.Check(r.t, json.Unmarshal([]byte(r.run(0, "list", "--state", "all", "--format", "json")), &all))
	return all
}

// until waits until the mention of a source has the state.
func (r *receiving) until(source, state string) (m listed) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		for _, m = range r.list() {
			if m.Source == source && m.State == state {
				return m
			}
		}
	}
	r.t.Fatalf("%s is not %s: %+v\n%s", source, state, r.list(), r.messages)
	return m
}

// webmention sends one and returns the response without its body.
func (r *receiving) webmention(source, target string) *http.Response {
	r.t.Helper()
	resp := testkit.Must(http.PostForm("http://"+r.addr+"/webmention", url.Values{"source": {source}, "target": {target}}))(r.t)
	resp.Body.Close()
	return resp
}

// raw sends bytes and returns the first line of the answer.
func (r *receiving) raw(request string) string {
	r.t.Helper()
	c := testkit.Must(net.Dial("tcp", r.addr))(r.t)
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, request)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		r.t.Fatalf("%q: %v", request, err)
	}
	return strings.TrimSpace(line)
}

// link sends a LINK in the draft's form and returns the first line of the answer.
func (r *receiving) link(source, target string) string {
	r.t.Helper()
	return r.raw("LINK " + source + " " + target + " HTTP/1.1\r\nHost: blog.example\r\nContent-Length: 0\r\n\r\n")
}

// pingback sends one and returns the answer.
func (r *receiving) pingback(source, target string) string {
	r.t.Helper()
	call := "<?xml version='1.0'?><methodCall><methodName>pingback.ping</methodName><params><param><value>" + source + "</value></param><param><value>" + target + "</value></param></params></methodCall>"
	post := testkit.Must(http.Post("http://"+r.addr+"/pingback", "text/xml", strings.NewReader(call)))(r.t)
	defer post.Body.Close()
	text := testkit.Must(io.ReadAll(post.Body))(r.t)
	return string(text)
}

// TestServe: three protocols reach the store, what is verified waits for a
// decision, and what is approved is exported. What was answered survives a kill.
func TestServe(t *testing.T) {
	t.Parallel()
	r := startServe(t)
	target := servedBase + "post/"
	source := r.sources.URL + "/links/webmention"
	resp := r.webmention(source, target)
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Location") == "" {
		t.Errorf("webmention: %s, Location %q", resp.Status, resp.Header.Get("Location"))
	}
	if resp := r.webmention(source, servedBase+"none/"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("webmention for a missing page: %s", resp.Status)
	}
	viaLink, without := r.sources.URL+"/links/link", r.sources.URL+"/nothing"
	if line := r.link(viaLink, target); line != "HTTP/1.1 200 Ok" {
		t.Errorf("LINK: %s", line)
	}

	m := r.until(source, "held")
	if m.Protocol != "webmention" || m.Target != target || m.Title != "Über /links/webmention" || m.Lang != "de" || m.Verified.IsZero() {
		t.Errorf("%+v", m)
	}
	r.until(viaLink, "held")
	// A third notice from one host at the same time would wait.
	if text := r.pingback(without, target); strings.Contains(text, "<fault>") {
		t.Errorf("pingback: %s", text)
	}
	if m := r.until(without, "rejected"); m.Fault != 17 {
		t.Errorf("a source without the link has fault %d, want 17 (PB-44)", m.Fault)
	}

	r.cmd.Process.Signal(syscall.SIGKILL)
	r.cmd.Wait()
	r.start()
	if got := len(r.list()); got != 3 {
		t.Errorf("%d mentions after a kill, want 3", got)
	}
	if out := r.run(0, "list"); !strings.Contains(out, "3 mentions: 2 held, 1 rejected") || !strings.Contains(out, source) {
		t.Errorf("list:\n%s", out)
	}
	r.run(0, "approve", m.ID[:8])
	r.run(2, "approve", without)
	r.run(0, "export", "--output", "data")
	exported := ""
	filepath.WalkDir(filepath.Join(r.dir, "data"), func(name string, _ os.DirEntry, _ error) error {
		text, _ := os.ReadFile(name)
		exported += string(text)
		return nil
	})
	if !strings.Contains(exported, source) || !strings.Contains(exported, viaLink) { // by the same author
		t.Errorf("exported: %s", exported)
	}

	sitelink(t, r.dir, 0, "serve", "--backup", "copy.db", "--store", "mentions.db")
	if got := len(r.list()); got != 3 {
		t.Errorf("%d mentions, want 3", got)
	}

	// A running receiver obeys a block.
	host, _ := url.Parse(r.sources.URL)
	r.run(0, "block", host.Hostname())
	r.until(source, "blocked")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if resp := r.webmention(r.sources.URL+"/links/late", target); resp.StatusCode == http.StatusForbidden {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("webmention of a blocked host: %s", resp.Status)
		}
	}

	r.cmd.Process.Signal(syscall.SIGTERM)
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("serve after SIGTERM: %v\n%s", err, r.messages)
	}
}

// TestServeFollowsDeploys: a page that a deploy adds takes notices.
func TestServeFollowsDeploys(t *testing.T) {
	t.Parallel()
	r := startServe(t)
	source, target := r.sources.URL+"/links/x", servedBase+"new/"
	if resp := r.webmention(source, target); resp.StatusCode != http.StatusBadRequest {
		t.Fatalf("before the deploy: %s", resp.Status)
	}
	r.write("public/new/index.html", "<!doctype html><title>New</title>")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if resp := r.webmention(source, target); resp.StatusCode == http.StatusCreated {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("after the deploy: %s", resp.Status)
		}
	}
}

// TestServeModeration: a rule that a person writes into the file of rules takes
// effect while the receiver runs, a command writes there too, and the login link of
// another command opens the page once.
func TestServeModeration(t *testing.T) {
	t.Parallel()
	r := startServe(t)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	r.write("sitelink.toml", "[incoming]\nrules = 'rules.txt'\nmoderation = 'http://127.0.0.1/moderation'\nstore = 'mentions.db'\n")
	r.start()
	host, _ := url.Parse(r.sources.URL)
	source, target := r.sources.URL+"/links/x", servedBase+"post/"
	r.webmention(source, target)
	r.until(source, "held")
	r.write("rules.txt", "# friends\ntrust "+host.Hostname()+"\n")
	r.until(source, "approved")
	r.run(0, "block", host.Hostname(), "--reason", "spam")
	r.until(source, "blocked")
	text, err := os.ReadFile(filepath.Join(r.dir, "rules.txt"))
	if err != nil || !strings.Contains(string(text), "block "+host.Hostname()) || !strings.Contains(string(text), "# friends") || strings.Contains(string(text), "trust") {
		t.Errorf("rules.txt: %v\n%s", err, text)
	}

	// A list of others is imported, and what it does not mean is left out; unblock removes
	// a rule, and mentions that it blocked are verified again.
	r.write("hosts.txt", "# a list\n0.0.0.0 ads.example\n||tracker.example^\nexample.com##.banner\n")
	r.run(0, "block", "--list", "hosts.txt")
	r.run(0, "unblock", "ads.example", host.Hostname())
	text, err = os.ReadFile(filepath.Join(r.dir, "rules.txt"))
	if err != nil || !strings.Contains(string(text), "block tracker.example") || strings.Contains(string(text), "ads.example") || strings.Contains(string(text), "banner") ||
		strings.Contains(string(text), host.Hostname()) {
		t.Errorf("rules.txt after an import: %v\n%s", err, text)
	}
	r.until(source, "queued") // its page was fetched a moment ago

	out, _ := sitelink(t, r.dir, 0, "mentions", "login")
	link := testkit.Must(url.Parse(strings.TrimSpace(out)))(t)
	link.Host = r.addr
	request := func(method string) *http.Response {
		req := testkit.Must(http.NewRequest(method, link.String(), nil))(t)
		client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp := testkit.Must(client.Do(req))(t)
		resp.Body.Close()
		return resp
	}
	if resp := request(http.MethodGet); resp.StatusCode >= 400 {
		t.Errorf("login link: %s", resp.Status)
	}
}

// TestNextBuildShowsIt: a ping that was accepted and approved changes nothing but the
// store, and the next export has it: no request starts a build (PB-55).
func TestNextBuildShowsIt(t *testing.T) {
	r := startServe(t)
	files := func() (text string) {
		err := filepath.WalkDir(r.dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "mentions.db") {
				return err
			}
			content, err := os.ReadFile(name)
			text += name + "\n" + string(content) + "\n"
			return err
		})
		testkit.Check(t, err)
		return text
	}
	page := func() string {
		r.run(0, "export", "--output", "data/mentions")
		text, err := os.ReadFile(filepath.Join(r.dir, "data", "mentions", "pages", "post.json"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	if page() != "" {
		t.Fatal("there are mentions before the first ping")
	}
	before, source := files(), r.sources.URL+"/links/ping"
	call := "<methodCall><methodName>pingback.ping</methodName><params><param><value>" + source + "</value></param><param><value>" + servedBase + "post/</value></param></params></methodCall>"
	resp := testkit.Must(http.Post("http://"+r.addr+"/pingback", "text/xml", strings.NewReader(call)))(t)
	resp.Body.Close()
	id := r.until(source, "held").ID
	if after := files(); after != before {
		t.Errorf("a ping changed files:\n%s\nbefore:\n%s", after, before)
	}
	if text := page(); text != "" {
		t.Errorf("the build shows what no one approved:\n%s", text)
	}
	r.run(0, "approve", id)
	if after := files(); after != before {
		t.Errorf("the approval changed files:\n%s\nbefore:\n%s", after, before)
	}
	if text := page(); !strings.Contains(text, source) || !strings.Contains(text, "Siehe dort.") {
		t.Errorf("the next build does not show it:\n%s", text)
	}
}

// TestServeFlags: limits and their absence, the time of the next look, and pages.
func TestServeFlags(t *testing.T) {
	r := startServe(t, "--rate-address", "2", "--rate-source", "0", "--recheck", "2h")
	restart := func(args ...string) {
		r.cmd.Process.Signal(syscall.SIGTERM)
		r.cmd.Wait()
		r.start(args...)
	}
	get := func() (status int, text string) {
		resp := testkit.Must(http.Get("http://" + r.addr + "/post/"))(t)
		defer resp.Body.Close()
		content, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(content)
	}
	// Each notice has a source of its own: two looks at one mention may wait for each other.
	target, source := servedBase+"post/", r.sources.URL+"/links/x"
	var statuses []int
	for _, end := range []string{"", "y", "z"} {
		resp := r.webmention(source+end, target)
		if statuses = append(statuses, resp.StatusCode); resp.StatusCode == http.StatusTooManyRequests && resp.Header.Get("Retry-After") == "" {
			t.Error("429 without Retry-After")
		}
	}
	if fmt.Sprint(statuses) != "[201 201 429]" {
		t.Errorf("two notices per minute from one address: %v", statuses)
	}
	id := r.until(source, "held").ID
	// Until a look has ended, the next is when another process may take it over, in an hour.
	var wait time.Duration
	for deadline := time.Now().Add(40 * time.Second); wait < 100*time.Minute && time.Now().Before(deadline); {
		next := regexp.MustCompile(`verified +(\S+)\nnext look +(\S+)\n`).FindStringSubmatch(r.run(0, "show", id))
		if next == nil {
			t.Fatalf("the next look:\n%s", r.run(0, "show", id))
		}
		wait = testkit.Must(time.Parse(time.RFC3339, next[2]))(t).Sub(testkit.Must(time.Parse(time.RFC3339, next[1]))(t))
	}
	if wait < 100*time.Minute || wait > 140*time.Minute {
		t.Errorf("with --recheck 2h, the next look comes after %v", wait)
	}
	if status, text := get(); status != http.StatusNotFound || !strings.Contains(text, "/webmention") {
		t.Errorf("GET: %d %s", status, text)
	}

	restart("--rate-source", "1", "--rate-address", "0")
	if first, second := r.webmention(source, target), r.webmention(source+"y", target); first.StatusCode != http.StatusCreated || second.StatusCode != http.StatusTooManyRequests {
		t.Errorf("one notice per minute about one host: %s, %s", first.Status, second.Status)
	}
	restart("--rate-source", "0", "--rate-address", "0", "--pages")
	for range 70 { // more than the limits that the configuration has without a key
		if resp := r.webmention(source, target); resp.StatusCode != http.StatusCreated {
			t.Fatalf("without limits: %s", resp.Status)
		}
	}
	if status, text := get(); status != http.StatusOK || !strings.Contains(text, "<title>Post</title>") {
		t.Errorf("GET with --pages: %d %s", status, text)
	}
}

// TestServeKeys: what has no flag is in the configuration: several docroots, a
// listener for operations, the header field of proxies, and the form of LINK.
func TestServeKeys(t *testing.T) {
	r := startServe(t)
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	r.write("second/doc/index.html", "<!doctype html><title>Doc</title>")
	keys := "docroots = ['public', 'second']\nstore = 'mentions.db'\nlisten = '127.0.0.1:0'\noperations = '127.0.0.1:0'\nlink-only = true\n" +
		"trusted-proxies = ['127.0.0.1/32']\nproxy-header = 'Forwarded'\nallow-address = ['127.0.0.0/8']\n"
	r.write("sitelink.toml", "base-url = ['"+servedBase+"', 'http://second.example/']\n[incoming]\n"+keys)
	r.startWith("serve", "--config", "sitelink.toml")
	m := regexp.MustCompile(`/metrics are at http://(\S+)`).FindStringSubmatch(r.messages.String())
	if m == nil {
		t.Fatalf("the address of the operations:\n%s", r.messages)
	}
	operations := m[1]
	status := func(address, path string) int {
		resp := testkit.Must(http.Get("http://" + address + path))(t)
		resp.Body.Close()
		return resp.StatusCode
	}
	if hidden, shown, other := status(r.addr, "/metrics"), status(operations, "/metrics"), status(operations, "/webmention"); hidden != 404 || shown != 200 || other != 404 {
		t.Errorf("operations: %d at the receiver, %d and %d at its own address", hidden, shown, other)
	}
	for _, target := range []string{servedBase + "post/", "http://second.example/doc/"} {
		if resp := r.webmention(r.sources.URL+"/links/x", target); resp.StatusCode != http.StatusCreated {
			t.Errorf("webmention for %s: %s", target, resp.Status)
		}
	}
	for line, want := range map[string]string{
		"UNLINK http://a.example/ " + servedBase + "none": "HTTP/1.1 200 Ok",
		"LINK http://a.example/ " + servedBase + "none":   "HTTP/1.1 417 Invalid target URI",
	} {
		if got := r.raw(line + " HTTP/1.1\r\nHost: blog.example\r\nForwarded: for=192.0.2.7\r\nX-Forwarded-For: 192.0.2.8\r\nContent-Length: 0\r\n\r\n"); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	source := r.sources.URL + "/links/proxied"
	r.raw("LINK " + source + " " + servedBase + "post/ HTTP/1.1\r\nHost: blog.example\r\nForwarded: for=192.0.2.7\r\nX-Forwarded-For: 192.0.2.8\r\nContent-Length: 0\r\n\r\n")
	if shown := r.run(0, "show", source); !strings.Contains(shown, "sent by      192.0.2.7\n") {
		t.Errorf("the address of the sender:\n%s", shown)
	}

	// A configuration that is found names nothing outside of the repository.
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	r.write("sitelink.toml", "base-url = ['"+servedBase+"', 'http://second.example/']\n[incoming]\ndocroots = ['public', '"+t.TempDir()+"']\n")
	cmd := exec.Command("sitelink", "serve")
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "docroots in [incoming]:") {
		t.Errorf("a docroot elsewhere: %v\n%s", err, out)
	}
}

// TestCallsAreListed: before a deploy moves a page, diff, notify and deploy list the
// calls to pages that link to it, and send none (LK-52).
func TestCallsAreListed(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	r := startServe(t)
	target := servedBase + "post/"
	r.webmention(r.sources.URL+"/links/1", target)
	r.run(0, "approve", r.until(r.sources.URL+"/links/1", "held").ID)
	r.webmention(r.sources.URL+"/links/2", target)
	r.until(r.sources.URL+"/links/2", "approved")
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	config := "docroot = 'public'\nbase-url = ['" + servedBase + "']\n[incoming]\nstore = 'mentions.db'\n[outgoing]\nmax-notices = 1\n"
	printed := func(args ...string) string {
		out, errs := sitelink(t, r.dir, 0, args...)
		return out + errs
	}
	os.RemoveAll(filepath.Join(r.dir, "public", "post"))
	r.write("sitelink.toml", config)
	if out := printed("notify"); strings.Contains(out, "UNLINKR") {
		t.Errorf("without hosts that opted in:\n%s", out)
	}
	r.write("sitelink.toml", config+"link-peers = ['127.0.0.1']\n")
	call := "  UNLINKR " + r.sources.URL + "/links/1: " + target + " is gone\n"
	for _, args := range [][]string{{"notify", "--dry-run"}, {"deploy", "--no-check", "--", "true"}} {
		out := printed(args...)
		if !strings.Contains(out, "after this deploy, sitelink serve makes 2 calls to pages that link to this site:\n"+call) ||
			!strings.Contains(out, "more than max-notices in [outgoing], 1: it would send none") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	if out := printed("notify", "--format", "markdown"); !strings.Contains(out, "- UNLINKR `"+r.sources.URL+"/links/1`: `"+target+" is gone`\n") {
		t.Errorf("markdown:\n%s", out)
	}
	var document struct {
		Calls []struct{ Method, Source, Target, Replacement string }
	}
	text, _ := sitelink(t, r.dir, 0, "notify", "--format", "json", "--config", "sitelink.toml")
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&document); err != nil || len(document.Calls) != 2 || document.Calls[0].Method != "UNLINKR" || document.Calls[0].Target != target {
		t.Errorf("%v, %+v\n%s", err, document, text)
	}
}

// TestMentionsImport: mentions of another receiver are imported once, and exported
// together with the links between the site's own pages.
func TestMentionsImport(t *testing.T) {
	r := startServe(t)
	r.write("public/index.html", "<!doctype html><title>Home</title><main><h1>Home</h1><p><a href=/post/>post</a></main>")
	r.write("old.json", `{"type": "feed", "children": [
		{"type": "entry", "url": "https://a.example/x", "wm-source": "https://a.example/x", "wm-target": "`+servedBase+`post/", "wm-protocol": "webmention", "wm-id": 1, "name": "Old", "wm-private": false},
		{"type": "entry", "wm-source": "ftp://a.example/y", "wm-target": "`+servedBase+`post/", "wm-id": 2}]}`)
	for _, want := range []int{1, 1} {
		r.run(0, "import", "old.json")
		if got := r.list(); len(got) != want || got[0].State != "approved" || got[0].Title != "Old" {
			t.Errorf("%+v", got)
		}
	}
	db := testkit.Must(sql.Open("sqlite", filepath.Join(r.dir, "webmentiond.db")))(t)
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE webmentions (id TEXT NOT NULL PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, created_at TEXT NOT NULL, status TEXT NOT NULL);
		INSERT INTO webmentions VALUES ('1', 'https://d.example/', '` + servedBase + `post/', '2024-01-02T03:04:05Z', 'verified')`); err != nil {
		t.Fatal(err)
	}
	r.run(0, "import", "webmentiond.db")
	r.until("https://d.example/", "held")
	r.write("sitelink.toml", "docroot = 'public'\nbase-url = ['"+servedBase+"']\n")
	r.run(0, "export", "--output", "data", "--backlinks")
	text, err := os.ReadFile(filepath.Join(r.dir, "data", "pages", "post.json"))
	if err != nil || !strings.Contains(string(text), "https://a.example/x") || !strings.Contains(string(text), `"internal"`) {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestStartWithoutReceiver: other commands start as fast as without the receiver and its
// databases. Their packages do next to nothing when a program starts.
func TestStartWithoutReceiver(t *testing.T) {
	cmd := exec.Command("sitelink", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace := testkit.Must(cmd.CombinedOutput())(t)
	packages, allocated := 0, 0
	for _, m := range regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(trace), -1) {
		if regexp.MustCompile(`^(modernc\.org|github\.com/(jackc|sitelink/sitelink/(incoming|internal/run/receive)))\b`).MatchString(m[1]) {
			n, _ := strconv.Atoi(m[2])
			packages, allocated = packages+1, allocated+n
		}
	}
	if packages < 10 || allocated > 400_000 { // 110 KB, in less than a millisecond
		t.Errorf("%d packages allocate %d bytes\n%s", packages, allocated, trace)
	}
}

// TestServeSocket: with the socket of a service manager, a connection that is made
// while the receiver restarts waits, and is answered then. The process reports when it
// is ready.
func TestServeSocket(t *testing.T) {
	r := &receiving{t: t, dir: t.TempDir(), messages: &bytes.Buffer{}}
	r.write("public/index.html", "<!doctype html><title>Home</title>")
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	r.addr = l.Addr().String()
	socket := testkit.Must(l.(*net.TCPListener).File())(t)
	defer socket.Close()
	short, err := os.MkdirTemp("", "") // the path of a Unix socket has about 100 bytes at most
	testkit.Check(t, err)
	defer os.RemoveAll(short)
	states := testkit.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(short, "notify"), Net: "unixgram"}))(t)
	defer states.Close()
	for n := range 3 {
		answered := make(chan string, 1)
		go func() {
			resp, err := http.PostForm("http://"+r.addr+"/webmention", url.Values{"source": {fmt.Sprintf("https://a.example/%d", n)}, "target": {servedBase}})
			if err != nil {
				answered <- err.Error()
				return
			}
			resp.Body.Close()
			answered <- resp.Status
		}()
		// The shell knows the number of the process that it becomes.
		cmd := exec.Command("/bin/sh", "-c", `LISTEN_PID=$$ exec sitelink serve public --base-url `+servedBase+` --store mentions.db`)
		cmd.Dir, cmd.ExtraFiles = r.dir, []*os.File{socket}
		cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "NOTIFY_SOCKET="+states.LocalAddr().String())
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		testkit.Check(t, cmd.Start())
		states.SetReadDeadline(time.Now().Add(time.Minute))
		buffer := make([]byte, 100)
		size, err := states.Read(buffer)
		if err != nil || string(buffer[:size]) != "READY=1" {
			t.Errorf("the process reported %q, %v", buffer[:size], err)
		}
		select {
		case status := <-answered:
			if status != "201 Created" {
				t.Errorf("start %d: %s", n+1, status)
			}
		case <-time.After(time.Minute):
			t.Errorf("start %d: no answer", n+1)
		}
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("start %d: %v\n%s", n+1, err, &stderr)
		}
	}
	if got := len(r.list()); got != 3 {
		t.Errorf("%d mentions, want 3", got)
	}
}

// TestServeStops: a client in the middle of a request does not keep the receiver for more than
// a second.
func TestServeStops(t *testing.T) {
	t.Parallel()
	r := startServe(t)
	conn := testkit.Must(net.Dial("tcp", r.addr))(t)
	defer conn.Close()
	fmt.Fprint(conn, "POST /webmention HTTP/1.1\r\nHost: blog.example\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n")
	bufio.NewReader(conn).ReadString('\n') // the request has begun
	began := time.Now()
	testkit.Check(t, r.cmd.Process.Signal(syscall.SIGTERM))
	<-r.ended
	checkExit(t, r.cmd.Wait(), exitClean)
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
