package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// planSchema is the version of the JSON document of a plan; see [schema].
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

// PlanJSON writes a plan as one object: docs/reference/formats.md has its fields.
// internal are the links between the site's own pages, nil when nobody asked.
//
// The only errors are those of w, wrapped.
func PlanJSON(w io.Writer, p *outgoing.Plan, internal []ledger.Link) error {
	d := planDocument{
		Schema: planSchema, Base: p.Base, First: p.First, Unchanged: p.Unchanged, Internal: internal,
		Notices: []planNotice{}, Gone: []planGone{}, Graves: []string{}, Forgotten: []string{}, LeftOut: []planLeft{},
	}
	for i := range p.Items {
		n := &p.Items[i]
		d.Notices = append(d.Notices, planNotice{n.Event, n.Source, n.Target, n.Replacement, n.Page, why(n), n.Withdrawn})
	}
	for _, g := range p.Gone {
		d.Gone = append(d.Gone, planGone(g))
	}
	d.Graves, d.Forgotten = append(d.Graves, p.Unanswered...), append(d.Forgotten, p.Inactive...)
	for _, l := range p.Excluded {
		d.LeftOut = append(d.LeftOut, planLeft(l))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
