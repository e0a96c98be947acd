package moderation

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// How long a login link and a session are valid.
const (
	linkLife    = 15 * time.Minute
	sessionLife = 12 * time.Hour
)

// Limits of what a page keeps in memory.
const (
	maxLinks    = 16
	maxSessions = 64
)

// cookie is the name of the session's cookie. The prefix makes browsers refuse it
// without Secure, from another host, and for another path (RFC 6265bis, 4.1.3.2).
const cookie = "__Host-sitelink-moderation"

// logins keeps the links that were not used yet and the sessions, as hashes of their
// tokens. A token has 256 random bits, so that nothing has to slow down guessing.
type logins struct {
	now func() time.Time

	mu       sync.Mutex
	links    map[[32]byte]time.Time // until when they are valid
	sessions map[[32]byte]time.Time
	// used has the tokens with a signature that were used. They stay, because a clock
	// that is set back would make an expired one valid again; only those who have the
	// key can add one. Those from before the start are refused, because they may have
	// been used then.
	used    map[string]bool
	started time.Time
}

func newLogins(now func() time.Time) *logins {
	return &logins{now: now, started: now().Truncate(time.Second), links: map[[32]byte]time.Time{}, sessions: map[[32]byte]time.Time{}, used: map[string]bool{}}
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// add keeps a new token for some time, and returns it. If there are too many, the one
// that ends first goes.
func (l *logins) add(set map[[32]byte]time.Time, life time.Duration, most int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	for len(set) >= most {
		var first [32]byte
		for hash, end := range set {
			if set[first].IsZero() || end.Before(set[first]) {
				first = hash
			}
		}
		delete(set, first)
	}
	token := newToken()
	set[sha256.Sum256([]byte(token))] = l.now().Add(life)
	return token
}

func (l *logins) expire() {
	now := l.now()
	for _, set := range []map[[32]byte]time.Time{l.links, l.sessions} {
		for hash, end := range set {
			if !now.Before(end) {
				delete(set, hash)
			}
		}
	}
}

// has reports whether a token is in a set. It compares hashes in constant time with
// each of the few entries.
func (l *logins) has(set map[[32]byte]time.Time, token string, remove bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	hash, found := sha256.Sum256([]byte(token)), 0
	for known := range set {
		found |= subtle.ConstantTimeCompare(known[:], hash[:])
	}
	if found == 1 && remove {
		delete(set, hash)
	}
	return found == 1
}

// SignedLink returns a login link for a page that has the key, as [Page.LoginLink] does,
// but without the page: a command makes it while the server runs. base is the address of
// the page, such as https://receiver.example/moderation. The link works once, within 15
// minutes of now, at a page that started before now. The error means that base is not a
// URL or that the key has fewer than 16 bytes.
func SignedLink(base string, key []byte, now time.Time) (string, error) {
	if len(key) < minKey {
		return "", fmt.Errorf("the key for login links has %d bytes, fewer than %d", len(key), minKey)
	}
	text := fmt.Sprintf("%x.%s", now.Add(linkLife).Unix(), newToken())
	return linkTo(base, text+"."+sign(key, text))
}

// minKey is the length of the shortest key of signed links: 128 bits.
const minKey = 16

func sign(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("sitelink moderation login\x00" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// linkTo returns the login link with a token. Its page has a button that uses up the
// token, so that a mail scanner that follows links does not.
func linkTo(base, token string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the address of the moderation page %q is not an http or https URL", base)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/login"
	u.RawQuery, u.Fragment = url.Values{"token": {token}}.Encode(), ""
	return u.String(), nil
}

// open uses up a login token and returns that of a new session, or false.
func (l *logins) open(token string, key []byte) (session string, ok bool) {
	if !l.has(l.links, token, true) && !l.signed(token, key) {
		return "", false
	}
	return l.add(l.sessions, sessionLife, maxSessions), true
}

// signed checks a token that [SignedLink] made, once.
func (l *logins) signed(token string, key []byte) bool {
	i := strings.LastIndexByte(token, '.')
	if len(key) < minKey || i < 0 || !hmac.Equal([]byte(sign(key, token[:i])), []byte(token[i+1:])) {
		return false
	}
	var unix int64
	if _, err := fmt.Sscanf(token, "%x.", &unix); err != nil {
		return false
	}
	end := time.Unix(unix, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.used[token] || !l.now().Before(end) || end.Add(-linkLife).Before(l.started) {
		return false
	}
	l.used[token] = true
	return true
}

// errNotLoggedIn means that a request has no valid session.
var errNotLoggedIn = errors.New("not logged in")

// session returns the token of the session of a request.
func (l *logins) session(r *http.Request) (string, error) {
	c, err := r.Cookie(cookie)
	if err != nil || !l.has(l.sessions, c.Value, false) {
		return "", errNotLoggedIn
	}
	return c.Value, nil
}

// equal compares in constant time.
func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// formToken returns what the forms of a session have to send back: it follows from the
// session's token, and another site cannot read it.
func formToken(session string) string {
	mac := hmac.New(sha256.New, []byte(session))
	mac.Write([]byte("form"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// LoginLink returns a link that logs in once, within 15 minutes, at this page. A page
// keeps 16 such links; a further one replaces the oldest.
func (p *Page) LoginLink(context.Context) (string, error) {
	return linkTo(p.opt.Address, p.logins.add(p.logins.links, linkLife, maxLinks))
}
