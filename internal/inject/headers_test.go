package inject

import (
	"strings"
	"testing"

	"github.com/sitelink/sitelink/templates"
)

// If the theme has no place for additions, the host sends the endpoints (PB-8,
// PB-13, PB-14, PB-16, PB-19), with rules in a new or an existing file.
func TestHeaders(t *testing.T) {
	unreachable := func(more ...string) map[string]string {
		return with(theme("themes/x", ""), append([]string{"hugo.toml", "theme = 'x'\n"}, more...)...)
	}
	for _, c := range []struct {
		name, profile string
		files         map[string]string
		want          string // the file, "" for a refusal
	}{
		{"netlify", "netlify", unreachable(), "static/_headers"},
		{"netlify_with_its_toml", "netlify", unreachable("netlify.toml", "[build]\ncommand = 'hugo'\n"), "netlify.toml"},
		{"cloudflare_with_headers", "cloudflare-pages", unreachable("static/_headers", "/x\n  A: b"), "static/_headers"},
		{"vercel", "vercel", unreachable("vercel.json", "{\n  \"cleanUrls\": true\n}\n"), "vercel.json"},
		{"apache", "apache", unreachable("static/.htaccess", ""), "static/.htaccess"},
		{"github_pages", "github-pages", unreachable(), ""},
		{"nginx", "nginx", unreachable(), ""},
		{"damaged", "vercel", unreachable("vercel.json", "{"), ""},
		{"set_already", "netlify", unreachable("static/_headers", "/*\n  X-Pingback: https://other.example/\n"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := newProject(t, c.files)
			before := hashOf(t, root)
			opt := blog
			opt.Headers = templates.HeaderRules(c.profile, blog.Endpoints)
			plan := mustFind(t, root, opt)
			if c.want == "" {
				if plan.Clean() || plan.Apply() == nil || hashOf(t, root) != before {
					t.Errorf("%v %s", plan.Refusals, plan.Diff())
				}
				return
			}
			mustApply(t, plan)
			if len(plan.Places) != 1 || plan.Places[0].Path != c.want || len(plan.Notes) != 1 {
				t.Fatalf("%v %v %v", plan.Places, plan.Notes, plan.Refusals)
			}
			text := read(t, root, c.want)
			name := c.want[strings.LastIndexByte(c.want, '/')+1:]
			values, err := templates.ReadHeaders(name, []byte(text))
			seen := map[string]string{}
			for _, v := range values {
				seen[v.Rel] += v.URI
			}
			if err != nil || seen["pingback"] != blog.Endpoints.Pingback || seen["webmention"] != blog.Endpoints.Webmention {
				t.Errorf("%v %v\n%s", seen, err, text)
			}
			if again := mustFind(t, root, opt); !again.Clean() {
				t.Errorf("a second run would change\n%s%v", again.Diff(), again.Refusals)
			}
			opt.Endpoints.Pingback = "https://new.example/"
			opt.Headers = templates.HeaderRules(c.profile, opt.Endpoints)
			mustApply(t, mustFind(t, root, opt))
			if text := read(t, root, c.want); !strings.Contains(text, "new.example") || strings.Contains(text, "b=2") {
				t.Errorf("%s", text)
			}
			if c.name == "netlify_with_its_toml" { // also without the record
				if err := root.Remove(recordName); err != nil {
					t.Fatal(err)
				}
			}
			mustUndo(t, root)
			root.Remove(".sitelink")
			if hashOf(t, root) != before {
				t.Errorf("after the undo the project differs:\n%q", c.want)
			}
		})
	}
}
