package setup

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sitelink/sitelink/internal/config"
)

// TestConvert: the configurations of other link checkers become one that we accept, and
// what has no equivalent is named.
func TestConvert(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"lychee.toml", `
max_concurrency = 14
max_cache_age = "2d"
include_fragments = true
accept = ["200..=299", 429]
exclude = ["^https?://localhost", 'github\.com/me/.*/edit/', "^/search/.*", "^mailto:", '\d+']
exclude_path = ["^drafts/"]
no_progress = true
future = 1
`, `
external max-age = "48h0m0s"
external concurrency = 14
external skip = ["{http://localhost*,http://localhost*/**,https://localhost*,https://localhost*/**}", "{**/*github.com/me/*/edit/**,**/*github.com/me/*/**/*/edit/**}"]
ignore url "/search/**"
ignore page "drafts/**"
lost accept 200..=299: accept a status of a host in [[external.host]]
lost accept 429: accept a status of a host in [[external.host]]
lost exclude \d+: no pattern of ours says that; add [[ignore]] tables
lost future 1: sitelink has no such option`},
		{".htmltest.yml", `
DirectoryPath: "build"
CheckExternal: false
CheckInternalHash: false
DocumentConcurrencyLimit: 16
EnforceHTTPS: true
IgnoreURLs:
  - "/fr/"
  - ^https://example\.com/$
IgnoreDirs: [ "old" ]
`, `
docroot build
check fragments = false
check jobs = 16
external skip = ["https://example.com/"]
ignore page "{**/*old*,**/*old*/**}"
ignore url "**/*/fr/**"
lost enforcehttps true: sitelink checks links, not schemes`},
		{"Rakefile", `
require 'html-proofer'
task :test do
  options = {
    # :url_ignore => [/commented/],
    :ignore_urls => ["#", %r{^http(s)?://(www\.)?myths.com/}, /\/admin\//],
    disable_external: true,
    ignore_files: ["./_site/a.html"],
    :parallel => { :in_processes => 4 },
    :only_4xx => true,
  }
  HTMLProofer.check_directory("./_site", options).run
end
`, `
docroot _site
check jobs = 4
external skip = ["{http://myths.com/**,http://www.myths.com/**,https://myths.com/**,https://www.myths.com/**}"]
ignore page "a.html"
ignore url "#"
ignore url "**/*/admin/**"
lost only_4xx true: sitelink has no such option`},
		{"proof.sh", `
bundle exec htmlproofer _site --disable-external --ignore-urls "/zoom/,/x\.html$/" --check-html
`, `
docroot _site
ignore url "{**/*zoom*,**/*zoom*/**}"
ignore url "**/*x.html"
lost check_html true: sitelink checks links, not markup`},
		{".htmlproofer.yml", `
# html-proofer
allow_hash_href: true
ignore_urls:
  - /localhost/
  - "https://example.com"
`, `
external skip = ["https://example.com"]
ignore url "{**/*localhost*,**/*localhost*/**}"`},
		{"ci.yml", `
    - run: cargo install hyperlink
    - run: hyperlink public/ --check-anchors --sources content/ -j 4 --github-actions
`, `
docroot public
check jobs = 4
lost github-actions: --format github`},
		{"linkcheckerrc", `
[checking]
threads=10
[filtering]
ignore=
  ^/cgi-bin/
  lists\.example\.org
checkextern=1
ignorewarnings=http-robots-denied
`, `
check jobs = 10
external skip = ["{**/*lists.example.org*,**/*lists.example.org*/**}"]
ignore url "/cgi-bin/**"
lost checkextern 1: sitelink external asks other sites
lost ignorewarnings http-robots-denied: accept findings with [[ignore]] code =`},
		{"linklint.txt", `
# checked every night
-root /var/www/site
-limit 500
-orphan
-skip /old/@
-skip /tmp/#
-ignore /cgi-bin/@
/docs/@
`, `
docroot /var/www/site
check limit = 500
check orphans = true
check from = ["/docs/@"]
check skip = ["/old/@", "/tmp/#"]
ignore url "/cgi-bin/**"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Convert("some/"+c.name, c.text)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			line := func(parts ...string) { b.WriteString("\n" + strings.Join(parts, " ")) }
			if got.Docroot != "" {
				line("docroot", got.Docroot)
			}
			for _, l := range got.Check {
				line("check", l)
			}
			for _, l := range got.External {
				line("external", l)
			}
			for _, l := range got.Ignores {
				key, value, _ := strings.Cut(strings.Split(l, "\n")[1], " = ")
				line("ignore", key, value)
			}
			for _, l := range got.Lost {
				line("lost", l)
			}
			if b.String() != c.want {
				t.Errorf("got%s\nwant%s", b.String(), c.want)
			}
			file := (&Facts{Converted: got}).Config()
			name := filepath.Join(t.TempDir(), file.Path)
			if err := os.WriteFile(name, []byte(file.Text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(config.Request{File: name}); err != nil {
				t.Errorf("%v\n%s", err, file.Text)
			}
		})
	}
	if _, err := Convert("package.json", "{}"); err == nil || !strings.Contains(err.Error(), "not a configuration of lychee") {
		t.Errorf("package.json: %v", err)
	}
}

// TestGlobs: the patterns match what the expressions find.
func TestGlobs(t *testing.T) {
	values := []string{"/", "/a", "/a/", "/a/b", "/a/b/c.html", "/x/a/b", "/fr/x", "/en/fr/x", "/fra", "a", "b/a.html", "https://h.example/a/b", "/search?q", "/ab"}
	for _, expr := range []string{"/fr/", "^/a/.*", "^/a/", "a$", "^/a$", "/a/.*c", "/a.*b", ".*/b$", "^https?://h", "old|/b/|fr", "a.html", "(x|en)/", "^/a/?$"} {
		glob, ok := globOf(expr)
		if !ok {
			t.Errorf("%s has no pattern", expr)
		}
		for _, v := range values {
			matched, err := doublestar.Match(glob, v)
			if re := regexp.MustCompile(strings.ReplaceAll(expr, "a.html", `a\.html`)); err != nil || matched != re.MatchString(v) && (!matched || !re.MatchString(v+"/")) {
				t.Errorf("%s gives %s, which matches %s: %v, %v", expr, glob, v, matched, err)
			}
		}
	}
	for _, expr := range []string{".*", `\d+`, "[^/]+", "(", "a{2,3}b+"} {
		if glob, ok := globOf(expr); ok {
			t.Errorf("%s gives %s", expr, glob)
		}
	}
}
