package generator

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// Root is a part of a docroot that has an address of its own.
type Root struct {
	// Dir is the directory below the docroot, a slash path; "" is the docroot.
	Dir string
	// Base is its address: an absolute URL, or a path such as /sub/ where the
	// configuration names no host; "" where it says nothing.
	Base string
	// Language is the language of a root that holds only that one.
	Language string
}

// Settings are what a project's configuration says of the site that is built.
type Settings struct {
	// Docroot is where the site is written: a slash path, relative to the
	// directory of the project or absolute.
	Docroot string
	// Roots are the addresses at which the docroot is published: one, or one for
	// each language that has a host of its own (multihost).
	Roots []Root
	// Languages are those of the site, in the generator's order; empty when the
	// configuration names none.
	Languages []string
	// RefNotFound is what the generator writes in the place of a reference that it
	// cannot resolve; "" if it fails then, or writes nothing.
	RefNotFound string
	// From names who said so: a command such as "hugo config", or a file; "" if
	// nobody did and all is the default.
	From string
	// Notes are things that went wrong on the way, for a person.
	Notes []string
}

// Multihost tells whether parts of the docroot have hosts of their own.
func (s *Settings) Multihost() bool { return len(s.Roots) > 0 && s.Roots[0].Dir != "" }

// Bases returns the addresses of the roots, each once.
func (s *Settings) Bases() (bases []string) {
	for _, r := range s.Roots {
		if r.Base != "" {
			bases = append(bases, r.Base)
		}
	}
	return bases
}

// Settings reads the configuration of a project: from the generator, if run
// finds it and it can print it, else from the files. The error is that of ctx, or
// names the file and line that are wrong. args are those of a build: what they say
// counts more than what is configured.
func (p Project) Settings(ctx context.Context, run Runner, args ...string) (Settings, error) {
	r := rowOf(p.Generator)
	if r == nil {
		return Settings{}, fmt.Errorf("%s has no configuration", p.Generator)
	}
	s, err := r.settings(ctx, p, run, args)
	if err != nil {
		return Settings{}, err
	}
	if r.name != Hugo { // which says itself what its arguments make of it
		s = s.rebased(args, r.baseFlags)
	}
	if s.Docroot == "" {
		s.Docroot = p.Docroot
	}
	s.Docroot = path.Clean(s.Docroot)
	return s, nil
}

// single is the settings of a project with one address.
func single(docroot, base, from string) Settings {
	return Settings{Docroot: slashed(docroot), Roots: []Root{{Base: tidyBase(base)}}, From: from}
}

// tidyBase makes a base URL of what a configuration holds, "" of what says
// nothing: the root of an unknown host, or no URL.
func tidyBase(base string) string {
	base = strings.TrimSpace(base)
	lower := strings.ToLower(base)
	switch {
	case strings.HasPrefix(base, "//") && len(base) > 2:
		base = "https:" + base
	case strings.HasPrefix(lower, "http://"), strings.HasPrefix(lower, "https://"):
	case strings.HasPrefix(base, "/") && strings.Trim(base, "/") != "":
	default:
		return ""
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return base
}

// joinBase puts a path behind the address of a host; either may be empty.
func joinBase(host, sub string) string {
	sub = strings.Trim(sub, "/")
	if sub != "" {
		sub = "/" + sub
	}
	return strings.TrimRight(host, "/") + sub + "/"
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }
