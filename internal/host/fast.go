package host

import (
	"bytes"

	"github.com/sitelink/sitelink/internal/docroot"
)

// PathResolver resolves plain paths, which most links are, without a URL parser
// and without allocating strings.
type PathResolver struct {
	h *Host
	// Page is the page that holds the links, Dir its directory.
	Page, Dir docroot.NodeID
	// PlainBase says that links resolve against the page's own URL, and that
	// neither a --map rule nor the host changes a path before looking it up.
	PlainBase bool
	// Top is the directory at the top of the page's host, and topPath the base
	// path of that host. topOf is the directory that both were found for, plus
	// one.
	Top     docroot.NodeID
	topPath string
	topOf   docroot.NodeID
}

// NewPathResolver returns a resolver for use by one goroutine. Call Open before
// resolving links.
func NewPathResolver(h *Host) PathResolver { return PathResolver{h: h} }

// Open prepares the resolver for the links of a page.
func (r *PathResolver) Open(page docroot.NodeID) { r.Page, r.Dir = page, r.h.tree.Nodes[page].Parent }

// Plain reports whether plain paths below the page's own URL name files directly.
func (r *PathResolver) Plain() bool { return len(r.h.maps) == 0 && r.findTop() }

// AtOwnAddress reports whether the same is true of links that resolve against the
// page's own URL: the host does not serve the page at another address.
func (r *PathResolver) AtOwnAddress() bool {
	at := r.h.movedTo[r.Page]
	if at != "" && r.h.opt.Crawled != nil && r.h.inDirectory(at, r.Dir) {
		at = ""
	}
	return r.Plain() && r.h.profile.TrailingSlash == Keep && at == ""
}

// pathClass marks the bytes that ResolvePath accepts: those that mean
// themselves in the path of a URL and in the name of a file on every host.
var pathClass = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = 1, 1
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = 1
	}
	for _, c := range "-._~!$&'()*+,;=@" {
		t[c] = 1
	}
	t['/'], t['?'], t['#'], t[':'] = 2, 3, 4, 5
	return t
}()

// fragClass marks the bytes that URL parsing leaves unchanged in a fragment.
var fragClass = func() (t [256]uint8) {
	for c := 0x21; c < 0x7F; c++ {
		t[c] = 1
	}
	for _, c := range "\"<>`" {
		t[c] = 0
	}
	return t
}()

// MaxPlain is the longest value that ResolvePath accepts. Together with the
// longest directory it stays below every server's limit for a request.
const MaxPlain = 2048

// ResolvePath resolves a plain relative or root-relative path without
// allocating. ok is false if [Host.Resolve] has to decide. On rust-doc
// ResolvePath handles 99 of 100 links.
func (r *PathResolver) ResolvePath(v []byte) (state State, node docroot.NodeID, frag []byte, ok bool) {
	i, n := 0, len(v)
	segment := 0 // start of the current segment
	at := r.Dir
	switch {
	case n > MaxPlain || !r.PlainBase:
		return 0, 0, nil, false
	case n == 0:
		return StateOK, r.Page, nil, r.h.tree.Nodes[r.Page].Flags&flagAsk == 0
	}
	switch v[0] {
	case '#':
		frag, ok = PlainFragment(v[1:])
		return StateOK, r.Page, frag, ok && r.h.tree.Nodes[r.Page].Flags&flagAsk == 0
	case '/':
		if n > 1 && v[1] == '/' {
			return r.authority(v, 2)
		}
		if r.topPath != "" {
			return 0, 0, nil, false
		}
		at, i, segment = r.Top, 1, 1
	case '?':
		return 0, 0, nil, false
	}
	for ; ; i++ {
		class := uint8(3)
		if i < n {
			class = pathClass[v[i]]
		}
		switch class {
		case 1:
			continue
		case 2: // the segment ends and a directory follows
			if at, ok = r.enter(at, v[segment:i]); !ok {
				return 0, 0, nil, false
			}
			segment = i + 1
			continue
		case 5:
			if segment == 0 {
				return r.scheme(v, i)
			}
			return 0, 0, nil, false
		case 3, 4:
		default:
			return 0, 0, nil, false
		}
		// The path ends.
		name := v[segment:i]
		switch {
		case len(name) == 0 && segment > 0:
			state, node, ok = r.fastDirectory(at)
		case len(name) == 1 && name[0] == '.', len(name) == 2 && name[0] == '.' && name[1] == '.',
			len(name) >= 3 && name[0] == '.' && name[1] == 'h' && name[2] == 't': // the answer may be StateServerDependent
			return 0, 0, nil, false
		default:
			state, node, ok = r.fastName(at, name)
		}
		if !ok {
			return 0, 0, nil, false
		}
		if i < n && v[i] == '?' && r.h.opt.Crawled != nil {
			return 0, 0, nil, false
		}
		if i < n && v[i] == '?' {
			k := bytes.IndexByte(v[i:], '#')
			if k < 0 {
				k = n - i
			}
			for _, c := range v[i : i+k] {
				if c <= 0x20 || c >= 0x7F || c == '%' {
					return 0, 0, nil, false
				}
			}
			i += k
		}
		if i < n {
			frag, ok = PlainFragment(v[i+1:])
		}
		return state, node, frag, ok
	}
}

// enter descends into a directory; ok is false if Host.Resolve has to decide.
func (r *PathResolver) enter(at docroot.NodeID, name []byte) (docroot.NodeID, bool) {
	t := r.h.tree
	if len(name) > 0 && name[0] == '.' {
		switch {
		case len(name) == 1:
			return at, true
		case len(name) == 2 && name[1] == '.' && at == r.Top:
			return 0, false
		case len(name) == 2 && name[1] == '.':
			at = t.Nodes[at].Parent
			return at, at != docroot.NoNode
		}
	}
	next := t.Child(at, name)
	if next == docroot.NoNode {
		return 0, false
	}
	n := &t.Nodes[next]
	// Symbolic links are left to Host.Resolve: a ".." after one means the
	// parent of the link.
	return next, n.Kind == docroot.KindDir && n.Real == next && n.Flags&(docroot.Unreadable|docroot.Private|flagShut) == 0
}

// fastName resolves the last segment of a path.
func (r *PathResolver) fastName(dir docroot.NodeID, name []byte) (State, docroot.NodeID, bool) {
	s := r.h
	id := s.tree.Child(dir, name)
	if s.profile.IndexName != Missing && string(name) == "index" {
		return 0, 0, false
	}
	if s.profile.Page != Missing && (id == docroot.NoNode || s.tree.Nodes[id].Kind == docroot.KindDir) {
		return r.fastPage(dir, name, id)
	}
	if id == docroot.NoNode {
		return 0, 0, false
	}
	switch n := &s.tree.Nodes[id]; n.Kind {
	case docroot.KindFile:
		state := StateOK
		if n.Flags&flagMoved != 0 {
			state = StateRedirect
		}
		return state, id, n.Flags&(docroot.Unreadable|docroot.Private|flagAsk) == 0
	case docroot.KindDir:
		return r.fastBare(id)
	}
	return 0, 0, false
}

// fastBare resolves a directory requested without its slash.
func (r *PathResolver) fastBare(dir docroot.NodeID) (State, docroot.NodeID, bool) {
	if r.h.tree.Nodes[dir].Flags&(docroot.Unreadable|docroot.Private|docroot.Unlistable|flagAsk) != 0 || r.h.local != nil {
		return 0, 0, false
	}
	state, node, ok := r.fastDirectory(dir)
	switch r.h.profile.Directory {
	case Redirect, RedirectIndex:
		state = StateRedirect
	case Serve:
	default:
		return 0, 0, false
	}
	return state, node, ok
}

// fastPage looks for page.html when /page is requested and is not a file. id is
// the entry called /page. If two suffixes match, Host.Resolve decides.
func (r *PathResolver) fastPage(dir docroot.NodeID, name []byte, id docroot.NodeID) (State, docroot.NodeID, bool) {
	var buf [264]byte
	p := &r.h.profile
	if len(name) > docroot.MaxName || p.Page != Serve {
		return 0, 0, false
	}
	t, page := r.h.tree, docroot.NoNode
	for _, suffix := range p.PageSuffixes {
		found := t.Child(dir, append(append(buf[:0], name...), suffix...))
		switch {
		case found == docroot.NoNode:
		case page != docroot.NoNode:
			return 0, 0, false
		default:
			page = found
		}
	}
	switch {
	case page == docroot.NoNode && id == docroot.NoNode, page != docroot.NoNode && id != docroot.NoNode:
		return 0, 0, false
	case page == docroot.NoNode:
		return r.fastBare(id)
	}
	n := &t.Nodes[page]
	return StateOK, page, n.Kind == docroot.KindFile && n.Flags&(docroot.Unreadable|docroot.Private|flagAsk) == 0
}

// fastDirectory resolves a directory by its precomputed index file.
func (r *PathResolver) fastDirectory(dir docroot.NodeID) (State, docroot.NodeID, bool) {
	id := r.h.indexOf[dir]
	return StateOK, id, id != docroot.NoNode && r.h.tree.Nodes[dir].Flags&flagAsk == 0 && (dir == 0 || r.h.profile.DirectorySlash == Serve)
}

// PlainFragment returns f if URL parsing leaves it unchanged.
func PlainFragment(f []byte) ([]byte, bool) {
	for _, c := range f {
		if fragClass[c] == 0 {
			return nil, false
		}
	}
	return f, true
}

// scheme classifies an absolute URL. Its scheme ends at v[i].
func (r *PathResolver) scheme(v []byte, i int) (State, docroot.NodeID, []byte, bool) {
	switch state := schemeState(v[:i]); state {
	case StateExternal:
		if !bytes.HasPrefix(v[i+1:], []byte("//")) {
			return 0, 0, nil, false
		}
		return r.authority(v, i+3)
	default:
		if state == StateOtherScheme || len(v) == i+1 || v[i+1] == '/' || v[i+1] == '\\' || v[i+1] == '?' || v[i+1] == '#' || v[i+1] <= ' ' {
			return 0, 0, nil, false // it may have a host, possibly an invalid one, or nothing; the parser drops white space inside
		}
		return state, docroot.NoNode, nil, true
	}
}

// schemeState classifies a URL by its scheme, in any letter case.
func schemeState(scheme []byte) State {
	var buf [10]byte
	if len(scheme) > len(buf) {
		return StateOtherScheme
	}
	for i, c := range scheme {
		buf[i] = c | 0x20
	}
	switch string(buf[:len(scheme)]) {
	case "http", "https":
		return StateExternal
	case "mailto":
		return StateMailto
	case "tel":
		return StateTel
	case "data":
		return StateData
	case "javascript":
		return StateJavaScript
	}
	return StateOtherScheme
}

// authority classifies an http URL with a host that begins at v[i]. The URL is
// external if the host is an ordinary name of several words, does not begin with
// the site's own host, and does not end like a file; see wrongHost.
func (r *PathResolver) authority(v []byte, i int) (State, docroot.NodeID, []byte, bool) {
	from := i
	label := i
	for ; i < len(v) && v[i] != '/' && v[i] != '?' && v[i] != '#'; i++ {
		switch c := v[i]; {
		case c == '.':
			label = i + 1
		case c == '-', '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		default:
			return 0, 0, nil, false
		}
	}
	host := v[from:i]
	// A last label of digits, or an empty one, makes the host an IP address or
	// an error.
	if label == i || label == from || v[label]|0x20 < 'a' || from == 2 && isFileOrWord(host) || bytes.Contains(host, []byte("--")) {
		return 0, 0, nil, false
	}
	for j := range r.h.bases {
		if own := r.h.bases[j].host; len(own) <= len(host) && bytes.EqualFold(host[:len(own)], []byte(own)) {
			return 0, 0, nil, false
		}
	}
	if bytes.IndexByte(v, 0) >= 0 {
		return 0, 0, nil, false
	}
	return StateExternal, docroot.NoNode, nil, true
}

// findTop finds where the host of the page's directory begins. ok is false if
// Host.Resolve has to decide: two addresses share a host, or the root is
// reached through a symbolic link.
func (r *PathResolver) findTop() (ok bool) {
	s := r.h
	if s.sharedHosts {
		return false
	}
	if r.topOf != r.Dir+1 {
		b := s.baseOf("/" + s.tree.Path(r.Dir))
		r.topOf, r.topPath, r.Top = r.Dir+1, b.path, 0
		if b.root != "" {
			r.Top = s.tree.At(b.root[1:])
		}
	}
	return r.Top != docroot.NoNode && s.tree.Nodes[r.Top].Kind == docroot.KindDir && s.tree.Nodes[r.Top].Real == r.Top
}

// IsPlainPath reports whether a path holds only bytes that mean themselves.
func IsPlainPath(path []byte) bool {
	for _, c := range path {
		if class := pathClass[c]; class != 1 && class != 2 {
			return false
		}
	}
	return true
}
