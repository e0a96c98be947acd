//go:build integration && unix

package main

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sitelink/sitelink/internal/testkit"
)

// hugoProject is a small site that a real Hugo builds.
type hugoProject struct {
	t    *testing.T
	dir  string
	path string // with the Hugo in front
	// version is the minor one: 111 for 0.111.3.
	version int
}

// eachHugo runs a test with every Hugo there is: Debian's, and a newer one.
func eachHugo(t *testing.T, test func(t *testing.T, p *hugoProject)) {
	found := map[string]string{}
	if program, err := exec.LookPath("hugo"); err == nil {
		found["hugo"] = program
	}
	if program := os.Getenv("SITELINK_HUGO"); program != "" {
		found["newer"] = program
	}
	if len(found) == 0 {
		t.Skip("hugo is not installed; .ci/run installs it")
	}
	for name, program := range found {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			testkit.Check(t, os.Symlink(program, filepath.Join(bin, "hugo")))
			out, err := exec.Command(program, "version").Output()
			m := regexp.MustCompile(`v0\.(\d+)\.`).FindSubmatch(out)
			if err != nil || m == nil {
				t.Fatalf("hugo version: %s, %v", out, err)
			}
			version, _ := strconv.Atoi(string(m[1]))
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, ".git"), 0o777); err != nil { // as far as a project goes
				t.Fatal(err)
			}
			test(t, &hugoProject{t, dir, bin + string(os.PathListSeparator) + os.Getenv("PATH"), version})
		})
	}
}

// files writes a project: a configuration, templates, and what else is given.
func (p *hugoProject) files(config string, more map[string]string) {
	p.t.Helper()
	all := map[string]string{
		"config.toml":                  "title = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\n" + config,
		"layouts/_default/single.html": "<!doctype html><html><head><title>{{ .Title }}</title></head><body>{{ .Content }}</body></html>\n",
		"layouts/_default/list.html":   "<!doctype html><html><head><title>t</title></head><body>{{ .Content }}{{ range .Pages }}<a href=\"{{ .Permalink }}\">t</a>{{ end }}</body></html>\n",
	}
	maps.Copy(all, more)
	testkit.AddFiles(p.t, p.dir, all)
}

func page(text string, matter ...string) string {
	return "---\ntitle: t\n" + strings.Join(append(matter, ""), "\n") + "---\n" + text + "\n"
}

func (p *hugoProject) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "PATH="+p.path, "GITHUB_ACTIONS=")
	if name == "hugo" { // looked up in this process
		cmd.Path = filepath.Join(strings.Split(p.path, string(os.PathListSeparator))[0], "hugo")
		cmd.Err = nil
	}
	return cmd
}

func (p *hugoProject) hugo(args ...string) {
	p.t.Helper()
	testkit.Run(p.t, p.command("hugo", args...))
}

// sitelink runs the command; what both streams hold must fit each of want.
func (p *hugoProject) sitelink(exit int, args []string, want ...string) string {
	p.t.Helper()
	out, err := p.command("sitelink", args...).CombinedOutput()
	checkExit(p.t, err, exit)
	p.holds(string(out), want...)
	return string(out)
}

// holds compares a text with patterns; one that begins with "!" must not fit.
func (p *hugoProject) holds(text string, want ...string) {
	p.t.Helper()
	for _, w := range want {
		pattern, not := strings.CutPrefix(w, "!")
		if regexp.MustCompile("(?m)"+pattern).MatchString(text) == not {
			p.t.Errorf("expected %s in\n%s", w, text)
		}
	}
}

var checkOnly = []string{"check"}

// TestHugoStale: hugo does not empty public (ecosystem.md 1.2, 1). What an earlier
// build left hides broken links; a fresh build shows them, and the check of the
// old docroot says that it is not fresh.
func TestHugoStale(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{
			"content/a.md": page("[b](/b/)"), "content/b.md": page("b"), "content/c.md": page("c"), "static/old.html": "<title>old</title>",
		})
		past := time.Now().Add(-time.Hour)
		testkit.Check(t, os.Chtimes(filepath.Join(p.dir, "static/old.html"), past, past))
		p.hugo()
		p.sitelink(exitClean, checkOnly, `note: Hugo site \(config.toml\): checking public, published at https://example\.org/`, "!stale")
		os.Remove(filepath.Join(p.dir, "content/b.md"))
		p.hugo()
		if err := os.Chtimes(filepath.Join(p.dir, "public/b/index.html"), past, past); err != nil {
			t.Fatal("hugo has emptied the docroot:", err)
		}
		// A page that was not written again, but has a source file, is not stale.
		testkit.Check(t, os.Chtimes(filepath.Join(p.dir, "public/c/index.html"), past, past))
		p.sitelink(exitClean, checkOnly, `stale build\? public holds 1 page that the last build did not write: b/index\.html; run sitelink check --build`)
		p.sitelink(exitFindings, []string{"check", "--build"}, `note: building with hugo --destination `, `^content/a\.md:4:5: error: directory not found: /b/`,
			`in \.sitelink/public/a/index\.html`, `stale build\? public holds 1 page that a fresh build does not make: b/index\.html`)
		if text, err := os.ReadFile(filepath.Join(p.dir, ".sitelink/.gitignore")); err != nil || !strings.HasSuffix(string(text), "\n*\n") {
			t.Errorf("the build is not hidden from git: %q, %v", text, err)
		}
		// Nothing of the last build survives.
		testkit.Write(t, filepath.Join(p.dir, ".sitelink/public/b/index.html"), "<title>b</title>")
		p.sitelink(exitFindings, []string{"check", "--build"}, `error: directory not found: /b/`)
	})
}

// TestHugoServer: a docroot that hugo server writes (ecosystem.md 1.2, 2 and 3). Its
// script is ignored, and its address is the site's own. It has no findings, not even
// for noindex outside of production. It is marked as not to be deployed, and watch
// says what fast render leaves out.
func TestHugoServer(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/sub/'\n", map[string]string{
			"content/a.md": page("[b](/sub/b/) [gone](/sub/gone/)"), "content/b.md": page("b"),
			"config.toml": "title = 't'\ndisableKinds = ['taxonomy', 'term', 'RSS']\nbaseURL = 'https://example.org/sub/'\n", // with a sitemap
			"layouts/_default/single.html": "<!doctype html><html><head><title>t</title>{{ if not hugo.IsProduction }}<meta name=robots content=noindex>{{ end }}</head>" +
				"<body>{{ .Content }}</body></html>\n",
		})
		_, port, _ := net.SplitHostPort(testkit.FreePort(t))
		args := []string{"server", "--port", port}
		if p.version < 123 {
			args = append(args, "--renderToDisk")
		}
		server := p.command("hugo", args...)
		var said lockedBuffer
		server.Stdout, server.Stderr = &said, &said
		start(t, server)
		until(t, &said, "Press Ctrl+C to stop")
		out := p.sitelink(exitFindings, checkOnly,
			fmt.Sprintf(`hugo server wrote 3 pages: do not publish this docroot; run hugo, or sitelink check --build; links to http://localhost:%s/sub/ count`, port), `also read: .*1 sitemap`,
			`^content/a\.md:4:21: error: directory not found: /sub/gone/`, `not checked: .*livereload`)
		if n := strings.Count(out, "error:"); n != 1 || strings.Contains(out, "warning:") {
			t.Errorf("%d errors, want 1, and no warnings\n%s", n, out)
		}
		p.sitelink(exitFindings, []string{"check", "--format", "jsonl", "--show", "all"},
			fmt.Sprintf(`"raw":"http://localhost:%s/sub/b/","target":"/sub/b/".*"verdict":"ok"`, port))

		w := p.command("sitelink", "watch")
		var watched lockedBuffer
		w.Stdout, w.Stderr = &watched, &watched
		start(t, w)
		until(t, &watched, "hugo server --disableFastRender keeps lists")
		until(t, &watched, "/sub/gone/")
	})
}

// start starts a process and ends it with the test.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	testkit.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGINT)
		cmd.Wait()
	})
}

// until waits until a process has said something.
func until(t *testing.T, said *lockedBuffer, want string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(said.String(), want) {
			return
		}
	}
	t.Fatalf("no %q in\n%s", want, said)
}

// TestHugoAddresses: sub-paths, canonifyURLs and relativeURLs (ecosystem.md 1.2,
// 6), uglyURLs (9) and aliases (8), without any set-up.
func TestHugoAddresses(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		for _, tc := range []struct {
			name, config, link string
			exit               int
			want               []string
		}{
			{"sub-path", "baseURL = 'https://example.org/sub/'", "[b](/sub/b/) [b](https://example.org/sub/b/#x) [no](/sub/no/) [out](/b/)", exitFindings,
				[]string{`published at https://example\.org/sub/`, `directory not found: /sub/no/`, `%s has no element with id "x"`, `/b/ lacks the base path /sub/`, `did you mean /sub/b/\?`, `: 3 errors`}},
			{"other deployments", "baseURL = 'https://example.org/sub/'", "[top](https://example.org/) [app](/app/)", exitClean, []string{`2 outside-base`}},
			{"path without base", "baseURL = '/sub/'", "[b](/b/)", exitFindings, []string{`did you mean /sub/b/\?`, `: 1 error$`}},
			{"path only", "baseURL = '/sub/'", "[b](/sub/b/) [no](/sub/no/)", exitFindings, []string{`published at /sub/`, `directory not found: /sub/no/`, `: 1 error$`}},
			{"root only", "baseURL = '/'", "[b](/b/)", exitClean, []string{`note: Hugo site \(config.toml\): checking public`}},
			{"canonifyURLs", "baseURL = 'https://example.org/sub/'\ncanonifyURLs = true", "[b](/b/) [no](/no/)", exitFindings, []string{`directory not found: /sub/no/`, `: 1 error$`}},
			{"relativeURLs", "baseURL = 'https://example.org/sub/'\nrelativeURLs = true", "[b](/b/) [no](/no/)", exitFindings, []string{`directory not found: /sub/no/`, `: 1 error$`}},
			{"uglyURLs", "baseURL = 'https://example.org/'\nuglyURLs = true", "[b](/b.html) [no](/b/)", exitFindings, []string{`directory not found: /b/`, `did you mean /b\.html\?`, `: 1 error$`}},
			{"aliases", "baseURL = 'https://example.org/sub/'", "[old](/sub/old/)", exitClean, []string{`/sub/old/ is an alias page that sends visitors on to /sub/b/`, `: 1 warning$`}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				q := *p
				q.t, q.dir = t, t.TempDir()
				testkit.Check(t, os.Mkdir(filepath.Join(q.dir, ".git"), 0o777))
				q.files(tc.config+"\n", map[string]string{"content/a.md": page(tc.link), "content/b.md": page("b", "aliases: [/old/]")})
				q.hugo()
				for i, w := range tc.want {
					if strings.Contains(w, "%s") {
						tc.want[i] = fmt.Sprintf(w, `b/index\.html`)
					}
				}
				q.sitelink(tc.exit, checkOnly, tc.want...)
			})
		}
	})
}

// TestHugoBasePath: links that lack the base path are errors in content and templates,
// and fix repairs them there.
func TestHugoBasePath(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://me.github.io/repo/'\n[markup.goldmark.renderer]\nunsafe = true\n", map[string]string{
			"content/a.md":                 page("[b](/b/) <img src=/logo.png>"),
			"content/b.md":                 page("[top](https://me.github.io/) [other](https://me.github.io/other/)"),
			"layouts/_default/single.html": `<!doctype html><title>x</title><a href="/">Home</a> <a href="{{ "/b/" | relURL }}">b</a>{{ .Content }}`,
			"static/logo.png":              "",
			"static/s.css":                 "p{background:url(/logo.png)}",
		})
		p.sitelink(exitFindings, []string{"check", "--build"}, `^content/a\.md:4:5: error: /b/ lacks the base path /repo/ of the site: /repo/b/ is there \[missing-base\]`,
			`^content/a\.md:4:\d+: error: /logo\.png lacks`, `^layouts/_default/single\.html:1:41: error: / lacks`, `^layouts/_default/single\.html:1:\d+: error: /b/ lacks`, `^static/s\.css:1:18: error: `)
		p.sitelink(exitClean, []string{"fix", "--write"}, `single\.html:1:\d+: base-path: /b/ -> b/$`, `content/a\.md:4:5: base-path: /b/ -> /repo/b/$`, `0 new`)
		p.sitelink(exitClean, []string{"check", "--build"}, `2 outside-base`)
	})
}

// TestHugoMultihost: a host for each language (ecosystem.md 1.2, 7): a root each,
// and links from one to the other are checked.
func TestHugoMultihost(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n[languages.en]\nbaseURL = 'https://en.example/'\nweight = 1\n[languages.fr]\nbaseURL = 'https://fr.example/sub/'\nweight = 2\n", map[string]string{
			"content/a.md":    page("[b](/b/) [seul](https://fr.example/sub/seul/) [no](https://fr.example/sub/non/)"),
			"content/b.md":    page("b"),
			"content/b.fr.md": page("[en](https://en.example/a/) [b](/sub/b/) [out](/b/)"), "content/seul.fr.md": page("seul"),
		})
		p.hugo()
		p.sitelink(exitFindings, checkOnly, `published at https://en\.example/ \(en\), https://fr\.example/sub/ \(fr\)$`,
			`^content/a\.md:4:52: error: directory not found: /fr/non/`, `^content/b\.fr\.md:4:\d+: error: /b/ lacks the base path /sub/`, `: 2 errors`)
		// One language alone, and one address for all.
		p.sitelink(exitFindings, []string{"check", "public/fr"}, `published at https://fr\.example/sub/`, `/b/ lacks the base path /sub/`, `: 1 error$`)
		p.sitelink(exitFindings, []string{"check", "--base-url", "https://en.example/"}, `directory not found: /b/`)
		testkit.Write(t, filepath.Join(p.dir, "sitelink.toml"), "[[site]]\nroot = 'fr'\nbase = 'https://fr.example/sub/'\n[[site]]\nroot = 'en'\nbase = 'https://en.example/'\n")
		p.sitelink(exitFindings, checkOnly, `error: directory not found: /fr/non/`, `: 2 errors`)
		// Static files are copied to each host: rules count, and have their place in the sources.
		testkit.Check(t, os.Remove(filepath.Join(p.dir, "sitelink.toml")))
		testkit.Write(t, filepath.Join(p.dir, "content/c.md"), page("[old](/old)"))
		testkit.Write(t, filepath.Join(p.dir, "static/_redirects"), "/old /b/\n/x /none/\n")
		testkit.Write(t, filepath.Join(p.dir, "static/s.css"), "a{background:url(none.png)}")
		p.hugo()
		p.sitelink(exitFindings, checkOnly, `host netlify \(public/en/_redirects\)`, `content/c\.md:4:\d+: warning: /en/old redirects to /en/b/`,
			`^static/_redirects:2:1: error: the destination /en/none/ does not exist`, `^static/s\.css:1:18: error: `)
	})
}

// TestHugoLanguages: several languages below one address.
func TestHugoLanguages(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\ndefaultContentLanguage = 'de'\n[languages.en]\nweight = 1\n[languages.de]\nweight = 2\n[languages.fr]\nweight = 3\n", map[string]string{
			"content/a.md": page("[en](/en/a/)"), "content/a.en.md": page("[de](/a/)"), "content/a.fr.md": page("a")})
		p.hugo()
		p.sitelink(exitClean, checkOnly, `published at https://example\.org/, languages de, en, fr$`)
	})
}

// TestHugoRefs: a ref that leads nowhere fails the build, or becomes what
// refLinksNotFoundURL says (ecosystem.md 1.2, 10).
func TestHugoRefs(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page(`[x]({{< ref "none.md" >}})`)})
		p.sitelink(exitFailed, []string{"check", "--build"}, `REF_NOT_FOUND`, `sitelink: error: the build failed: hugo --destination .*: exit status`, `hint: fix what Hugo reports above`)
		if _, err := os.Stat(filepath.Join(p.dir, ".sitelink/public")); err == nil {
			t.Error("a build that failed has left a docroot")
		}
		testkit.Write(t, filepath.Join(p.dir, "config.toml"), "disableKinds = ['taxonomy', 'term', 'RSS', 'sitemap']\nbaseURL = 'https://example.org/'\nrefLinksErrorLevel = 'WARNING'\nrefLinksNotFoundURL = '/nf/'\n")
		testkit.Write(t, filepath.Join(p.dir, "content/nf.md"), page("nothing here"))
		p.sitelink(exitFindings, []string{"check", "--build"}, `: 1 error$`, `^content/a\.md:4:14: error: the generator could not resolve a reference.*\[unresolved-ref\]`)
		p.sitelink(exitFailed, []string{"check", "--build", "--strict"}, `REF_NOT_FOUND`, `the build failed: hugo .*--printPathWarnings: 1 warning, and --strict allows none$`, `hint: fix what Hugo reports above`)
		if _, err := os.Stat(filepath.Join(p.dir, ".sitelink/public")); err == nil {
			t.Error("a strict build that failed has left a docroot")
		}
	})
}

// TestHugoMarkdownPaths: a Markdown path that nothing resolved reaches the page as
// it is (ecosystem.md 1.2, 11).
func TestHugoMarkdownPaths(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page("[x](other.md)"), "content/other.md": page("x")})
		p.hugo()
		p.sitelink(exitFindings, checkOnly, `^content/a\.md:4:5: error: file not found: .*other\.md; Hugo did not turn this path of a Markdown file into an address: .* \[missing-file\]`,
			`did you mean \.\./other/\?`)
	})
}

// TestHugoLock: a check waits until Hugo, which is at work, is done (ecosystem.md
// 1.2, 5).
func TestHugoLock(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page("a")})
		p.hugo()
		unlock := testkit.Must(lockedfile.MutexAt(filepath.Join(p.dir, ".hugo_build.lock")).Lock())(t)
		cmd := p.command("sitelink", "check")
		var said lockedBuffer
		cmd.Stdout, cmd.Stderr = &said, &said
		start(t, cmd)
		until(t, &said, "waiting for the build that holds .hugo_build.lock")
		if strings.Contains(said.String(), "checked") {
			t.Error("it did not wait")
		}
		unlock()
		until(t, &said, "checked 2 pages")
	})
}

// TestHugoArguments: arguments of the build are Hugo's, and the check agrees with
// them.
func TestHugoArguments(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{
			"content/a.md": page("[b](https://preview.example.net/p/b/) [d](/p/d/)"), "content/b.md": page("b"), "content/d.md": page("d", "draft: true"),
			"config/staging/config.toml": "baseURL = 'https://staging.example.net/'\n",
		})
		p.sitelink(exitClean, []string{"check", "--build", "--", "-D", "-b", "https://preview.example.net/p/"}, `published at https://preview\.example\.net/p/$`, `!not checked: .*external`)
		p.sitelink(exitFindings, []string{"check", "--build", "--", "-e", "staging"}, `published at https://staging\.example\.net/`)
		p.sitelink(exitUsage, []string{"check", "--build", "--", "-d", "x"}, `-d: --build chooses the output directory`)
		p.sitelink(exitFailed, []string{"check", "--build", "--", "--no-such-flag"}, `unknown flag`, `the build failed: hugo .* --no-such-flag`)
		p.sitelink(exitUsage, []string{"check", "--build", "public"}, `build takes no directory`)
		// Two pages that fall on one address.
		testkit.Write(t, filepath.Join(p.dir, "content/e.md"), page("e", "url: /b/"))
		p.sitelink(exitFailed, []string{"check", "--build", "--strict"}, `^WARN .*Duplicate target paths: /b/index\.html`, `the build failed: hugo .*: 1 warning, and --strict allows none$`)
		p.sitelink(exitUsage, []string{"check", "--build", "--strict", "--", "--quiet"}, `--quiet hides the warnings that --strict needs`)
	})
}

// TestHugoOwnFlags: every command that builds does so with the flags of the project's own
// command. Without --themesDir there is no page; without --config the address is another; the
// link to a draft is broken without --buildDrafts; --minify takes quotes away.
func TestHugoOwnFlags(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		single := "<!doctype html><html><head>{{ partial \"head.html\" . }}</head><body>{{ .Content }}<a href=\"{{ \"set/\" | absURL }}\">s</a></body></html>\n"
		testkit.AddFiles(t, p.dir, map[string]string{
			"netlify.toml":                            "[build]\nbase = 'site'\npublish = 'site/public'\ncommand = 'hugo --gc --minify --buildDrafts --themesDir ../shared -b $DEPLOY_URL --config hugo.toml,prod.toml'\n",
			"site/hugo.toml":                          "title = 't'\ntheme = 'own'\nbaseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap', '404']\n",
			"site/prod.toml":                          "baseURL = 'https://prod.example/sub/'\n",
			"site/content/a.md":                       page("[d](/sub/draft/) [x](/sub/drft/)"),
			"site/content/draft.md":                   page("d", "draft: true"),
			"site/static/set/index.html":              "<!doctype html><title>s</title>",
			"shared/own/layouts/_default/single.html": single,
			"shared/own/layouts/index.html":           single,
			"shared/own/layouts/_default/list.html":   single,
			"site/layouts/partials/head.html":         "<title>t</title>",
		})
		git := func(args ...string) { testkit.Git(t, p.dir, args...) }
		testkit.Check(t, os.Remove(filepath.Join(p.dir, ".git")))
		git("init", "-q", "-b", "main")
		git("add", "-A")
		git("commit", "-q", "-m", "a")
		built := `^sitelink: note: building with hugo --destination \S+ --minify --buildDrafts --themesDir ../shared --config=hugo.toml,prod.toml$`
		p.sitelink(exitFindings, []string{"check", "--build"}, built, `published at https://prod\.example/sub/`, `^site/content/a\.md:4:22: error: directory not found: /sub/drft/ `, `: 1 error$`)
		p.sitelink(exitFindings, []string{"hook", "run"}, `^site/content/a\.md:4:22: error: directory not found: /sub/drft/ `)
		p.sitelink(exitClean, []string{"fix", "--write", "--likely"}, built)
		p.sitelink(exitClean, []string{"mv", "--write", "site/content/draft.md", "site/content/moved.md"})
		if text := testkit.Must(os.ReadFile(filepath.Join(p.dir, "site/content/a.md")))(t); !strings.HasSuffix(string(text), "[d](/sub/moved/) [x](/sub/moved/)\n") {
			t.Errorf("after fix and mv: %s", text)
		}
		testkit.Write(t, filepath.Join(p.dir, "sitelink.toml"), "[templates]\nwebmention = 'https://m.example/'\n")
		p.sitelink(exitClean, []string{"inject"})
		p.sitelink(exitFindings, []string{"check", "--build"}, built, `a minifier took the quotes from the webmention element`)
	})
}

// TestHugoTheme: the example site of a theme finds the theme by the name of its directory,
// also where a push and a move are tried.
func TestHugoTheme(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		layout := "<!doctype html><title>t</title>{{ .Content }}\n"
		testkit.AddFiles(t, p.dir, map[string]string{
			"netlify.toml":                 "[build]\nbase = 'exampleSite'\npublish = 'exampleSite/public'\ncommand = 'hugo --themesDir ../..'\n",
			"exampleSite/hugo.toml":        "title = 't'\ntheme = '" + filepath.Base(p.dir) + "'\nbaseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'RSS', 'sitemap', '404']\n",
			"exampleSite/content/a.md":     page("[b](/b/) [gone](/gone/)"),
			"exampleSite/content/b.md":     page("b"),
			"layouts/_default/single.html": layout, "layouts/_default/list.html": layout, "layouts/index.html": layout,
		})
		testkit.Check(t, os.Remove(filepath.Join(p.dir, ".git")))
		testkit.Git(t, p.dir, "init", "-q", "-b", "main")
		testkit.Git(t, p.dir, "add", "-A")
		testkit.Git(t, p.dir, "commit", "-q", "-m", "a")
		testkit.Write(t, filepath.Join(p.dir, "exampleSite/content/a.md"), page("[b](/b/)"))
		p.sitelink(exitFindings, []string{"hook", "run", "--commit", "HEAD"}, `^exampleSite/content/a\.md:4:17: error: directory not found: /gone/ `)
		p.sitelink(exitClean, []string{"mv", "exampleSite/content/b.md", "exampleSite/content/c.md"}, `^1 link in 1 file to rewrite$`)
	})
}

// TestHugoNotBuilt: where there is no docroot yet, the next command is named.
func TestHugoNotBuilt(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\npublishDir = 'out'\n", map[string]string{"content/a.md": page("a")})
		p.sitelink(exitFailed, checkOnly, `error: read docroot out: no such file`, `hint: run hugo first, or sitelink check --build`)
		p.sitelink(exitClean, []string{"check", "--build"})
		p.sitelink(exitClean, checkOnly, `Hugo site .*: checking \.sitelink/public, published at`)
		p.hugo()
		p.sitelink(exitClean, []string{"links", "--external"}, `Hugo site .*: checking out, published at https://example\.org/`)
		p.sitelink(exitClean, []string{"explain", "/a/"}, `published at https://example\.org/`)
	})
}

// TestHugoInterrupt: Ctrl-C stops Hugo and leaves no docroot.
func TestHugoInterrupt(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page("a"),
			"layouts/_default/single.html": "{{ range seq 2000 }}{{ range seq 2000 }}{{ range seq 2000 }}{{ $x := math.Sqrt . }}{{ end }}{{ end }}{{ end }}"})
		cmd := p.command("sitelink", "check", "--build")
		var said lockedBuffer
		cmd.Stdout, cmd.Stderr = &said, &said
		testkit.Check(t, cmd.Start())
		until(t, &said, "building with hugo")
		time.Sleep(300 * time.Millisecond)
		began := time.Now()
		cmd.Process.Signal(os.Interrupt)
		err := cmd.Wait()
		checkExit(t, err, exitInterrupted)
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("it took %v to stop", took)
		}
		left, _ := os.ReadDir(filepath.Join(p.dir, ".sitelink"))
		for _, f := range left {
			if strings.HasPrefix(f.Name(), "public") {
				t.Errorf("left behind: %s", f.Name())
			}
		}
	})
}

// TestHugoSettled: stale pages are found where everything is configured, too.
func TestHugoSettled(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		p.files("baseURL = 'https://example.org/'\n", map[string]string{"content/a.md": page("a"), "content/b.md": page("b"),
			"sitelink.toml": "docroot = 'public'\nbase-url = 'https://example.org/'\n"})
		p.hugo()
		os.Remove(filepath.Join(p.dir, "content/b.md"))
		past := time.Now().Add(-time.Hour)
		testkit.Check(t, os.Chtimes(filepath.Join(p.dir, "public/b/index.html"), past, past))
		p.sitelink(exitClean, checkOnly, `stale build\? public holds 1 page`, `!Hugo site`)
		p.sitelink(exitClean, []string{"check", "--source", "off"}, `!stale`)
	})
}

// TestHugoRelativeFeeds: relativeURLs writes links of feeds relative to the feed.
// That is one finding, which says how to repair it, and the repair helps.
func TestHugoRelativeFeeds(t *testing.T) {
	eachHugo(t, func(t *testing.T, p *hugoProject) {
		feed := `<rss version="2.0"><channel>{{ range .Pages }}<item><link>{{ .Permalink }}</link><description>{{ .Content | html }}</description></item>{{ end }}</channel></rss>` + "\n"
		files := map[string]string{
			"layouts/_default/rss.xml": feed, "layouts/_default/home.rss.xml": feed,
			"content/post/a.md": page("[b](/docs/b/) [c](/docs/c/)"), "content/post/d.md": page("[b](/docs/b/)"),
			"content/docs/b.md": page("b"), "content/docs/c.md": page("c"),
		}
		config := "disableKinds = ['taxonomy', 'term', 'sitemap']\nbaseURL = 'https://example.org/'\n"
		for name, text := range map[string]string{"relativeURLs = true": "true", "": ""} {
			q := *p
			q.t, q.dir = t, t.TempDir()
			testkit.Check(t, os.Mkdir(filepath.Join(q.dir, ".git"), 0o777))
			files["config.toml"] = config + name + "\n"
			q.files("", files)
			q.hugo()
			if text == "" {
				q.sitelink(exitClean, checkOnly, `!error: `)
				continue
			}
			q.sitelink(exitFindings, checkOnly, `error: [0-9]+ links of the feed only work relative to the feed, .*relativeURLs = true: set it to false.*\[feed-relative\]$`, `: 1 error, on [0-9]+ links`)
		}
	})
}
