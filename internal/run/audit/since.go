package audit

import (
	"context"
	"fmt"
	"io"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/text"
	public "github.com/sitelink/sitelink/site"
)

// Since says what the site answered before, and where to find out who relies on
// what is gone.
type Since struct {
	Record *record.Record
	record.CompareOptions
	// Log opens an access log, LogName is its name in messages; nil for none.
	Log     func() (io.ReadCloser, error)
	LogName string
	// Mentions calls visit with the source and the target of each mention that the
	// site has received; nil if there is no store.
	Mentions func(ctx context.Context, visit func(source, target string)) error
}

// compared is what is gone since a record. Its methods do nothing for nil.
type compared struct {
	*record.Gone
	opt *Since
}

// options returns the options of a check, which report what is gone since the
// record, if there is one.
func (a *Audit) options(ctx context.Context) (check.Options, *compared, error) {
	opt := CheckOptions(a.Project)
	if a.opt.Since == nil {
		return opt, nil, nil
	}
	gone, err := record.Compare(ctx, a.opt.Since.Record, a.Site, a.opt.Since.CompareOptions)
	if err != nil {
		return opt, nil, fmt.Errorf("compare the site with what it answered %s: %w", a.opt.Since.Record.When, err)
	}
	a.opt.stage("since")
	more := opt.More
	opt.More = func(s *public.Site) []check.Finding {
		found := gone.Findings(s)
		if more != nil {
			found = append(found, more(s)...)
		}
		return found
	}
	return opt, &compared{gone, a.opt.Since}, nil
}

// Gone returns what the last check found to be gone since the record of
// [Options.Since], nil without a record.
func (a *Audit) Gone() *record.Gone {
	if a.gone == nil {
		return nil
	}
	return a.gone.Gone
}

// concern adds to the findings of a check who relies on what is gone: links among
// the findings, mentions, and requests in the log. It opens the log and the store
// only if something is gone.
func (c *compared) concern(ctx context.Context, r *check.Result, warn func(string)) error {
	if c == nil || c.Empty() {
		return nil
	}
	c.Links(r.Findings)
	if c.opt.Mentions != nil {
		if err := c.opt.Mentions(ctx, c.Mention); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			warn(fmt.Sprintf("the received mentions are not counted: %v", err))
		}
	}
	if c.opt.Log != nil {
		log, err := c.opt.Log()
		if err != nil {
			return err
		}
		read, err := c.ReadLog(ctx, log, c.opt.LogName)
		if closeErr := log.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
		if read.Skipped > 0 {
			r.Summary.Notes = append(r.Summary.Notes, fmt.Sprintf("%s of %s in %s are in another format than the common or combined one and were skipped",
				text.Thousands(read.Skipped), text.Count(read.Lines, "line"), c.opt.LogName))
		}
	}
	c.Concern(r.Findings)
	return nil
}

// PlaceGone notes in the findings of addresses and anchors that are gone the place
// in the sources that the author edits: the page that the address moved to, and the
// heading that has another id now.
func (a *Audit) PlaceGone(ctx context.Context, m *source.Map, prefix string, r *check.Result) error {
	if a.gone == nil {
		return nil
	}
	var pages []string
	var of []int
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == check.AddressGone {
			if page := a.gone.File(f); page != "" {
				pages, of = append(pages, page), append(of, i)
			}
		}
	}
	places, err := m.Files(ctx, a.Site, pages)
	if err != nil {
		return err
	}
	for i, p := range places {
		if p != nil {
			r.Findings[of[i]].Related = &check.Related{Position: shownPosition(prefix, p), Text: "the source of that page"}
		}
	}
	return nil
}
