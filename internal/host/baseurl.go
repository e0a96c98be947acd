package host

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Root is a directory of the docroot that has an address of its own. Hugo makes
// such directories for languages with separate hosts.
type Root struct {
	// Dir is a slash path relative to the docroot; "" is the docroot itself.
	Dir string
	// Base is the absolute http or https address of the directory.
	Base string
}

// addresses are those at which a docroot is published.
type addresses struct {
	roots       []Root
	base        string // the first base URL, as given
	bases       []baseURL
	sharedHosts bool // two roots share a host
	// servers are the addresses at which hugo server serves the docroot.
	servers   []baseURL
	serverURL string
	// repository is the address of the repository that the docroot has the files of, see
	// [Forge].
	repository baseURL
}

// baseURL is one published address of the docroot, or of a root in it.
type baseURL struct {
	scheme string
	host   string // with the port, unless it is the default one
	path   string // without final slash; "" at the top of the host
	root   string // the directory of the docroot: "" or "/dir"
}

// setBases parses the addresses in the options.
func (h *addresses) setBases(opt *Options) error {
	h.roots = opt.Roots
	for _, raw := range opt.BaseURLs {
		h.base = cmp.Or(h.base, raw)
		b, err := parseBase(raw)
		if err != nil {
			return err
		}
		h.bases = append(h.bases, b)
	}
	nowhere := baseURL{scheme: "http", host: strings.TrimPrefix(Unpublished, "http://")}
	if len(opt.Roots) > 0 {
		// With several hosts, pages are identified by their path in the
		// docroot, in addition to each root's own address.
		h.base, h.bases = "", []baseURL{nowhere}
	}
	for _, r := range opt.Roots {
		b, err := parseBase(r.Base)
		if err != nil {
			return err
		}
		if dir := strings.Trim(r.Dir, "/"); dir != "" && dir != "." {
			b.root = "/" + dir
		}
		h.sharedHosts = h.sharedHosts || slices.ContainsFunc(h.bases, func(other baseURL) bool { return other.host == b.host })
		h.bases = append(h.bases, b)
	}
	if len(h.bases) == 0 {
		nowhere.path = strings.TrimRight(opt.BasePath, "/")
		h.bases = []baseURL{nowhere}
	}
	return nil
}

func parseBase(raw string) (baseURL, error) {
	u, err := weburl.Parse(raw)
	if err == nil && u.Scheme() != "http" && u.Scheme() != "https" {
		err = errors.New("neither http nor https")
	}
	if err != nil {
		return baseURL{}, fmt.Errorf("base URL %q: %w", raw, err)
	}
	host := u.Host()
	if p := u.Port(); p != "" {
		host += ":" + p
	}
	path := u.Path()
	if !strings.HasSuffix(path, "/") && strings.Contains(path[strings.LastIndexByte(path, '/'):], ".") {
		path = path[:strings.LastIndexByte(path, '/')] // the address of a file, such as /sub/index.html
	}
	return baseURL{scheme: u.Scheme(), host: host, path: strings.TrimRight(path, "/")}, nil
}

// Rooted reports whether parts of the docroot have addresses of their own. If
// so, site paths, in [Resolved] and elsewhere, are paths in the docroot,
// whichever host they belong to; [Host.Public] returns their addresses.
func (h *addresses) Rooted() bool { return len(h.roots) > 0 }

// Roots returns the parts of the docroot that have addresses of their own.
func (h *addresses) Roots() []Root { return slices.Clone(h.roots) }

// Public returns the origin, such as https://fr.example, and the path at which
// a site path is published. origin is empty if the address is not known.
func (h *addresses) Public(path string) (origin, onHost string) {
	b := h.baseOf(path)
	if !h.Rooted() {
		onHost = path
	} else if onHost = b.path + path[len(b.root):]; onHost == "" {
		onHost = "/"
	}
	if b.unknown() {
		return "", onHost
	}
	return b.origin(), onHost
}

// baseOf returns the address of the deepest root that contains a path in the
// docroot.
func (h *addresses) baseOf(path string) *baseURL {
	best := &h.bases[0]
	if !h.Rooted() {
		return best
	}
	for i := range h.bases[1:] {
		b := &h.bases[i+1]
		rest, ok := strings.CutPrefix(path, b.root)
		if ok && (rest == "" || rest[0] == '/') && (best.unknown() || len(b.root) > len(best.root)) {
			best = b
		}
	}
	return best
}

// above returns the directory of the docroot that is at the top of the host: "/fr" for
// fr at https://fr.example/, "" for de at https://example.org/de/. ok is false if none is.
func (b *baseURL) above() (dir string, ok bool) { return strings.CutSuffix(b.root, b.path) }

func (b *baseURL) origin() string { return b.scheme + "://" + b.host }

func (b *baseURL) unknown() bool { return b.host == strings.TrimPrefix(Unpublished, "http://") }

// Published reports whether an address of the docroot is known. If not,
// absolute links to the site look like links to other sites.
func (h *addresses) Published() bool {
	for i := range h.bases {
		if !h.bases[i].unknown() {
			return true
		}
	}
	return false
}

// BasePath returns the path of the first base URL, without final slash: ""
// for a site at the root of its host.
func (h *addresses) BasePath() string { return h.bases[0].path } // always "" for a rooted site

// onHost returns a path below the base path as a path of the host, and a path in a root
// as its address. A whole URL stays.
func (h *addresses) onHost(to string) string {
	if !strings.HasPrefix(to, "/") {
		return to
	}
	if !h.Rooted() {
		return h.BasePath() + to
	}
	origin, path := h.Public(to)
	return origin + path
}

// below returns what follows the path of b in a path of its host; ok is false if the
// path is not below b. Escapes do not matter: /caf%c3%a9/menu and /café/menu are both
// below /caf%C3%A9.
func (b *baseURL) below(path string) (rest string, ok bool) {
	end := 0
	for range strings.Count(b.path, "/") {
		end++
		if end > len(path) {
			return "", false
		}
		if n := strings.IndexByte(path[end:], '/'); n >= 0 {
			end += n
		} else {
			end = len(path)
		}
	}
	rest = path[end:]
	return rest, decodeLenient(path[:end]) == decodeLenient(b.path) && (rest == "" || rest[0] == '/')
}

// belowBase is below for the base path of the site. The rest begins with a slash.
func (h *addresses) belowBase(path string) (rest string, ok bool) {
	rest, ok = h.bases[0].below(path)
	return cmp.Or(rest, "/"), ok
}

// Href returns the percent-encoded site path at which the host serves a node.
// Directories end in a slash, an index file has the address of its directory,
// and a page has no extension if the host redirects to such an address.
func (h *Host) Href(id docroot.NodeID) string {
	if at := h.movedTo[id]; at != "" {
		return h.bases[0].path + at
	}
	n := &h.tree.Nodes[id]
	if n.Kind == docroot.KindFile && h.indexOf[n.Parent] == id && h.profile.Forge == nil {
		id = n.Parent
		n = &h.tree.Nodes[id]
	}
	path := h.tree.Path(id)
	if n.Flags&flagMoved != 0 {
		path = strings.TrimSuffix(path, ".html")
	}
	p := h.bases[0].path + "/" + escapePath(path)
	if n.Kind == docroot.KindDir && !strings.HasSuffix(p, "/") {
		p += "/"
	}
	return p
}

// Link returns the percent-encoded site path that the author of the site would use to link
// to a node. It has the form of [Options.Form] if the host answers that with the same file
// and without a redirect. Otherwise it is the path of [Host.Href].
func (h *Host) Link(id docroot.NodeID) string {
	href := h.Href(id)
	path := strings.TrimPrefix(href, h.bases[0].path)
	stem, file := strings.CutSuffix(path, ".html")
	stem, slash := strings.CutSuffix(stem, "/")
	if !file && !slash || stem == "" || h.opt.Form == "" || h.opt.Form == weburl.FileForm {
		return href
	}
	if h.opt.Form == weburl.SlashForm {
		stem += "/"
	}
	if a := h.AnswerRequest(stem, ""); a.State == StateOK && a.Final == "" && a.Node == h.AnswerRequest(path, "").Node {
		return h.bases[0].path + stem
	}
	return href
}

// PageAddress returns the URL of a page under the first base URL, against which
// a browser resolves the page's links.
func (h *Host) PageAddress(id docroot.NodeID) string {
	path := ""
	if h.tree.Nodes[id].Flags&flagMoved != 0 || h.movedTo[id] != "" {
		path = h.Href(id)
	} else {
		u := url.URL{Path: "/" + h.tree.Path(id)}
		path = h.BasePath() + u.EscapedPath()
	}
	_, onHost := h.Public(path)
	return h.baseOf(path).origin() + onHost
}

// Lookup returns the node at a decoded docroot path; "" is the docroot.
func (h *Host) Lookup(path string) (docroot.NodeID, bool) { return h.LookupIn(0, path) }

// LookupIn is Lookup for a path below the directory at.
func (h *Host) LookupIn(at docroot.NodeID, path string) (docroot.NodeID, bool) {
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if name == "" {
			continue
		}
		if at = h.tree.Child(h.tree.Nodes[at].Real, []byte(name)); at == docroot.NoNode {
			return 0, false
		}
	}
	return at, true
}

// Request resolves link as if it were on a page at the top of the docroot.
// Users can name a target in any form in which they would link to it: a site
// path, a path in the docroot, or a URL. The error says why link is not one of
// these.
func (h *Host) Request(link string) (Resolved, error) {
	base, err := weburl.Parse(h.bases[0].origin() + h.bases[0].path + "/")
	if err != nil {
		return Resolved{}, fmt.Errorf("base URL: %w", err)
	}
	u, err := base.Resolve(link)
	if err != nil {
		return Resolved{}, fmt.Errorf("%q is not a URL: %w", link, err)
	}
	res := h.Resolve(u, nil)
	res.Fragment = u.Fragment()
	return res, nil
}

// BaseURL returns the first address at which the docroot is published, as it
// was given; "" when there is none.
func (h *addresses) BaseURL() string { return h.base }

// Addresses returns the addresses at which the docroot or its roots are
// published, without a final slash.
func (h *addresses) Addresses() (list []string) {
	for i := range h.bases {
		if b := &h.bases[i]; !b.unknown() {
			list = append(list, b.origin()+b.path)
		}
	}
	return list
}

// Authority returns the host of the first base URL, with its port unless that
// is the default of the scheme; "" if there is no base URL.
func (h *addresses) Authority() string {
	if h.bases[0].unknown() {
		return ""
	}
	return h.bases[0].host
}

// RulePaths returns the paths that redirect rules name in full, without
// patterns, in the order of the rules. The host answers these paths in addition
// to the files.
func (h *Host) RulePaths() []string {
	if h.rules == nil {
		return nil
	}
	var paths []string
	for _, r := range h.rules.Rules() {
		if path, own := h.belowBase(r.Path()); own && r.Path() != "" && !strings.ContainsAny(r.Pattern, `*:(){}[]|^$\?+`) {
			paths = append(paths, string(weburl.PercentDecode(nil, path)))
		}
	}
	return paths
}
