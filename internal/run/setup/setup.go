// Package setup sets a project up for sitelink and undoes that: it writes a
// configuration file, files for CI servers, the git hook and the link elements in
// the templates, and records everything it wrote.
//
// [Look] surveys a project, [Init] carries out what sitelink init does. Setup never
// changes a file that it did not write, or that was changed since. docs/guide/getting-started-hugo.md is the manual.
package setup

import (
	"fmt"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/run/audit/baseline"
)

// Facts are what is known about a project when it is set up.
type Facts struct {
	// Generator names the program that builds it, in lower case; "" for none.
	// Title is the name as its makers write it.
	Generator, Title string
	// Installed reports whether that program is on this machine. Version is its version
	// there, "0.162.0"; "" if no file says it.
	Installed bool
	Version   string
	// Usual is the command that builds the site into Docroot: "hugo". Build builds
	// it into the directory $SITELINK_OUT. Both are "" if there is no such command.
	Usual, Build string
	// Docroot is the directory that is published, a slash path relative to the
	// project. DocrootBy is the source of that: "hugo.toml"; "" if sitelink finds
	// the docroot only when it is configured.
	Docroot, DocrootBy string
	// Baseline means that the site's findings are accepted in [baseline.FileName].
	Baseline bool
	// Mentions means that other sites can notify this one: its endpoints are keys then, if
	// its address is known.
	Mentions bool
	// Committed means that the published docroot is committed.
	Committed bool
	// BaseURLs are the addresses of the site, empty if they are not known.
	BaseURLs []string
	// Profile is the host that was recognised, by the file or text ProfileBy; ""
	// for none.
	Profile, ProfileBy string
	// Below is the directory of the project, a slash path relative to the root of
	// the repository; "" for the root itself.
	Below string
	// Has reports whether the project has a file of that name.
	Has func(name string) bool
	// Packages are packages of PyPI that the site needs beside those in Python, the file
	// that lists packages, see [pythonFiles].
	Packages []string
	Python   string
	// Own is the command of the sitelink that the project's packages install, such as "npx
	// sitelink"; "" for none. Plugin means that the generator's plugin checks each build.
	Own    string
	Plugin bool
	// Branches are the default branch of the repository, or the usual names of one.
	Branches []string
	// Script is the line that runs the script of its package.json that builds it: "npm run
	// build"; "" for none.
	Script string
	// Release is the version of sitelink that files name: "v0.1.0".
	Release string
}

// File is a file to write.
type File struct {
	// Path is relative to the directory of the project; it may lead up to the
	// root of the repository by "..".
	Path string
	Text string
}

// madeBy is the first line of a file that sitelink wrote.
const madeBy = "Made by sitelink init; sitelink init --undo removes it."

// fromRoot is a path of the project as seen from the root of the repository.
func (p *Facts) fromRoot(name string) string { return path.Join(p.Below, name) }

// toRoot is the path from the project to the root of the repository.
func (p *Facts) toRoot(name string) string {
	if p.Below == "" {
		return name
	}
	return path.Join(strings.Repeat("../", strings.Count(p.Below, "/")+1), name)
}

// baselineKey is the line of the configuration that names the baseline.
const baselineKey = "baseline = \"" + baseline.FileName + "\"\n"

// ConfigName is the configuration file, in the directory of the project.
const ConfigName = "sitelink.toml"

// Config is the configuration of a project: what sitelink does not find out by
// itself as keys, everything else that a user may want to say as comments.
func (p *Facts) Config() File {
	var b strings.Builder
	b.WriteString("# " + madeBy + "\n")
	b.WriteString("# A key after a # shows a default or a suggestion.\n# sitelink help configuration prints all keys.\n\n")

	if p.Docroot == "" {
		p.key(&b, true, "docroot", quote("public"), "the directory of the built site")
	} else {
		p.key(&b, p.DocrootBy != "", "docroot", quote(p.Docroot), p.DocrootBy)
	}
	switch len(p.BaseURLs) {
	case 0:
		p.key(&b, true, "base-url", quote("https://example.org/"), "where the site is published: then its own absolute links are checked too")
	case 1:
		p.key(&b, true, "base-url", quote(p.BaseURLs[0]), p.DocrootBy)
	default:
		quoted := make([]string, len(p.BaseURLs))
		for i, u := range p.BaseURLs {
			quoted[i] = quote(u)
		}
		p.key(&b, true, "base-url", "["+strings.Join(quoted, ", ")+"]", p.DocrootBy)
	}
	if p.Profile != "" { // what files say needs no key
		p.key(&b, p.ProfileBy != "", "profile", quote(p.Profile), p.ProfileBy)
	} else {
		p.key(&b, true, "profile", quote("nginx"), "the host's rules: sitelink profile lists them")
	}

	b.WriteString("\n[check]\n")
	p.key(&b, true, "fail-on", quote("warning"), "warnings fail a check too")
	if p.Baseline {
		b.WriteString(baselineKey)
	}
	p.key(&b, true, "orphans", "true", "report files that no page links to")

	b.WriteString("\n[hook]\n")
	switch {
	case p.Build != "":
		p.key(&b, true, "build", quote(p.Build), "builds the commit that is pushed")
	case p.Committed: // it is checked as it is
	default:
		p.key(&b, true, "build", quote(`make site OUT="$SITELINK_OUT"`), "builds the commit that is pushed")
	}
	p.key(&b, true, "baseline", quote("none"), "stop a push for old findings, too")
	p.key(&b, true, "branches", `["main"]`, "check pushes to these branches")

	b.WriteString("\n# Where other sites report their links to this one; sitelink inject puts it into the templates.\n[templates]\n")
	origin, known := p.origin()
	for _, name := range []string{"webmention", "pingback"} {
		p.key(&b, !p.Mentions || !known, name, quote(origin+"/"+name), "")
	}

	b.WriteString("\n# Findings to accept; a rule that matches nothing is reported.\n")
	b.WriteString("# [[ignore]]\n# url = \"/search/**\"\n# reason = \"answered by the web server, not by a file\"\n")
	return File{ConfigName, b.String()}
}

// origin returns the first base URL without its final slash, or a made-up one.
func (p *Facts) origin() (url string, known bool) {
	if len(p.BaseURLs) == 0 {
		return "https://example.org", false
	}
	return strings.TrimSuffix(p.BaseURLs[0], "/"), true
}

// key writes a line, as a comment if the key need not be set.
func (p *Facts) key(b *strings.Builder, comment bool, name, value, why string) {
	line := name + " = " + value
	if comment {
		line = "# " + line
	}
	if why = strings.Join(strings.Fields(why), " "); why != "" {
		line = fmt.Sprintf("%-44s # %s", line, printable(why))
	}
	b.WriteString(line + "\n")
}

// quote makes a string of TOML: a literal one where that can be read.
func quote(text string) string {
	if !strings.ContainsAny(text, "'") && printable(text) == text && strings.ContainsAny(text, `"\`) {
		return "'" + text + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// printable replaces what would end a comment, or a terminal might obey.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
