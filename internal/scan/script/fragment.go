package script

import (
	"bytes"
	"slices"

	"github.com/sitelink/sitelink/internal/similar"
)

// FormOf returns the form of a fragment, as it is in the URL, and its parts. from and
// to are the ends of a line range such as 12-34 or L12-L34, or what is before and
// after the at sign of the form [FormMember]. Other forms have no parts.
func FormOf(f []byte) (form Form, from, to []byte) {
	if len(f) == 0 {
		return FormOrdinary, nil, nil
	}
	if f[0] == '/' || f[0] == '!' {
		return FormRoute, nil, nil
	}
	if from, to, ok := lineRange(f); ok {
		return FormLines, from, to
	}
	name, member, isMember := bytes.Cut(f, []byte{'@'})
	switch {
	case len(f) > 1 && f[0]|0x20 == 'l' && digits(f, 0) == len(f):
		return FormLines, nil, nil
	case isMember:
		return FormMember, name, member
	case bytes.IndexByte(f, '=') > 0:
		return FormSetting, nil, nil
	case bytes.IndexByte(f, '/') > 0:
		return FormPath, nil, nil
	}
	return FormOrdinary, nil, nil
}

// lineRange splits 12-34, L12-L34 and L12-34 into the names of its ends.
func lineRange(f []byte) (from, to []byte, ok bool) {
	i := digits(f, 0)
	if i < 0 || i >= len(f) || f[i] != '-' {
		return nil, nil, false
	}
	j := digits(f, i+1)
	if j != len(f) {
		return nil, nil, false
	}
	from, to = f[:i], f[i+1:]
	if !isDigit(from[0]) && isDigit(to[0]) {
		to = append([]byte{from[0]}, to...)
	}
	return from, to, true
}

// digits returns the end of an optional L and a run of digits at f[i], or -1.
func digits(f []byte, i int) int {
	if i < len(f) && f[i]|0x20 == 'l' {
		i++
	}
	j := i
	for j < len(f) && isDigit(f[j]) {
		j++
	}
	if j == i {
		return -1
	}
	return j
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// IDs are the ids of a page, for comparison with a missing one. The zero value is empty.
type IDs struct {
	similar.Names
	// Forms are the forms of the ids.
	Forms Forms
}

// Add adds an id.
func (ids *IDs) Add(name string) {
	form, _, _ := FormOf([]byte(name))
	ids.Forms |= FormSet(form)
	ids.Names.Add(name)
}

// Allow reports whether the ids of a page leave it open that a script serves a
// fragment of some form, here percent-decoded: none is similar, and none has the same
// form. The form of a comment's id is a matter of [Use.Serves].
func (ids *IDs) Allow(form Form, fragment string) bool {
	if form != FormOrdinary && ids.Forms.Has(form) {
		return false
	}
	typos, _ := ids.Typos(fragment) // several, where there is no suggestion
	return len(typos)+len(ids.Same(fragment)) == 0 && ids.NearestTitle(fragment) == ""
}

// AddsComment reports whether the script adds a comment with an id, percent-decoded, to
// a page. A page that has such ids itself was built with its comments.
func (u *Use) AddsComment(id string, ids *IDs) bool {
	return u.Serves(id) && !slices.ContainsFunc(ids.All(), u.Serves)
}
