package setup

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/testkit"
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
external skip = ["{http://localhost*,http://localhost*/**,https://localhost*,https://localhost*/**}", "{**/*github.com/me/*/edit/**,**/*github.com/me/*/**/*/edit/**}"]
ignore url "/search/**"
ignore page "drafts/**"
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
ignore page "**/*old*/**"
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
lost only_4xx true: sitelink external says which answers are errors`},
		{"test.rake", `
task :test do
  sh 'bundle exec jekyll build --quiet --config _config.yml'
  ignored = []
  ignored.push(%r{https?://(.+?.)chat\.im})
  ignored << /\/feed\.xml/
  HTMLProofer.check_directory('./_site', { :url_ignore => ignored, :file_ignore => computed, :typhoeus => { :ssl_verifypeer => false } }).run
end
`, `
docroot _site
external skip = ["{http://*.chat.im*,http://*.chat.im*/**,http://*/**/*.chat.im*,http://*/**/*.chat.im*/**,https://*.chat.im*,https://*.chat.im*/**,https://*/**/*.chat.im*,https://*/**/*.chat.im*/**}"]
ignore url "{**/*/feed.xml*,**/*/feed.xml*/**}"
lost file_ignore $computed: its value is computed
lost ssl_verifypeer false: sitelink always checks this`},
		{"check.sh", `
DEST=_site
URL_IGNORE=cdn.example.net
bundle exec htmlproofer $DEST --disable-external=true --enforce-https=false --ignore-urls $URL_IGNORE
`, `
docroot _site
external skip = ["cdn.example.net"]`},
		{"build.sh", `
bundle exec htmlproofer \
  --typhoeus-config '{"headers": {"User-Agent": "Mozilla/5.0 (X11, y)"}}' --http-status-ignore 429 \
  --url_ignore "/.chat.example.com/,/https\:\/\/t.me/,/\/guides\.html/" public/
`, `
docroot public
external skip = ["{**/*.chat.example.com*,**/*.chat.example.com*/**}", "{https://t.me*,https://t.me*/**}"]
ignore url "{**/*/guides.html*,**/*/guides.html*/**}"
lost http_status_ignore 429: accept a status of a host in [[external.host]]
lost typhoeus_config {"headers": {"User-Agent": "Mozilla/5.0 (X11, y)"}}: set headers for a host in [[external.host]]`},
		{"htmltest.yml", `
DirectoryPath: public
CheckDoctype: false
CheckImages: false
IgnoreDirs: [es]
IgnoreURLs: ["/config/*", "127.0.0.1", "archive.is"]
`, `
docroot public
external skip = ["{**/*127.0.0.1*,**/*127.0.0.1*/**}", "{**/*archive.is*,**/*archive.is*/**}"]
ignore page "**/*es*/**"
ignore url "{**/*/config*,**/*/config*/**}"
lost checkimages false: sitelink always checks this`},
		{"proof.sh", `
bundle exec htmlproofer _site --disable-external --ignore-urls "/zoom/,,/x\.html$/," --check-html
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
external skip = ["{**/*localhost*,**/*localhost*/**}", "https://example.com"]`},
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
  (^mailto:|^https://social.example/|\.asc$)
checkextern=1
ignorewarnings=http-robots-denied
`, `
check jobs = 10
external skip = ["{**/*lists.example.org*,**/*lists.example.org*/**}", "https://social.example/**"]
ignore url "/cgi-bin/**"
ignore url "**/*.asc"
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
		{"nightly.sh", `
host=docs.example.com
echo "the linklint report is in $outdir"
linklint -http -host $host -limit 1000 -doc $outdir /@
`, `
check limit = 1000
check from = ["/@"]
lost doc $outdir: its value is computed
lost http: sitelink reads files, not a server`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := testkit.Must(Convert("some/"+c.name, c.text))(t)
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
			testkit.Check(t, os.WriteFile(name, []byte(file.Text), 0o666))
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
	for _, expr := range []string{"/fr/", "^/a/.*", "^/a/", "a$", "^/a$", "/a/.*c", "/a.*b", ".*/b$", "^https?://h", "old|/b/|fr", "a.html", "(x|en)/", "^/a/?$", "/a/*", `^/fr\b`} {
		globs, ok := globsOf(expr)
		if !ok {
			t.Errorf("%s has no pattern", expr)
		}
		for _, v := range values {
			matched, err := doublestar.Match(oneGlob(globs), v)
			if re := regexp.MustCompile(strings.ReplaceAll(expr, "a.html", `a\.html`)); err != nil || matched != re.MatchString(v) && (!matched || !re.MatchString(v+"/")) {
				t.Errorf("%s gives %s, which matches %s: %v, %v", expr, globs, v, matched, err)
			}
		}
	}
	for _, expr := range []string{".*", `\d+`, "[^/]+", "(", "a{2,3}b+"} {
		if globs, ok := globsOf(expr); ok {
			t.Errorf("%s gives %s", expr, globs)
		}
	}
}
