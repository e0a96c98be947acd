package host

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Redirects that web hosts make before they look for a file. These hosts store
// a list of names instead of directories, so the rules depend on the text of a
// path only.

// rewritten answers for a path that is redirected because of its text; ok is
// false if the path is looked up unchanged.
func (q *request) rewritten(segments []string, slash bool, query string) (a Answer, ok bool) {
	if len(segments) == 0 {
		return Answer{}, false
	}
	last := segments[len(segments)-1]
	dir := segments[:len(segments)-1]
	if !slash && len(dir) == 0 && q.p.ErrorPage != "" && (last == q.p.ErrorPage || q.p.Page == Serve && last+".html" == q.p.ErrorPage) && q.isFile(0, q.p.ErrorPage) {
		q.step("error-page", "the host sends its page for missing files with status 404")
		return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound, Note: "the host always sends its page for missing files with status 404", byErrorPage: true}, true
	}
	if stem, cut := strings.CutSuffix(last, ".html"); cut && stem != "" && !slash && q.p.PageFile == RedirectAlways {
		if q.p.IndexFile == RedirectBare && slices.Contains(q.h.index, last) {
			return q.redirect("index-file", "/"+strings.Join(dir, "/"), query), true
		}
		return q.redirect("page-file", "/"+strings.Join(append(slices.Clone(dir), stem), "/"), query), true
	}
	if last == "index" && q.p.IndexName != Missing {
		if a, ok := q.indexName(segments, slash, query); ok {
			return a, true
		}
	}
	switch {
	case q.p.TrailingSlash == Remove && slash:
		return q.redirect("trailing-slash", "/"+strings.Join(segments, "/"), query), true
	case q.p.TrailingSlash == Add && !slash && !strings.Contains(last, "."):
		return q.redirect("trailing-slash", redirectPath(segments), query), true
	}
	return Answer{}, false
}

// indexName answers for /dir/index, and for /dir/index/ if that is not a
// directory with an index file.
func (q *request) indexName(segments []string, slash bool, query string) (a Answer, ok bool) {
	if slash && q.p.IndexName != Redirect {
		return Answer{}, false
	}
	t := q.h.tree
	if id := q.lookup(segments); id != docroot.NoNode && q.p.IndexName != RedirectAlways {
		real := t.Nodes[id].Real
		indexed := t.Nodes[real].Kind == docroot.KindDir && q.h.indexOf[real] != docroot.NoNode
		if t.Nodes[real].Kind == docroot.KindFile || indexed && (slash || q.p.IndexName == RedirectBare) {
			return Answer{}, false
		}
	}
	path := "/" + strings.Join(segments[:len(segments)-1], "/")
	if q.p.IndexName == Redirect && len(segments) > 1 {
		path += "/"
	}
	return q.redirect("index-name", path, query), true
}

// lookup returns the entry that the host finds for a path, or NoNode.
func (q *request) lookup(segments []string) docroot.NodeID {
	at := docroot.NodeID(0)
	for _, name := range segments {
		if at = q.child(at, name); at == docroot.NoNode {
			return docroot.NoNode
		}
	}
	return at
}

// pageOf returns the file that answers /name if its suffix may be left out.
func (q *request) pageOf(dir docroot.NodeID, name string) docroot.NodeID {
	t := q.h.tree
	for _, suffix := range q.p.PageSuffixes {
		if id := q.child(dir, name+suffix); id != docroot.NoNode && t.Nodes[id].Kind == docroot.KindFile {
			return id
		}
	}
	return docroot.NoNode
}

// browserPath returns what a browser requests after a redirect to an unescaped
// path with query: "?" and "#" in names end the path, "\" is a slash.
func browserPath(location string) string {
	var b strings.Builder
	for i := 0; i < len(location); i++ { // keeps bytes that are not UTF-8
		if c := location[i]; c < 0x80 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	u, err := weburl.Parse(Unpublished + b.String())
	if err != nil {
		return location
	}
	path := u.Path()
	if u.HasQuery() {
		path += "?" + u.Query()
	}
	return path
}
