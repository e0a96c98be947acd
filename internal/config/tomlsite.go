package config

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Site is one [[site]] table: a directory of the docroot that is published at an
// address of its own.
type Site struct {
	// Root is a clean slash path below the docroot, "" for the docroot itself.
	Root string
	// Base is an absolute http or https URL.
	Base string
}

// siteFields are the keys of a [[site]] table.
var siteFields = []string{"root", "base"}

// siteTable is a [[site]] table that is being read.
type siteTable struct {
	Site
	at *Error // nil when a message was made of it
}

// siteField takes one key of a [[site]] table.
func (f *tomlFile) siteField(keys []string, at *Error, n *unstable.Node) {
	name, s := strings.Join(keys, "."), f.site
	switch {
	case !slices.Contains(siteFields, name):
		f.failAt(at, didYouMean(name, siteFields), "unknown key %q in [[site]]", name)
	case n.Kind != unstable.String:
		f.failAt(at, "", "%s: want a string, got %s", name, describe(n))
	case name == "root":
		root := path.Clean("/" + strings.ReplaceAll(string(n.Data), `\`, "/"))
		s.Root = strings.TrimPrefix(root, "/")
		return
	default:
		u, err := url.Parse(string(n.Data))
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" {
			s.Base = string(n.Data)
			return
		}
		f.failAt(at, "write it like https://fr.example.org/", "base: want an absolute http or https URL")
	}
	s.at = nil // one message for a table is enough
}

// endSite checks and keeps the [[site]] table that ends here, if there is one.
func (f *tomlFile) endSite() {
	s := f.site
	f.site = nil
	switch {
	case s == nil || s.at == nil:
	case s.Base == "":
		f.failAt(s.at, `add base = "https://fr.example.org/"`, "site: the table needs base, the address of its root")
	case slices.ContainsFunc(f.cfg.Sites, func(other Site) bool { return other.Root == s.Root }):
		f.failAt(s.at, "", "site: the root %q has an address already", s.Root)
	default:
		f.cfg.Sites = append(f.cfg.Sites, s.Site)
	}
}

// sites lets an address of the whole docroot, given for one run, stand before
// those of its roots. inFile is the place of base-url in the file, "" for none.
func (l *loader) sites(inFile string) {
	if len(l.cfg.Sites) == 0 || l.cfg.Place("base-url") == "" {
		return
	}
	if inFile != "" {
		l.fail(&Error{Name: inFile, Msg: "base-url is the address of the whole docroot, and [[site]] gives parts of it others", Hint: `write [[site]] with root = "" for the rest of the docroot`})
	}
	l.cfg.Sites = nil
}
