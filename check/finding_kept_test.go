package check

import (
	"reflect"
	"testing"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestMarshalFindings: findings that were kept have the same causes and fingerprints.
func TestMarshalFindings(t *testing.T) {
	root := tempDocroot(t, files{"a.html": plain + "<nav><a href=gone.html>x</a></nav><a href=b.html#x>x</a>", "b.html": plain + "<nav><a href=gone.html>x</a></nav>",
		"c.html": plain + "<nav><a href=gone.html>x</a></nav><!-- open", "_redirects": "/x /y /z\n", "feed.xml": "<rss><channel><item><link>http://example.org/none</link></item></channel></rss>"})
	found := run(t, load(t, root, isite.Options{BaseURLs: published.BaseURLs}), Options{}).Findings
	if len(found) < 4 {
		t.Fatalf("%d findings", len(found))
	}
	again := testkit.Must(UnmarshalFindings(testkit.Must(MarshalFindings(found))(t)))(t)
	if !reflect.DeepEqual(Fingerprints(again), Fingerprints(found)) {
		t.Error("other fingerprints")
	}
	if got, want := Causes(again), Causes(found); !reflect.DeepEqual(got, want) {
		t.Errorf("causes %+v, want %+v", got, want)
	}
	if _, err := UnmarshalFindings([]byte("[")); err == nil {
		t.Error("no error")
	}
}
