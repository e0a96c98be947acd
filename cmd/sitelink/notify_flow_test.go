//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// blog is a site on loopback and the targets of its links, each with answers
// that a test writes.
type blog struct {
	t       *testing.T
	dir     string
	site    string // the site's address
	targets string // the targets' address
	live    string // the directory that the site serves

	mu     sync.Mutex
	posts  []string // "/path STATUS" of what arrived, in order
	answer func(w http.ResponseWriter, path string, attempt int)
	tries  map[string]int
}

func newBlog(t *testing.T) *blog {
	t.Helper()
	b := &blog{t: t, dir: t.TempDir(), tries: map[string]int{}}
	b.live = filepath.Join(b.dir, "live")
	for _, dir := range []string{"public", "live", ".git"} {
		testkit.Check(t, os.Mkdir(filepath.Join(b.dir, dir), 0o755))
	}
	site := httptest.NewServer(http.FileServer(http.Dir(b.live)))
	t.Cleanup(site.Close)
	targets := httptest.NewServer(http.HandlerFunc(b.target))
	t.Cleanup(targets.Close)
	b.site, b.targets = site.URL+"/", targets.URL
	t.Chdir(b.dir)
	b.write("sitelink.toml", fmt.Sprintf(`base-url = %q

[outgoing]
pace = "0s"
live = "0s"
protocols = ["webmention", "pingback"]

[fetch]
allow-address = ["127.0.0.0/8"]
`, b.site))
	b.write("public/index.html", "<!doctype html><title>home</title><p>home")
	b.publish()
	return b
}

func (b *blog) write(name, text string) {
	b.t.Helper()
	testkit.Write(b.t, filepath.Join(b.dir, name), text)
}

// post writes a page of the docroot that links to the targets of those paths.
func (b *blog) post(name string, paths ...string) {
	var text strings.Builder
	fmt.Fprintf(&text, "<!doctype html><title>%s</title><article>", name)
	for _, p := range paths {
		fmt.Fprintf(&text, "<a href=%q>link</a> ", b.targets+p)
	}
	b.write("public/"+name+"/index.html", text.String())
}

// publish brings the docroot to the host.
func (b *blog) publish() {
	testkit.Check(b.t, os.RemoveAll(b.live))
	testkit.Check(b.t, os.CopyFS(b.live, os.DirFS(filepath.Join(b.dir, "public"))))
}

func (b *blog) target(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/status/"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"status":"success"}`)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/none"):
		fmt.Fprint(w, "<!doctype html><title>t</title>")
	case r.Method == http.MethodGet:
		fmt.Fprintf(w, `<!doctype html><title>t</title><link rel=webmention href="/wm?for=%s">`, r.URL.Path)
	default:
		path := r.URL.Query().Get("for")
		b.mu.Lock()
		b.tries[path]++
		b.posts = append(b.posts, path)
		n, answer := b.tries[path], b.answer
		b.mu.Unlock()
		if answer == nil {
			return
		}
		answer(w, path, n)
	}
}

// run runs sitelink and demands its exit code.
// named is an environment that names the configuration, so that it may allow addresses.
func named(name string) string {
	if name == "SITELINK_CONFIG" {
		return "sitelink.toml"
	}
	return ""
}

func (b *blog) run(want int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	return b.runIn(b.t.Context(), env{Getenv: named}, want, args...)
}

func (b *blog) runIn(ctx context.Context, e env, want int, args ...string) (stdout, stderr string) {
	b.t.Helper()
	var out, said bytes.Buffer
	e.Stdout, e.Stderr = &out, &said
	if got := run(ctx, args, e); got != want {
		b.t.Fatalf("sitelink %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), said.String())
	}
	return out.String(), said.String()
}

func (b *blog) wantPosts(want ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := map[string]int{}
	for _, p := range b.posts {
		got[p]++
	}
	for _, p := range want {
		got[p]--
	}
	for p, n := range got {
		if n != 0 {
			b.t.Errorf("%s: arrived %+d times more than it should; all: %q", p, n, b.posts)
		}
	}
	b.posts = nil
}

// states returns the state of each notice, by the path of its target.
func (b *blog) states() map[string]ledger.State {
	b.t.Helper()
	store := testkit.Must(ledger.OpenFile(".sitelink/ledger.jsonl", ledger.FileOptions{ReadOnly: true}))(b.t)
	snap := testkit.Must(store.Load(b.t.Context()))(b.t)
	m := map[string]ledger.State{}
	for _, n := range snap.Notices {
		m[strings.TrimPrefix(n.Target, b.targets)] = n.State
	}
	return m
}

// PB-41, PB-51, PB-52: a notice is sent once for a post, never again for an
// unchanged one, and again for a changed one; what failed is named and due later;
// success is quiet.
func TestNotifyFlow(t *testing.T) {
	b := newBlog(t)
	b.run(0, "notify", "public", "--send")
	b.post("one", "/a", "/b", "/none")
	b.publish()
	out, said := b.run(0, "notify", "public", "--send")
	if out != "" || said != "" {
		t.Errorf("a success is not quiet: %q, %q", out, said)
	}
	b.wantPosts("/a", "/b")
	b.run(0, "notify", "public", "--send")
	b.wantPosts()

	b.answer = func(w http.ResponseWriter, path string, n int) {
		switch path {
		case "/b":
			w.WriteHeader(http.StatusBadRequest)
		case "/c":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/d":
			w.Header().Set("Location", "/status/d")
			w.WriteHeader(http.StatusCreated)
		}
	}
	b.post("one", "/a", "/b", "/none", "/c", "/d")
	b.publish()
	out, _ = b.run(4, "notify", "public", "--send")
	b.wantPosts("/a", "/b", "/c", "/d")
	for _, want := range []string{b.site + "one/\n", "  failed: " + b.targets + "/b  webmention, updated: ", "  failed for now: " + b.targets + "/c  webmention, added: ",
		"; next attempt after 20", "\n1 notified, 1 accepted for later, 1 failed, 1 failed for now, 1 to targets that take no notices\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "/a  ") {
		t.Errorf("the report tells of success:\n%s", out)
	}

	// Nothing is due yet, so the next runs send nothing. Those that look at the site
	// say what waits and until when; --due, which runs from timers, has nothing to say.
	out, said = b.run(0, "notify", "--due", "--send")
	if out != "" || said != "" {
		t.Error(out, said)
	}
	waits := regexp.MustCompile(`1 notice of earlier runs waiting, the next one until 20\d\d-\d\d-\d\dT[\d:]+Z \(` + b.targets + `/c: .*503.*\); sitelink ledger show`)
	for _, run := range []struct {
		exit int
		args []string
	}{{4, []string{"notify", "public", "--send"}}, {0, []string{"notify", "public"}}, {4, []string{"deploy", "public", "--send", "--", "true"}}} {
		if _, said = b.run(run.exit, run.args...); !waits.MatchString(said) {
			t.Errorf("%q does not say what waits: %s", run.args, said)
		}
	}
	b.wantPosts()
	if got := b.states(); got["/a"] != ledger.Done || got["/b"] != ledger.Permanent || got["/c"] != ledger.Retry || got["/d"] != ledger.Accepted || got["/none"] != ledger.NoService {
		t.Errorf("states %v", got)
	}

	// The time has come, and the target is well again: -v tells of it.
	b.answer = nil
	text := testkit.Read(t, ".sitelink/ledger.jsonl")
	past := `"next":"` + time.Now().UTC().Format("2006-01-02T15:")
	early := strings.Replace(string(text), past, `"next":"2020-01-01T00:`, 1)
	if early == string(text) { // the hour has changed meanwhile
		early = strings.Replace(string(text), `"next":"20`, `"next":"19`, 1)
	}
	// A row that is edited by hand has no checksum.
	b.write(".sitelink/ledger.jsonl", regexp.MustCompile(`,"sum":"[0-9a-f]+"}`).ReplaceAllString(early, "}"))
	out, said = b.run(0, "notify", "--due")
	if !strings.Contains(out, "failed for now: "+b.targets+"/c") || !strings.Contains(said, "dry run") {
		t.Errorf("%s%s", out, said)
	}
	out, _ = b.run(0, "notify", "--due", "--send", "-v")
	b.wantPosts("/c")
	if !strings.Contains(out, "  notified: "+b.targets+"/c  webmention, added") {
		t.Error(out)
	}

	// How did it go on with what was accepted?
	out, _ = b.run(0, "notify", "--status")
	if !strings.Contains(out, "  notified: "+b.targets+"/d  webmention, added") || b.states()["/d"] != ledger.Done {
		t.Errorf("%s, %v", out, b.states())
	}
	if _, said = b.run(0, "notify", "--status"); !strings.Contains(said, "note: no target returned a status URL") {
		t.Error(said)
	}

	// A removed link is notified too, a page that is not live is not.
	b.post("one", "/a", "/b", "/none", "/c", "/e")
	out, _ = b.run(4, "notify", "public", "--send")
	b.wantPosts("/a", "/b", "/c")
	if !strings.Contains(out, "/d  removed: the source page still links to the target") || !strings.Contains(out, "/e  added: the source page does not link to the target") {
		t.Error(out)
	}
}

// A run that notifies no target says why: the targets accept no notices, or their
// address is not allowed. A run says so, too, if its own site is at such an address.
func TestNotifySays(t *testing.T) {
	b := newBlog(t)
	b.run(0, "notify", "public", "--send")
	b.post("one", "/none", "/none2")
	b.publish()
	if out, _ := b.run(0, "notify", "public", "--send"); out != "2 to targets that take no notices\n" {
		t.Errorf("%q", out)
	}
	if out, _ := b.run(0, "notify", "public", "--send"); out != "" {
		t.Errorf("nothing was due: %q", out)
	}
	if _, said := b.run(0, "notify", "--retry", "--send"); said != "sitelink: note: no notice has failed, so --retry sends none again\n" {
		t.Errorf("said %q", said)
	}
	b.answer = func(w http.ResponseWriter, _ string, _ int) { w.WriteHeader(http.StatusServiceUnavailable) }
	b.post("two", "/c")
	b.publish()
	b.run(4, "notify", "public", "--send")
	if _, said := b.run(4, "notify", "--retry", "--send"); !strings.Contains(said, "no notice has failed") || !strings.Contains(said, "1 notice of earlier runs waiting, the next one until") {
		t.Errorf("said %q", said)
	}
	testkit.Check(t, os.RemoveAll(".sitelink"))
	b.run(0, "notify", "public", "--record", "--send")
	config := testkit.Read(t, "sitelink.toml")
	for allow, want := range map[string]string{"127.0.0.1": "1 skipped", "192.0.2.0/24": "1 failed for now"} {
		b.write("sitelink.toml", strings.Replace(string(config), "127.0.0.0/8", allow, 1))
		b.write("public/"+allow+"/index.html", "<!doctype html><title>x</title><article><a href=http://127.0.0.2/x>x</a></article>")
		b.publish()
		out, _ := b.run(map[bool]int{true: 4}[strings.Contains(want, "failed")], "notify", "public", "--send")
		if !strings.Contains(out, ": if you trust that host, name its network with --allow-address") || !strings.HasSuffix(out, "\n"+want+"\n") || strings.Contains(out, "publish the page") {
			t.Errorf("%s allowed:\n%s", allow, out)
		}
		if _, after, failed := strings.Cut(out, "next attempt after "); failed { // permitted, the source is asked at once
			if next, err := time.Parse(time.RFC3339, strings.Fields(after)[0]); err != nil || time.Until(next) > time.Second {
				t.Errorf("%v: %s", err, out)
			}
		}
		testkit.Check(t, os.RemoveAll(".sitelink"))
		b.run(0, "notify", "public", "--record", "--send")
	}
}

func TestNotifyJSON(t *testing.T) {
	b := newBlog(t)
	b.run(0, "notify", "public", "--send")
	b.post("one", "/a", "/none")
	b.publish()
	out, _ := b.run(0, "notify", "public", "--send", "--format", "json")
	var d struct {
		Schema, Failed, Left int
		Base                 string
		Counts               map[string]int
		Notices              []struct{ Source, Target, Protocol, Event, State, Endpoint, Via string }
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if d.Schema != 1 || d.Base != b.site || d.Counts["done"] != 1 || d.Counts["unsupported"] != 1 || len(d.Notices) != 2 ||
		d.Notices[0].Endpoint != b.targets+"/wm?for=/a" || d.Notices[0].Protocol != "webmention" || d.Notices[0].Via == "" {
		t.Error(out)
	}
	b.answer = func(w http.ResponseWriter, _ string, _ int) { w.WriteHeader(http.StatusBadRequest) }
	b.post("two", "/`b`")
	b.publish()
	out, _ = b.run(4, "notify", "public", "--send", "--format", "markdown")
	if !strings.HasPrefix(out, "### sitelink: 1 failed\n") || !strings.Contains(out, "- failed: ") {
		t.Error(out)
	}
}

// The limit asks on a terminal, and stops elsewhere.
func TestNotifyCap(t *testing.T) {
	b := newBlog(t)
	b.run(0, "notify", "public", "--send")
	b.post("one", "/a", "/b", "/c")
	b.publish()
	b.run(3, "notify", "public", "--send", "--max-notices", "2")
	terminal := func(answer string) env {
		return env{Stdin: strings.NewReader(answer), StdinTTY: true, StderrTTY: true, Getenv: named}
	}
	_, said := b.runIn(t.Context(), terminal("n\n"), 3, "notify", "public", "--send", "--max-notices", "2")
	if !strings.Contains(said, "sitelink: 3 notices are due, more than max-notices, 2. Send them? [y/N] ") {
		t.Error(said)
	}
	b.wantPosts()
	b.runIn(t.Context(), terminal("y\n"), 0, "notify", "public", "--send", "--max-notices", "2")
	b.wantPosts("/a", "/b", "/c")
}

// A deploy: the check stops it, the command's failure does, a failed notice does
// not.
func TestDeploy(t *testing.T) {
	b := newBlog(t)
	copying := []string{"--", "sh", "-c", "rm -rf live && cp -r public live && echo copied"}
	deploy := func(want int, args ...string) (string, string) {
		t.Helper()
		return b.run(want, append(append([]string{"deploy", "public"}, args...), copying...)...)
	}
	_, said := deploy(0, "--send")
	if !strings.Contains(said, "copied\n") || !strings.Contains(said, "there was no ledger") {
		t.Error(said)
	}
	b.post("one", "/a")
	out, said := deploy(0) // nothing is sent
	if !strings.Contains(out, "new link") || !strings.Contains(said, "deployed without sending notices") {
		t.Error(out, said)
	}
	b.wantPosts()
	if out, said = deploy(0, "--send"); out != "" || !strings.Contains(said, "ok: ") {
		t.Errorf("a deploy that went well is not quiet: %q, %q", out, said)
	}
	b.wantPosts("/a")

	b.answer = func(w http.ResponseWriter, _ string, _ int) { w.WriteHeader(http.StatusBadRequest) }
	b.post("two", "/b")
	out, said = deploy(4, "--send")
	b.wantPosts("/b")
	if !strings.Contains(out, "failed: "+b.targets+"/b") || !strings.Contains(said, "copied\n") {
		t.Error(out, said)
	}

	// Findings: nothing runs.
	b.answer = nil
	b.write("public/three/index.html", `<!doctype html><title>3</title><article><a href="gone.html">x</a>`)
	out, said = deploy(1, "--send")
	if strings.Contains(said, "copied") || !strings.Contains(out, "missing-file") || !strings.Contains(said, "not deployed: the check found errors") {
		t.Error(out, said)
	}
	_, said = deploy(0, "--send", "--no-check")
	if !strings.Contains(said, "copied") {
		t.Error(said)
	}
	b.post("three", "/c")

	// The command fails: nothing is recorded, so the next deploy tells it.
	_, said = b.run(3, "deploy", "public", "--send", "--", "sh", "-c", "exit 7")
	if !strings.Contains(said, "error: run sh -c exit 7: exit status 7") {
		t.Error(said)
	}
	b.wantPosts()
	deploy(0, "--send")
	b.wantPosts("/c")

	// A deleted page leaves a tombstone, which is deployed with the rest.
	testkit.Check(t, os.RemoveAll("public/three"))
	_, said = deploy(0, "--send", "--no-check", "--tombstones")
	text, err := os.ReadFile("live/three/index.html")
	if err != nil || !strings.Contains(string(text), "410 Gone") || !strings.Contains(said, "1 tombstone written") {
		t.Errorf("no tombstone: %q, %v, %q", text, err, said)
	}
	b.wantPosts("/c")

	// What hugo server wrote is not deployed.
	b.write("public/three/index.html", `<!doctype html><title>3</title><script src="/livereload.js?mindelay=10&amp;v=2&amp;port=1313&amp;path=livereload" data-no-instant defer></script>`)
	_, said = deploy(3, "--send")
	if !strings.Contains(said, "error: docroot public must not be published: hugo server wrote 1 page") || strings.Contains(said, "copied") {
		t.Error(said)
	}
	b.run(2, "deploy", "public")
	b.run(2, "deploy", "public", "other", "--", "true")
	b.run(3, "deploy", "public", "--no-check", "--", "no-such-command")
}

// What the first run recorded sends nothing when it is renamed, and received comments
// nothing at all. A baseline at a new address announces it to targets that know the old one.
func TestNotifyOnlyWhoWasNotified(t *testing.T) {
	b := newBlog(t)
	notify := func(args ...string) string {
		t.Helper()
		_, said := b.run(0, append([]string{"notify", "public", "--send"}, args...)...)
		return said
	}
	for i := range 30 {
		b.post(fmt.Sprintf("old/%d", i), fmt.Sprintf("/a%d", i), fmt.Sprintf("/b%d", i))
	}
	b.publish()
	notify()
	testkit.Check(t, os.Rename("public/old", "public/renamed"))
	for i := range 30 {
		b.post(fmt.Sprintf("renamed/%d", i), fmt.Sprintf("/a%d", i), fmt.Sprintf("/b%d", i))
	}
	testkit.Check(t, os.RemoveAll("public/renamed/7"))
	b.publish()
	notify()
	b.wantPosts()

	b.post("new", "/c")
	b.publish()
	notify()
	b.wantPosts("/c")
	page := testkit.Must(os.ReadFile("public/new/index.html"))(t)
	b.write("public/new/index.html", string(page)+fmt.Sprintf(`<section class=comments><a class="h-card" href="%s/bob">Bob</a> Nice</section>`, b.targets))
	b.publish()
	notify()
	b.wantPosts()

	moved := strings.Replace(b.site, "127.0.0.1", "localhost", 1)
	if said := notify("--record", "--base-url", moved); !strings.Contains(said, "1 target of the old address learns the new one") {
		t.Error(said)
	}
	b.wantPosts("/c")
	notify("--base-url", moved)
	b.wantPosts()
}

// A ledger in a ref of git: a second clone knows what the first one told.
func TestNotifyGit(t *testing.T) {
	b := newBlog(t)
	os.RemoveAll(".git")
	for _, args := range [][]string{{"init", "-q", "--bare", "remote.git"}, {"init", "-q", "."}, {"remote", "add", "origin", filepath.Join(b.dir, "remote.git")}} {
		testkit.Git(t, b.dir, args...)
	}
	notify := func(want int) string {
		t.Helper()
		_, said := b.run(want, "notify", "public", "--send", "--ledger", "git:refs/sitelink/ledger")
		return said
	}
	if said := notify(0); !strings.Contains(said, "there was no ledger") {
		t.Error(said)
	}
	b.post("one", "/a")
	b.publish()
	// Another machine, which has nothing but the remote.
	os.RemoveAll(".git")
	os.RemoveAll(".sitelink")
	testkit.Git(t, b.dir, "init", "-q", ".")
	testkit.Git(t, b.dir, "remote", "add", "origin", filepath.Join(b.dir, "remote.git"))
	notify(0)
	b.wantPosts("/a")
	notify(0)
	b.wantPosts()
	out, _ := b.run(0, "ledger", "export", "--ledger", "git:refs/sitelink/ledger")
	if !strings.Contains(out, `"state":"done"`) {
		t.Error(out)
	}
	if out, _ := b.run(0, "ledger", "verify", "--ledger", "git:refs/sitelink/ledger"); out != "ok: 1 page, 1 link, 1 notice\n" {
		t.Error(out)
	}
	b.run(2, "ledger", "show", "--ledger", "ftp://x")
	b.run(3, "ledger", "show", "--ledger", "git:refs/heads/main")
}
