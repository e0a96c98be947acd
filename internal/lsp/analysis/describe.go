package analysis

import (
	"context"
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/source"
)

// typedLink is the destination that an author is writing.
func typedLink(t *typing, value string) destination.Link {
	d := destination.Link{Start: t.start, End: t.end, Kind: destination.Inline, Value: value, Element: "a"}
	if t.ref {
		d.Kind, d.Name = destination.Shortcode, "ref"
	}
	return d
}

// Problem is a link with a fault.
type Problem struct{ Link }

// Problems returns the links of a text that a check would report: those that the
// configuration and the baseline accept are left out.
func (s *Snapshot) Problems(f *File) []Problem {
	var all []Problem
	var findings []check.Finding
	for i := range f.Links {
		l := &f.Links[i]
		if t := &l.Target; !t.Judged || t.Ignored != "" || t.Verdict != check.Error && t.Verdict != check.Warning {
			continue
		}
		all = append(all, Problem{Link: *l})
		findings = append(findings, l.Target.Link.Finding())
	}
	if s.accepted == nil || len(all) == 0 {
		return all
	}
	return s.unaccepted(all, findings)
}

// unaccepted leaves out what the baseline accepts.
func (s *Snapshot) unaccepted(all []Problem, findings []check.Finding) []Problem {
	for i := range findings {
		findings[i].Offset = int64(i) // identifies it below
	}
	r := &check.Result{Findings: findings}
	s.baseline.Lock()
	s.accepted.Apply(r)
	s.baseline.Unlock()
	left := all[:0]
	for i := range r.Findings {
		left = append(left, all[r.Findings[i].Offset])
	}
	return left
}

// Repairs returns what the rules of [check.Repairs] say about the links of a text, and
// where they are: of each that a check would report, and of those that work but could
// be written better.
func (s *Snapshot) Repairs(ctx context.Context, f *File) (all []check.Repair, starts []int, err error) {
	add := func(l *Link) error {
		t := &l.Target
		if t.Code == check.UnresolvedRef || t.Page == "" && !isRooted(t.Value) {
			return nil
		}
		r, err := s.judge.Repair(ctx, &t.Link)
		if err != nil {
			return err
		}
		if r.Rule != "" || r.Finding.Code != "" {
			all, starts = append(all, r), append(starts, l.Start)
		}
		return nil
	}
	problems := s.Problems(f)
	for i := range problems {
		if err := add(&problems[i].Link); err != nil {
			return nil, nil, err
		}
	}
	for i := range f.Links {
		if l := &f.Links[i]; l.Target.Judged && (l.Target.Verdict == check.OK || l.Target.Code == check.External) {
			if err := add(l); err != nil {
				return nil, nil, err
			}
		}
	}
	return all, starts, nil
}

// Content returns the content files of the site.
func (s *tree) Content() []source.ContentFile { return s.content }

// Describe returns what a reader of a link wants to know, as Markdown: the page
// that it leads to, what the host answers, and the verdict with its reason.
func (s *Snapshot) Describe(ctx context.Context, o *Overlay, l *Link) (string, error) {
	var b strings.Builder
	t := &l.Target
	if t.Node == docroot.NoNode && !t.Judged {
		return "", nil
	}
	if t.Node != docroot.NoNode {
		path := s.Site.Href(t.Node)
		file := s.SourceOf(t.Node)
		if f := s.indexed(o, file); f != nil && f.title != "" {
			fmt.Fprintf(&b, "**%s**", markdownText(f.title))
			for _, h := range f.headings {
				if t.Fragment != "" && h.id == t.Fragment {
					fmt.Fprintf(&b, " › %s", markdownText(h.text))
				}
			}
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "`%s`", path)
		if file != "" {
			fmt.Fprintf(&b, ", from `%s`", file)
		}
		b.WriteString("\n")
	}
	if !t.Judged {
		return b.String(), nil
	}
	if t.Final != "" && t.Final != t.Link.Target {
		fmt.Fprintf(&b, "\nThe host redirects `%s` to `%s`.\n", t.Link.Target, t.Final)
	}
	switch t.Verdict {
	case check.OK:
		b.WriteString("\nok\n")
	default:
		fmt.Fprintf(&b, "\n%s `%s`", t.Verdict, t.Code)
		if t.Message != "" {
			fmt.Fprintf(&b, ": %s", t.Message)
		}
		b.WriteString("\n")
	}
	if t.Ignored != "" {
		fmt.Fprintf(&b, "\nAccepted by %s.\n", t.Ignored)
	}
	if t.Code == check.UnresolvedRef || t.Page == "" {
		return b.String(), nil
	}
	e, err := check.Explain(ctx, audit.Handle(s.Site), audit.CheckOptions(s.Project), t.Page, t.Value)
	if err != nil {
		return b.String(), nil // the docroot is being written
	}
	if e.Suggestion != "" && t.Verdict == check.Error {
		fmt.Fprintf(&b, "\nDid you mean `%s`?\n", e.Suggestion)
	}
	b.WriteString("\n```\n" + strings.ReplaceAll(e.String(), "```", "` ` `") + "```\n")
	return b.String(), nil
}

// markdownText escapes what Markdown would read as markup.
func markdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `&lt;`, "\n", " ").Replace(text)
}
