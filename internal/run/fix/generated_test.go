package fix

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestGeneratedPages: without a known generator, fix edits pages, except those that name a
// generator or are minified, and says why these stay.
func TestGeneratedPages(t *testing.T) {
	const link = "<p><a href=\"/Docs/\">x</a>\n"
	long := strings.Repeat("<p>minified text ", 100)
	for text, edited := range map[string]bool{
		"<!doctype html>\n<title>t</title>\n" + link:                                              true,
		"<!doctype html>\n<title>t</title>\n<meta name=\"generator\" content=\"Gen 1\">\n" + link: false,
		"<!doctype html>\n<title>t</title>\n<META content=x name=generator>\n" + link:             false,
		"<!doctype html>\n<title>t</title>\n<meta name=description content=generator>\n" + link:   true,
		"<!doctype html><title>t</title>" + long + link:                                           false,
		"<!doctype html><title>t</title>" + strings.ReplaceAll(long, "<p>", "\n<p>") + link:       true,
	} {
		dir := testMaker(t, map[string]string{"index.html": text, "docs/index.html": "<!doctype html>\n<title>d</title>\n"}).plan.Root
		p := testkit.Must(project.Find(t.Context(), dir, project.Options{Docroot: dir, Config: &config.Config{}}))(t)
		a := testkit.Must(audit.Open(t.Context(), p, audit.Options{}))(t)
		r := testkit.Must(a.Check(t.Context()))(t)
		plan := testkit.Must(Make(t.Context(), a, r, Options{}))(t)
		if len(plan.Edits) == 1 != edited || len(plan.Skips) == 1 == edited {
			t.Errorf("%.120s: %d edits, kept %+v", text, len(plan.Edits), plan.Skips)
		} else if !edited && !strings.Contains(plan.Skips[0].Why, "generator") {
			t.Errorf("%.120s: the reason is %q", text, plan.Skips[0].Why)
		}
	}
}
