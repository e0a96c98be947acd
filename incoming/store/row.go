package store

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/incoming"
)

// id is the ID of a mention in its binary form.
type id [16]byte

func (i id) String() string { return hex.EncodeToString(i[:]) }

// parseID parses what String returns. ok is false for a text that no store returned.
func parseID(text string) (i id, ok bool) {
	if len(text) != hex.EncodedLen(len(i)) {
		return i, false
	}
	_, err := hex.Decode(i[:], []byte(text))
	return i, err == nil
}

// idOf returns the ID of the mention with this key: a hash with the secret of the
// database, as hard to guess as a random number. One index therefore serves searches
// by key and by ID, and two processes cannot give one key two IDs.
func (d *database) idOf(k incoming.Key) (i id) {
	h := hmac.New(sha256.New, d.secret[:])
	for _, part := range []string{string(k.Action), k.Source, k.Target} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	copy(i[:], h.Sum(nil))
	return i
}

// row is a mention with what the store keeps beside it.
type row struct {
	incoming.Mention
	id             id
	source, target string // canonical
	until          int64
	looks, tries   int
	begun          int
}

// maxKey limits the length of the canonical URLs that are indexed.
const maxKey = 1200

const columns = `id, action, protocol, source, target, source_sent, target_sent, source_host, replacement, state,
	title, excerpt, lang, author_name, author_url, fault, reason, received, verified,
	subscribed, peer, due, fetched, failures, until, looks, tries, begun`

var columnCount = strings.Count(columns, ",") + 1

// doUpdate replaces the columns that change after a row is created.
var doUpdate = func() string {
	var all []string
	for name := range strings.SplitSeq(columns, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains([]string{"id", "action", "source", "target", "source_host", "received"}, name) {
			all = append(all, name+" = excluded."+name)
		}
	}
	return "UPDATE SET " + strings.Join(all, ", ")
}()

// collect reads all rows and closes them.
func collect(rows *sql.Rows, err error) ([]*row, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*row
	for rows.Next() {
		r := &row{}
		var raw []byte
		var action, protocol, state, host, peer, sourceSent, targetSent string // named types are slower to scan
		var received, verified, due, fetched int64
		var subscribed int
		err := rows.Scan(&raw, &action, &protocol, &r.source, &r.target, &sourceSent, &targetSent, &host, &r.Replacement, &state,
			&r.Title, &r.Excerpt, &r.Lang, &r.Author.Name, &r.Author.URL, &r.Fault, &r.Reason, &received, &verified,
			&subscribed, &peer, &due, &fetched, &r.Failures, &r.until, &r.looks, &r.tries, &r.begun)
		if err != nil {
			return nil, err
		}
		r.Action, r.Protocol, r.State = incoming.Action(action), incoming.Protocol(protocol), incoming.State(state)
		copy(r.id[:], raw)
		r.ID = r.id.String()
		if r.Action == incoming.Link {
			r.Action = ""
		}
		r.Source, r.Target = r.source, r.target
		if sourceSent != "" {
			r.Source = sourceSent
		}
		if targetSent != "" {
			r.Target = targetSent
		}
		r.Subscribed = subscribed != 0
		r.Peer, _ = netip.ParseAddr(peer)
		r.Received, r.Verified, r.Due, r.Fetched = fromMicros(received), fromMicros(verified), fromMicros(due), fromMicros(fetched)
		all = append(all, r)
	}
	return all, rows.Err()
}

// chunk is how many rows a statement reads or writes.
const chunk = 64

// load reads the mentions with these IDs. With lock, it locks them in PostgreSQL.
func (d *database) load(ctx context.Context, db querier, ids []id, lock bool) (map[id]*row, error) {
	suffix := ""
	if lock && d.postgres {
		suffix = " ORDER BY id FOR UPDATE"
	}
	found := make(map[id]*row, len(ids))
	for some := range slices.Chunk(ids, chunk) {
		args := make([]any, len(some))
		for i := range some {
			args[i] = some[i][:]
		}
		all, err := collect(d.query(ctx, db, "SELECT "+columns+" FROM sitelink_mention WHERE id IN ("+marks(len(some))+")"+suffix, args...))
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			found[r.id] = r
		}
	}
	return found, nil
}

// insert writes rows. conflict says what happens with those that exist: NOTHING or
// doUpdate.
func (d *database) insert(ctx context.Context, db querier, rows []*row, conflict string) (written int64, err error) {
	for some := range slices.Chunk(rows, chunk) {
		args := make([]any, 0, len(some)*columnCount)
		for _, r := range some {
			sent := func(raw, canonical string) string {
				if raw == canonical && len(raw) <= maxKey {
					return ""
				}
				return clean(raw)
			}
			peer := ""
			if r.Peer.IsValid() {
				peer = r.Peer.String()
			}
			subscribed := 0
			if r.Subscribed {
				subscribed = 1
			}
			action := r.Action
			if action == "" {
				action = incoming.Link
			}
			args = append(args, r.id[:], clean(string(action)), clean(string(r.Protocol)), cut(r.source), cut(r.target), sent(r.Source, r.source), sent(r.Target, r.target),
				cut(hostOf(r.source)), clean(r.Replacement), clean(string(r.State)),
				clean(r.Title), clean(r.Excerpt), clean(r.Lang), clean(r.Author.Name), clean(r.Author.URL), r.Fault, clean(r.Reason), micros(r.Received), micros(r.Verified),
				subscribed, peer, micros(r.Due), micros(r.Fetched), r.Failures, r.until, r.looks, r.tries, r.begun)
		}
		values := strings.TrimSuffix(strings.Repeat("("+marks(columnCount)+"),", len(some)), ",")
		n, err := d.exec(ctx, db, "INSERT INTO sitelink_mention ("+columns+") VALUES "+values+" ON CONFLICT (id) DO "+conflict, args...)
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

// clean replaces what PostgreSQL does not accept in a text.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
}

// cut returns the beginning of a canonical URL, as it is indexed.
func cut(text string) string {
	if len(text) > maxKey {
		text = strings.ToValidUTF8(text[:maxKey], "")
	}
	return clean(text)
}

// hostOf returns the host of a canonical URL.
func hostOf(canonical string) string {
	u, err := url.Parse(canonical)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}
