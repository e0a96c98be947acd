package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
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

// PlannedCall is a call of the LINK draft about a page of ours. It goes to another
// site, because the page Source there links to ours.
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
	shown := shownItems(p)
	if opt.ByTarget {
		items := slices.Clone(shown)
		slices.SortStableFunc(items, func(a, b outgoing.Item) int { return cmp.Compare(a.Target, b.Target) })
		for i := range items {
			if i == 0 || items[i].Target != items[i-1].Target {
				t.say("%s\n", t.paint.paint(sgrBold, quoted(items[i].Target)))
			}
			t.line(&items[i], items[i].Source)
		}
	} else {
		items := shown
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
			words := ""
			switch to, gone := moved[source]; {
			case gone && to != "":
				words = " moved to " + quoted(to)
			case gone:
				words = " is deleted"
			case items[0].Page != "":
				words = " (" + quoted(items[0].Page) + ")"
			}
			t.say("%s%s\n", t.paint.paint(sgrBold, quoted(source)), words)
			for i := range items[:n] {
				t.line(&items[i], items[i].Target)
			}
			items = items[n:]
		}
	}
	t.graves()
	t.unredirected()
	t.counts()
	t.calls(opt.Calls)
	return t.flush()
}

// shownItems are the notices that people see in a plan: not those to targets that took
// none when they were last asked.
func shownItems(p *outgoing.Plan) []outgoing.Item {
	return slices.DeleteFunc(slices.Clone(p.Items), func(i outgoing.Item) bool { return i.Silent && !i.Withdrawn })
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

func (t *planText) line(i *outgoing.Item, address string) {
	sign := eventSigns[i.Event]
	if i.Withdrawn {
		sign = "x"
	}
	t.say("  %s %s  %s\n", sign, quoted(address), t.paint.paint(sgrDim, quoted(eventText(i))))
}

// graves lists the deleted pages that the host answers with 404. Receivers take
// that for a temporary fault.
func (t *planText) graves() {
	if len(t.plan.Unanswered) == 0 {
		return
	}
	t.separate()
	t.say("deleted pages must answer 410, or have a tombstone (--tombstones):\n")
	for _, url := range t.plan.Unanswered {
		t.say("    %s\n", quoted(url))
	}
}

// unredirected lists the pages that moved without an answer at the old address.
func (t *planText) unredirected() {
	first := true
	for _, g := range t.plan.Gone {
		if !g.NoRedirect {
			continue
		}
		if first {
			t.separate()
			t.say("pages that moved without a redirect, which visitors of the old address need:\n")
			first = false
		}
		t.say("    %s is now %s\n", quoted(g.URL), quoted(g.Replacement))
	}
}

func (t *planText) separate() {
	if len(t.buf) > 0 {
		t.buf = append(t.buf, '\n')
	}
}

func (t *planText) counts() {
	t.separate()
	t.say("%s\n", PlanSummary(t.plan))
	if t.plan.NoUpdate > 0 {
		t.say("no update for %s that stayed on changed pages (updates in [outgoing])\n", text.Count(t.plan.NoUpdate, "link"))
	}
	for _, line := range unannounced(t.plan) {
		t.say("%s\n", line)
	}
	if n := len(t.plan.Inactive); n > 0 {
		t.say("%s no longer among those that send notices; their targets are not notified\n", text.Count(n, "page"))
	}
	var left []string
	for _, l := range t.plan.Excluded {
		left = append(left, fmt.Sprintf("%s (%s)", l.Reason, text.Count(l.Pages, "page")))
	}
	if len(left) > 0 {
		t.say("left out: %s\n", strings.Join(left, ", "))
	}
}

// unannounced says what a plan leaves out, and why.
func unannounced(p *outgoing.Plan) (lines []string) {
	if n := len(p.Items) - len(shownItems(p)); n > 0 {
		lines = append(lines, "targets that took no notices when they were last asked, and are asked again: "+text.Thousands(n))
	}
	if p.Untold > 0 {
		lines = append(lines, "no notice of moved and removed links that were never announced: "+text.Thousands(p.Untold))
	}
	if p.Alike > 0 {
		lines = append(lines, "no update for pages that changed in the same way as others, such as by a build date: "+text.Thousands(p.Alike))
	}
	if p.Common > 0 {
		lines = append(lines, "no notice of new links that most pages have: "+text.Thousands(p.Common))
	}
	return lines
}

// calls lists what the receiver would send.
func (t *planText) calls(calls []PlannedCall) {
	if len(calls) == 0 {
		return
	}
	t.separate()
	t.say("after this deploy, sitelink serve makes %s to pages that link to this site:\n", text.Count(len(calls), "call"))
	for i := range calls {
		if i == maxPlannedCalls {
			t.say("  ... and %s; --format json lists all\n", text.Count(len(calls)-i, "more call"))
			break
		}
		c := &calls[i]
		t.say("  %s %s: %s\n", c.Method, quoted(c.Source), quoted(callText(c)))
	}
}

// PlanSummary returns one line with the counts of a plan.
func PlanSummary(p *outgoing.Plan) string {
	due := p.Due()
	if p.First && len(due) == 0 {
		return fmt.Sprintf("no ledger yet: the first run records %s with %s and sends nothing", text.Count(len(p.Change.Pages), "page"), text.Count(len(p.Change.Links), "link"))
	}
	unchanged := text.Count(p.Unchanged, "page") + " unchanged"
	if len(due) == 0 {
		return "nothing to send: " + unchanged
	}
	hosts := make(map[string]bool)
	events := make(map[ledger.Event]int)
	for i := range due {
		_, rest, _ := strings.Cut(due[i].Target, "://")
		host, _, _ := strings.Cut(rest, "/")
		hosts[strings.ToLower(host)] = true
		events[due[i].Event]++
	}
	var parts []string
	for _, e := range []ledger.Event{ledger.Added, ledger.Updated, ledger.Removed, ledger.Moved, ledger.Deleted} {
		if events[e] > 0 {
			parts = append(parts, text.Thousands(events[e])+" "+string(e))
		}
	}
	if n := len(shownItems(p)) - len(due); n > 0 {
		parts = append(parts, text.Thousands(n)+" withdrawn")
	}
	return fmt.Sprintf("%s to %s: %s; %s", text.Count(len(due), "notice"), text.Count(len(hosts), "host"), strings.Join(parts, ", "), unchanged)
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
	Unchanged int           `json:"unchanged"`
	Untold    int           `json:"untold,omitempty"`
	Alike     int           `json:"alike,omitempty"`
	Common    int           `json:"common,omitempty"`
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
	Silent      bool         `json:"silent,omitempty"`
}

type planGone struct {
	URL         string `json:"url"`
	Replacement string `json:"replacement,omitempty"`
	NoRedirect  bool   `json:"noRedirect,omitempty"`
}

type planLeft struct {
	Reason outgoing.Reason `json:"reason"`
	Pages  int             `json:"pages"`
}

// PlanJSON writes a plan as one object; docs/reference/formats.md lists its
// fields. calls is what a receiver would send.
//
// The only errors are those of w, wrapped.
func PlanJSON(w io.Writer, p *outgoing.Plan, calls []PlannedCall) error {
	d := planDocument{
		Schema: planSchema, Base: p.Base, First: p.First, Unchanged: p.Unchanged, Untold: p.Untold, Alike: p.Alike, Common: p.Common, Calls: calls,
		Notices: []planNotice{}, Gone: []planGone{}, Graves: []string{}, Forgotten: []string{}, LeftOut: []planLeft{},
	}
	for i := range p.Items {
		n := &p.Items[i]
		d.Notices = append(d.Notices, planNotice{n.Event, n.Source, n.Target, n.Replacement, n.Page, eventText(n), n.Withdrawn, n.Silent})
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
	s.say("### sitelink: %s\n", PlanSummary(p))
	s.callsMarkdown(calls)
	for _, line := range unannounced(p) {
		s.say("\n%s\n", line)
	}
	source := ""
	items := shownItems(p)
	for i := range items {
		n := &items[i]
		if len(s.buf) > markdownMaxBytes-markdownTail-4*maxValueBytes {
			s.say("\n... and %s\n", text.Count(len(items)-i, "more notice"))
			break
		}
		if n.Source != source {
			source = n.Source
			s.say("\n%s\n\n", codeSpan(source))
		}
		words := eventText(n)
		if n.Event == ledger.Moved && !n.Withdrawn {
			words = "the page moved to " + codeSpan(n.Replacement)
		}
		s.say("- %s %s: %s\n", n.Event, codeSpan(n.Target), words)
	}
	return s.flush()
}

// callsMarkdown lists what the receiver would send, in half of the space at most.
func (s *sink) callsMarkdown(calls []PlannedCall) {
	if len(calls) == 0 {
		return
	}
	s.say("\nAfter this deploy, sitelink serve makes %s to pages that link to this site:\n\n", text.Count(len(calls), "call"))
	for i := range calls {
		if i == maxPlannedCalls || len(s.buf) > markdownMaxBytes/2-4*maxValueBytes {
			s.say("\n... and %s\n", text.Count(len(calls)-i, "more call"))
			return
		}
		c := &calls[i]
		s.say("- %s %s: %s\n", c.Method, codeSpan(c.Source), codeSpan(callText(c)))
	}
}
