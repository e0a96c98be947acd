package host

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unsafe"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxRewrites is how often one request is rewritten: Apache's limit.
const maxRewrites = 10

// rule asks the redirect rules of the host. ok is false when none of them
// decides. A rule that may or may not apply decides only where nothing else
// answers.
func (q *asking) rule(path, query string, stage redirect.Stage, rewrites int) (a Answer, ok bool) {
	at := q.s.address()
	req := redirect.Request{Scheme: at.Scheme, Host: at.Host, Path: path, Query: strings.TrimPrefix(query, "?"), Stage: stage, Entry: q.entry}
	if rewrites == 0 {
		q.original = path + query
	} else {
		req.Original = q.original
	}
	hit, ok := q.rules.Match(req)
	var maybe *redirect.Rule
	for ok && hit.Rule.Conditional {
		if maybe == nil {
			maybe = hit.Rule
		}
		hit, ok = q.rules.Next(req, hit)
	}
	if !ok {
		if maybe == nil || stage == redirect.BeforeFiles && !q.nothingAt(path, query) {
			return Answer{}, false
		}
		q.step(place(maybe), "may apply: "+strings.Join(maybe.Conditions, ", "))
		return Answer{State: StateConditional, Node: docroot.NoNode, Note: place(maybe)}, true
	}
	return q.apply(hit, path, query, rewrites), true
}

// nothingAt tells whether no file answers.
func (q *asking) nothingAt(path, query string) bool {
	quiet := asking{s: q.s, p: q.p}
	a := quiet.files(path, query)
	return a.move == "" && nothing(&a)
}

// apply answers by a rule that holds.
func (q *asking) apply(hit redirect.Hit, path, query string, rewrites int) Answer {
	r := hit.Rule
	switch r.Kind {
	case redirect.Redirect:
		to := q.ownPath(hit.To, path)
		q.step(place(r), fmt.Sprintf("redirects (%d) to %s", r.Status, to))
		return Answer{State: StateViaRedirect, Node: docroot.NoNode, Note: place(r), move: to}
	case redirect.Proxy:
		q.step(place(r), "another server or a program answers: "+hit.To)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: place(r)}
	case redirect.Rewrite:
		return q.rewrite(r, hit.To, path, rewrites)
	}
	q.step(place(r), fmt.Sprintf("answers with status %d", r.Status))
	if r.Status >= http.StatusOK && r.Status < http.StatusBadRequest {
		return Answer{State: StateProxied, Node: docroot.NoNode, Status: r.Status, Note: place(r)}
	}
	return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: r.Status, Note: place(r)}
}

// rewrite answers from another path without a redirect.
func (q *asking) rewrite(r *redirect.Rule, to, path string, rewrites int) Answer {
	to = q.ownPath(to, path)
	if !strings.HasPrefix(to, "/") {
		q.step(place(r), "another server answers: "+to)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: place(r)}
	}
	q.step(place(r), "is answered from "+to)
	toPath, toQuery := cutQuery(to)
	if r.Again && toPath != path {
		if rewrites == maxRewrites {
			return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusInternalServerError, Note: place(r)}
		}
		if a, ok := q.rule(toPath, toQuery, redirect.BeforeFiles, rewrites+1); ok {
			return a
		}
	}
	a := q.files(toPath, toQuery)
	if nothing(&a) && a.Note == "" {
		a.Note = place(r) + " leads to " + toPath
	}
	return a
}

// entry tells the rules what lies at a decoded path.
func (q *asking) entry(path string) redirect.Entry {
	id, ok := q.s.Lookup(path)
	if !ok {
		return redirect.Nothing
	}
	switch q.s.tree.Nodes[q.s.tree.Nodes[id].Real].Kind {
	case docroot.KindFile:
		return redirect.FileEntry
	case docroot.KindDir:
		return redirect.DirEntry
	}
	return redirect.Nothing
}

// ownPath turns the destination of a rule into a path and query below the base
// path when it is on the site's own host, else into an absolute URL. from is
// the path that was asked for.
func (q *asking) ownPath(to, from string) string {
	b := q.s.bases[0]
	base, err := weburl.Parse("http://" + b.host + b.path + from)
	if err != nil {
		return to
	}
	u, err := base.Resolve(to)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return to
	}
	own, is, below := q.s.own(u)
	if !is || !below {
		return u.WithoutFragment()
	}
	path := own.root + u.Path()[len(own.path):]
	if path == own.root {
		path += "/"
	}
	if u.HasQuery() {
		path += "?" + u.Query()
	}
	return path
}

func place(r *redirect.Rule) string { return fmt.Sprintf("%s:%d", r.Source.File, r.Source.Line) }

// markRuled lets the slow path decide about every file and directory whose
// address a rule may take before the host looks for files.
func (s *Host) markRuled() {
	if s.rules == nil {
		return
	}
	t := s.tree
	var buf []byte
	for id := range t.Nodes {
		n := &t.Nodes[id]
		if n.Kind != docroot.KindFile && n.Kind != docroot.KindDir {
			continue
		}
		// A path is made for each file: this one is looked at and forgotten.
		buf = append(t.AppendPath(append(buf[:0], '/'), docroot.NodeID(id)), '/')
		path := unsafe.String(&buf[0], len(buf))
		if !IsPlainPath(buf) {
			path = (&url.URL{Path: path}).EscapedPath()
		}
		bare := path[:max(len(path)-1, 1)]
		asks := s.rules.MayMatch(bare)
		switch {
		case n.Kind == docroot.KindDir && id != 0:
			asks = asks || s.rules.MayMatch(path)
		case strings.HasSuffix(bare, ".html"):
			asks = asks || s.rules.MayMatch(strings.TrimSuffix(bare, ".html"))
		}
		if asks {
			n.Flags |= flagAsk
		}
	}
}
