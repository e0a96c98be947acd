//go:build integration && linux

package receive

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestWordPressExport: a blog that received pingbacks, a trackback and comments is
// exported by WordPress itself, and imported.
func TestWordPressExport(t *testing.T) {
	var post string
	blog := testkit.StartWordPress(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<html><head><title>Über %s & “more”]]&gt;</title></head><body><p>Before it <a href="%s">a link to <b>them</b></a> after it.</p></body></html>`, r.URL.Path, post)
	}))
	blog.Plugin("flood", "add_filter('wp_is_comment_flood', '__return_false', 99); add_filter('comment_flood_filter', '__return_false', 99);")
	post = blog.Post("Knots", true)
	for _, name := range []string{"approved", "held", "spam", "trash"} {
		call := `<methodCall><methodName>pingback.ping</methodName><params><param><value><string>` + blog.URL + "/src/" + name +
			`</string></value></param><param><value><string>` + post + `</string></value></param></params></methodCall>`
		resp := testkit.Must(http.Post(blog.URL+"/xmlrpc.php", "text/xml", strings.NewReader(call)))(t)
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if strings.Contains(string(answer), "fault") {
			t.Fatalf("%s: %s", name, answer)
		}
	}
	blog.PHP(`foreach (get_comments(array('type' => 'pingback', 'status' => 'any')) as $c) {
	$name = substr($c->comment_author_url, strrpos($c->comment_author_url, '/') + 1);
	wp_set_comment_status($c->comment_ID, array('approved' => 'approve', 'held' => 'hold', 'spam' => 'spam', 'trash' => 'trash')[$name]);
}
$id = ` + post[strings.LastIndexByte(post, '=')+1:] + `;
wp_insert_comment(array('comment_post_ID' => $id, 'comment_author' => 'Reader', 'comment_author_url' => 'https://reader.example/', 'comment_content' => 'Nice <b>post</b>'));
wp_insert_comment(array('comment_post_ID' => $id, 'comment_author' => 'Track', 'comment_author_url' => 'https://track.example/', 'comment_content' => 'x', 'comment_type' => 'trackback'));`)
	text := blog.PHP(`require ABSPATH . 'wp-admin/includes/export.php'; export_wp();`)
	t.Logf("WordPress %s exported %d bytes", blog.Version, len(text))

	store := incomingtest.NewStore(nil)
	report := mustImport(t, store, WordPress(strings.NewReader(text)), ImportOptions{})
	states := map[string]incoming.State{}
	for m, err := range store.List(t.Context(), incoming.Filter{}) {
		testkit.Check(t, err)
		states[m.Source] = m.State
		name := strings.TrimPrefix(m.Source, blog.URL)
		if m.Protocol != incoming.Pingback || m.Target != post || m.Title != "Über "+name+" & “more”]]>" || !strings.Contains(m.Excerpt, "a link to them") || m.Received.IsZero() {
			t.Errorf("%+v", m)
		}
	}
	want := map[string]incoming.State{blog.URL + "/src/approved": incoming.Approved, blog.URL + "/src/held": incoming.Held} // it exports no spam
	if fmt.Sprint(states) != fmt.Sprint(want) {
		t.Errorf("imported %v, want %v\n%s", states, want, text)
	}
	if left := whys(report); !strings.Contains(left, "it is in the trash") || !strings.Contains(left, "trackback") || !strings.Contains(left, "a reader typed") {
		t.Errorf("left out:\n%s", left)
	}
}
