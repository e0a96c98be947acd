package remote

import (
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Record is what is remembered of one URL: a row of the status cache. Times have
// whole seconds and are in UTC.
type Record struct {
	// URL is what [Key] returns.
	URL string `json:"-"`
	// Verdict and Code are the judgement so far: ok, error [check.DeadLink],
	// warning [check.Doubtful] or [check.Moved], unchecked [check.Blocked].
	Verdict check.Verdict `json:"-"`
	Code    check.Code    `json:"code,omitempty"`
	// Reason says what happened at the last request; it is empty after a good
	// answer.
	Reason Reason `json:"reason,omitempty"`
	// Status is that of the last answer, after redirects; 0 without one.
	Status int `json:"status,omitempty"`
	// Final is the last address that permanent redirects lead to, if the URL
	// answers there.
	Final string `json:"final,omitempty"`
	// Hops are the redirects of the last request, as far as their addresses have at
	// most 2 KiB.
	Hops []Hop `json:"hops,omitempty"`
	// Strikes counts the failures in a row, at most one for each interval of the
	// policy. Since is the time of the first, and Struck that of the last which
	// counted.
	Strikes int       `json:"strikes,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Struck  time.Time `json:"struck,omitzero"`
	// WasGone reports that the last failure which counted says that there is
	// nothing: 404, 410 or a name that does not exist.
	WasGone bool `json:"gone,omitempty"`
	// Asked is the beginning of the last run that asked, so that a run as long after it
	// asks again. Good is the beginning of the last run with a good answer. Asked is
	// 1970-01-01 in a row of schema 1, because the request may have been for another
	// spelling of the URL. Such a row is due.
	Asked time.Time `json:"asked,omitzero"`
	Good  time.Time `json:"good,omitzero"`
	// Next is the time before which the host asked for no further request. After Retry it
	// is Asked, and the URL is due.
	Next time.Time `json:"next,omitzero"`
	// ETag, LastModified and Hash identify the content of the last good answer, in
	// the order in which they are used: Hash, of the body's first bytes, is set only
	// if the host sends neither of the others. Answered is the URL that
	// sent it, if it is not URL.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
	Hash         string `json:"hash,omitempty"`
	Answered     string `json:"answered,omitempty"`
	// Changed is the time when the content was last seen to differ from before, zero
	// if it did not since the last reset.
	Changed time.Time `json:"changed,omitzero"`
	// Present and Missing are the fragments that links asked for, as the content
	// above has them or not. They are sorted.
	Present []string `json:"present,omitempty"`
	Missing []string `json:"missing,omitempty"`
	// Title is that of the page when it was first read, or since the last reset.
	Title string `json:"title,omitempty"`
	// Hints describe what a person should look at, such as a parked domain.
	Hints []string `json:"hints,omitempty"`
	// Variant is an address that differs from URL only in https, in the final slash or in
	// www, and answers although URL is dead, or is not https. Copy is the closest copy
	// of a dead page in the Internet Archive. Probed and Searched are the times when
	// they were looked for. All are forgotten when Code changes.
	Variant  string    `json:"variant,omitempty"`
	Probed   time.Time `json:"probed,omitzero"`
	Copy     string    `json:"copy,omitempty"`
	Searched time.Time `json:"searched,omitzero"`
}

// Known reports whether the URL was ever asked for.
func (r *Record) Known() bool { return !r.Asked.IsZero() }

// conditional reports whether the content can be asked for only if it changed.
func (r *Record) conditional() bool { return r.ETag != "" || r.LastModified != "" }

// knows reports whether it is known of every fragment whether it is there.
func (r *Record) knows(fragments []string) bool {
	for _, f := range fragments {
		if _, ok := slices.BinarySearch(r.Present, f); ok {
			continue
		}
		if _, ok := slices.BinarySearch(r.Missing, f); !ok {
			return false
		}
	}
	return true
}

// Lacks reports whether the page is known to have no such fragment.
func (r *Record) Lacks(fragment string) bool {
	_, missing := slices.BinarySearch(r.Missing, fragment)
	return missing
}

// Reason says why an answer is not good.
type Reason string

// The reasons.
const (
	NotFound         Reason = "not-found"                // 404
	Gone             Reason = "gone"                     // 410
	NoSuchHost       Reason = "no-such-host"             // the name does not exist
	DNS              Reason = "dns"                      // the name could not be looked up
	ServerError      Reason = "server-error"             // 5xx
	Timeout          Reason = "timeout"                  // nothing for too long, or too slow; 408
	Refused          Reason = "refused"                  // no connection
	Reset            Reason = "reset"                    // the connection was closed without an answer
	TLS              Reason = "tls"                      // another failure of the handshake
	TLSExpired       Reason = "tls-expired"              // the certificate expired, or is not valid yet
	TLSName          Reason = "tls-wrong-host"           // the certificate is for another host
	TLSAuthority     Reason = "tls-unknown-issuer"       // self-signed, or by an unknown authority
	TLSChain         Reason = "tls-missing-intermediate" // the host does not send the certificate that signed its own
	ClientCert       Reason = "client-certificate"       // the host demands a certificate of the visitor
	Garbage          Reason = "garbage"                  // not HTTP, or a body that cannot be read
	RedirectLoop     Reason = "redirect-loop"            // redirects that never end, or too many
	BadRedirect      Reason = "bad-redirect"             // to something that is not a URL
	LoginRequired    Reason = "login-required"           // 401, 407
	Forbidden        Reason = "forbidden"                // 403
	RateLimited      Reason = "rate-limited"             // 429, or a long Retry-After
	Legal            Reason = "legal"                    // 451
	BotWall          Reason = "bot-wall"                 // a page for people only; 999
	PrivateAddress   Reason = "private-address"          // not on the public internet
	OtherScheme      Reason = "other-scheme"             // a redirect to something other than http and https
	RefusedRequest   Reason = "refused-request"          // 400, 402, 405, 406
	SoftMissing      Reason = "soft-not-found"           // a page that says in another way that it is missing
	Parked           Reason = "parked"                   // a page that offers the domain for sale
	UnexpectedStatus Reason = "unexpected-status"        // any other status
)

// Hop is a redirect that was followed.
type Hop struct {
	Status int    `json:"status"`
	To     string `json:"to"`
}

// Permanent reports whether the redirect says that the page moved permanently.
func (h Hop) Permanent() bool { return h.Status == 301 || h.Status == 308 }

// Answer is what came of asking for a URL, after redirects.
type Answer struct {
	// Status is that of the last response; 0 without one. 304 means that the
	// content is the one that the record describes.
	Status int
	// Fault says why there is no complete response, or why the response is
	// not what it looks like ([BotWall]). It is empty otherwise.
	Fault Reason
	// Hops are the redirects that were followed.
	Hops []Hop
	// RetryAfter is how long the host asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// ETag, LastModified and Hash describe the content, see [Record].
	ETag, LastModified, Hash string
	// Looked reports that the page was searched for fragments, with the result
	// in Present and Missing.
	Looked           bool
	Present, Missing []string
	// Read reports that a page was read; Title and Hints describe it. Hints are what a
	// person should look at.
	Read  bool
	Title string
	Hints []string
}

// moved returns the address at which the permanent redirects of an answer end, without
// parameters that follow the visitor, and whether all redirects are permanent. The
// address is "" if it is that of the link, and if it is that of a login page.
func (a *Answer) moved(link string) (final string, all bool) {
	all = true
	for _, h := range a.Hops {
		if all = h.Permanent(); !all {
			break
		}
		final = h.To
	}
	from, err := weburl.Parse(link)
	to, errTo := weburl.Parse(final)
	if final == "" || err != nil || errTo != nil || loginPath().MatchString(to.Path()) && !loginPath().MatchString(from.Path()) {
		return "", false
	}
	final = withoutTracking(to, from.Query())
	if key, err := Key(final); err == nil && !to.HasFragment() {
		if own, err := Key(link); err == nil && key == own {
			return "", false
		}
	}
	return final, all
}

// tracking are parameters that follow a visitor, and do not say which page is meant.
var tracking = text.Regexp(`(?i)^(utm_\w+|[gdfy]clid|fbclid|msclkid|twclid|ttclid|[gw]braid|igshid|mc_[ce]id|_ga|_gl|_hsenc|_hsmi|mkt_tok|ref_src|li_fat_id|phpsessid|jsessionid)=`)

// sessionPart is a session in a path.
var sessionPart = text.Regexp(`(?i);jsessionid=[^/?#]*`)

// withoutTracking returns a URL without the parameters of tracking that a query does not
// have.
func withoutTracking(u weburl.URL, query string) string {
	rest, fragment, _ := strings.Cut(u.String(), "#")
	rest, _, _ = strings.Cut(rest, "?")
	own := strings.Split(query, "&")
	parts := slices.DeleteFunc(strings.Split(u.Query(), "&"), func(p string) bool { return tracking().MatchString(p) && !slices.Contains(own, p) })
	all := sessionPart().ReplaceAllString(rest, "")
	if len(parts) > 0 && u.HasQuery() {
		all += "?" + strings.Join(parts, "&")
	}
	if u.HasFragment() {
		all += "#" + fragment
	}
	return all
}

// seconds returns a time as the cache has it.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }
