package receive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// Book tells the pages that link to a site when a page of the site moves, disappears or changes, with the calls UNLINKR and
// LINKMOD of the LINK draft. It remembers between deploys where each page was that another site links to, and which calls
// are still to be sent. [Book.Deploy] compares that with the site as it is now. [Book.Send] sends the calls with a
// [send.LinkSender], which only calls hosts that opted in (LK-61); the pages of other sites are never polled (LK-62).
//
// What a Book knows must be remembered between deploys. It is not safe for concurrent
// use, and only one process should have it: two would send each call twice.
type Book struct {
	// Pages are the pages of ours that other sites link to, by the URL that they
	// use.
	Pages map[string]BookPage `json:"pages"`
	// Queue are the calls that are still to be sent, sorted by the host that gets
	// them.
	Queue []BookEntry `json:"queue,omitempty"`
}

// BookPage is what is remembered about a page of ours.
type BookPage struct {
	// URL is the address of the page after redirects, "" if it does not exist.
	URL string `json:"url"`
	// Text is the hash of its text, see [incoming.Page].
	Text uint64 `json:"text,omitempty"`
}

// BookEntry is a call that is still to be sent.
type BookEntry struct {
	Call send.LinkCall `json:"call"`
	// Attempts is the number of attempts that failed, Next the time of the next
	// one.
	Attempts int       `json:"attempts,omitempty"`
	Next     time.Time `json:"next,omitzero"`
}

// maxBook is the size of the largest file that is read.
const maxBook = 256 << 20

// ReadBook reads a book. A file that does not exist is an empty book.
func ReadBook(name string) (*Book, error) {
	b := &Book{Pages: make(map[string]BookPage)}
	data, err := system.Read(name, maxBook)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(data, b)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, which holds the calls that are still to be sent: %w; restore it, or remove it to start a new one", name, system.Cause(err))
	}
	if b.Pages == nil {
		b.Pages = make(map[string]BookPage)
	}
	return b, nil
}

// Write writes the book. At any time, the file has its old or its new content.
func (b *Book) Write(name string) error {
	data, err := json.MarshalIndent(b, "", " ")
	if err != nil {
		return err
	}
	if err := system.WriteFile(name, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s, which holds the calls that are still to be sent: %w", name, system.Cause(err))
	}
	return nil
}

// Deploy looks at the pages that other sites link to, compares them with the last
// deploy, and adds calls to the queue. For a page that is gone or moved, it adds
// UNLINKR. The call has the new address if the site redirects there, or if exactly
// one new page has the same text. For a page with a changed text, it adds LINKMOD
// to hosts that asked for it (LK-36). Only verified links count.
//
// If the store returns an error, so does Deploy. Then repeat it: no call is added
// twice.
//
// before are the sites before the deploy; Deploy needs them for links that
// arrived since the last one. before may be nil. after are the sites now.
func (b *Book) Deploy(ctx context.Context, store incoming.Store, before, after *incoming.Sites) error {
	now := make(map[string]BookPage)
	b.Queue = slices.DeleteFunc(b.Queue, func(e BookEntry) bool {
		p := after.Lookup(e.Call.Target)
		return e.Call.Method == send.UnlinkR && p.Exists && sameAddress(p.URL, e.Call.Target) // it is back
	})
	filter := incoming.Filter{States: []incoming.State{incoming.Held, incoming.Approved}, Action: []incoming.Action{incoming.Link}}
	queued := make(map[send.LinkCall]int) // without replacements
	for i, e := range b.Queue {
		queued[keyOf(e.Call)] = i
	}
	for m, err := range store.List(ctx, filter) {
		if err != nil {
			return err
		}
		found := after.Lookup(m.Target)
		if !found.Served || !found.Exists && !found.Complete {
			continue // not known here any more
		}
		is := BookPage{found.URL, found.Text}
		was, known := b.Pages[m.Target]
		if !known && before != nil {
			p := before.Lookup(m.Target)
			was, known = BookPage{p.URL, p.Text}, p.Served
		}
		now[m.Target] = is
		call, ok := compareEntries(m, was, is, known, after)
		if !ok {
			continue
		}
		if at, found := queued[keyOf(call)]; found {
			b.Queue[at].Call = call // it moved again before it was sent
			continue
		}
		queued[keyOf(call)] = len(b.Queue)
		b.Queue = append(b.Queue, BookEntry{Call: call})
	}
	b.Pages = now
	slices.SortStableFunc(b.Queue, func(x, y BookEntry) int {
		return cmp.Or(cmp.Compare(host(x.Call), host(y.Call)), cmp.Compare(x.Call.Source, y.Call.Source), cmp.Compare(x.Call.Target, y.Call.Target))
	})
	return nil
}

// Plan returns the calls that would be in the queue after a deploy of the sites after,
// as [Book.Deploy] puts them there. It changes nothing.
func (b *Book) Plan(ctx context.Context, store incoming.Store, after *incoming.Sites) ([]send.LinkCall, error) {
	planned := &Book{Pages: b.Pages, Queue: slices.Clone(b.Queue)}
	if err := planned.Deploy(ctx, store, nil, after); err != nil {
		return nil, err
	}
	var calls []send.LinkCall
	for _, e := range planned.Queue {
		calls = append(calls, e.Call)
	}
	return calls, nil
}

func keyOf(c send.LinkCall) send.LinkCall {
	c.Replacement = ""
	return c
}

// sameAddress reports whether two URLs differ at most in their scheme and a final
// slash.
func sameAddress(a, b string) bool {
	bare := func(url string) string {
		c, err := weburl.Canonical(url)
		if err != nil {
			return url
		}
		_, rest, _ := strings.Cut(c, "://")
		return strings.TrimSuffix(rest, "/")
	}
	return bare(a) == bare(b)
}

func host(c send.LinkCall) string {
	u, err := weburl.Parse(c.Receiver())
	if err != nil {
		return ""
	}
	return u.Host()
}

// compareEntries returns the call that follows from what a page was and is.
func compareEntries(m incoming.Mention, was, is BookPage, known bool, after *incoming.Sites) (c send.LinkCall, ok bool) {
	c = send.LinkCall{Method: send.UnlinkR, Source: m.Source, Target: m.Target}
	switch {
	case is.URL == "":
		// What was received is known to have existed then.
		c.Replacement = after.WithText(was.Text)
		return c, !known || was.URL != ""
	case !known || was.URL == "", is.URL != was.URL && sameAddress(is.URL, m.Target):
		return c, false // the page is back
	case is.URL != was.URL:
		c.Replacement = is.URL
		return c, true
	}
	c.Method = send.LinkMod
	return c, m.Subscribed && was.Text != is.Text && was.Text != 0
}

// Caller makes calls. [send.LinkSender] is one.
type Caller interface {
	Notify(ctx context.Context, c send.LinkCall) outgoing.Outcome
}

// Sent is a call that was made, and its outcome.
type Sent struct {
	Call send.LinkCall
	outgoing.Outcome
}

// retries are the times between the attempts to make a call. After the last one it
// is given up: the link breaks, as it would have without a call.
var retries = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour, 3 * 24 * time.Hour}

// Send makes the calls that are due, one after the other, and removes from the
// queue those that need no further attempt. The pace per host is that of the
// client of the caller (LK-52). Write the book afterwards, also after an error,
// which is that of the context.
func (b *Book) Send(ctx context.Context, caller Caller, now time.Time) (sent []Sent, err error) {
	var left []BookEntry
	for i, e := range b.Queue {
		if err = ctx.Err(); err != nil {
			left = append(left, b.Queue[i:]...)
			break
		}
		if e.Next.After(now) {
			left = append(left, e)
			continue
		}
		o := caller.Notify(ctx, e.Call)
		sent = append(sent, Sent{e.Call, o})
		if o.State == ledger.Retry && e.Attempts < len(retries) {
			e.Next = now.Add(max(retries[e.Attempts], o.After))
			e.Attempts++
			left = append(left, e)
		}
	}
	b.Queue = left
	return sent, err
}
