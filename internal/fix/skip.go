package fix

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
)

// Skip is a link to which a rule applies, but that stays as it is.
type Skip struct {
	Rule check.RepairRule
	Code check.Code
	// File is the source file, or the page in the docroot if the source is not
	// known.
	File         string
	Line, Column int
	Value        string
	// Why is the reason. What follows ": " in it is about this link.
	Why string

	unplaced bool
}

// Name returns the rule, or the code of the finding where no rule applies.
func (s *Skip) Name() string { return cmp.Or(string(s.Rule), string(s.Code)) }

// SkipGroup is the links that stay as they are for one reason.
type SkipGroup struct {
	// Skip is the first of them.
	Skip
	// Reason is what they have in common.
	Reason string
	// Links is how many there are.
	Links int
}

// Reasons returns the skips by rule and reason. Links that are wrong come before those
// that work, and the largest groups first.
func (p *Plan) Reasons() []SkipGroup {
	type key struct {
		name   string
		reason string
	}
	var groups []SkipGroup
	at := map[key]int{}
	for _, s := range p.Skips {
		reason, _, _ := strings.Cut(s.Why, ": ")
		k := key{s.Name(), reason}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, SkipGroup{Skip: s, Reason: s.Why})
		}
		g := &groups[i]
		if g.Links++; s.Why != g.Why {
			g.Reason = reason
		}
	}
	slices.SortStableFunc(groups, func(a, b SkipGroup) int {
		return cmp.Or(cmp.Compare(a.works(), b.works()), cmp.Compare(b.Links, a.Links))
	})
	return groups
}

// works returns 1 for a link that works by a redirect, 0 for a wrong one.
func (s *Skip) works() int {
	if s.Code == "" || s.Code == check.ViaRedirect {
		return 1
	}
	return 0
}

// whyNot returns why a file cannot be edited, without its name: the skip has it.
func whyNot(err error) string {
	of := (*destination.Error)(nil)
	switch {
	case errors.Is(err, destination.ErrSymlink):
		return "a symbolic link leads to the file"
	case errors.Is(err, destination.ErrReadOnly), errors.Is(err, destination.ErrEncoding), errors.Is(err, destination.ErrNested), errors.Is(err, destination.ErrOutside):
		if errors.As(err, &of) {
			return "the file " + of.Err.Error()
		}
	case errors.As(err, &of):
		return "the file cannot be edited: " + of.Err.Error()
	}
	return err.Error()
}

// noLink returns why there is no destination of the author's at an offset.
func noLink(text []byte, at int) error {
	word := text[at:]
	if i := bytes.IndexAny(word, " \t\r\n\"')"); i >= 0 {
		word = word[:i]
	}
	if bytes.Contains(word, []byte("{{")) || bytes.Contains(word, []byte("{%")) {
		return errors.New("a template or shortcode composes it")
	}
	return errors.New("the place is not one that can be written")
}

// skip returns the edit as a link that stays as it is.
func (e *Edit) skip(why string) Skip {
	return Skip{Rule: e.Rule, Code: e.Code, File: e.File, Line: e.Line, Column: e.Column, Value: e.Old, Why: why}
}

// joinSkips keeps one of the skips of a place. It drops those whose place is not known
// if an edit is for the same value: a list shows the text of a page.
func (m *maker) joinSkips() {
	edited := map[string]bool{}
	for i := range m.plan.Edits {
		for _, l := range m.plan.Edits[i].links {
			edited[l.raw] = true
		}
	}
	known := map[Skip]bool{}
	m.plan.Skips = slices.DeleteFunc(m.plan.Skips, func(s Skip) bool {
		if s.unplaced && edited[s.Value] || known[s] {
			return true
		}
		known[s] = true
		return false
	})
}
