package host

import (
	"cmp"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
)

// Crawled is what a running server answered. It takes the place of a docroot: the files have
// the names that a build would give them, and nothing is predicted.
type Crawled struct {
	// Texts has the texts of the files.
	Texts io.ReaderAt
	Files []CrawledFile
	// Answers has the answers by path and query below the base path.
	Answers map[string]CrawledAnswer
	// Cuts say which addresses were not asked for.
	Cuts []Cut
	// Vite: pages load scripts that only the development server of Vite has.
	Vite bool

	nodes []docroot.NodeID       // by file
	files map[docroot.NodeID]int // by node
}

// CrawledFile is what the server sends at one address or more.
type CrawledFile struct {
	Path    string // slash path, as in a docroot
	Address string // path and query below the base path at which the server sends it
	At      int64  // where its text begins in Texts
	Size    int64  // of that text
	HasText bool   // false for a file without links
	Type    string // media type in lower case, without parameters; "" for none
	Charset string // of the Content-Type field
	// TooLarge: it was not read to its end. Unfollowed: its links were not followed, so they
	// are not links of the site.
	TooLarge, Unfollowed bool
}

// CrawledAnswer is the answer to one request. File is an index of [Crawled.Files], if Status says
// that a file was sent. Location is where a redirect leads, in the form of [Answer.Final].
type CrawledAnswer struct {
	Status   int
	File     int
	Location string
	// Missing: the file is what the server sends for addresses that do not exist.
	Missing bool
	Note    string // why there is no answer
}

// Cut is a group of addresses that were not asked for, because there are too many.
type Cut struct {
	Pattern string // such as /calendar/#/#
	Page    string // the file of the first of them
	Asked   int
}

// load makes the host of the options.
func (v *Crawled) load(s *Host) (*Host, error) {
	s.profile = server("server", func(p *Profile) {
		p.Directory, p.PageSuffixes, p.Slashes, p.EncodedSlash = Missing, nil, Keep, Keep
	})
	s.index, s.autoindex, s.severalPages = s.profile.Index, AutoindexError, true
	s.ruleFaults = func() []redirect.Fault { return nil }
	names := make([]string, len(v.Files))
	for i := range v.Files {
		names[i] = v.Files[i].Path
	}
	s.tree, v.nodes = docroot.TreeOf(names)
	s.real, v.files = os.TempDir(), make(map[docroot.NodeID]int, len(v.nodes))
	s.indexOf = make([]docroot.NodeID, len(s.tree.Nodes))
	for i := range s.indexOf {
		s.indexOf[i] = docroot.NoNode
	}
	s.movedTo = map[docroot.NodeID]string{}
	for i, id := range v.nodes {
		v.files[id] = i
		path := "/" + s.tree.Path(id)
		if f := &v.Files[i]; f.Address != escapePath(path) || v.Answers[f.Address].Status != http.StatusOK {
			s.movedTo[id] = f.Address
			s.tree.Nodes[id].Flags |= flagAsk
			if dir := s.tree.Nodes[id].Parent; strings.HasSuffix(f.Address, "/") && s.inDirectory(f.Address, dir) {
				s.indexOf[dir] = id
			}
		}
	}
	return s, nil
}

// inDirectory reports whether links at an address resolve as in a directory of the tree.
func (h *Host) inDirectory(address string, dir docroot.NodeID) bool {
	path, _ := cutQuery(address)
	return path[:strings.LastIndexByte(path, '/')] == strings.TrimSuffix("/"+escapePath(h.tree.Path(dir)), "/")
}

// Sent returns what the server sent for a file; nil for a host that has a docroot.
func (h *Host) Sent(id docroot.NodeID) *CrawledFile {
	if h.opt.Crawled == nil {
		return nil
	}
	if i, ok := h.opt.Crawled.files[id]; ok {
		return &h.opt.Crawled.Files[i]
	}
	return &CrawledFile{}
}

// Text returns the first bytes, at most most, of the text of a file that the server sent, in buf if
// there is room.
func (h *Host) Text(f *CrawledFile, buf []byte, most int64) ([]byte, error) {
	switch {
	case f.TooLarge:
		return buf[:0], docroot.ErrTooLarge
	case !f.HasText:
		return buf[:0], docroot.ErrVanished
	}
	n := int(min(f.Size, most))
	buf = slices.Grow(buf[:0], n)[:n]
	_, err := h.opt.Crawled.Texts.ReadAt(buf, f.At)
	return buf, err
}

// Cuts returns what was not asked for, see [Crawled].
func (h *Host) Cuts() []Cut {
	if h.opt.Crawled == nil {
		return nil
	}
	return h.opt.Crawled.Cuts
}

// IsVite reports whether a path is one at which the development server of Vite sends its own
// scripts and files outside of the project. They need not be below the base path.
func IsVite(path string) bool {
	_, name, _ := strings.Cut(path, "/@")
	return strings.HasPrefix(name, "vite") || strings.HasPrefix(name, "id/") || strings.HasPrefix(name, "fs/") || name == "react-refresh"
}

// isModule reports whether an address outside of the base path is that of a module, which only
// the development server of Vite sends.
func (v *Crawled) isModule(path, query string) bool {
	return v.Vite && (strings.HasPrefix(path, "/node_modules/") || strings.HasPrefix(query, "?astro&"))
}

// crawled answers with what the server answered.
func (q *request) crawled(path, query string) Answer {
	v := q.h.opt.Crawled
	got, ok := v.Answers[path+query]
	a := Answer{State: StateNotAsked, Node: docroot.NoNode, Status: got.Status}
	switch {
	case !ok:
		q.step("server", "was not asked for this address")
	case got.Location != "":
		a.State, a.location = StateViaRedirect, got.Location
		if Form(path) == Form(got.Location) {
			a.State = StateRedirect // the server has one form for the addresses of all pages
		}
		a.Temporary = got.Status != http.StatusMovedPermanently && got.Status != http.StatusPermanentRedirect
		q.step("server", "redirects to ", q.h.onHost(got.Location))
	case got.Status/100 == 2:
		a.State, a.Node = StateOK, v.nodes[got.File]
		if got.Missing {
			a.State = StateFallback
		}
		q.step("server", "sends a page or file")
	case IsVite(path) || v.Vite && got.Status == http.StatusNotFound && strings.HasSuffix(path, "/sitemap-index.xml"): // only a build of Astro has it
		a.State = StateLivereload
	case got.Status == http.StatusNotFound || got.Status == http.StatusGone:
		a = q.notSent(path)
		a.Status = got.Status
	case got.Status == http.StatusForbidden && strings.HasSuffix(path, "/"):
		a.State = StateMissingIndex
	case got.Status == http.StatusBadRequest || got.Status == http.StatusRequestURITooLong:
		a.State, a.Note = StateBadURL, "it answers "+http.StatusText(got.Status)
	default:
		a.State, a.Note = StateUnreadable, cmp.Or(got.Note, "it answers "+http.StatusText(got.Status))
	}
	return a
}

// notSent says in which way nothing answers.
func (q *request) notSent(path string) Answer {
	segments, slash, _ := splitPath(decodeLenient(path), true)
	at := docroot.NodeID(0)
	for i, name := range segments {
		next := q.h.tree.Child(at, []byte(name))
		if next == docroot.NoNode {
			return q.missing(at, segments[i:], slash)
		}
		at = next
	}
	a := Answer{State: StateMissingFile, Node: docroot.NoNode}
	if q.h.tree.Nodes[at].Kind == docroot.KindDir {
		a.State = StateMissingIndex
	}
	return a
}

// Form returns what the forms in which a server may have the address of a page have in common:
// /a for /a, /a/, /a.html and /a/index.html.
func Form(address string) string {
	path, _ := cutQuery(address)
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	for _, end := range []string{"/index.html", "/index.htm", ".html", ".htm", "/"} {
		if stem, ok := strings.CutSuffix(path, end); ok {
			return stem
		}
	}
	return path
}
