package site

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Answer is what the host gives for one request.
type Answer struct {
	State State
	// Node is the file (with [StateAutoindex] the directory) that answers,
	// NoNode if none does. For [StateWrongCase] it is the file that was meant.
	Node NodeID
	// Status is the final HTTP status, after the host's own redirects.
	Status int
	// Final is the decoded docroot path of the final request, when the host
	// redirected; empty otherwise.
	Final string
	// Note says which servers differ, for a person; may be empty.
	Note string
}

// maxRequestPath is the longest path that fits nginx's request line buffer of
// 8 KiB beside "GET", "HTTP/1.1" and line end.
const maxRequestPath = 8<<10 - len("GET  HTTP/1.1\r\n")

// maxFilePath is PATH_MAX less the final NUL.
const maxFilePath = 4095

// maxSymlinks is how many symbolic links Linux follows on one path.
const maxSymlinks = 40

// answer says what the profile's host gives for path, the percent-encoded
// path of a request below the base path; it begins with "/".
// reference/hosts.md has the measured answers behind each branch.
func (s *Site) answer(path string, query string) Answer {
	if len(path)+len(query) > maxRequestPath {
		return Answer{State: StateBadURL, Node: NoNode, Status: 414, Note: "longer than the 8 KiB that servers take"}
	}
	p, bad := decodePath(path)
	if bad != "" {
		return Answer{State: StateBadURL, Node: NoNode, Status: 400, Note: bad}
	}
	segments, slash, above := splitPath(p)
	if above {
		return Answer{State: StateOutsideDocroot, Node: NoNode, Status: 400, Note: "nginx refuses it; Caddy and lighttpd stop at the root"}
	}
	if len(s.real)+len(p) > maxFilePath {
		return Answer{State: StateMissingFile, Node: NoNode, Status: 404, Note: "longer than the 4,096 bytes that a file's path may have"}
	}
	a := s.walkPath(segments, slash)
	if a.Final != "" && len(path)+1+len(query) > maxRequestPath {
		return Answer{State: StateBadURL, Node: NoNode, Status: 414, Final: a.Final, Note: "with its final slash longer than the 8 KiB that servers take"}
	}
	if !a.State.Answers() {
		return a
	}
	switch {
	case a.State == StatePrivate:
	case strings.Contains(p, "//"):
		a.State = StateDoubleSlash
	case strings.Contains(strings.ToLower(path), "%2f"):
		a.State, a.Note = StateServerDependent, "nginx, Caddy and lighttpd take an encoded slash, Apache answers 404"
	case hasControl(p):
		a.State, a.Note = StateServerDependent, "lighttpd answers 400 to a control character"
	case len(segments) > 0 && !slash && strings.HasPrefix(segments[len(segments)-1], ".ht"):
		a.State, a.Note = StateServerDependent, "Apache answers 403 to names that begin with .ht"
	}
	return a
}

func hasControl(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] < 0x20 || p[i] == 0x7F {
			return true
		}
	}
	return false
}

// decodePath decodes percent escapes once. bad says why no server takes it.
func decodePath(path string) (p, bad string) {
	if strings.IndexByte(path, '%') < 0 {
		return path, ""
	}
	out := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' {
			if i+2 >= len(path) || unhex(path[i+1]) < 0 || unhex(path[i+2]) < 0 {
				return "", "a percent sign that begins no escape"
			}
			c = byte(unhex(path[i+1])<<4 | unhex(path[i+2]))
			i += 2
			if c == 0 {
				return "", "an encoded NUL"
			}
		}
		out = append(out, c)
	}
	return string(out), ""
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// splitPath cuts a decoded path into segments, without empty ones and dots.
// slash tells whether it names a directory; above, whether ".." leads above
// the root.
func splitPath(p string) (segments []string, slash, above bool) {
	slash = true
	for seg := range strings.SplitSeq(p, "/") {
		slash = false
		switch seg {
		case "", ".":
			slash = true
		case "..":
			if len(segments) == 0 {
				return nil, false, true
			}
			segments = segments[:len(segments)-1]
			slash = true
		default:
			segments = append(segments, seg)
		}
	}
	return segments, slash, false
}

// walkPath follows segments down the tree.
func (s *Site) walkPath(segments []string, slash bool) Answer {
	t := s.tree
	at, private, symlinks := NodeID(0), false, 0
	for i, name := range segments {
		next := t.child(t.nodes[at].real, []byte(name))
		if next == NoNode {
			return s.missing(at, segments[i:], slash)
		}
		n := &t.nodes[next]
		if n.real != next {
			if symlinks++; symlinks > maxSymlinks {
				return Answer{State: StateBrokenSymlink, Node: NoNode, Status: 403, Note: "through too many symbolic links"}
			}
		}
		switch n.kind {
		case KindOutside:
			return s.outside(next, segments[i+1:], slash)
		case KindDir:
			if i < len(segments)-1 && n.flags&flagUnreadable != 0 {
				return Answer{State: StateUnreadable, Node: NoNode, Status: 403}
			}
			private = private || n.flags&flagPrivate != 0
		case KindFile:
			if i < len(segments)-1 || slash {
				return Answer{State: StateMissingFile, Node: NoNode, Status: 404,
					Note: "a slash after a file; only lighttpd serves the file"}
			}
			return s.file(next, private)
		default:
			a := noFile(n.kind)
			if n.kind == KindSocket && (i < len(segments)-1 || slash) {
				a.Status = 404 // it is the path behind the socket that is missing
			}
			return a
		}
		at = next
	}
	if slash || len(segments) == 0 {
		return s.directory(at, private)
	}
	if t.nodes[at].flags&flagUnlistable != 0 && s.Redirects() {
		return Answer{State: StateUnreadable, Node: NoNode, Status: 403,
			Note: "nginx does not redirect from a directory that it may not list"}
	}
	a := s.directory(at, private)
	if s.Redirects() {
		if a.State == StateOK {
			a.State = StateRedirect
		}
		if a.Final == "" {
			a.Final = "/" + strings.Join(segments, "/") + "/"
		}
	}
	return a
}

// file answers for a file that is there.
func (s *Site) file(id NodeID, private bool) Answer {
	switch f := s.tree.nodes[id].flags; {
	case f&flagUnreadable != 0:
		return Answer{State: StateUnreadable, Node: id, Status: 403}
	case private || f&flagPrivate != 0:
		return Answer{State: StatePrivate, Node: id, Status: 403}
	}
	return Answer{State: StateOK, Node: id, Status: 200}
}

// noFile answers for a name that is neither file nor directory.
func noFile(k Kind) Answer {
	switch k {
	case KindLoop:
		return Answer{State: StateBrokenSymlink, Node: NoNode, Status: 403, Note: "the symbolic link leads to itself, or through too many"}
	case KindSpecial:
		return Answer{State: StateSpecialFile, Node: NoNode, Status: 404}
	case KindSocket:
		return Answer{State: StateSpecialFile, Node: NoNode, Status: 500}
	}
	return Answer{State: StateBrokenSymlink, Node: NoNode, Status: 404}
}

// directory answers the request for a directory with its slash.
func (s *Site) directory(dir NodeID, private bool) Answer {
	t := s.tree
	if t.nodes[dir].flags&flagUnreadable != 0 {
		return Answer{State: StateUnreadable, Node: NoNode, Status: 403}
	}
	real := t.nodes[dir].real
	for _, name := range s.index {
		id := t.child(real, []byte(name))
		if id == NoNode && s.foldIndex {
			id = s.foldChild(real, name)
		}
		if id == NoNode {
			continue
		}
		switch n := &t.nodes[id]; n.kind {
		case KindFile:
			return s.file(id, private)
		case KindOutside:
			if a := s.outside(id, nil, false); a.Final == "" {
				return a
			}
		case KindSpecial, KindSocket:
			return noFile(n.kind)
		case KindDir:
			if s.profile.Name == Linklint.Name {
				continue // LL-82
			}
			// nginx and Apache redirect to the directory of that name.
			a := s.directory(id, private)
			if a.State == StateOK {
				a.State, a.Note = StateServerDependent, "the index file is a directory; Caddy and lighttpd refuse it"
			}
			if a.Final == "" {
				a.Final = "/" + t.Path(id) + "/"
			}
			return a
		}
	}
	if s.autoindex == AutoindexList {
		return Answer{State: StateAutoindex, Node: dir, Status: 200}
	}
	return Answer{State: StateMissingIndex, Node: NoNode, Status: 403}
}

// missing tells apart the ways in which nothing answers: rest are the
// segments that are not in directory at, the first one for sure.
func (s *Site) missing(at NodeID, rest []string, slash bool) Answer {
	a := Answer{State: StateMissingFile, Node: NoNode, Status: 404}
	if slash {
		a.State = StateMissingDirectory
	}
	node := s.tree.nodes[at].real
	for _, name := range rest {
		if node = s.foldChild(node, name); node == NoNode {
			return a
		}
		node = s.tree.nodes[node].real
	}
	a.State, a.Node = StateWrongCase, node
	return a
}

// outside follows a symbolic link that leaves the docroot just far enough to
// say whether the file is there. It is not read.
func (s *Site) outside(link NodeID, rest []string, slash bool) Answer {
	name := filepath.Join(s.real, filepath.FromSlash(s.tree.Path(link)), filepath.Join(rest...))
	const note = "behind a symbolic link that leaves the docroot"
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() && (slash || !info.Mode().IsRegular()) {
		return Answer{State: StateMissingFile, Node: NoNode, Status: 404, Note: note}
	}
	a := Answer{State: StateBehindSymlink, Node: NoNode, Status: 200}
	if !info.IsDir() {
		return a
	}
	if !slash && s.Redirects() {
		a.Final = "/" + strings.Join(append([]string{s.tree.Path(link)}, rest...), "/") + "/"
	}
	for _, index := range s.index {
		if i, err := os.Stat(filepath.Join(name, index)); err == nil && i.Mode().IsRegular() {
			return a
		}
	}
	if s.autoindex != AutoindexList {
		a.State, a.Status, a.Note = StateMissingIndex, 403, note
	}
	return a
}

// foldChild returns the entry of a directory whose name equals name but for
// ASCII letter case: the lower-case one if there are several, else the first
// in byte order (A-LL-9).
func (s *Site) foldChild(dir NodeID, name string) NodeID {
	s.foldOnce.Do(s.buildFold)
	lower := strings.ToLower(name)
	best := NoNode
	for _, id := range s.fold[foldKey{dir, lower}] {
		got := s.tree.nameOf(&s.tree.nodes[id])
		switch {
		case string(got) == lower:
			return id
		case best == NoNode || bytes.Compare(got, s.tree.nameOf(&s.tree.nodes[best])) < 0:
			best = id
		}
	}
	return best
}

type foldKey struct {
	dir  NodeID
	name string
}

// buildFold indexes the tree by lower-case names. It is made when the first
// link misses: a clean site never pays for it.
func (s *Site) buildFold() {
	s.fold = make(map[foldKey][]NodeID, len(s.tree.nodes))
	for id := 1; id < len(s.tree.nodes); id++ {
		n := &s.tree.nodes[id]
		k := foldKey{n.parent, strings.ToLower(string(s.tree.nameOf(n)))}
		s.fold[k] = append(s.fold[k], NodeID(id))
	}
}
