package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/sitelink/sitelink/incoming"
)

// Item is one mention of another receiver.
type Item struct {
	// Where names the item in its file for the report: "entry 12", "comment 7".
	Where   string
	Mention incoming.Mention
	// Skip is the reason to leave the item out, "" to import it.
	Skip string
}

// Options configure an import. The zero value imports all.
type Options struct {
	// Accept returns false for targets that are not pages of yours. If nil, all are.
	Accept func(target string) bool
	// Hold holds the mentions that were approved at the other receiver.
	Hold bool
	// Recheck, if set, is the time from which the imported mentions are verified again.
	// Otherwise they stay as they are until the other site sends a notice.
	Recheck time.Time
}

// Report is what an import did.
type Report struct {
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

// Import records the items that the store does not have. After an error, which names the
// item, the items before it may be recorded; the report counts them.
func Import(ctx context.Context, store incoming.Store, items iter.Seq2[Item, error], opt Options) (Report, error) {
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
	opt      Options
	report   Report
	seen     map[incoming.Key]bool
	keys     []incoming.Key
	mentions []incoming.Mention
}

func (r *run) add(ctx context.Context, item Item) error {
	m := item.Mention
	skip := func(why string) error {
		r.report.Skipped = append(r.report.Skipped, Skipped{item.Where, plain(m.Source, maxURL), plain(m.Target, maxURL), why})
		return nil
	}
	if item.Skip != "" {
		return skip(item.Skip)
	}
	key, err := incoming.KeyOf(incoming.Notice{Action: incoming.Link, Source: m.Source, Target: m.Target})
	switch {
	case err != nil:
		return skip(plain(err.Error(), maxExcerpt))
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
	m.Title, m.Excerpt, m.Lang = plain(m.Title, maxTitle), plain(m.Excerpt, maxExcerpt), plain(m.Lang, maxLang)
	m.Author.Name = plain(m.Author.Name, maxName)
	if !isWeb(m.Author.URL) {
		m.Author.URL = ""
	}
	if r.opt.Hold && m.State == incoming.Approved {
		m.State = incoming.Held
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

// Limits of texts, in runes, and of addresses, in bytes, as for received mentions.
const (
	maxTitle   = 200
	maxExcerpt = 320
	maxName    = 100
	maxLang    = 35
	maxURL     = 2048
)

// plain returns a text as one line of at most n runes.
func plain(text string, n int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7F && r <= 0xA0 }), " ")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "…"
}

func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && len(text) <= maxURL
}

// textOf returns the text of HTML, without scripts and styles.
func textOf(markup string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(markup)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String() // all errors are the end of the text
		case html.TextToken:
			b.WriteString(html.UnescapeString(string(z.Raw())))
		case html.StartTagToken:
			name, _ := z.TagName()
			switch tag := atom.Lookup(name); tag {
			case atom.Script, atom.Style, atom.Template, atom.Noscript:
				skipElement(z, string(name))
			}
			fallthrough
		default:
			b.WriteByte(' ')
		}
	}
}

func skipElement(z *html.Tokenizer, name string) {
	for {
		switch z.Next() {
		case html.ErrorToken:
			return
		case html.EndTagToken:
			if end, _ := z.TagName(); string(end) == name {
				return
			}
		}
	}
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

// limited is an io.Reader whose error is clear when a limit is reached.
type limited struct {
	r    io.Reader
	left int64
}

// maxFile is the size of the largest file that is read.
const maxFile = 4 << 30

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("the file has more than %d GiB", maxFile>>30)
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
