package host

import (
	"testing"

	"github.com/sitelink/sitelink/internal/docroot/docroottest"
)

// TestAnswer: decoded paths, whatever characters they hold.
func TestAnswer(t *testing.T) {
	s := loadHost(t, docroottest.Make(t, docroottest.Files{"index.html": page, "a b%20#?.html": page, "ä/index.html": page}), Options{})
	for path, want := range map[string]State{
		"/": StateOK, "/a b%20#?.html": StateOK, "/ä/": StateOK, "/ä": StateRedirect, "/a": StateMissingFile, "/a/": StateMissingDirectory,
	} {
		if a := s.Answer(path); a.State != want {
			t.Errorf("%s: got state %d, want %d", path, a.State, want)
		}
	}
}
