// Package setup sets a project up for sitelink and undoes that: it writes a
// configuration file, files for CI servers, the git hook and the link elements in
// the templates, and records everything it wrote.
//
// [Look] surveys a project, [Init] carries out what sitelink init does. Setup never
// changes a file that it did not write, or that somebody has changed since. docs/guide/getting-started-hugo.md is the manual.
package setup

import (
	"path"
	"strings"
)

// Facts are what is known about a project when it is set up.
type Facts struct {
	// Generator names the program that builds it, in lower case; "" for none.
	// Title is the name as its makers write it.
	Generator, Title string
	// Version is the version of that program on this machine: "0.162.0"; "" if it
	// is not known.
	Version string
	// Usual is the command that builds the site into Docroot: "hugo". Build builds
	// it into the directory $SITELINK_OUT. Both are "" if there is no such command.
	Usual, Build string
	// Docroot is the directory that is published, a slash path relative to the
	// project. DocrootBy is the source of that: "hugo config"; "" if sitelink finds
	// the docroot only when it is configured.
	Docroot, DocrootBy string
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
	// Scripts are the scripts of its package.json.
	Scripts map[string]string
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
