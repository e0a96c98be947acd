package host

import (
	"net/http"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
)

// afterIndex says what follows from an entry with the name of an index file.
type afterIndex uint8

const (
	indexNext    afterIndex = iota // the next name is tried
	indexDecides                   // the answer is the directory's
	indexNone                      // the directory is as one without index file
)

// oddIndex answers for a directory, asked for as segments, that has an entry
// with the name of an index file which is no file.
func (q *asking) oddIndex(k docroot.Kind, name string, segments []string, query string) (Answer, afterIndex) {
	switch k {
	case docroot.KindPipe, docroot.KindSocket, docroot.KindDevice:
		if q.p.IndexSpecial == Serve {
			a := q.noFile(k, false)
			a.indexed = true
			return a, indexDecides
		}
	case docroot.KindBroken, docroot.KindThrough:
		if q.p.IndexBroken != 0 {
			return Answer{State: StateBrokenSymlink, Node: docroot.NoNode, Status: q.p.IndexBroken, Note: name + " is a symbolic link that leads nowhere"}, indexDecides
		}
	case docroot.KindLoop:
		if q.p.IndexLoop != 0 {
			return Answer{State: StateBrokenSymlink, Node: docroot.NoNode, Status: q.p.IndexLoop, Note: name + " is a symbolic link that leads in a circle"}, indexDecides
		}
	case docroot.KindDir:
		return q.indexDirectory(name, segments, query)
	}
	return Answer{}, indexNext
}

// indexDirectory is oddIndex for a directory with the name of an index file.
func (q *asking) indexDirectory(name string, segments []string, query string) (Answer, afterIndex) {
	switch q.p.IndexDirectory {
	case Missing:
		q.step("index-directory", name+" is a directory")
		return Answer{}, indexNone
	case Refuse:
		q.step("index-directory", name+" is a directory")
		return Answer{State: StateMissingIndex, Node: docroot.NoNode, Status: http.StatusForbidden, Note: name + " is a directory"}, indexDecides
	case Redirect:
		a := q.redirect("index-directory", "/"+strings.Join(append(slices.Clone(segments), name), "/")+"/", query)
		if q.p.Portable {
			a.State, a.Note = StateServerDependent, "the index file is a directory; Caddy and lighttpd refuse it"
		}
		return a, indexDecides
	}
	return Answer{}, indexNext
}
