package host

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/sitelink/sitelink/internal/docroot"
)

// outside follows the symbolic link at segments, which leaves the docroot, only
// to find out whether the file exists. It never reads the file.
func (q *request) outside(link docroot.NodeID, segments, rest []string, slash bool, query string) Answer {
	const note = "the path goes through a symbolic link that leaves the docroot"
	name := onDisk(q.h, link)
	info, err := os.Stat(name)
	behind := slash
	for _, segment := range rest {
		if err != nil {
			break
		}
		if !info.IsDir() {
			behind = true
			break
		}
		name = filepath.Join(name, segment)
		info, err = os.Stat(name)
		if a, denied := q.denied(segment); denied {
			return a
		}
	}
	switch {
	case err == nil && info.IsDir():
		return q.outsideDirectory(name, append(slices.Clone(segments), rest...), slash, query, note)
	case err != nil, !info.Mode().IsRegular(), behind && q.p.FileSlash != Serve:
		return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: note}
	}
	return Answer{State: StateBehindSymlink, Node: docroot.NoNode, Status: http.StatusOK, byIndex: true}
}

// outsideDirectory answers for a directory outside the docroot.
func (q *request) outsideDirectory(name string, segments []string, slash bool, query, note string) Answer {
	list := q.h.autoindex == AutoindexList
	a := Answer{State: StateMissingIndex, Node: docroot.NoNode, Status: q.p.EmptyDirectory, Note: note}
	for _, index := range q.h.index {
		if info, err := os.Stat(filepath.Join(name, index)); err == nil && info.Mode().IsRegular() {
			a.byIndex = true
		}
	}
	if a.byIndex || list {
		a = Answer{State: StateBehindSymlink, Node: docroot.NoNode, Status: http.StatusOK, byIndex: a.byIndex}
	}
	if !slash && (q.p.Directory == Redirect || q.p.Directory == RedirectIndex && a.State == StateBehindSymlink) {
		a = q.redirect("directory", redirectPath(segments), query)
		a.State, a.Note = StateBehindSymlink, note
	}
	return a
}

// onDisk returns the name of a node for the operating system.
func onDisk(h *Host, id docroot.NodeID) string {
	return filepath.Join(h.real, filepath.FromSlash(h.tree.Path(id)))
}
