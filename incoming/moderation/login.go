package moderation

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"maps"
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

// maxSessions limits the sessions that a page keeps in memory.
const maxSessions = 64

// cookie is the name of the session's cookie. The prefix makes browsers refuse it
// without Secure, from another host, and for another path (RFC 6265bis, 4.1.3.2).
const cookie = "__Host-sitelink-moderation"

// logins keeps the sessions, as hashes of their tokens, and the links that were used. A
// token has 256 random bits, so that nothing has to slow down guessing.
type logins struct {
	now func() time.Time

	mu       sync.Mutex
	sessions map[[32]byte]time.Time // until when they are valid
	// used has the tokens of links that were used. They stay, because a clock
	// that is set back would make an expired one valid again; only those who have the
	// key can add one. Those from before the start are refused, because they may have
	// been used then.
	used    map[string]bool
	started time.Time
}

func newLogins(now func() time.Time) *logins {
	return &logins{now: now, started: now().Truncate(time.Second), sessions: map[[32]byte]time.Time{}, used: map[string]bool{}}
}

func newToken() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// open uses up the token of a link that [SignedLink] made, and returns that of a new
// session. If there are too many sessions, the one that ends first goes.
func (l *logins) open(token string, key []byte) (session string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, signature, _ := cutLast(token, ".")
	if !equal(sign(key, text), signature) {
		return "", false
	}
	var unix int64
	if _, err := fmt.Sscanf(token, "%x.", &unix); err != nil {
		return "", false
	}
	now, end := l.now(), time.Unix(unix, 0)
	if l.used[token] || !now.Before(end) || end.Add(-linkLife).Before(l.started) {
		return "", false
	}
	l.used[token] = true
	l.expire()
	for len(l.sessions) >= maxSessions {
		var first [32]byte
		for hash, end := range l.sessions {
			if l.sessions[first].IsZero() || end.Before(l.sessions[first]) {
				first = hash
			}
		}
		delete(l.sessions, first)
	}
	session = newToken()
	l.sessions[sha256.Sum256([]byte(session))] = now.Add(sessionLife)
	return session, true
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

func (l *logins) expire() {
	now := l.now()
	maps.DeleteFunc(l.sessions, func(_ [32]byte, end time.Time) bool { return !now.Before(end) })
}

// has reports whether there is a session with a token, which it ends if asked to. It
// compares hashes in constant time with each of the few entries.
func (l *logins) has(token string, end bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire()
	hash, found := sha256.Sum256([]byte(token)), 0
	for known := range l.sessions {
		found |= subtle.ConstantTimeCompare(known[:], hash[:])
	}
	if found == 1 && end {
		delete(l.sessions, hash)
	}
	return found == 1
}

// SignedLink returns a login link for a page that has the key. A command can make it while
// the server runs. base is the address of the page, such as
// https://receiver.example/moderation. The link works once, within 15 minutes of now, at a
// page that started before now. Its page has a button that uses up the token, so that a
// mail scanner that follows links does not. The error means that base is not a URL or that
// the key has fewer than 16 bytes.
func SignedLink(base string, key []byte, now time.Time) (string, error) {
	if len(key) < minKey {
		return "", fmt.Errorf("the key for login links has %d bytes, fewer than %d", len(key), minKey)
	}
	text := fmt.Sprintf("%x.%s", now.Add(linkLife).Unix(), newToken())
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the address of the moderation page %q is not an http or https URL", base)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/login"
	u.RawQuery, u.Fragment = url.Values{"token": {text + "." + sign(key, text)}}.Encode(), ""
	return u.String(), nil
}

// minKey is the length of the shortest key of signed links: 128 bits.
const minKey = 16

func sign(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("sitelink moderation login\x00" + text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// session returns the token of the session of a request.
func (l *logins) session(r *http.Request) (token string, ok bool) {
	c, err := r.Cookie(cookie)
	if err != nil || !l.has(c.Value, false) {
		return "", false
	}
	return c.Value, true
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
