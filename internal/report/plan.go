package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// PlanOptions say how a plan is shown.
type PlanOptions struct {
	// ByTarget groups by the target of the notice instead of the page that
	// sends it.
	ByTarget bool
	Color    bool
	// Calls are what a receiver would send to pages that link to the site.
	Calls []PlannedCall
}

// PlannedCall is a call of the LINK draft about a page of ours to another site whose
// page, Source, links to it.
type PlannedCall struct {
	Method      string `json:"method"`
	Source      string `json:"source"`
	Target      string `json:"target"`
	Replacement string `json:"replacement,omitempty"`
}

// maxPlannedCalls is how many calls are shown to people.
const maxPlannedCalls = 50

// callText says what a call is about.
func callText(c *PlannedCall) string {
	switch {
	case c.Method == "LINKMOD":
		return c.Target + " changed"
	case c.Replacement != "":
		return c.Target + " is now " + c.Replacement
	}
	return c.Target + " is gone"
}

// Plan writes a plan for people: which notices each page sends to which targets
// and why, then the counts. It is sorted by page and target, or by target and
// page.
//
// The only errors are those of w, wrapped.
func Plan(w io.Writer, p *outgoing.Plan, opt PlanOptions) error {
	t := planText{sink: sink{w: w}, plan: p, paint: painter(opt.Color)}
	if opt.ByTarget {
		t.byTarget()
	} else {
		t.bySource()
	}
	t.graves()
	t.counts()
	t.calls(opt.Calls)
	return t.flush()
}

// planText writes a plan for people.
type planText struct {
	sink
	plan  *outgoing.Plan
	paint painter
}

// eventSigns are the signs of the events, as in a diff.
var eventSigns = map[ledger.Event]string{
	ledger.Added: "+", ledger.Updated: "~", ledger.Removed: "-", ledger.Deleted: "-", ledger.Moved: ">",
}

// eventText says what happened to a link.
func eventText(i *outgoing.Item) string {
	if i.Withdrawn {
		return "the notice was never sent and is no longer needed"
	}
	switch i.Event {
	case ledger.Added:
		return "new link"
	case ledger.Updated:
		return "the entry changed"
	case ledger.Removed:
		return "the link is gone"
	case ledger.Deleted:
		return "the page is gone"
	}
	return "the page moved to " + i.Replacement
}

func (t *planText) bySource() {
	items := t.plan.Items
	moved := make(map[string]string)
	for _, g := range t.plan.Gone {
		moved[g.URL] = g.Replacement
	}
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Source == items[0].Source {
			n++
		}
		source := items[0].Source
		t.head(source)
		switch to, gone := moved[source]; {
		case gone && to != "":
			t.buf = appendQuoted(append(t.buf, " moved to "...), to)
		case gone:
			t.buf = append(t.buf, " is deleted"...)
		case items[0].Page != "":
			t.buf = append(appendQuoted(append(t.buf, " ("...), items[0].Page), ')')
		}
		t.buf = append(t.buf, '\n')
		for i := range items[:n] {
			t.line(&items[i], items[i].Target)
		}
		items = items[n:]
	}
}

func (t *planText) byTarget() {
	items := slices.Clone(t.plan.Items)
	slices.SortStableFunc(items, func(a, b outgoing.Item) int { return cmp.Compare(a.Target, b.Target) })
	for i := range items {
		if i == 0 || items[i].Target != items[i-1].Target {
			t.head(items[i].Target)
			t.buf = append(t.buf, '\n')
		}
		t.line(&items[i], items[i].Source)
	}
}

func (t *planText) line(i *outgoing.Item, address string) {
	sign := eventSigns[i.Event]
	if i.Withdrawn {
		sign = "x"
	}
	t.buf = append(append(append(t.buf, "  "...), sign...), ' ')
	t.buf = appendQuoted(t.buf, address)
	t.buf = t.paint.on(append(t.buf, "  "...), sgrDim)
	t.buf = appendQuoted(t.buf, eventText(i))
	t.buf = append(t.paint.off(t.buf), '\n')
}

func (t *planText) head(address string) {
	t.buf = t.paint.off(appendQuoted(t.paint.on(t.buf, sgrBold), address))
}

// graves lists the deleted pages that the host answers with 404. Receivers take
// that for a temporary fault.
func (t *planText) graves() {
	if len(t.plan.Unanswered) == 0 {
		return
	}
	t.separate()
	t.buf = append(t.buf, "deleted pages must answer 410, or have a tombstone (--tombstones):\n"...)
	for _, url := range t.plan.Unanswered {
		t.buf = append(appendQuoted(append(t.buf, "    "...), url), '\n')
	}
}

func (t *planText) separate() {
	if len(t.buf) > 0 {
		t.buf = append(t.buf, '\n')
	}
}

func (t *planText) counts() {
	t.separate()
	t.buf = append(append(t.buf, PlanSummary(t.plan)...), '\n')
	if t.plan.NoUpdate > 0 {
		t.buf = append(appendCount(append(t.buf, "no update for "...), t.plan.NoUpdate, "link"), " that stayed on changed pages (updates in [outgoing])\n"...)
	}
	if len(t.plan.Inactive) > 0 {
		t.buf = append(appendCount(t.buf, len(t.plan.Inactive), "page"), " no longer among those that send notices; their targets are not notified\n"...)
	}
	if len(t.plan.Excluded) > 0 {
		t.buf = append(t.buf, "left out: "...)
		for i, l := range t.plan.Excluded {
			if i > 0 {
				t.buf = append(t.buf, ", "...)
			}
			t.buf = append(append(t.buf, l.Reason...), " ("...)
			t.buf = append(appendCount(t.buf, l.Pages, "page"), ')')
		}
		t.buf = append(t.buf, '\n')
	}
}

// calls lists what the receiver would send.
func (t *planText) calls(calls []PlannedCall) {
	if len(calls) == 0 {
		return
	}
	t.separate()
	t.buf = appendCount(append(t.buf, "after this deploy, sitelink serve makes "...), len(calls), "call")
	t.buf = append(t.buf, " to pages that link to this site:\n"...)
	for i := range calls {
		if i == maxPlannedCalls {
			t.buf = append(appendCount(append(t.buf, "  ... and "...), len(calls)-i, "more call"), "; --format json lists all\n"...)
			break
		}
		c := &calls[i]
		t.buf = append(append(append(t.buf, "  "...), c.Method...), ' ')
		t.buf = appendQuoted(t.buf, c.Source)
		t.buf = appendQuoted(append(t.buf, ": "...), callText(c))
		t.buf = append(t.buf, '\n')
	}
}

// PlanSummary returns one line with the counts of a plan.
func PlanSummary(p *outgoing.Plan) string {
	var b []byte
	if p.First {
		b = appendCount(append(b, "no ledger yet: the first run records "...), len(p.Change.Pages), "page")
		b = appendCount(append(b, " with "...), len(p.Change.Links), "link")
		return string(append(b, " and sends nothing"...))
	}
	due := p.Due()
	if len(due) == 0 {
		return string(append(appendCount(append(b, "nothing to send: "...), p.Unchanged, "page"), " unchanged"...))
	}
	hosts := make(map[string]bool)
	events := make(map[ledger.Event]int)
	for i := range due {
		_, rest, _ := strings.Cut(due[i].Target, "://")
		host, _, _ := strings.Cut(rest, "/")
		hosts[strings.ToLower(host)] = true
		events[due[i].Event]++
	}
	b = appendCount(b, len(due), "notice")
	b = appendCount(append(b, " to "...), len(hosts), "host")
	b = append(b, ": "...)
	first := true
	for _, e := range []ledger.Event{ledger.Added, ledger.Updated, ledger.Removed, ledger.Moved, ledger.Deleted} {
		if events[e] == 0 {
			continue
		}
		if !first {
			b = append(b, ", "...)
		}
		first = false
		b = append(append(appendThousands(b, events[e]), ' '), e...)
	}
	if n := len(p.Items) - len(due); n > 0 {
		b = append(appendThousands(append(b, ", "...), n), " withdrawn"...)
	}
	b = appendCount(append(b, "; "...), p.Unchanged, "page")
	return string(append(b, " unchanged"...))
}

// planSchema is the version of the JSON document of a plan, see schema.
const planSchema = 1

type planDocument struct {
	Schema    int           `json:"schema"`
	Base      string        `json:"base"`
	First     bool          `json:"first"`
	Notices   []planNotice  `json:"notices"`
	Gone      []planGone    `json:"gone"`
	Graves    []string      `json:"graves"`
	Forgotten []string      `json:"forgotten"`
	Internal  []ledger.Link `json:"internal,omitempty"`
	Unchanged int           `json:"unchanged"`
	LeftOut   []planLeft    `json:"leftOut"`
	Calls     []PlannedCall `json:"calls,omitempty"`
}

type planNotice struct {
	Event       ledger.Event `json:"event"`
	Source      string       `json:"source"`
	Target      string       `json:"target"`
	Replacement string       `json:"replacement,omitempty"`
	Page        string       `json:"page,omitempty"`
	Why         string       `json:"why"`
	Withdrawn   bool         `json:"withdrawn,omitempty"`
}

type planGone struct {
	URL         string `json:"url"`
	Replacement string `json:"replacement,omitempty"`
}

type planLeft struct {
	Reason outgoing.Reason `json:"reason"`
	Pages  int             `json:"pages"`
}

// PlanJSON writes a plan as one object; docs/reference/formats.md lists its
// fields. internal holds the links between the site's own pages, nil to leave
// them out, and calls what a receiver would send.
//
// The only errors are those of w, wrapped.
func PlanJSON(w io.Writer, p *outgoing.Plan, internal []ledger.Link, calls []PlannedCall) error {
	d := planDocument{
		Schema: planSchema, Base: p.Base, First: p.First, Unchanged: p.Unchanged, Internal: internal, Calls: calls,
		Notices: []planNotice{}, Gone: []planGone{}, Graves: []string{}, Forgotten: []string{}, LeftOut: []planLeft{},
	}
	for i := range p.Items {
		n := &p.Items[i]
		d.Notices = append(d.Notices, planNotice{n.Event, n.Source, n.Target, n.Replacement, n.Page, eventText(n), n.Withdrawn})
	}
	for _, g := range p.Gone {
		d.Gone = append(d.Gone, planGone(g))
	}
	d.Graves, d.Forgotten = append(d.Graves, p.Unanswered...), append(d.Forgotten, p.Inactive...)
	for _, l := range p.Excluded {
		d.LeftOut = append(d.LeftOut, planLeft(l))
	}
	return JSONDocument(w, d)
}

// PlanMarkdown writes a plan for a comment or a job summary: the counts, the calls of a
// receiver, then a list for each page. It stays below 65,000 bytes like [Markdown], and
// text of the site is in code spans.
//
// The only errors are those of w, wrapped.
func PlanMarkdown(w io.Writer, p *outgoing.Plan, calls []PlannedCall) error {
	s := sink{w: w}
	s.buf = append(append(append(s.buf, "### sitelink: "...), PlanSummary(p)...), '\n')
	s.callsMarkdown(calls)
	source := ""
	for i := range p.Items {
		n := &p.Items[i]
		if len(s.buf) > markdownMaxBytes-markdownTail-4*maxValueBytes {
			s.buf = appendCount(append(s.buf, "\n... and "...), len(p.Items)-i, "more notice")
			s.buf = append(s.buf, '\n')
			break
		}
		if n.Source != source {
			source = n.Source
			s.buf = append(appendCodeSpan(append(s.buf, "\n"...), source), "\n\n"...)
		}
		s.buf = append(append(append(s.buf, "- "...), n.Event...), ' ')
		s.buf = appendCodeSpan(s.buf, n.Target)
		s.buf = append(s.buf, ": "...)
		if n.Event == ledger.Moved && !n.Withdrawn {
			s.buf = appendCodeSpan(append(s.buf, "the page moved to "...), n.Replacement)
		} else {
			s.buf = append(s.buf, eventText(n)...)
		}
		s.buf = append(s.buf, '\n')
	}
	return s.flush()
}

// callsMarkdown lists what the receiver would send, in half of the space at most.
func (s *sink) callsMarkdown(calls []PlannedCall) {
	if len(calls) == 0 {
		return
	}
	s.buf = appendCount(append(s.buf, "\nAfter this deploy, sitelink serve makes "...), len(calls), "call")
	s.buf = append(s.buf, " to pages that link to this site:\n\n"...)
	for i := range calls {
		if i == maxPlannedCalls || len(s.buf) > markdownMaxBytes/2-4*maxValueBytes {
			s.buf = append(appendCount(append(s.buf, "\n... and "...), len(calls)-i, "more call"), '\n')
			return
		}
		c := &calls[i]
		s.buf = append(append(append(s.buf, "- "...), c.Method...), ' ')
		s.buf = appendCodeSpan(s.buf, c.Source)
		s.buf = appendCodeSpan(append(s.buf, ": "...), callText(c))
		s.buf = append(s.buf, '\n')
	}
}
