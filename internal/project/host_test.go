package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/testkit"
)

// tree makes a file system of names and contents.
func tree(files ...string) fstest.MapFS {
	fs := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fs[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fs
}

// TestHost: which files tell the host, and which do not.
func TestHost(t *testing.T) {
	const workflow = ".github/workflows/site.yml"
	tests := []struct {
		name             string
		project, docroot fstest.MapFS
		profile, because string
	}{
		{"nothing", tree("hugo.toml", ""), tree("index.html", ""), "", ""},
		{"netlify_toml", tree("netlify.toml", ""), nil, "netlify", "netlify.toml"},
		{"vercel_json", tree("vercel.json", "{}"), nil, "vercel", "vercel.json"},
		{"vercel_json_in_docroot", nil, tree("vercel.json", "{}"), "vercel", "out/vercel.json"},
		{"vercel_linked", tree(".vercel/project.json", "{}"), nil, "vercel", ".vercel/project.json"},
		{"firebase_hosting", tree("firebase.json", `{ "hosting": {"public": "public"} }`), nil, "firebase", "firebase.json"},
		{"azure", tree("staticwebapp.config.json", "{}"), nil, "azure-static-web-apps", "staticwebapp.config.json"},
		{"firebase_without_hosting", tree("firebase.json", `{"firestore": {}}`), nil, "", ""},
		{"wrangler_pages", tree("wrangler.toml", "name = 'x'\npages_build_output_dir = \"public\"\n"), nil, "cloudflare-pages", "wrangler.toml"},
		{"wrangler_pages_jsonc", tree("wrangler.jsonc", "{\n  // site\n  \"pages_build_output_dir\": \"dist\"\n}"), nil, "cloudflare-pages", "wrangler.jsonc"},
		{"wrangler_pages_one_line", tree("wrangler.json", `{"pages_build_output_dir": "dist"}`), nil, "cloudflare-pages", "wrangler.json"},
		{"wrangler_assets", tree("wrangler.toml", "[assets]\ndirectory = 'public'\n"), nil, "cloudflare-workers", "wrangler.toml"},
		{"wrangler_worker_only", tree("wrangler.toml", "main = 'src/index.js'\n# pages_build_output_dir = 'x'\n"), nil, "", ""},
		{"cloudflare_worker", nil, tree("_worker.js", ""), "cloudflare-pages", "out/_worker.js"},
		{"cloudflare_routes", nil, tree("_routes.json", "{}", "_redirects", "/a /b 301!\n"), "cloudflare-pages", "out/_routes.json"},

		{"redirects_undecided", nil, tree("_redirects", "# old\n/a /b 301\n/* /index.html 200\n"), "netlify", "out/_redirects"},
		{"headers_undecided", nil, tree("_headers", "/*\n  X-Frame-Options: DENY\n"), "netlify", "out/_headers"},
		{"redirects_forced", nil, tree("_redirects", "/a /b\n/c /d 301!\n"), "netlify", "out/_redirects:2"},
		{"redirects_condition", nil, tree("_redirects", "/ /de 302 Language=de\n"), "netlify", "out/_redirects:1"},
		{"redirects_query", nil, tree("_redirects", "/store id=:id /blog/:id 301\n"), "netlify", "out/_redirects:1"},
		{"redirects_404", nil, tree("_redirects", "/en/* /en/404.html 404\n"), "netlify", "out/_redirects:1"},
		{"redirects_domain", nil, tree("_redirects", "https://a.example/* https://b.example/:splat 301\n"), "netlify", "out/_redirects:1"},
		{"redirects_query_of_target", nil, tree("_redirects", "/a /b?x=1 301\n/c https://h.example/?y=2\n"), "netlify", "out/_redirects"},
		{"redirects_inner_splat", nil, tree("_redirects", "/a/*/b /c/:splat 301\n"), "cloudflare-pages", "out/_redirects:1"},
		{"redirects_comment_only", nil, tree("_redirects", "#! /c 301!\n/x /y # 301!\n"), "netlify", "out/_redirects"},
		{"headers_detached", nil, tree("_redirects", "/a /b\n", "_headers", "/*\n  ! X-Robots-Tag\n"), "cloudflare-pages", "out/_headers:2"},
		{"headers_basic_auth", nil, tree("_headers", "/in/*\n  Basic-Auth: a:b\n"), "netlify", "out/_headers:2"},
		{"redirects_with_wrangler", tree("wrangler.toml", "pages_build_output_dir='p'\n"), tree("_redirects", "/a /b 301!\n"), "cloudflare-pages", "wrangler.toml"},

		{"workflow_github_pages", tree(workflow, "steps:\n  - uses: actions/deploy-pages@v4\n"), nil, "github-pages", workflow + ":2"},
		{"workflow_commented_out", tree(workflow, "  # - uses: actions/deploy-pages@v4\n"), nil, "", ""},
		{"workflow_not_yaml", tree(".github/workflows/README.md", "actions/deploy-pages@v4"), nil, "", ""},
		{"workflow_before_docroot", tree(workflow, "run: aws s3 sync public s3://b\n"), tree("CNAME", "www.example.org\n", ".htaccess", ""), "s3", workflow + ":1"},
		{"workflow_after_own_file", tree(workflow, "run: aws s3 sync x s3://artifacts\n", "netlify.toml", ""), nil, "netlify", "netlify.toml"},
		{"hugo_deploy", tree("hugo.toml", "[[deployment.targets]]\nURL = \"s3://bucket?region=eu-central-1\"\n"), nil, "s3", "hugo.toml:2"},

		{"cname", nil, tree("CNAME", "www.example.org\n"), "github-pages", "out/CNAME"},
		{"cname_no_host", nil, tree("CNAME", "a page about CNAME records\n"), "", ""},
		{"nojekyll_on_github", tree(".github/FUNDING.yml", ""), tree(".nojekyll", ""), "github-pages", "out/.nojekyll"},
		{"nojekyll_elsewhere", tree("mkdocs.yml", ""), tree(".nojekyll", ""), "", ""},
		{"htaccess", nil, tree(".htaccess", ""), "apache", "out/.htaccess"},
		{"htaccess_before_cname", nil, tree(".htaccess", "", "CNAME", "www.example.org"), "apache", "out/.htaccess"},

		{"two_hosts", tree("netlify.toml", "", "vercel.json", "{}"), nil, "", "netlify.toml says netlify, vercel.json says vercel"},
		{"two_hosts_workflow_decides", tree("netlify.toml", "", "vercel.json", "{}", workflow, "run: vercel deploy --prod\n"), nil, "vercel", workflow + ":1"},
		{"two_hosts_workflow_of_a_third", tree("netlify.toml", "", "vercel.json", "{}", workflow, "run: aws s3 sync a b\n"), nil, "", "netlify.toml says netlify, vercel.json says vercel"},
		{"two_workflows", tree(workflow, "steps:\n- run: aws s3 sync a b\n- run: netlify deploy\n"), nil, "",
			workflow + ":2 says s3, " + workflow + ":3 says netlify"},
		{"two_workflows_docroot_decides", tree(workflow, "steps:\n- run: aws s3 sync a b\n- run: netlify deploy\n"), tree("_redirects", "/a /b 301!\n"), "netlify", "out/_redirects:1"},
		{"large_file", nil, tree("_redirects", strings.Repeat("/a /b\n", 200_000)+"/c /d 301!\n"), "netlify", "out/_redirects"},
		{"directory_of_that_name", nil, tree("_redirects/x", "", ".htaccess", ""), "apache", "out/.htaccess"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "x")
			testkit.Check(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
			for name, f := range test.project {
				testkit.Write(t, filepath.Join(root, name), string(f.Data))
			}
			testkit.Write(t, filepath.Join(root, "out/index.html"), "")
			for name, f := range test.docroot {
				testkit.Write(t, filepath.Join(root, "out", name), string(f.Data))
			}
			p := find(t, root, Options{Docroot: "out"})
			a := p.Answers[AskHost]
			because := p.From(a.Evidence)
			if a.Value == "" {
				because = p.Doubt(AskHost)
			}
			if a.Value != test.profile || because != test.because {
				t.Errorf("got %q because %q, want %q because %q", a.Value, because, test.profile, test.because)
			}
		})
	}
}

// FuzzEvidence: for any files, what is found is in the repository, a known host,
// or a doubt.
func FuzzEvidence(f *testing.F) {
	f.Add("[build]\npublish = \"../x\"\ncommand = \"cd .. && make html\"", "a: &a {run: *a, working-directory: /}", "html: html\n\tsphinx-build -M $@ . ..", "/a id=:id /b 301!")
	f.Add("build = [[", "jobs: [{uses: actions/upload-pages-artifact@v3, with: {path: .git}}, {uses: actions/deploy-pages@v4}]", "X=$(X)\ndeploy:\n\tghp-import $(X)/", "*")
	f.Add("", "- run: |\n    cd a; npx gh-pages -d ~", "", "https://x/ /y")
	root := f.TempDir()
	f.Fuzz(func(t *testing.T, netlify, workflow, makefile, redirects string) {
		for name, text := range map[string]string{
			"netlify.toml": netlify, ".github/workflows/a.yml": workflow, "Makefile": makefile, "public/_redirects": redirects, ".git/HEAD": "", "index.md": "",
		} {
			testkit.Write(t, filepath.Join(root, filepath.FromSlash(name)), text)
		}
		p := testkit.Must(Find(t.Context(), root, Options{}))(t)
		for q := range questions {
			a := p.Answers[q]
			for _, e := range append(a.Against, a.Evidence) {
				if _, where := system.Outside(root, e.Value); q == AskDocroot && e.Value != "" && where != "" {
					t.Errorf("docroot %s is %s", e.Value, where)
				}
				if _, known := host.ProfileByName(e.Value); q == AskHost && e.Value != "" && !known {
					t.Errorf("host %s", e.Value)
				}
			}
		}
	})
}

// TestHostBuiltElsewhere: a git hook builds a commit below .git; the rule files in what it
// builds name the host, and links out of it do not.
func TestHostBuiltElsewhere(t *testing.T) {
	top := testkit.MakeDocroot(t, testkit.Files{".git/sitelink/trees/1/.git": "", ".git/sitelink/trees/1/hugo.toml": "", ".git/sitelink/trees/1-out/_redirects": "/a https://example.org/\n", ".git/secret": "/a /b 200!\n"})
	dir := filepath.Join(top, ".git/sitelink/trees/1")
	find := func() *Project {
		return testkit.Must(Find(t.Context(), dir, Options{Docroot: dir + "-out", BuiltElsewhere: true}))(t)
	}
	if p := find(); p.Profile != "netlify" {
		t.Errorf("profile %s", p.Profile)
	}
	testkit.Check(t, os.Remove(filepath.Join(dir+"-out", "_redirects")))
	testkit.Check(t, os.Symlink(filepath.Join(top, ".git/secret"), filepath.Join(dir+"-out", "_redirects")))
	if p := find(); p.Profile != "generic" {
		t.Errorf("a link: profile %s", p.Profile)
	}
}
