package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"

	isite "github.com/sitelink/sitelink/internal/site"
)

// message says in one line what is wrong with a link.
func message(s *isite.Site, d *isite.Detail, f *Link) string {
	m := plainMessage(s, d, f)
	if d.Note != "" && f.Code != MissingFragment && f.Code != BadURL {
		m += " (" + d.Note + ")"
	}
	return m
}

func plainMessage(s *isite.Site, d *isite.Detail, f *Link) string {
	path, _, _ := strings.Cut(d.Target, "?")
	switch f.Code {
	case MissingFile:
		if isMarkdownPath(f.Raw) {
			return "no file answers " + path + ": a Markdown path left unresolved; fix the path, or enable the generator's link render hook"
		}
		return "no file answers " + path
	case MissingDirectory:
		return "no directory answers " + path
	case MissingIndex:
		if d.Final != "" {
			path, _, _ = strings.Cut(d.Final, "?")
		}
		return fmt.Sprintf("%s has no index file (%s)", path, strings.Join(s.IndexNames(), ", "))
	case MissingFragment:
		return fmt.Sprintf("%s has no element with id %q", s.Tree().Path(d.Node), f.Fragment)
	case MissingMap:
		if f.Fragment == "" {
			return "usemap names no map: it must be # and a map's name"
		}
		return fmt.Sprintf("the page has no map named %q", f.Fragment)
	case WrongCase:
		return fmt.Sprintf("%s differs in letter case from %s", path, s.Href(d.Node))
	case OutsideDocroot:
		switch {
		case d.State == host.StateBehindSymlink:
			return path + " goes through a symbolic link that leaves the docroot; a deploy may not carry it"
		case f.Verdict == Warning:
			return "climbs above the root, where browsers stop: " + path + " answers"
		}
		return "climbs above the root, and nothing answers " + path
	case BrokenSymlink:
		return path + " is a symbolic link that leads nowhere"
	case Unreadable:
		if f.Verdict == Warning {
			return path + " may be read by its owner only: the server will refuse it"
		}
		return path + " may not be read"
	case SpecialFile:
		return path + " is no ordinary file"
	case BadURL:
		if d.Status != 0 {
			return fmt.Sprintf("the host refuses %s: %s", path, d.Note)
		}
		return "not a URL: " + d.Note
	case EmptyLink:
		return fmt.Sprintf("empty %s: browsers load nothing and report an error", f.Attribute)
	case MappingLoop:
		return "the map rules lead round in a circle"
	case ViaRedirect:
		if target, ok := s.PageOf(d.Node); ok && d.State == host.StateAlias {
			return fmt.Sprintf("%s only sends the visitor on to %s", path, s.Page(target).Alias())
		}
		return fmt.Sprintf("%s redirects to %s", path, d.Final)
	case EndlessRedirect:
		return "the host's redirects of " + path + " never end"
	case UnresolvedRef:
		return "the generator found no page for a reference, and wrote this in its place"
	case Fallback:
		return fmt.Sprintf("no file answers %s: the host shows %s instead", path, s.Tree().Path(d.Node))
	case Autoindex:
		return path + " has no index file: the host shows a directory listing"
	case Backslash:
		return "a backslash stands for a slash in " + path
	case DoubleSlash:
		return "an empty segment in " + path
	case ServerDependent:
		return "not every server answers " + path
	case SitemapEntry, FeedEntry, NoIndexInSitemap:
		return entryMessage(s, d, f)
	case Credentials:
		return "the URL holds a user name or password"
	}
	return string(f.Code)
}

// fileFindings reports what is wrong with files and directories as such, and
// with the host's rules.
func fileFindings(s *isite.Site) []Finding {
	var out []Finding
	for _, ff := range s.Faults() {
		out = append(out, Finding{Page: ff.Path, Verdict: Warning, Code: ReadError, Count: 1, Message: "cannot be read: " + ff.Err.Error()})
	}
	out = append(out, ruleFindings(s)...)
	p := placer{s: s}
	defer p.close()
	for i := range s.Pages() {
		out = p.faults(out, isite.PageID(i))
	}
	return out
}

// placer finds out where offsets of pages are. It reads only pages that have
// faults.
type placer struct {
	s *isite.Site
	r *isite.Reader
}

func (p *placer) close() {
	if p.r != nil {
		p.r.Close()
	}
}

// place says where an offset of the page's text is; it stays open when the page
// cannot be read again.
func (p *placer) place(id isite.PageID, f *Finding, off uint32) {
	if p.r == nil {
		var err error
		if p.r, err = p.s.NewReader(); err != nil {
			return
		}
	}
	if line, col, offset, err := p.r.Position(id, off); err == nil {
		f.Line, f.Column, f.Offset = line, col, offset
	}
}

// faults appends what is wrong with a page as such.
func (pl *placer) faults(out []Finding, id isite.PageID) []Finding {
	s := pl.s
	p := s.Page(id)
	if e := p.Error(); e.Err != nil {
		f := Finding{Page: s.Path(id), Verdict: Error, Code: ReadError, Count: 1, Message: "cannot be read: " + e.Err.Error()}
		if e.TooLarge {
			f.Verdict, f.Code, f.Message = Warning, TooLarge, "not read: "+e.Err.Error()+"; see max-page-size"
		}
		if errors.Is(e.Err, isite.ErrSitemapSize) {
			f.Code, f.Message = SitemapLimit, "not read: "+e.Err.Error()
		}
		out = append(out, f)
	}
	if p.BaseDiffers() {
		out = append(out, Finding{Page: s.Path(id), Verdict: Warning, Code: BaseDiffers, Count: 1,
			Message: "a second <base href>, or a link before the first: browsers take the first for the whole page, older readers take each for what follows"})
	}
	for _, line := range p.BadLines() {
		out = append(out, Finding{Page: s.Path(id), Line: line, Column: 1, Verdict: Warning, Code: BadMapFile, Count: 1,
			Message: "not a line of an image map, neither NCSA nor CERN form"})
	}
	for _, fault := range p.Faults() {
		f := Finding{Page: s.Path(id), Verdict: Warning, Count: 1}
		f.Code, f.Message = faultText(p.Kind(), fault)
		pl.place(id, &f, fault.Off)
		out = append(out, f)
	}
	return append(out, sitemapFindings(s, id, func(f *Finding, off uint32) { pl.place(id, f, off) })...)
}

func faultText(kind isite.PageKind, f scan.Fault) (Code, string) {
	switch f.Kind {
	case scan.FaultComment:
		return UnclosedComment, "the comment never ends: browsers hide the rest of the page"
	case scan.FaultElement:
		return UnclosedElement, fmt.Sprintf("<%s> is never closed: browsers take the rest of the page for its text", f.Name)
	case scan.FaultXML:
		if !kind.HasAnchors() {
			return NotWellFormed, "not well-formed XML: " + f.Name + "; what reads it stops there"
		}
		return NotWellFormed, "not well-formed XML: " + f.Name + "; browsers show an error"
	case scan.FaultCSS:
		return NotWellFormed, "not well-formed CSS: " + f.Name + "; browsers drop the rest of the rule or sheet"
	case scan.FaultJSON:
		return NotWellFormed, "not JSON: " + f.Name + "; what reads it refuses all of it"
	}
	return UnclosedTag, "the file ends inside a tag, which browsers drop"
}

// isFileFault tells whether a finding is about a file, not about a link: a
// link has an element, or in image maps a value.
func isFileFault(f *Finding) bool { return f.Element == "" && f.Raw == "" }
