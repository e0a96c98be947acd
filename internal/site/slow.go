package site

import (
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/weburl"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// slow resolves any link by the URL Standard and the profile. reference tells
// that a value of only a fragment means the page itself, whatever its base
// (CSS Values 4, 4.5.4).
func (r *resolver) slow(v []byte, reference bool) host.Resolved { return r.trace(v, reference, nil) }

// trace is slow with the steps that lead to the answer, when steps is not nil.
func (r *resolver) trace(v []byte, reference bool, steps *[]host.Step) host.Resolved {
	r.address()
	base := r.base
	if reference && len(v) > 0 && v[0] == '#' {
		base = r.pageURL
	}
	u, err := base.ResolveWith(string(v), r.encoding())
	if err != nil {
		res := host.Resolved{State: host.StateBadURL, Node: docroot.NoNode}
		if e, ok := err.(*weburl.Error); ok {
			res.Note = string(e.Reason)
		}
		return res
	}
	if steps != nil {
		*steps = append(*steps, host.Step{Rule: "url", Text: strings.TrimPrefix(u.String(), host.Unpublished)})
	}
	res := r.s.Resolve(u, steps)
	res.Fragment = u.Fragment()
	if res.State.Answers() || res.State == host.StateMissingFile || res.State == host.StateMissingDirectory {
		n := u.Notes()
		switch {
		case n&weburl.NoteAboveRoot != 0 && res.State.Answers():
			res.State = host.StateAboveRoot
		case n&weburl.NoteAboveRoot != 0:
			res.State = host.StateOutsideDocroot
		case n&weburl.NoteBackslash != 0 && (res.State == host.StateOK || res.State == host.StateRedirect):
			res.State = host.StateBackslash
		}
	}
	return res
}

// encoding is the page's encoding when its queries are not in UTF-8.
func (r *resolver) encoding() encoding.Encoding {
	if r.charset == "" || r.charset == "utf-8" {
		return nil
	}
	e, err := htmlindex.Get(r.charset)
	if err != nil {
		return nil
	}
	return e
}
