//go:build integration && linux

package main_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestNotifyWordPress notifies a WordPress of a new post, as its author would.
// The first run sends nothing (PB-1: no other step than the deploy). The second
// notifies the target, and the third has nothing to send (PB-52). --explain
// finds the link that WordPress would refuse before WordPress does.
func TestNotifyWordPress(t *testing.T) {
	t.Parallel()
	docroot := t.TempDir()
	site := httptest.NewServer(http.FileServer(http.Dir(docroot)))
	defer site.Close()
	// WordPress trusts sources on its own host, at ports that it knows.
	base := strings.Replace(site.URL, "127.0.0.1", "localhost", 1) + "/"
	own := testkit.Must(url.Parse(base))(t)
	blog := testkit.StartWordPress(t, http.NotFoundHandler())
	blog.Plugin("ports", "add_filter('http_allowed_safe_ports', function ($p) { $p[] = "+own.Port()+"; return $p; });")
	post := blog.Post("Hello", true)

	write := func(name, text string) {
		t.Helper()
		testkit.Write(t, filepath.Join(docroot, name), text)
	}
	bin := sitelinkProgram(t)
	work := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		command := exec.Command(bin, append([]string{"notify", docroot, "--base-url", base, "--pace", "50ms",
			"--allow-address", "127.0.0.0/8", "--allow-address", "::1/128"}, args...)...)
		command.Dir = work
		out, err := command.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || command.ProcessState.ExitCode() != want {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		t.Logf("%v\n%s", args, out)
		return string(out)
	}

	write("index.html", "<!DOCTYPE html><title>Home</title><p>Nothing yet.")
	if out := run(0, "--send"); !strings.Contains(out, "without sending anything") {
		t.Error(out)
	}
	write("picture/index.html", `<!DOCTYPE html><title>Picture</title><article><p><a href="`+post+`"><img src="/x.png" alt="x"></a></article>`)
	if out := run(4, "--explain", base+"picture/"); !strings.Contains(out, "[link-text]") || !strings.Contains(out, "pingback to "+blog.URL+"/xmlrpc.php") {
		t.Error(out)
	}
	write("picture/index.html", `<!DOCTYPE html><title>Picture</title><article><p><a href="`+post+`">words</a></article>`)
	// A port that this WordPress was taught, and others do not read from.
	if out := run(4, "--explain", post); strings.Contains(out, "[link-text]") || !strings.Contains(out, "[refused-source]") {
		t.Error(out)
	}
	if out := run(0, "--send"); out != "" {
		t.Errorf("not quiet: %s", out)
	}
	if got := blog.PHP(`foreach (get_comments(array('type' => 'pingback')) as $c) { echo $c->comment_author_url, ' ', $c->comment_author, "\n"; }`); got != base+"picture/ Picture\n" {
		t.Errorf("WordPress has %q", got)
	}
	if out := run(0, "--send", "-v"); !strings.Contains(out, "nothing") && out != "" {
		t.Errorf("again: %s", out)
	}
}
