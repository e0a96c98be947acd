package project

import (
	"bytes"
	"cmp"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Limits of what is read to learn what a build tells about itself.
const (
	samplePages  = 32
	sampleBytes  = 16 << 10
	fewestVoices = 2 // pages that have to agree
)

// said is what most pages of a docroot tell about their site. A field is its zero value if
// there is no majority.
type said struct {
	base      string // where the docroot is published, by canonical links, og:url or the sitemap
	from      string // the sitemap, "" for most pages
	form      weburl.Form
	generator generator.Name
}

// said is what the pages of the docroot say: it decides where nothing is configured, and
// contradicts what is. What a generator does by default is not configured.
func (s *survey) said() (all []Evidence) {
	v := listen(s.Abs(s.Docroot))
	file, who := "", "most pages say"
	if v.from != "" {
		file, who = filepath.Join(s.Abs(s.Docroot), v.from), v.from+" says"
	}
	rest := func(address string) string { // scheme and final slash make no contradiction
		_, after, _ := strings.Cut(address, "://")
		return strings.TrimSuffix(after, "/")
	}
	isSame := func(address string) bool { return rest(address) == rest(v.base) }
	base := Evidence{Question: AskBase, Value: v.base, File: file, Words: "the build"}
	// An address on the author's machine is only for writing, and a command can override the configuration.
	words := strings.FieldsFunc(s.Answers[AskBuild].Value, func(r rune) bool { return strings.ContainsRune(" =\"'", r) })
	isOverridden := s.found && (!slices.ContainsFunc(s.BaseURLs, isPublic) || slices.ContainsFunc(words, isSame))
	switch u, _ := url.Parse(v.base); {
	case v.base == "" || len(s.Roots) > 0 || slices.ContainsFunc(s.BaseURLs, isSame):
	case isOverridden && len(s.BaseURLs) > 0, len(s.BaseURLs) == 0 && (s.BasePath == "" || strings.Trim(s.BasePath, "/") == strings.Trim(u.Path, "/")):
		s.BaseURLs, s.Answers[AskBase].Value = []string{v.base}, ""
		s.note("published at " + v.base + ", as " + who)
		fallthrough
	default:
		all = append(all, base)
	}
	if a := &s.Answers[AskForm]; v.form != "" && string(v.form) != a.Value && a.File == "" {
		a.Value = ""
		all = append(all, Evidence{Question: AskForm, Value: string(v.form), Words: "the build"})
	}
	if s.Generator == nil || s.Generator.Generator != generator.Plain {
		all = append(all, Evidence{Question: AskGenerator, Value: string(v.generator), Words: "the build"})
	}
	return all
}

// listen reads the beginning of pages from all parts of a docroot. It follows no symbolic
// links, and what cannot be read counts as missing.
func listen(docroot string) (s said) {
	root, err := os.OpenRoot(docroot)
	if err != nil {
		return said{}
	}
	defer root.Close()
	var scanner html.Scanner
	bases, forms, makers := votes[string]{}, votes[weburl.Form]{}, votes[generator.Name]{}
	for _, name := range sample(docroot, ".", samplePages) {
		page := scanner.Scan(system.Head(root, name, sampleBytes), scan.Options{})
		if page.Alias != 0 || path.Base(name) == "404.html" {
			continue
		}
		address, shown := "", ""
		for i := range page.Links {
			switch l := &page.Links[i]; {
			case l.Kind == scan.KindCanonical:
				address = cmp.Or(address, string(l.Value))
			case l.Kind == scan.KindMetadata && bytes.Contains(page.Text[l.TagOff:l.Off], []byte("og:url")):
				shown = cmp.Or(shown, string(l.Value))
			case l.Tag == scan.TagA && !bytes.Contains(l.Value, []byte(":")):
				forms.add(formOf(string(l.Value)), false)
			}
		}
		if u, err := url.Parse(address); err == nil {
			forms.add(formOf(u.Path), false)
		}
		bases.add(baseOf(cmp.Or(address, shown), name), true)
		words := ""
		if at := bytes.Index(page.Text, []byte("generator")); at >= 0 {
			const near = 200
			if m := generatorMeta().FindSubmatch(page.Text[max(at-near, 0):min(at+near, len(page.Text))]); m != nil {
				words = string(m[1]) + string(m[2])
			}
		}
		makers.add(generator.Named(words), true)
	}
	s.form, s.generator, s.base = forms.winner(), makers.winner(), bases.winner()
	for _, name := range []string{"sitemap.xml", "sitemap-0.xml"} {
		if s.base != "" {
			break
		}
		entries := votes[string]{}
		for _, m := range host.SitemapEntry().FindAllSubmatch(system.Head(root, name, sampleBytes), samplePages) {
			entries.add(baseOfEntry(root, string(m[1])), true)
		}
		if s.base = entries.winner(); s.base != "" {
			s.from = name
		}
	}
	return s
}

var generatorMeta = text.Regexp(`(?i)<meta\s+(?:name=["']?generator["']?\s+content=["']([^"']*)|content=["']([^"']*)["']\s+name=["']?generator\b)`)

// votes counts what pages say. The zero value of T stands for those that say nothing.
type votes[T comparable] map[T]int

// add counts a vote; one that is empty counts if silence does.
func (v votes[T]) add(what T, silence bool) {
	if what != *new(T) || silence {
		v[what]++
	}
}

// winner returns what more than half say, and at least fewestVoices.
func (v votes[T]) winner() (best T) {
	all := 0
	for _, n := range v {
		all += n
	}
	for what, n := range v {
		if 2*n > all && n >= fewestVoices {
			best = what
		}
	}
	return best
}

// sample returns at most n pages of a directory below the docroot and those below it, evenly
// spread.
func sample(docroot, dir string, n int) (pages []string) {
	f, err := os.Open(filepath.Join(docroot, filepath.FromSlash(dir)))
	if err != nil {
		return nil
	}
	entries, _ := f.ReadDir(-1) // not sorted: there may be 100,000
	f.Close()
	var files, dirs []string
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir() && name != "node_modules" && name[0] != '.':
			dirs = append(dirs, name)
		case e.Type().IsRegular() && strings.HasSuffix(name, ".html"):
			files = append(files, name)
		}
	}
	slices.Sort(files)
	slices.Sort(dirs)
	own := n
	if len(dirs) > 0 {
		own = (n + 1) / 2
	}
	own = min(own, len(files))
	for i := range own {
		pages = append(pages, path.Join(dir, files[i*len(files)/own]))
	}
	below := min(len(dirs), n-own)
	for i := range below {
		pages = append(pages, sample(docroot, path.Join(dir, dirs[i*len(dirs)/below]), (n-len(pages))/(below-i))...)
	}
	return pages
}

// formOf returns the form in which a link or an address is written, "" for a file that is not
// a page, a home page, a fragment or a query.
func formOf(link string) weburl.Form {
	link, _, _ = strings.Cut(link, "#")
	link, _, _ = strings.Cut(link, "?")
	name := path.Base(link)
	if link == "" || name == "." || name == ".." || name == "index.html" || strings.Contains(name, ".") && path.Ext(name) != ".html" {
		return ""
	}
	return weburl.FormOf(link)
}

// isPublic reports whether an address is not on the author's own machine.
func isPublic(address string) bool {
	u, err := url.Parse(address)
	return err == nil && !host.IsLocal([]byte(u.Host))
}

// baseOf returns the address of the docroot by that of a page, see [weburl.BaseOf]; "" for
// an address on the author's own machine.
func baseOf(address, page string) string {
	if base := weburl.BaseOf(address, page); isPublic(base) {
		return base
	}
	return ""
}

// baseOfEntry returns the address of the docroot, given the address of one of its
// pages. The docroot has a file for the end of that address; the longest such end
// counts.
func baseOfEntry(root *os.Root, address string) string {
	const deepest = 32
	u, err := url.Parse(address)
	if err != nil || strings.Count(u.Path, "/") > deepest {
		return ""
	}
	for rest, more := strings.TrimPrefix(u.Path, "/"), true; more; _, rest, more = strings.Cut(rest, "/") {
		for _, page := range []string{rest, strings.TrimSuffix(rest, "/") + ".html", path.Join(rest, "index.html")} {
			if info, err := root.Lstat(page); fs.ValidPath(page) && err == nil && info.Mode().IsRegular() {
				return baseOf(address, page)
			}
		}
	}
	return ""
}
