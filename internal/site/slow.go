package site

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/sitelink/sitelink/internal/weburl"
)

// slow resolves any link by the URL Standard and the profile. reference tells
// that a value of only a fragment means the page itself, whatever its base
// (CSS Values 4, 4.5.4).
func (r *resolver) slow(v []byte, reference bool) Resolved { return r.trace(v, reference, nil) }

// trace is slow with the steps that lead to the answer, when steps is not nil.
func (r *resolver) trace(v []byte, reference bool, steps *[]Step) Resolved {
	r.address()
	base := r.base
	if reference && len(v) > 0 && v[0] == '#' {
		base = r.pageURL
	}
	u, err := base.ResolveWith(string(v), r.encoding())
	if err != nil {
		res := Resolved{State: StateBadURL, Node: NoNode}
		if e, ok := err.(*weburl.Error); ok {
			res.Note = string(e.Reason)
		}
		return res
	}
	if steps != nil {
		*steps = append(*steps, Step{"url", strings.TrimPrefix(u.String(), unpublished)})
	}
	res := r.s.request(u, steps)
	res.Fragment = u.Fragment()
	if res.State.Answers() || res.State == StateMissingFile || res.State == StateMissingDirectory {
		n := u.Notes()
		switch {
		case n&weburl.NoteAboveRoot != 0 && res.State.Answers():
			res.State = StateAboveRoot
		case n&weburl.NoteAboveRoot != 0:
			res.State = StateOutsideDocroot
		case n&weburl.NoteBackslash != 0 && (res.State == StateOK || res.State == StateRedirect):
			res.State = StateBackslash
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
