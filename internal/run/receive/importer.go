package receive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/verify"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
)

// ImportItem is one mention of another receiver.
type ImportItem struct {
	// Where names the item in its file for the report: "entry 12", "comment 7".
	Where   string
	Mention incoming.Mention
	// Skip is the reason to leave the item out, "" to import it.
	Skip string
}

// ImportOptions configure an import. The zero value imports all.
type ImportOptions struct {
	// Accept returns false for targets that are not pages of yours. If nil, all are.
	Accept func(target string) bool
	// Recheck, if set, is the time from which the imported mentions are verified again.
	// Otherwise they stay as they are until the other site sends a notice.
	Recheck time.Time
}

// ImportReport is what an import did.
type ImportReport struct {
	Recorded int
	// Known are the mentions that the store had already, and that stay as they are.
	Known   int
	Skipped []Skipped
}

// Skipped is an item that was left out.
type Skipped struct {
	Where          string `json:"where"`
	Source, Target string
	Why            string `json:"why"`
}

// batch is how many mentions are recorded in one step.
const batch = 500

// ImportItems brings the mentions of another receiver into a store: those that [JF2], [WordPress] and [Webmentiond] read
// out of its export. A mention is approved if the other receiver showed it, and held if it waited for a decision there.
// An import can be repeated, also after an error, and never changes a decision that was made here. Everything that is left
// out is in the report, with the reason. No request is made.
//
// It records the items that the store does not have. After an error, which names the
// item, the items before it may be recorded; the report counts them.
func ImportItems(ctx context.Context, store incoming.Store, items iter.Seq2[ImportItem, error], opt ImportOptions) (ImportReport, error) {
	r := run{store: store, opt: opt, seen: map[incoming.Key]bool{}}
	for item, err := range items {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = r.add(ctx, item)
		}
		if err != nil {
			return r.report, errors.Join(err, r.flush(context.WithoutCancel(ctx)))
		}
	}
	return r.report, r.flush(ctx)
}

// run is one import.
type run struct {
	store    incoming.Store
	opt      ImportOptions
	report   ImportReport
	seen     map[incoming.Key]bool
	keys     []incoming.Key
	mentions []incoming.Mention
}

func (r *run) add(ctx context.Context, item ImportItem) error {
	m := item.Mention
	skip := func(why string) error {
		r.report.Skipped = append(r.report.Skipped, Skipped{item.Where, verify.Clean(m.Source, incoming.MaxURL), verify.Clean(m.Target, incoming.MaxURL), why})
		return nil
	}
	if item.Skip != "" {
		return skip(item.Skip)
	}
	key, err := incoming.KeyOf(incoming.Notice{Action: incoming.Link, Source: m.Source, Target: m.Target})
	switch {
	case err != nil:
		return skip(verify.Clean(err.Error(), maxExcerpt))
	case !isWeb(m.Source) || !isWeb(m.Target):
		return skip("an address has credentials, or is longer than 2048 bytes")
	case r.opt.Accept != nil && !r.opt.Accept(m.Target):
		return skip("the target is not a page of this site")
	case r.seen[key]:
		return skip("the list has the same source and target twice")
	}
	r.seen[key] = true
	r.keys = append(r.keys, key)
	r.mentions = append(r.mentions, r.cleaned(m))
	if len(r.keys) < batch {
		return nil
	}
	return r.flush(ctx)
}

// cleaned returns a mention within the limits of those that are received here.
func (r *run) cleaned(m incoming.Mention) incoming.Mention {
	m.ID = ""
	m.Title, m.Excerpt, m.Lang = verify.Clean(m.Title, maxTitle), verify.Clean(m.Excerpt, maxExcerpt), verify.Clean(m.Lang, maxLang)
	m.Author.Name = verify.Clean(m.Author.Name, maxName)
	if !isWeb(m.Author.URL) {
		m.Author.URL = ""
	}
	if m.State == incoming.Held || m.State == incoming.Approved {
		m.Verified = cmp.Or(m.Verified, m.Received)
		if m.Verified.IsZero() {
			m.Verified = time.Unix(0, 0).UTC() // verified there, at a time that is not known
		}
		m.Due = r.opt.Recheck
	}
	return m
}

// flush records the collected mentions in one step.
func (r *run) flush(ctx context.Context) error {
	if len(r.keys) == 0 {
		return nil
	}
	recorded := 0
	err := r.store.Record(ctx, r.keys, func(found []*incoming.Mention) ([]*incoming.Mention, error) {
		recorded = 0 // it may be called again
		write := make([]*incoming.Mention, len(found))
		for i, old := range found {
			if old == nil {
				m := r.mentions[i]
				write[i] = &m
				recorded++
			}
		}
		return write, nil
	})
	if err != nil {
		return fmt.Errorf("record mentions: %w", err)
	}
	r.report.Recorded += recorded
	r.report.Known += len(r.keys) - recorded
	r.keys, r.mentions = r.keys[:0], r.mentions[:0]
	return nil
}

// Limits of texts, in characters, as for received mentions.
const (
	maxTitle   = 200
	maxExcerpt = 320
	maxName    = 100
	maxLang    = 35
)

func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && len(text) <= incoming.MaxURL
}

// textOf returns the text of HTML, without scripts and styles.
func textOf(markup string) string {
	_, text, _ := scanhtml.Visible([]byte(markup))
	return text
}

// timeIn parses a time in one of some layouts, in UTC if it has no zone, zero if it is in
// none.
func timeIn(text string, layouts ...string) time.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && t.Year() > 1 {
			return t.UTC()
		}
	}
	return time.Time{}
}
