//go:build integration && linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestMentionsWordPressToHugo: Debian's WordPress publishes a post that links to a page
// of a Hugo site. WordPress itself finds the endpoint in the page and takes our answer
// in time; the link is verified, approved and exported by commands, and real Hugo shows
// it on the page.
func TestMentionsWordPressToHugo(t *testing.T) {
	blog := testkit.StartWordPress(t, http.NotFoundHandler())
	address := testkit.FreePort(t)
	base := testkit.Must(url.Parse("http://" + strings.Replace(address, "127.0.0.1", "localhost", 1) + "/"))(t)
	blog.Plugin("receiver", `add_filter('http_allowed_safe_ports', function ($ports) { $ports[] = `+base.Port()+`; return $ports; });
add_action('template_redirect', function () {
	while (have_posts()) { the_post(); echo '<!DOCTYPE html><html lang="en"><head><title>'; the_title(); echo '</title></head><body>'; the_content(); echo '</body></html>'; }
	exit;
});`)
	dir := t.TempDir()
	template := `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{{ .Title }}</title></head><body><main><h1>{{ .Title }}</h1>{{ .Content }}{{ partial "sitelink/mentions.html" . }}</main></body></html>` + "\n"
	for name, text := range map[string]string{
		"hugo.toml":                    "baseURL = '" + base.String() + "'\ntitle = 'Our site'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\nuglyURLs = true\n",
		"config.toml":                  "baseURL = '" + base.String() + "'\ntitle = 'Our site'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\nuglyURLs = true\n", // for old versions
		"content/_index.md":            "---\ntitle: Home\n---\n",
		"content/posts/knots.md":       "---\ntitle: Knots\n---\nHow to tie one.\n",
		"content/posts/other.md":       "---\ntitle: Other\n---\n",
		"layouts/_default/single.html": template,
		"layouts/_default/list.html":   template,
		"sitelink.toml":                "docroot = 'public'\nbase-url = ['" + base.String() + "']\n[templates]\npingback = '" + base.String() + "pingback'\n[incoming]\nstore = 'mentions.db'\n",
	} {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	bin := "sitelink"
	command(t, dir, bin, "init", "--yes", "--mentions")
	command(t, dir, bin, "inject")
	build := func(hugo string) { command(t, dir, hugo, "--noBuildLock", "--cleanDestinationDir") }
	build(hugos(t)[0])
	listenAndReceive(t, bin, dir, address)

	// Pingbacks are sent by a job that publishing schedules. WordPress waits three
	// seconds for an answer, and remembers the page as pinged if it was a success.
	// It only sees links with a full stop, which the address of this site does not have.
	target := base.String() + "posts/knots.html"
	out := blog.PHP(fmt.Sprintf(`$id = wp_insert_post(array('post_title' => 'Knots & <b>ropes</b>', 'post_content' => '<p>I read <a href="%s">about knots</a> today.</p>', 'post_status' => 'publish'));
$began = microtime(true); do_all_pings(); echo $id, "\n", round(1000 * (microtime(true) - $began)), "\n", implode("\n", get_pung($id));`, target))
	lines := strings.SplitN(out, "\n", 3)
	if len(lines) != 3 || lines[2] != target {
		t.Fatalf("WordPress did not take the answer as a success: %q", out)
	}
	t.Logf("WordPress found the endpoint and got its answer in %s ms", lines[1])
	source := blog.URL + "/?p=" + lines[0]

	var all []struct{ ID, State, Source, Target, Title, Excerpt, Protocol string }
	for deadline := time.Now().Add(time.Minute); len(all) != 1; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the mention is not held: %s", command(t, dir, bin, "mentions", "list", "--state", "all", "--format", "json"))
		}
		testkit.Check(t, json.Unmarshal([]byte(command(t, dir, bin, "mentions", "list", "--state", "held", "--format", "json")), &all))
	}
	if m := all[0]; m.Source != source || m.Target != target || m.Protocol != "pingback" || !strings.Contains(m.Excerpt, "I read about knots today.") {
		t.Errorf("%+v", m)
	}
	export := func() { command(t, dir, bin, "mentions", "export", "--output", filepath.Join("data", "mentions")) }
	page := func(name string) string {
		t.Helper()
		text := testkit.Read(t, filepath.Join(dir, "public", filepath.FromSlash(name)+".html"))
		return string(text)
	}
	export()
	build(hugos(t)[0])
	if strings.Contains(page("posts/knots"), source) {
		t.Error("the page shows a mention that was not approved")
	}
	command(t, dir, bin, "mentions", "approve", all[0].ID)
	export()
	for _, hugo := range hugos(t) {
		build(hugo)
		text := page("posts/knots")
		if !strings.Contains(text, `href="`+source+`"`) || !strings.Contains(text, `rel="nofollow ugc"`) || !strings.Contains(text, "I read about knots today.") || strings.Contains(text, "<b>ropes") {
			t.Errorf("%s: the page does not show the mention:\n%s", hugo, text)
		}
		if text := page("posts/other"); strings.Contains(text, source) {
			t.Errorf("%s: another page shows the mention", hugo)
		}
	}
	// The receiver serves the new page: visitors see the mention.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		resp := testkit.Must(http.Get(target))(t)
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if strings.Contains(string(text), source) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %s\n%s", target, resp.Status, text)
		}
	}
}

// listenAndReceive runs `sitelink serve --pages` until the test ends.
func listenAndReceive(t *testing.T, bin, dir, address string) {
	t.Helper()
	cmd := exec.Command(bin, "serve", "--pages", "--listen", address, "--allow-address", "127.0.0.0/8", "--allow-address", "::1/128")
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	testkit.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		if cmd.Wait(); t.Failed() {
			t.Logf("serve:\n%s", &stderr)
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get("http://" + address + "/healthz"); err == nil {
			if resp.Body.Close(); resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("the receiver does not answer")
		}
	}
}

// TestSoakPostgres is the short form of TestSoak with a PostgreSQL server.
func TestSoakPostgres(t *testing.T) {
	runSoak(t, testkit.StartPostgres(t).Address("")+"&user=sitelink", 3*time.Second)
}
