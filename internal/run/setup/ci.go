package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
)

// Server is a program or a host that builds the site and can check it.
type Server struct {
	// Name is what a user types, Title what its makers write.
	Name, Title string
	// marks are files of the repository that show that the server is used.
	marks []string
	// remote is part of the address of a repository that it serves.
	remote string
	make   func(s Server, p *Facts) Advice
	// pushes says how a job may push, which a ledger in git needs; "" where builds do not
	// keep anything.
	pushes string
	// profile is the host's where the server also publishes what it builds, "" elsewhere. The
	// deploy files of the host are marks, too.
	profile string
}

// Advice is how to make a server check the site: a file to write, or text to add to
// a file of the user. Either may be missing.
type Advice struct {
	File *File
	// Where names for a person the file that Add belongs into.
	Where, Add string
}

// servers is the table of known servers.
var servers = []Server{
	{"github", "GitHub Actions", []string{".github"}, "github.com", github, "permissions: contents: write", ""},
	{"gitlab", "GitLab", []string{".gitlab-ci.yml", ".gitlab"}, "gitlab", gitlab, "a token of the project that may push", ""},
	{"netlify", "Netlify", nil, "", netlify, "", "netlify"},
	{"cloudflare", "Cloudflare Pages", nil, "", cloudflare, "", "cloudflare-pages"},
}

// Servers returns all servers.
func Servers() []Server { return append([]Server(nil), servers...) }

// Used reports whether a repository uses the server: by its files, or by the
// addresses of its remotes. has reports whether the root of the repository has a
// file of that name.
func (s Server) Used(has func(name string) bool, remotes string) bool {
	marks := s.marks
	k, _ := host.KindByName(s.profile)
	for _, f := range k.Deploys {
		marks = append(marks, strings.Fields(f.Names)...)
	}
	return slices.ContainsFunc(marks, has) || s.remote != "" && strings.Contains(remotes, s.remote)
}

// Advice returns how the server checks the project's site.
func (s Server) Advice(p *Facts) Advice { return s.make(s, p) }

// npx starts a program of a package that the project has installed.
func (p *Facts) npx() string {
	if strings.Contains(p.installPackages(), "yarn") { // its Plug'n'Play has no node_modules
		return "yarn run "
	}
	return "npx "
}

// buildLine is what builds the site on a server.
func (p *Facts) buildLine() string {
	npx := p.npx()
	switch {
	case strings.HasPrefix(p.Script, "npm run ") && npx != "npx ":
		return npx + strings.TrimPrefix(p.Script, "npm run ")
	case p.Script != "":
		return p.Script
	}
	return p.python().run + strings.Replace(p.Usual, "npx ", npx, 1)
}

func (p *Facts) has(name string) bool { return p.Has != nil && p.Has(name) }

// standBack is a variable that makes the generator's plugin leave the check to the
// step after the build.
const standBack = "SITELINK_OUT"

// buildInShell is buildLine as a line of the shell.
func (p *Facts) buildInShell() string {
	if p.Plugin {
		return standBack + "=. " + p.buildLine()
	}
	return p.buildLine()
}

// oneLine builds and checks as one command, for hosts that take one. They run it without
// root, and have Node.
func (p *Facts) oneLine(profile string) string {
	check := cmp.Or(p.Own, "npx --yes sitelink@"+strings.TrimPrefix(p.Release, "v")) + " check"
	if p.Docroot != "" {
		check += " " + shellWord(p.Docroot)
	}
	if p.Profile != profile {
		check += " --profile " + profile
	}
	t, builds := p.tools()
	if !builds {
		return check
	}
	check = p.buildInShell() + " && " + check
	if generator.Name(p.Generator).Traits().VersionVariable != "" || strings.HasPrefix(t.image, "node") || t.install[0] == "bundle install" {
		return check // the hosts install this
	}
	return strings.ReplaceAll(t.lines(false)[0], "-C /usr/local/bin", "-C /tmp && export PATH=/tmp:$PATH") + " && " + check
}

func netlify(s Server, p *Facts) Advice {
	name := p.toRoot("netlify.toml")
	command := p.oneLine(s.profile)
	if p.has(name) || p.has("netlify.toml") {
		return Advice{Where: "netlify.toml, the command of [build]", Add: "command = " + quote(command) + "\n"}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n[build]\n", madeBy)
	if p.Below != "" {
		fmt.Fprintf(&b, "base = %s\n", quote(p.Below))
	}
	fmt.Fprintf(&b, "publish = %s\ncommand = %s\n", quote(p.docrootOr("public")), quote(command))
	if t := generator.Name(p.Generator).Traits(); t.VersionVariable != "" {
		fmt.Fprintf(&b, "\n[build.environment]\n%s = %s\n", t.VersionVariable, quote(cmp.Or(p.Version, t.Version)))
	}
	return Advice{File: &File{name, b.String()}}
}

func cloudflare(s Server, p *Facts) Advice {
	return Advice{Where: "the project's settings at " + s.Title + ", \"Build command\"", Add: p.oneLine(s.profile) + "\n"}
}

func (p *Facts) docrootOr(name string) string {
	if p.Docroot != "" {
		return p.Docroot
	}
	return name
}
