package moderation

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing"
)

// NotifierOptions configure a [Notifier].
type NotifierOptions struct {
	Store incoming.Store
	// Mail sends mails, Webhook calls a program of yours; nil means neither.
	Mail    *Mail
	Webhook *Webhook
	// Every is the time between two messages: 15 minutes by default. One message is
	// about all mentions that were held since the last.
	Every time.Duration
	// Address is that of the moderation page, for the messages.
	Address string
	// State is the beginning of the names of two files that remember which mentions were
	// reported. Without it, the mentions that are held when Run begins are not reported.
	State string
	// Now is the clock, time.Now by default.
	Now func() time.Time
	// Log gets failures; nil means slog.Default().
	Log *slog.Logger
}

// A Notifier reports newly held mentions.
type Notifier struct {
	opt   NotifierOptions
	lines []*line
}

// line is one way to report. Each remembers what it reported, so that a failure of one
// does not repeat the messages of the other.
type line struct {
	name  string
	state string // file, or ""
	send  func(context.Context, *Message) error
	// seen has the hashes of the IDs of held mentions that were reported; nil before the
	// first look.
	seen map[uint64]struct{}
}

// Message is what a notifier reports, and the body of the webhook's request.
type Message struct {
	Event string `json:"event"` // "held"
	// New is the number of mentions that were held since the last message, Held that
	// of all that wait for a decision.
	New     int    `json:"new"`
	Held    int    `json:"held"`
	Address string `json:"moderation,omitempty"`
	// Mentions are the first of the new ones, at most 20.
	Mentions []incoming.Mention `json:"mentions"`
}

// maxReported is how many mentions a message names.
const maxReported = 20

// NewNotifier returns a notifier. The error says which option is wrong.
func NewNotifier(o NotifierOptions) (*Notifier, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log, o.Every = cmp.Or(o.Log, slog.Default()), cmp.Or(o.Every, 15*time.Minute)
	n := &Notifier{opt: o}
	add := func(name string, send func(context.Context, *Message) error) {
		l := &line{name: name, send: send}
		if o.State != "" {
			l.state = o.State + "." + name
		}
		n.lines = append(n.lines, l)
	}
	if o.Mail != nil {
		m, err := o.Mail.check()
		if err != nil {
			return nil, err
		}
		add("mail", func(ctx context.Context, msg *Message) error { return m.send(ctx, msg, o.Now()) })
	}
	if o.Webhook != nil {
		if err := o.Webhook.check(); err != nil {
			return nil, err
		}
		add("webhook", func(ctx context.Context, msg *Message) error { return o.Webhook.send(ctx, msg, o.Now()) })
	}
	return n, nil
}

// Run reports newly held mentions until ctx is done. A message that could not be sent is
// tried again with the next one.
func (n *Notifier) Run(ctx context.Context) error {
	if len(n.lines) == 0 {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	tick := time.NewTicker(n.opt.Every)
	defer tick.Stop()
	for {
		if err := n.Look(ctx); err != nil && ctx.Err() == nil {
			n.opt.Log.Error("held mentions were not reported", "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// Look reports the mentions that were held since the last look, as Run does from time
// to time. The error says which messages were not sent.
func (n *Notifier) Look(ctx context.Context) error {
	var errs []error
	for _, l := range n.lines {
		if err := n.look(ctx, l); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", l.name, err))
		}
	}
	return errors.Join(errs...)
}

func (n *Notifier) look(ctx context.Context, l *line) error {
	first := l.seen == nil
	if first {
		known, err := l.load()
		if err != nil {
			return err
		}
		l.seen = known
		first = known == nil
	}
	msg := &Message{Event: "held", Address: n.opt.Address, Mentions: []incoming.Mention{}}
	held := make(map[uint64]struct{}, len(l.seen))
	for m, err := range n.opt.Store.List(ctx, incoming.Filter{States: []incoming.State{incoming.Held}}) {
		if err != nil {
			if first {
				l.seen = nil
			}
			return err
		}
		hash := xxhash.Sum64String(m.ID)
		held[hash] = struct{}{}
		msg.Held++
		if _, ok := l.seen[hash]; ok || first {
			continue
		}
		msg.New++
		if len(msg.Mentions) < maxReported {
			msg.Mentions = append(msg.Mentions, m)
		}
	}
	if msg.New > 0 {
		if err := l.send(ctx, msg); err != nil {
			return err
		}
	}
	changed := first || msg.New > 0 || len(held) != len(l.seen)
	l.seen = held
	if !changed {
		return nil
	}
	if l.state == "" {
		return nil
	}
	text := make([]byte, 0, 8*len(l.seen))
	for hash := range l.seen {
		text = binary.LittleEndian.AppendUint64(text, hash)
	}
	return system.WriteFile(l.state, text, 0o600)
}

// load returns the hashes in the state file, or nil if that has not been written.
func (l *line) load() (map[uint64]struct{}, error) {
	if l.state == "" {
		return nil, nil
	}
	text, err := system.Read(l.state, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(text)%8 != 0 {
		return nil, fmt.Errorf("read %s: %w; remove the file to begin again", l.state, cmp.Or(system.Cause(err), errors.New("it is damaged")))
	}
	known := make(map[uint64]struct{}, len(text)/8)
	for ; len(text) > 0; text = text[8:] {
		known[binary.LittleEndian.Uint64(text)] = struct{}{}
	}
	return known, nil
}

// Webhook is a program that gets a POST request with a [Message] in JSON.
//
// The field Sitelink-Timestamp has the Unix time of the request, and Sitelink-Signature
// the text "sha256=" and the HMAC-SHA256, in hexadecimal, of the time, a full stop and
// the body. Compare it in constant time, and refuse old requests.
type Webhook struct {
	URL string
	// Secret is the key of the signature: at least 16 bytes that are hard to guess.
	Secret []byte
	// Client makes the request. It refuses private addresses unless it allows them.
	Client outgoing.Doer
}

func (h *Webhook) check() error {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("the webhook %q is not an http or https URL", outgoing.OneLine(h.URL))
	case len(h.Secret) < minKey:
		return fmt.Errorf("the secret of the webhook has %d bytes, fewer than %d", len(h.Secret), minKey)
	case h.Client == nil:
		return errors.New("the webhook has no client")
	}
	return nil
}

func (h *Webhook) send(ctx context.Context, msg *Message, now time.Time) error {
	body, err := json.Marshal(msg)
	body = text.EscapeHidden(body)
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, h.Secret)
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	header := http.Header{
		"Content-Type":       {"application/json"},
		"Sitelink-Timestamp": {stamp},
		"Sitelink-Signature": {"sha256=" + hex.EncodeToString(mac.Sum(nil))},
	}
	r, err := h.Client.Do(ctx, outgoing.Request{Method: http.MethodPost, URL: h.URL, Header: header, Body: body})
	if err != nil {
		return err
	}
	if r.Status < 200 || r.Status > 299 {
		return fmt.Errorf("it answered %s", outgoing.StatusText(r.Status))
	}
	return nil
}
