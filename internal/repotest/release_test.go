package repotest

import (
	"regexp"
	"testing"

	"github.com/sitelink/sitelink/hook/githook"
)

var (
	// released is the heading of a release in the changelog: "## 1.2.3", with
	// or without a v, a link or a day.
	released = regexp.MustCompile(`(?m)^## \[?v?(\d+\.\d+\.\d+\S*?)\]?(?:[ (].*)?$`)
	// pinned are the ways in which configuration names a version of sitelink.
	pinned = regexp.MustCompile(`sitelink/(?:sitelink|cmd/sitelink)@([^\s"\x60]+)|sitelink/sitelink\s+rev: (\S+)`)
)

// TestPinnedVersions checks that every snippet names the newest release, v0.1.0
// before the first one.
func TestPinnedVersions(t *testing.T) {
	newest := "v0.1.0"
	if m := released.FindStringSubmatch(readFile(t, "CHANGELOG.md")); m != nil {
		newest = "v" + m[1]
	}
	if githook.Release != newest {
		t.Errorf("githook.Release is %s, CHANGELOG.md says %s", githook.Release, newest)
	}
	found := 0
	for _, name := range documents(t) {
		for _, m := range pinned.FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			if version := m[1] + m[2]; version != newest {
				t.Errorf("%s names %s, the newest release is %s", name, version, newest)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d snippets with a version found, there are more", found)
	}
}
