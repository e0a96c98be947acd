package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestServerTakesOver: when hugo server starts to write a watched docroot, the
// server's address becomes an address of the site. It is removed when hugo has
// built the docroot again.
func TestServerTakesOver(t *testing.T) {
	const script = `<script src="/livereload.js?mindelay=10&amp;v=2&amp;port=1313&amp;path=livereload"></script>`
	link := `<a href="http://localhost:1313/x/">`
	root := tempDocroot(t, files{"index.html": link, "x/index.html": ""})
	s := load(t, root, Options{BaseURLs: []string{"https://example.org/"}})
	for _, step := range []struct {
		home  string
		state host.State
		url   string
		pages int
	}{{link, host.StateExternal, "", 0}, {link + script, host.StateOK, "http://localhost:1313/", 1}, {link + script + " ", host.StateOK, "http://localhost:1313/", 1}, {link, host.StateExternal, "", 0}} {
		testkit.Check(t, os.WriteFile(filepath.Join(root, "index.html"), []byte(step.home), 0o666))
		n := testkit.Must(s.Update(t.Context(), []string{"index.html"}))(t)
		if d := details(t, n, "index.html")[0]; d.State != step.state || n.ServerURL() != step.url || n.ServerPages() != step.pages {
			t.Errorf("%s: %s, server %q, %d pages", step.home, stateName(t, d.State), n.ServerURL(), n.ServerPages())
		}
		s = n
	}
}
