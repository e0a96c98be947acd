package move

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/site"
)

// TestHosts takes each kind of host through what sitelink does for it: a project is
// recognised by its files or its address, a redirect that is written is read and obeyed, the
// files of the host are no orphans. What does not apply to a host has a reason in its row.
// TestHeaderRules in package templates does the same for headers.
func TestHosts(t *testing.T) {
	// A text that shows the host of a file.
	texts := map[string]string{"firebase.json": `{"hosting": {}}`, "wrangler.toml": "[assets]\ndirectory = 'public'\n", "wrangler.json": `{"assets": {}}`, "wrangler.jsonc": `{"assets": {}}`,
		"vercel.json": "{}", "staticwebapp.config.json": "{}", "render.yaml": "services:\n- staticPublishPath: public\n"}
	shared := func(name string) bool { // by hosts
		n := 0
		for _, k := range host.Kinds() {
			if slices.ContainsFunc(k.Files, func(f host.RuleFile) bool { return f.Name == name }) {
				n++
			}
		}
		return n > 1
	}
	for _, k := range host.Kinds() {
		if k.Forge != nil {
			continue // it shows repositories
		}
		t.Run(k.Name, func(t *testing.T) {
			recognised := func(files testkit.Files, by string) {
				t.Helper()
				files["public/index.html"] = ""
				if _, has := files["hugo.toml"]; !has {
					files["hugo.toml"] = ""
				}
				p, err := project.Find(t.Context(), testkit.MakeDocroot(t, files), project.Options{})
				if testkit.Check(t, err); p.Profile != k.Name || p.ProfileFrom == "" {
					t.Errorf("%s is recognised as %s by %s", by, p.Profile, p.ProfileFrom)
				}
			}
			const workflow = ".github/workflows/site.yml"
			for _, a := range k.Actions {
				recognised(testkit.Files{workflow: "jobs:\n  a:\n    steps:\n      - uses: " + a.Uses + "v1\n"}, a.Uses)
			}
			for _, p := range k.Publishers {
				recognised(testkit.Files{workflow: "jobs:\n  a:\n    steps:\n      - run: " + p.Command + " gh-pages\n"}, p.Command)
			}
			recognisable, written := len(k.Domains)+len(k.Actions)+len(k.Publishers) > 0, false
			for _, pattern := range k.Domains {
				url := "https://" + strings.NewReplacer("*", "me", "?", "-").Replace(pattern) + "/"
				recognised(testkit.Files{"hugo.toml": "baseURL = '" + url + "'\n"}, url)
			}
			var own testkit.Files = testkit.Files{"index.html": "<title>t</title>"}
			for _, name := range k.Own {
				own[name] = "{}"
			}
			for _, f := range k.Files {
				own[f.Name] = texts[f.Name]
				if !shared(f.Name) {
					recognisable = true
					name := f.Name
					if !f.InProject {
						name = "public/" + name
					}
					recognised(testkit.Files{name: texts[f.Name]}, f.Name)
				}
				if f.Write == nil {
					continue
				}
				written = true
				_, rules, err := RuleFile{RuleFile: f}.Insert(nil, []Pair{{"/old a.html", "/new.html"}})
				testkit.Check(t, err)
				dirs := [2]string{testkit.MakeDocroot(t, testkit.Files{"new.html": ""}), t.TempDir()}
				place := dirs[0]
				if f.InProject {
					place = dirs[1]
				}
				testkit.Write(t, filepath.Join(place, f.Name), rules)
				h, err := host.Load(t.Context(), dirs[0], host.Options{Profile: k.Profile, Project: dirs[1]})
				testkit.Check(t, err)
				res, err := h.Request("/old%20a.html")
				if want := "new.html"; err != nil || !res.State.Answers() || h.Tree().Path(res.Node) != want || len(h.RuleFaults()) > 0 {
					t.Errorf("%s: %+v, %v, %v with\n%s", f.Name, res, err, h.RuleFaults(), rules)
				}
			}
			s, err := site.Load(t.Context(), testkit.MakeDocroot(t, own), site.Options{Profile: k.Name})
			testkit.Check(t, err)
			orphans, err := check.Orphans(t.Context(), s, nil)
			if err != nil || len(orphans) > 0 {
				t.Errorf("orphans: %v, %v", orphans, err)
			}
			for _, c := range []struct {
				what, why string
				applies   bool
			}{{"no redirect is written", k.WithoutRules, written}, {"no header is read", k.WithoutHeaders, len(k.Headers) > 0}, {"it is not recognised", k.WithoutRules, recognisable}} {
				if c.applies == (c.why != "") && !(recognisable && c.what == "it is not recognised") {
					t.Errorf("%s: the row says %q", c.what, c.why)
				}
			}
			if k.Title == "" || k.Unknown != "" != (k.Portable && k.Name != host.Linklint.Name) {
				t.Errorf("title %q, unknown because %q", k.Title, k.Unknown)
			}
		})
	}
}
