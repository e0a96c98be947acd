package host

import (
	"cmp"
	"iter"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Kind is what sitelink knows of one kind of host: a program that serves sites, or a
// company that publishes them. A fact about a host is in its row of the table of kinds,
// and the other packages ask the row.
type Kind struct {
	Profile
	// Title is the name that people know it by.
	Title string
	// Domains are patterns (path.Match) of the host names that it gives to sites.
	Domains []string
	// Files are the rule files that it reads, in the order in which it applies them.
	Files []RuleFile
	// Own are other files at the top of the docroot that configure the host, not pages.
	Own []string
	// Deploys, Actions, Publishers and Jobs are how a project says that the host publishes
	// it, and Marks how the docroot says so. HugoTarget begins the addresses of the host in
	// Hugo's list of deployment targets.
	Deploys    []DeployFile
	Actions    []Action
	Publishers []Publisher
	Jobs       []Job
	Marks      []Mark
	HugoTarget string
	// Unknown says why the answers are those of [Generic], "" if they are known.
	Unknown string
	// WithoutRules and WithoutHeaders say why there are no Files into which a redirect can be
	// written, and no Headers.
	WithoutRules, WithoutHeaders string
	// Headers are the forms in which it takes headers: one for each file, or for its own
	// configuration. Nil if it sets none.
	Headers []HeaderForm
	// Gone says how it answers 410 at the address %s; "" if it cannot, or if sitelink does not
	// know.
	Gone string
}

// DeployFile is a file that tells the host what to publish. Directories in it are relative to
// its own.
type DeployFile struct {
	// Names are its names, separated by blanks.
	Names string
	// Sites are the keys of a table or a list of tables, one for each site; "" for a file that
	// is about one site. A file without them says nothing, nor does a site without Only.
	Sites, Only string
	// The keys of the directory of the project, of what is published there and of the command
	// that builds it, separated by blanks.
	Dir, Docroot, Build string
	// Steps is the key with commands in jobs as those of workflows. Command returns the
	// command that the host makes of settings, and the keys that it is made of.
	Steps   string
	Command func(get func(key string) string) (words []string, keys string)
}

// Action is a step of workflows that publishes. Uses is the beginning of what the step
// uses. Dir, Docroot and CName name its inputs or variables: for the directory of the
// project, for the published directory, relative to that one, and for the host name of the
// site. Usual is what the step publishes without the input.
type Action struct{ Uses, Dir, Docroot, Usual, CName string }

// Publisher is a program that publishes. Its directory follows one of the flags, or is the "first"
// word, or the "last" one unless a word stands before the flags. It counts only with a word that
// ends in Only. New projects of a generator have the script if Stock is set.
type Publisher struct {
	Command, Flags, Only string
	Stock                bool
}

// Job is a job of a CI server that publishes: its file, its name, and the keys of what it
// publishes; Usual is what it is without them.
type Job struct{ File, Name, Docroot, Usual string }

// Mark is a file in the docroot that identifies a host.
type Mark struct {
	File string
	// Rank orders the marks of all hosts, the surest first.
	Rank int
	// Line reports whether only this host understands a line, nil if the file alone says it.
	Line func(line string) bool
	// Words say to a user why the file is enough, if that is not clear.
	Words string
	// HostName: the first line has the host name of the site. Below is a directory of the
	// project without which the file means nothing.
	HostName bool
	Below    string
}

const nginxGone = "nginx answers 410 with: location = %s { return 410; }"

// Ranks of marks: files that only one host reads, lines of files that several read, files
// of servers, and files that are written for several hosts.
const (
	rankOwn = iota
	rankRedirects
	rankHeaders
	rankShared
	rankServer
	rankName
	rankHint
)

// redirectFields returns the words of a line of _redirects, none for a comment.
func redirectFields(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	if fields := strings.Fields(line); len(fields) > 1 && fields[0][0] != '#' {
		return fields
	}
	return nil
}

// netlifyRedirect reports whether Netlify understands a line of _redirects and Cloudflare
// does not: a rule for one domain, with a query parameter or a condition, with force, or
// with the status of an error.
func netlifyRedirect(line string) bool {
	fields := redirectFields(line)
	return fields != nil && (weburl.IsWeb(fields[0]) || !starInside(fields[0]) &&
		slices.ContainsFunc(fields[1:], func(f string) bool {
			status, force := strings.CutSuffix(f, "!")
			n, err := strconv.Atoi(status)
			return !strings.HasPrefix(f, "/") && !strings.Contains(f, "://") && strings.Contains(f, "=") || err == nil && (force || n >= 400)
		}))
}

// starInside reports whether a path has a star before its end, which Netlify refuses.
func starInside(from string) bool {
	star := strings.IndexByte(from, '*')
	return star >= 0 && star < len(from)-1 && !strings.Contains(from, "://")
}

// Each yields the name of each kind with each of its facts of one sort.
func Each[T any](of func(*Kind) []T) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for i := range kinds {
			for _, fact := range of(&kinds[i]) {
				if !yield(kinds[i].Name, fact) {
					return
				}
			}
		}
	}
}

// HeaderForm is how a host reads a header that it sends with all files. Pingback and
// Webmention are lines with a %s for the value of X-Pingback and of Link.
type HeaderForm struct {
	// File is the name of a rule file, "" if a person has to add the text to the server's
	// own configuration. Where says where in it.
	File, Where                                    string
	Before, Pingback, Separator, Webmention, After string
	// Quote makes a value safe, which has no backslashes and no control characters. It is
	// nil if every value is.
	Quote func(value string) string
}

// JSON has the same lines for all hosts that have a list of keys and values.
const (
	jsonPingback   = `{ "key": "X-Pingback", "value": %s }`
	jsonWebmention = `{ "key": "Link", "value": %s }`
)

// backslashQuoted quotes a value without backslashes and control characters.
func backslashQuoted(value string) string {
	return `"` + strings.ReplaceAll(value, `"`, `\"`) + `"`
}

// RuleFile is a kind of file with rules of a host: how they are read, and how redirects are
// written.
type RuleFile struct {
	// Name is the name of the file. It is at the top of the docroot; in each directory, if
	// Anywhere is set; or, if InProject is set, in the directory of the project, else in
	// the docroot.
	Name                string
	Anywhere, InProject bool
	// Read parses the file of a directory, which is a URL path of the host.
	Read func(dir, name string, data []byte) *redirect.File
	// Write returns what to insert into a text of the file, and where, so that the old
	// addresses redirect to the new ones. It is nil if the file has no redirects.
	Write func(text []byte, rules []redirect.Pair) (at int, insert string, err error)
	// Empty is a text without rules in which an entry is not a line of its own, "" where it
	// is.
	Empty string
	// To are the keys of destinations, nil in lines.
	To []string
	// Create: the host reads a new file without a setting elsewhere.
	Create bool
	// First: the host follows the rules before it looks for files.
	First bool
	// Based: the rules have paths of the host, which begin with the base path.
	Based bool
	// Single: a rule cannot move all that is below a directory.
	Single bool
}

// anyDir reads a file with rules that do not depend on its directory.
func anyDir(read func(name string, data []byte) *redirect.File) func(dir, name string, data []byte) *redirect.File {
	return func(_, name string, data []byte) *redirect.File { return read(name, data) }
}

// headers reads _headers, in the dialect of Cloudflare or of Netlify.
func headers(cloudflare bool) RuleFile {
	return RuleFile{Name: "_headers", Read: func(_, name string, data []byte) *redirect.File { return redirect.Headers(name, data, cloudflare) }}
}

// rulesOf returns the rule files of a value of the key rules.
func rulesOf(rules Way) []RuleFile {
	if rules == rulesShared {
		return []RuleFile{{Name: "_redirects", Read: anyDir(redirect.Shared)}, headers(false)}
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Rules == rules })
	if i < 0 || rules == RulesNone {
		return nil
	}
	return kinds[i].Files
}

// server is nginx in its simplest configuration. The other profiles change what
// differs.
func server(name string, change func(*Profile)) Profile {
	p := Profile{
		Name: name, Index: []string{"index.html"}, Autoindex: AutoindexError,
		Directory: Redirect, DirectorySlash: Serve, IndexFile: Serve, EmptyDirectory: 403,
		IndexName: Missing,
		Page:      Missing, PageSuffixes: []string{".html"}, PageFile: Serve, PageSlash: Missing, TrailingSlash: Keep,
		FileSlash: Missing, Slashes: Merge, EncodedSlash: Serve, ReservedEscape: Serve, AboveRoot: 400, BadEscape: 400,
		Rules: RulesNone,
	}
	change(&p)
	return p
}

// cloudflare: there is one address for each page, without .html, without index, with a
// slash for directories only.
func cloudflare(p *Profile) {
	p.Charset, p.Rules = "utf-8", RulesCloudflare
	p.Directory, p.IndexFile, p.IndexName, p.EmptyDirectory = RedirectIndex, Redirect, Redirect, 404
	p.Page, p.PageFile, p.PageSlash, p.PageFirst = Serve, Redirect, Redirect, true
	p.AboveRoot, p.BadEscape, p.InvalidUTF8, p.RawLocation = 404, 0, 404, true
}

// cloudflareMarks and netlifyMarks: Netlify and Cloudflare Pages both read _redirects and _headers. The first line
// that only one of them understands decides. Where there is none it is Netlify, which reports
// what Cloudflare's fallback for single-page applications would hide.
var (
	cloudflareMarks = []Mark{
		{File: "_worker.js"}, {File: "_routes.json"},
		{File: "_redirects", Rank: rankRedirects, Line: func(line string) bool { f := redirectFields(line); return f != nil && starInside(f[0]) }},
		{File: "_headers", Rank: rankHeaders, Line: func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "! ") }}, // takes a header away
	}
	netlifyMarks = []Mark{
		{File: "_redirects", Rank: rankRedirects, Line: netlifyRedirect},
		{File: "_headers", Rank: rankHeaders, Line: func(line string) bool {
			name, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			return strings.EqualFold(name, "Basic-Auth") && strings.Contains(line, ":")
		}},
		{File: "_redirects", Rank: rankShared, Words: "Cloudflare Pages reads it too"},
		{File: "_headers", Rank: rankShared, Words: "Cloudflare Pages reads it too"},
	}
)

var (
	cloudflareFiles   = []RuleFile{{Name: "_redirects", Read: anyDir(redirect.Cloudflare), Write: redirect.WriteRedirects, Create: true, First: true}, headers(true)}
	cloudflareHeaders = []HeaderForm{{"_headers", "at the end of _headers, which is published with the site; below an existing line /*, without that line",
		"/*\n", "  X-Pingback: %s\n", "", "  Link: %s\n", "", nil}}
)

// Why a host has no rule files or headers that sitelink knows.
const (
	inServer     = "the configuration of the server is not among the files of a site"
	noHeaders    = "the host sends no headers of its sites"
	inConsole    = "the rules of the host are in its console, not in a file"
	undocumented = "it is not documented whether the host sends headers of its sites"
)

// Generic is what nginx, Apache, Caddy and lighttpd have in common in their
// simplest configuration, and what nginx does if they differ.
var Generic = server("generic", func(p *Profile) { p.Portable = true })

// Linklint is how the Linklint program read a docroot (LL-77 to LL-83).
var Linklint = server("linklint", func(p *Profile) {
	p.Index = []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html", "welcome.html"}
	p.FoldIndex, p.Autoindex, p.Base = true, AutoindexList, BaseDocumentOrder
	p.Directory = Serve // LL-83
	p.Portable = true
})

// kinds are all kinds, sorted by name.
var kinds = []Kind{
	{Title: "AWS Amplify", Domains: []string{"*.amplifyapp.com"}, Unknown: "what the host answers depends on rules in its console", WithoutRules: inConsole, Files: []RuleFile{{Name: "customHttp.yml", InProject: true, Read: anyDir(redirect.Amplify)}},
		Headers: []HeaderForm{{"customHttp.yml", "in customHttp.yml, in the list customHeaders",
			"- pattern: '**'\n  headers:\n", "  - key: X-Pingback\n    value: %s\n", "", "  - key: Link\n    value: %s\n", "", backslashQuoted}},
		Deploys: []DeployFile{
			{Names: "customHttp.yml"},
			{Names: "amplify.yml amplify.yaml", Sites: "applications", Only: "frontend", Dir: "appRoot", Docroot: "frontend.artifacts.baseDirectory", Build: "frontend.phases.build.commands"},
			{Names: "amplify.yml amplify.yaml", Only: "frontend", Docroot: "frontend.artifacts.baseDirectory", Build: "frontend.phases.build.commands"},
		},
		Profile: server("amplify", func(p *Profile) { p.Portable, p.Rules = true, RulesAmplify })},
	{Title: "Apache", Marks: []Mark{{File: ".htaccess", Rank: rankServer}}, Files: []RuleFile{{Name: ".htaccess", Anywhere: true, Read: redirect.Htaccess, Write: redirect.WriteHtaccess, Create: true, First: true, Based: true}},
		Headers: []HeaderForm{{".htaccess", "in .htaccess at the top of the docroot; the host must allow FileInfo there and have mod_headers",
			"<IfModule mod_headers.c>\n", "  Header set X-Pingback %s\n", "", "  Header add Link %s\n", "</IfModule>\n",
			func(value string) string { return backslashQuoted(strings.ReplaceAll(value, "%", "%%")) }}}, // a percent sign starts a format
		Gone: "Apache answers 410 with a line in .htaccess: Redirect gone %s",
		Profile: server("apache", func(p *Profile) {
			p.Rules = RulesHtaccess
			p.EncodedSlash = Missing
			p.AboveRoot = 404
			p.Deny, p.Denied = []string{".ht*"}, 403
		})},
	// Without trailingSlash in staticwebapp.config.json; Profile.WithURLs applies it.
	{Title: "Azure Static Web Apps", Domains: []string{"*.azurestaticapps.net"}, Files: []RuleFile{
		{Name: "staticwebapp.config.json", InProject: true, Read: anyDir(redirect.Azure), Write: redirect.WriteAzure, To: []string{"redirect", "rewrite"}, Empty: "{\n  \"routes\": []\n}", Create: true, First: true, Single: true},
	}, Headers: []HeaderForm{{"staticwebapp.config.json", `in staticwebapp.config.json, in the object "globalHeaders"`,
		"", `"X-Pingback": %s`, ",\n", `"Link": %s`, "\n", backslashQuoted}},
		Deploys:    []DeployFile{{Names: "staticwebapp.config.json"}},
		Actions:    []Action{{"Azure/static-web-apps-deploy@", "app_location", "output_location", "", ""}},
		Publishers: []Publisher{{Command: "swa deploy", Flags: "last"}},
		Profile: server("azure-static-web-apps", func(p *Profile) {
			p.Rules = RulesAzure
			p.Directory, p.EmptyDirectory = Serve, 404
			p.Page, p.PageSlash = Serve, Serve
			p.AboveRoot, p.InvalidUTF8 = 404, 400
			p.Deny, p.Denied = []string{"staticwebapp.config.json"}, 404
		})},
	{Title: "Caddy", Gone: "Caddy answers 410 with: respond %s 410", // Endpoints contain neither backquotes, which delimit the value, nor the braces of placeholders.
		Headers: []HeaderForm{{"", "in the block of the site in the Caddyfile", "", "header X-Pingback `%s`\n", "", "header +Link `%s`\n", "", nil}}, WithoutRules: inServer, Profile: server("caddy", func(p *Profile) {
			p.Charset = "utf-8"
			p.Index = []string{"index.html", "index.txt"}
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
			p.AboveRoot = 0
			p.DropQuery, p.RawLocation = true, true
		})},
	// A docroot without 404.html counts as a single-page application.
	{Title: "Cloudflare Pages", Domains: []string{"*.pages.dev"}, Own: []string{"_routes.json", "_worker.js"}, Marks: cloudflareMarks, Files: cloudflareFiles, Headers: cloudflareHeaders,
		Deploys: []DeployFile{{Names: "wrangler.toml wrangler.json wrangler.jsonc", Only: "pages_build_output_dir", Docroot: "pages_build_output_dir", Build: "build.command"}},
		Actions: []Action{{"cloudflare/pages-action@", "", "directory", "", ""}},
		Publishers: []Publisher{
			{Command: "wrangler pages deploy", Flags: "last"},
			{Command: "wrangler pages publish", Flags: "last"},
			{Command: "pages deploy", Flags: "last"},
		},
		Profile: server("cloudflare-pages", func(p *Profile) {
			cloudflare(p)
			p.Fallback, p.FallbackUnless = "index.html", "404.html"
		})},
	// Static assets of a Worker, without html_handling in its configuration; Profile.WithURLs
	// applies it.
	{Title: "Cloudflare Workers", Domains: []string{"*.workers.dev"}, Own: []string{".assetsignore"}, Headers: cloudflareHeaders, Files: append(slices.Clone(cloudflareFiles),
		RuleFile{Name: "wrangler.toml", InProject: true, Read: anyDir(redirect.Wrangler)},
		RuleFile{Name: "wrangler.json", InProject: true, Read: anyDir(redirect.Wrangler)},
		RuleFile{Name: "wrangler.jsonc", InProject: true, Read: anyDir(redirect.Wrangler)}),
		// Without assets and pages_build_output_dir it is a Worker without files.
		Deploys: []DeployFile{{Names: "wrangler.toml wrangler.json wrangler.jsonc", Only: "assets", Docroot: "assets.directory", Build: "build.command"}},
		Profile: server("cloudflare-workers", func(p *Profile) {
			cloudflare(p)
			p.Rules = RulesWorkers
		})},
	{Title: "Codeberg Pages", Domains: []string{"*.codeberg.page"}, Unknown: "the documentation of the host does not say what it answers without .html", Own: []string{".domains"},
		WithoutRules: "which rules of _redirects the host follows is not documented", WithoutHeaders: undocumented, Marks: []Mark{{File: ".domains", HostName: true}},
		Profile: server("codeberg-pages", func(p *Profile) { p.Portable = true })},
	// Files listed under "ignore" in firebase.json are not uploaded; see Deny.
	{Title: "Firebase Hosting", Domains: []string{"*.web.app", "*.firebaseapp.com"}, Files: []RuleFile{
		{Name: "firebase.json", InProject: true, Read: anyDir(redirect.Firebase),
			Write: redirect.WriteFirebase, To: []string{"destination"}, Empty: `{"hosting": {"redirects": []}}`, First: true},
	}, Headers: []HeaderForm{{"firebase.json", `in firebase.json, in the list "headers" of "hosting"`,
		`{ "source": "**", "headers": [`, jsonPingback, ", ", jsonWebmention, "] }\n", backslashQuoted}},
		Deploys:    []DeployFile{{Names: "firebase.json", Sites: "hosting", Docroot: "public"}},
		Actions:    []Action{{"FirebaseExtended/action-hosting-deploy@", "", "", "", ""}},
		Publishers: []Publisher{{Command: "firebase deploy"}},
		Profile: server("firebase", func(p *Profile) {
			p.Charset = "utf-8"
			p.Rules = RulesFirebase
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
			p.EncodedSlash, p.ReservedEscape, p.AboveRoot, p.InvalidUTF8 = Keep, Keep, 404, 400
			p.ErrorPage = "404.html"
		})},
	forge("Forgejo", "forgejo", Forge{Hosts: []string{"codeberg.org", "forgejo.*", "gitea.*", "gitea.com"}, Files: []string{"src/branch/{}", "raw/branch/{}", "media/branch/{}"},
		Pages: "issues pulls projects releases packages wiki activity tags branches commits commit compare graph actions forks stars watchers settings labels milestones milestone archive rss src", Slug: forgejoSlug}),
	{Title: "a web server", WithoutRules: inServer, WithoutHeaders: inServer, Unknown: "it is any server", Gone: nginxGone, Profile: Generic},
	forge("GitHub", "github", Forge{Hosts: []string{"github.com", "github.*"}, Files: []string{"blob/{}", "tree/{}", "raw/{}", "blame/{}", "edit/{}"}, Raw: "https://raw.githubusercontent.com/{}",
		Pages: "issues pulls pull discussions actions projects wiki security releases tags branches commits commit compare graphs network pulse stargazers watchers forks fork settings labels milestones milestone archive zipball tarball packages pkgs deployments community contribute new upload find search activity codespaces", AnyCase: true, Slug: githubSlug}),
	// upload-pages-artifact, since version 4, and Jekyll leave out names that
	// begin with a dot.
	{Title: "GitHub Pages", Domains: []string{"*.github.io"}, Own: []string{"CNAME"}, WithoutRules: "the host follows no rules of its sites", WithoutHeaders: noHeaders,
		// Some generators always write .nojekyll: it means nothing in a project elsewhere.
		Marks: []Mark{{File: "CNAME", Rank: rankName, HostName: true}, {File: ".nojekyll", Rank: rankHint, Below: ".github"}},
		Actions: []Action{
			{"actions/upload-pages-artifact@", "", "path", "_site", ""},
			{"actions/deploy-pages@", "", "", "", ""},
			{"actions/jekyll-build-pages@", "", "destination", "_site", ""},
			{"getzola/github-pages@", "working_directory", "", "public", ""},
			{"withastro/action@", "path", "out-dir", "dist", ""},
			{"peaceiris/actions-gh-pages@", "", "publish_dir", "public", "cname"},
			{"JamesIves/github-pages-deploy-action@", "", "folder FOLDER", "", ""},
			{"crazy-max/ghaction-github-pages@", "", "build_dir", "public", "fqdn"},
		},
		Publishers: []Publisher{
			{Command: "gh-pages", Flags: "-d --dist"},
			{Command: "ghp-import", Flags: "last"},
			{Command: "angular-cli-ghpages", Flags: "--dir"},
			{Command: "mkdocs gh-deploy"},
			{Command: "zensical gh-deploy"},
			{Command: "mike deploy"},
			{Command: "docusaurus deploy", Stock: true},
			{Command: "git subtree push", Flags: "--prefix", Only: "gh-pages"},
			{Command: "git push", Only: "gh-pages"},
		},
		Profile: server("github-pages", func(p *Profile) {
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
			p.Page, p.PageFirst = Serve, true
			p.AboveRoot = 0
			p.Deny, p.Denied = []string{".*"}, 404
			p.Charset = "utf-8"
		})},
	forge("GitLab", "gitlab", Forge{Hosts: []string{"gitlab.com", "gitlab.*"}, Files: []string{"-/blob/{}", "-/tree/{}", "-/raw/{}", "-/blame/{}", "-/edit/{}", "blob/{}", "tree/{}", "raw/{}"},
		Pages: "- issues merge_requests wikis pipelines builds commits commit compare tags branches releases milestones labels activity uploads badges boards snippets environments repository", Slug: gitlabSlug}),
	// A directory comes before page.html, even without an index file
	// (https://gitlab.com/gitlab-org/gitlab-pages/-/issues/1130). The paths of rules are those
	// of the host.
	{Title: "GitLab Pages", Domains: []string{"*.gitlab.io"}, WithoutHeaders: noHeaders,
		Jobs: []Job{{".gitlab-ci.yml", "pages", "pages.publish publish artifacts.paths", "public"}}, Files: []RuleFile{
			{Name: "_redirects", Read: anyDir(redirect.GitLab), Write: redirect.WriteRedirects, Create: true, Based: true},
		}, Profile: server("gitlab-pages", func(p *Profile) {
			p.Charset = "utf-8"
			p.Rules = RulesGitLab
			p.Page, p.PageSlash, p.EmptyDirectory = Serve, Serve, 404
			p.AboveRoot = 0
		})},
	{Title: "hugo server", WithoutRules: "its rules are in the configuration of Hugo, for development", WithoutHeaders: "its headers are in the configuration of Hugo, for development", Profile: server("hugo-server", func(p *Profile) {
		p.Charset = "utf-8"
		p.Directory, p.IndexFile, p.EmptyDirectory = RedirectIndex, Redirect, 404
		p.FileSlash, p.Slashes, p.RawLocation = Redirect, Redirect, true
		p.AboveRoot = 0
	})},
	{Title: "lighttpd", Headers: []HeaderForm{{"", "in lighttpd.conf, with mod_setenv loaded",
		"setenv.add-response-header += (\n", `  "X-Pingback" => %s`, ",\n", `  "Link" => %s`, "\n)\n", backslashQuoted}}, WithoutRules: inServer, Profile: server("lighttpd", func(p *Profile) {
		p.FileSlash, p.AboveRoot, p.BadEscape = Serve, 0, 0
	})},
	{Title: "Linklint", WithoutRules: "it is no host", WithoutHeaders: "it is no host", Profile: Linklint},
	// With "Pretty URLs", the default, the host redirects to the one address of
	// a page, and page.html takes precedence over page/index.html.
	{Title: "Netlify", Domains: []string{"*.netlify.app", "*.netlify.com"}, Marks: netlifyMarks, Files: []RuleFile{
		{Name: "_redirects", Read: anyDir(redirect.Netlify), Write: redirect.WriteRedirects, Create: true},
		{Name: "netlify.toml", InProject: true, Read: anyDir(redirect.NetlifyTOML), Write: redirect.WriteNetlifyTOML, To: []string{"to", "destination"}, Create: true},
		headers(false),
	}, Headers: []HeaderForm{
		{"_headers", "at the end of _headers, which is published with the site", "/*\n", "  X-Pingback: %s\n", "", "  Link: %s\n", "", nil},
		{"netlify.toml", "at the end of netlify.toml",
			"[[headers]]\n  for = \"/*\"\n  [headers.values]\n", "    X-Pingback = %s\n", "", "    Link = %s\n", "", backslashQuoted},
	},
		Deploys:    []DeployFile{{Names: "netlify.toml", Dir: "context.production.base build.base", Docroot: "context.production.publish build.publish", Build: "context.production.command build.command"}},
		Actions:    []Action{{"nwtgck/actions-netlify@", "", "publish-dir", "", ""}},
		Publishers: []Publisher{{Command: "netlify deploy", Flags: "-d --dir"}},
		Profile: server("netlify", func(p *Profile) {
			p.Charset = "utf-8"
			p.Rules = RulesNetlify
			p.Index, p.PageSuffixes = []string{"index.html", "index.htm"}, []string{".html", ".htm"}
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
			p.Page, p.PageSlash, p.PageFirst, p.PageSlashFirst = Serve, Redirect, true, true
			p.FileSlash, p.BadEscape, p.AnyCase = ServeSlash, 0, true
			p.AboveRoot = 0
			p.Charset = "utf-8"
		})},
	{Title: "nginx", Gone: nginxGone, Headers: []HeaderForm{{"", "in the server block, and in each location that has an add_header of its own",
		"", "add_header X-Pingback %s;\n", "", "add_header Link %s;\n", "",
		func(value string) string { // only a variable can have a dollar sign
			return strings.ReplaceAll(backslashQuoted(value), "$", "${sitelink_dollar}")
		}}}, WithoutRules: inServer, Profile: server("nginx", func(*Profile) {})},
	// Files are objects of a store: /dir redirects if there is dir/index.html.
	{Title: "Read the Docs", Domains: []string{"*.readthedocs.io", "*.rtfd.io", "*.readthedocs-hosted.com"}, WithoutRules: inConsole, WithoutHeaders: inConsole,
		// https://docs.readthedocs.io/en/stable/config-file/v2.html
		Deploys: []DeployFile{{Names: ".readthedocs.yaml .readthedocs.yml", Steps: "build", Command: func(get func(string) string) (words []string, keys string) {
			if conf := get("sphinx.configuration"); conf != "" {
				return []string{"sphinx-build", "-b", cmp.Or(get("sphinx.builder"), "html"), path.Dir(conf)}, "sphinx.builder sphinx.configuration"
			} else if conf := get("mkdocs.configuration"); conf != "" {
				return []string{"mkdocs", "build", "-f", conf}, "mkdocs.configuration"
			}
			return nil, ""
		}}},
		Profile: server("readthedocs", func(p *Profile) {
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
		})},
	{Title: "Render", Domains: []string{"*.onrender.com"}, WithoutRules: "mv writes no YAML", Files: []RuleFile{{Name: "render.yaml", InProject: true, Read: anyDir(redirect.Render)}},
		Headers: []HeaderForm{{"render.yaml", "in render.yaml, in the list headers of the service",
			"", "  - path: /*\n    name: X-Pingback\n    value: %s\n", "", "  - path: /*\n    name: Link\n    value: %s\n", "", backslashQuoted}},
		Deploys: []DeployFile{{Names: "render.yaml", Sites: "services", Only: "staticPublishPath", Dir: "rootDir", Docroot: "staticPublishPath", Build: "buildCommand"}},
		Profile: server("render", func(p *Profile) {
			p.Rules = RulesRender
			p.Directory, p.EmptyDirectory, p.Page, p.PageSlash = Serve, 404, Serve, Serve
		})},
	// The website endpoint of a bucket: names are keys, in which only the final
	// slash has a meaning.
	{Title: "Amazon S3", Domains: []string{"*.s3-website?*.amazonaws.com"}, WithoutRules: "the rules of a bucket are not among its files", WithoutHeaders: noHeaders, HugoTarget: "s3://",
		Actions:    []Action{{"jakejarvis/s3-sync-action@", "", "SOURCE_DIR", "", ""}},
		Publishers: []Publisher{{Command: "aws s3 sync", Flags: "first"}},
		Profile: server("s3", func(p *Profile) {
			p.Directory, p.EmptyDirectory = RedirectIndex, 404
			p.Slashes, p.AboveRoot, p.BadEscape, p.InvalidUTF8 = Keep, 404, 0, 404
			p.DropQuery = true
		})},
	// Without settings in vercel.json; Profile.WithURLs applies them.
	{Title: "Vercel", Domains: []string{"*.vercel.app", "*.now.sh"}, Files: []RuleFile{
		{Name: "vercel.json", InProject: true, Read: anyDir(redirect.Vercel), Write: redirect.WriteVercel, To: []string{"destination"}, Empty: "{\n  \"redirects\": []\n}", Create: true, First: true},
	}, Headers: []HeaderForm{{"vercel.json", `in vercel.json, in the list "headers"`,
		`{ "source": "/(.*)", "headers": [`, jsonPingback, ", ", jsonWebmention, "] }\n", backslashQuoted}},
		Deploys: []DeployFile{
			{Names: "vercel.json", Docroot: "outputDirectory", Build: "buildCommand"},
			{Names: ".vercel/project.json", Dir: "settings.rootDirectory", Docroot: "settings.outputDirectory", Build: "settings.buildCommand"},
		},
		Actions: []Action{{"amondnet/vercel-action@", "working-directory", "", "", ""}},
		Publishers: []Publisher{
			{Command: "vercel deploy"},
			{Command: "vercel --prod"},
		},
		Profile: server("vercel", func(p *Profile) {
			p.Charset = "utf-8"
			p.Rules = RulesVercel
			p.Directory, p.EmptyDirectory = Serve, 404
			p.InvalidUTF8 = 400
		})},
}

// Kinds returns all kinds, sorted by name.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindByName returns the kind with the profile of that name.
func KindByName(name string) (Kind, bool) {
	i, ok := slices.BinarySearchFunc(kinds, name, func(k Kind, name string) int { return cmp.Compare(k.Name, name) })
	if !ok {
		return Kind{}, false
	}
	return kinds[i], true
}

// Title returns the name that people use for the kind with that name.
func Title(name string) string {
	k, _ := KindByName(name)
	return k.Title
}

// NameAt returns the name of the kind that gives the host name of a URL to sites, "" for
// none.
func NameAt(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	hostname, _, _ := strings.Cut(rest, "/")
	for _, k := range kinds {
		for _, pattern := range k.Domains {
			if ok, _ := path.Match(pattern, hostname); ok {
				return k.Name
			}
		}
	}
	return ""
}

// RuleNames returns the names of all rule files, or only those of files in the directory
// of the project.
func RuleNames(inProject bool) (names []string) {
	for _, k := range kinds {
		for _, f := range k.Files {
			if (f.InProject || !inProject) && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}

// configNames are the names of all files that configure a host, in lower case.
var configNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{"web.config": true} // of IIS, which has no profile
	for _, name := range RuleNames(false) {
		names[strings.ToLower(name)] = true
	}
	for _, k := range kinds {
		for _, name := range k.Own {
			names[strings.ToLower(name)] = true
		}
	}
	return names
})

// IsConfig reports whether a file with that name, in any letter case, configures a host.
// Hosts read it and serve some of them nevertheless; no page needs to link to it.
func IsConfig(name string) bool { return configNames()[strings.ToLower(name)] }

// Profiles returns the profiles of all kinds but forges, sorted by name.
func Profiles() (profiles []Profile) {
	for i := range kinds {
		if kinds[i].Forge == nil {
			profiles = append(profiles, kinds[i].Profile)
		}
	}
	return profiles
}

// SharedProfile returns what the built-in profiles of these names have in
// common, for a site that one of them serves. Where they differ it is
// [Generic].
func SharedProfile(names []string) Profile {
	shared := Generic
	shared.Name, shared.Portable = strings.Join(names, " or "), false
	var all []Profile
	for _, name := range names {
		if p, ok := ProfileByName(name); ok {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return shared
	}
	for i := range profileKeys {
		field := profileKeys[i].field
		first := reflect.ValueOf(field(&all[0])).Elem()
		if !slices.ContainsFunc(all[1:], func(p Profile) bool {
			return !reflect.DeepEqual(reflect.ValueOf(field(&p)).Elem().Interface(), first.Interface())
		}) {
			reflect.ValueOf(field(&shared)).Elem().Set(first)
		}
	}
	shared.Portable = false
	if len(all) > 1 && !slices.ContainsFunc(all, func(p Profile) bool { return p.Rules != RulesNetlify && p.Rules != RulesCloudflare }) {
		shared.Rules = rulesShared
	}
	return shared
}

// ProfileByName returns the built-in profile of that name.
func ProfileByName(name string) (Profile, bool) {
	k, ok := KindByName(name)
	return k.Profile, ok
}
