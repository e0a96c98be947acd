// Package setup writes what a project needs to use sitelink, and takes it out
// again: a configuration file, files for the servers that build the site, and a
// record of all that was written. What is known of the project enters; files of
// the project, and the record in them, leave.
//
// A file that setup did not write is never changed, nor one that somebody has
// changed since. docs/guide/getting-started-hugo.md is the manual.
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
	// Version is the version of that program on this machine: "0.162.0"; "" when
	// it is not known.
	Version string
	// Usual builds the site where Docroot says: "hugo". Build is the same into
	// the directory that $SITELINK_OUT names. "" when there is no such command.
	Usual, Build string
	// Docroot is the directory that is published, a slash path relative to the
	// project. DocrootBy names who says so: "hugo config"; "" when it must be
	// configured to be found.
	Docroot, DocrootBy string
	// Committed: the docroot is committed as it is published.
	Committed bool
	// BaseURLs are the addresses of the site, as far as somebody says.
	BaseURLs []string
	// Profile is the host that was recognised, by the file or text ProfileBy; ""
	// for none.
	Profile, ProfileBy string
	// Below is the directory of the project, a slash path relative to the root of
	// the repository; "" for the root itself.
	Below string
	// Has tells whether the project has a file of that name.
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

// madeBy begins a file that is ours.
const madeBy = "Made by sitelink init; sitelink init --undo takes it away."

// fromRoot is a path of the project as seen from the root of the repository.
func (p *Facts) fromRoot(name string) string { return path.Join(p.Below, name) }

// toRoot is the path from the project to the root of the repository.
func (p *Facts) toRoot(name string) string {
	if p.Below == "" {
		return name
	}
	return path.Join(strings.Repeat("../", strings.Count(p.Below, "/")+1), name)
}
