//go:build integration && linux

package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWordPress: a blog publishes a post that links to our pages. Its own code
// discovers our endpoint and sends pingbacks, takes our answers as successes, and the
// links are verified in the post as the blog renders it.
func TestWordPress(t *testing.T) {
	blog := testkit.StartWordPress(t, http.NotFoundHandler())
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	site := testkit.Must(url.Parse(r.url))(t)
	// WordPress connects to the loopback only on its own and some known ports. The
	// package has no theme, so this is one.
	blog.Plugin("receiver", `add_filter('http_allowed_safe_ports', function ($ports) { $ports[] = `+site.Port()+`; return $ports; });
add_action('template_redirect', function () {
	while (have_posts()) { the_post(); echo '<!DOCTYPE html><html><head><title>'; the_title(); echo '</title></head><body>'; the_content(); echo '</body></html>'; }
	exit;
});`)
	// What WordPress remembers as pinged was answered by success or 48. It remembers
	// only the last one of a post, so each link gets a post of its own. It takes only
	// URLs with a full stop for links.
	publish := func(target string) (source string, pinged bool) {
		t.Helper()
		began := time.Now()
		// Pingbacks are sent by a job that publishing schedules.
		out := blog.PHP(fmt.Sprintf(`$id = wp_insert_post(array('post_title' => 'About their page', 'post_content' => '<p>I read <a href="%s">this page</a> today.</p>', 'post_status' => 'publish'));
do_all_pings(); echo $id, "\n", implode("\n", get_pung($id));`, target))
		id, remembered, _ := strings.Cut(out, "\n")
		t.Logf("%s: published in %v, remembered: %q", target, time.Since(began), remembered)
		return blog.URL + "/?p=" + id, remembered == target
	}
	sources := map[string]string{} // target by source
	for _, target := range []string{r.url + "doc.html", r.url + "ping.html"} {
		source, pinged := publish(target)
		if sources[source] = target; !pinged {
			t.Errorf("WordPress did not take our answer about %s as a success", target)
		}
	}
	if _, pinged := publish(r.url + "closed/index.html"); pinged {
		t.Error("WordPress pinged a page without endpoint")
	}
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		held := 0
		for m, err := range r.store.List(t.Context(), incoming.Filter{States: []incoming.State{incoming.Held}}) {
			testkit.Check(t, err)
			if m.Target != sources[m.Source] || m.Protocol != incoming.Pingback || m.Title != "About their page" || !strings.Contains(m.Excerpt, "I read") {
				t.Fatalf("%+v", m)
			}
			held++
		}
		if held == len(sources) {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%+v", r.mentions(t))
		}
	}
	// The same again is fault 48, which WordPress takes as done.
	for source, target := range sources {
		id := strings.TrimPrefix(source, blog.URL+"/?p=")
		again := blog.PHP(fmt.Sprintf(`global $wpdb; $wpdb->query("UPDATE $wpdb->posts SET pinged = '' WHERE ID = %s"); pingback(get_post(%[1]s)->post_content, %[1]s); echo implode("\n", get_pung(%[1]s));`, id))
		if again != target {
			t.Errorf("after fault 48, WordPress takes as pinged: %q", again)
		}
	}
}
