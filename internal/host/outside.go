package host

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/sitelink/sitelink/internal/docroot"
)

// outside follows the symbolic link at segments, which leaves the docroot, only
// to find out whether the file exists. It never reads the file.
func (q *request) outside(link docroot.NodeID, segments, rest []string, slash bool, query string) Answer {
	const note = "the path goes through a symbolic link that leaves the docroot"
	name := q.onDisk(link)
	info, err := os.Stat(name)
	behind := slash
	for i, segment := range rest {
		if err != nil {
			break
		}
		if !info.IsDir() {
			behind = true
			break
		}
		name = filepath.Join(name, segment)
		info, err = os.Stat(name)
		through := err == nil && info.IsDir() && (slash || i < len(rest)-1)
		if a, denied := q.denied(segment, through); denied {
			return a
		}
	}
	switch {
	case err != nil:
		return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: q.statusOf(name, err), Note: note}
	case info.IsDir():
		return q.outsideDirectory(name, append(slices.Clone(segments), rest...), slash, query, note)
	case !info.Mode().IsRegular():
		a := q.noFile(docroot.KindOfMode(info.Mode()), behind)
		if a.State == StateSpecialFile {
			a.State, a.Note = StateMissingFile, note
		}
		return a
	case behind && q.p.FileSlash != Serve:
		return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: note}
	}
	return Answer{State: StateBehindSymlink, Node: docroot.NoNode, Status: http.StatusOK, byIndex: true}
}

// outsideDirectory answers for a directory outside the docroot.
func (q *request) outsideDirectory(name string, segments []string, slash bool, query, note string) Answer {
	s := q.h
	list := s.autoindex == AutoindexList
	a := Answer{State: StateMissingIndex, Node: docroot.NoNode, Status: q.p.EmptyDirectory, Note: note}
	if list {
		a = Answer{State: StateBehindSymlink, Node: docroot.NoNode, Status: http.StatusOK}
	}
	for _, index := range s.index {
		then := indexNext
		switch kind := q.outsideKind(filepath.Join(name, index)); kind {
		case docroot.KindFile:
			a, then = Answer{State: StateBehindSymlink, Node: docroot.NoNode, Status: http.StatusOK, byIndex: true}, indexDecides
		case docroot.KindOutside: // no such name
		default:
			var odd Answer
			if odd, then = q.specialIndex(kind, index, segments, query); then == indexDecides {
				a = odd
				a.Note = note
			}
		}
		if then != indexNext {
			break
		}
	}
	if !slash && (q.p.Directory == Redirect || q.p.Directory == RedirectIndex && (a.byIndex || list)) {
		a = q.redirect("directory", q.redirectPath(segments), query)
	}
	if a.location != "" {
		a.State, a.Note = StateBehindSymlink, note
	}
	return a
}

// onDisk returns the name of a node for the operating system.
func (q *request) onDisk(id docroot.NodeID) string {
	return filepath.Join(q.h.real, filepath.FromSlash(q.h.tree.Path(id)))
}

// outsideKind returns the kind of a name outside the docroot; KindOutside if it
// does not exist.
func (q *request) outsideKind(name string) docroot.Kind {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return docroot.KindDir
	case err == nil && info.Mode().IsRegular():
		return docroot.KindFile
	case err == nil:
		return docroot.KindOfMode(info.Mode())
	case errors.Is(err, syscall.ELOOP):
		return docroot.KindLoop
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return docroot.KindBroken
	}
	return docroot.KindOutside
}

// statusOf returns the status for a name outside the docroot that cannot be
// accessed.
func (q *request) statusOf(name string, err error) int {
	switch {
	case errors.Is(err, syscall.ELOOP):
		return q.p.SymlinkLoop
	case errors.Is(err, syscall.ENAMETOOLONG):
		return q.p.LongName
	case !errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	}
	if info, err := os.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return q.p.BrokenSymlink
	}
	return http.StatusNotFound
}

// behindFile reports whether a path leads through a file.
func (q *request) behindFile(segments []string) bool {
	t := q.h.tree
	at := docroot.NodeID(0)
	for i, segment := range segments {
		if i == len(segments)-1 || strings.IndexByte(segment, 0) >= 0 {
			return false
		}
		next := t.Child(t.Nodes[at].Real, []byte(segment))
		if next == docroot.NoNode {
			return false
		}
		switch t.Nodes[next].Kind {
		case docroot.KindFile, docroot.KindPipe, docroot.KindSocket, docroot.KindDevice:
			return t.Nodes[next].Flags&docroot.Closed == 0
		case docroot.KindDir:
			if t.Nodes[next].Flags&docroot.Unreadable != 0 {
				return false
			}
			at = next
		case docroot.KindOutside:
			name := q.onDisk(next)
			for _, segment := range segments[i+1:] {
				info, err := os.Stat(name)
				if err != nil || !info.IsDir() {
					return err == nil
				}
				name = filepath.Join(name, segment)
			}
			return false
		default:
			return false
		}
	}
	return false
}
