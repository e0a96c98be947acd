package remote

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"errors"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/weburl"
)

const (
	// maxHops is the number of redirects that browsers follow.
	//
	// https://fetch.spec.whatwg.org/#http-redirect-fetch
	maxHops = 20
	// maxTries is how often an address is tried in one run.
	maxTries = 2
	// maxWaits is how often a short Retry-After is waited for.
	maxWaits = 3
	// smallBody is enough for a hash and a title, pageBody for the anchors of most
	// pages.
	smallBody = 64 << 10
	pageBody  = 2 << 20
	// maxHeader is the largest header that Chromium reads.
	maxHeader = 256 << 10
)

// chain is the state of a job once its requests have begun: the redirects so far,
// with their cookies.
type chain struct {
	record Record
	policy *Policy
	url    string // of the next request
	hops   []Hop
	seen   []string
	jar    *cookiejar.Jar
	tries  int
	waits  int
	// get: the answers to HEAD, with the status denied, say nothing reliable.
	get    bool
	denied int
	// lenient: the last response was no valid HTTP, so that the next is read as
	// browsers read it.
	lenient bool
	// fragment is that of the last redirect which had one.
	fragment string
	look     *glance // nil before the second look
	// random is [Options.Random].
	random bool
	// login are the fields of [Options.Login] for authority, nil once a request went
	// elsewhere.
	authority string
	login     http.Header
	// maxBody, if not 0, limits the body. isSide: no link names the address, so that one
	// answer that it is missing is enough.
	maxBody int64
	isSide  bool
}

func newChain(j *job, r *Record, p *Policy) *chain { return &chain{record: *r, policy: p, url: j.url} }

// result is what came of a request.
type result struct {
	job      *job
	request  fetch.Request
	response *fetch.Response
	err      error
	took     time.Duration
	canceled bool
}

// step is what follows from a result: another request, after a time or as a retry, or
// the answer.
type step struct {
	again, retry bool
	hold         bool // until another job has asked the host for a random address
	wait         time.Duration
	answer       Answer
}

// usual is the header of a request that needs nothing special. It is never changed.
var usual = http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}}

// request returns the next request of a chain. It asks for less than a page where that
// is enough: a conditional request if the content is known, else HEAD if the host answers
// it correctly.
func (c *chain) request(j *job, h *host) fetch.Request {
	r := fetch.Request{Method: http.MethodGet, URL: c.url, NoRedirect: true, MaxBody: smallBody, Header: usual, Lenient: c.lenient}
	set := func(name, value string) {
		r.Header = r.Header.Clone()
		r.Header.Set(name, value)
	}
	if len(j.fragments) > 0 {
		r.MaxBody = pageBody
	}
	r.MaxBody = cmp.Or(c.maxBody, r.MaxBody)
	known := c.look == nil && c.record.conditional() && c.record.knows(j.fragments) && cmp.Or(c.record.Answered, j.url) == c.url
	switch {
	case known && c.record.ETag != "":
		set("If-None-Match", c.record.ETag)
	case known:
		set("If-Modified-Since", c.record.LastModified)
	case h.heads && !h.noHeads && !c.get && len(j.fragments) == 0:
		r.Method = http.MethodHead
	}
	if cookies := c.cookies(); cookies != "" {
		set("Cookie", cookies)
	}
	if c.login != nil {
		to, err := weburl.Parse(c.url)
		if err != nil || to.Authority() != c.authority {
			c.login = nil
		} else if ip, _ := netip.ParseAddr(strings.Trim(to.Host(), "[]")); to.Scheme() == "https" || to.Host() == "localhost" || ip.IsLoopback() {
			r.Header = r.Header.Clone()
			maps.Copy(r.Header, c.login)
		}
	}
	return r
}

// cookies returns the Cookie field for the next request.
func (c *chain) cookies() string {
	if c.jar == nil {
		return ""
	}
	u, err := url.Parse(c.url)
	if err != nil {
		return ""
	}
	var all []string
	for _, cookie := range c.jar.Cookies(u) {
		all = append(all, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(all, "; ")
}

// keep keeps the cookies of a response for the rest of the chain.
func (c *chain) keep(resp *fetch.Response) {
	cookies := (&http.Response{Header: resp.Header}).Cookies()
	if len(cookies) == 0 {
		return
	}
	u, err := url.Parse(c.url)
	if err != nil {
		return
	}
	if c.jar == nil {
		c.jar, _ = cookiejar.New(nil) // never fails
	}
	c.jar.SetCookies(u, cookies)
}

// take decides what follows from a result.
func (c *chain) take(r *result, h *host) step {
	resp := r.response
	if c.look != nil {
		if r.err != nil {
			resp = nil
		}
		return c.looked(resp, h)
	}
	// Where no link is judged, half of a page or of a robots.txt says nothing.
	if resp == nil || r.err != nil && (!headerCounts(resp, r.err) || c.isSide && resp.Status < 300) {
		a := Answer{Fault: faultOf(r.err), Hops: c.hops}
		if r.request.Method == http.MethodHead {
			c.get = true // it may be HEAD that fails
		}
		return c.failed(a)
	}
	c.keep(resp)
	if all := resp.Header.Values("Location"); len(all) > 1 && slices.ContainsFunc(all, func(to string) bool { return to != all[0] }) {
		return c.failed(Answer{Status: resp.Status, Fault: Garbage, Hops: c.hops}) // as browsers do
	}
	if location := resp.Header.Get("Location"); isRedirect(resp.Status) && location != "" {
		fail := func(fault Reason) step { return step{answer: Answer{Status: resp.Status, Fault: fault, Hops: c.hops}} }
		from, err := weburl.Parse(c.url)
		if err != nil {
			return fail(BadRedirect)
		}
		to, err := from.Resolve(location)
		switch {
		case err != nil:
			return fail(BadRedirect)
		case to.Scheme() != "http" && to.Scheme() != "https", to.HasCredentials():
			return fail(OtherScheme)
		case len(c.hops) >= maxHops:
			return fail(RedirectLoop)
		}
		c.seen = append(c.seen, c.url)
		c.url = to.WithoutFragment()
		if to.HasFragment() {
			c.fragment = "#" + to.Fragment()
		}
		c.hops = append(c.hops, Hop{resp.Status, c.url + c.fragment})
		// A page may redirect to itself to set a cookie.
		if c.jar == nil && slices.Contains(c.seen, c.url) {
			return fail(RedirectLoop)
		}
		return step{again: true}
	}
	if r.request.Method == http.MethodHead {
		good := resp.Status >= 200 && resp.Status < 300 && (resp.Header.Get("ETag") != "" || resp.Header.Get("Last-Modified") != "")
		if !good {
			c.get, c.denied = true, resp.Status
			if what := effects[reasons[resp.Status]]; what == gone && reasons[resp.Status] != "" {
				c.tries = max(c.tries, 1) // the GET is the second try
			}
			return step{again: true}
		}
	}
	a := c.answer(r)
	reason := c.policy.reason(&a)
	if c.denied != 0 && (reason == "" || c.denied < 300) {
		h.noHeads = true
	}
	if reason == "" && r.request.Method == http.MethodGet && (a.ETag != "" || a.LastModified != "") {
		h.heads = true
	}
	if (resp.Status == 429 || resp.Status == 503) && a.Fault == "" && a.RetryAfter > 0 && a.RetryAfter <= maxWait && c.waits < maxWaits {
		c.waits++
		return step{again: true, wait: a.RetryAfter}
	}
	if reason == RateLimited && a.RetryAfter == 0 {
		return c.failed(a)
	}
	if what := effects[reason]; what == gone || what == failing {
		return c.failed(a)
	}
	if reason == "" {
		return c.secondLook(a, resp, h)
	}
	return step{answer: a}
}

// failed tries again before a failure counts.
func (c *chain) failed(a Answer) step {
	switch a.Fault {
	case PrivateAddress, RefusedRequest, OtherScheme, BadRedirect, RedirectLoop, BotWall, ClientCert, TLSChain:
		return step{answer: a}
	case Garbage:
		c.lenient = true
	}
	if c.isSide && (a.Status == http.StatusNotFound || a.Status == http.StatusGone) {
		return step{answer: a}
	}
	if c.tries++; c.tries < maxTries {
		return step{again: true, retry: true}
	}
	return step{answer: a}
}

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// headerCounts reports whether the header of a response is an answer although its body
// is not complete.
func headerCounts(resp *fetch.Response, err error) bool {
	if resp.Status >= 300 {
		return true
	}
	var failure *fetch.Error
	if errors.As(err, &failure) {
		switch failure.Kind {
		case fetch.Timeout, fetch.TooSlow, fetch.Body: // browsers show what they got
			return true
		case fetch.Encoding:
			// Browsers read these, although no request asked for them.
			switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
			case "br", "zstd", "deflate":
				return true
			}
		}
	}
	return false
}

// faults are the reasons of failed requests.
var faults = map[fetch.ErrorKind]Reason{
	fetch.BadRequest:     RefusedRequest,
	fetch.RefusedAddress: PrivateAddress,
	fetch.NoSuchHost:     NoSuchHost,
	fetch.DNS:            DNS,
	fetch.Connect:        Refused,
	fetch.TLS:            TLS,
	fetch.ClientCert:     ClientCert,
	fetch.Timeout:        Timeout,
	fetch.TooSlow:        Timeout,
	fetch.Closed:         Reset,
	fetch.Header:         Garbage,
	fetch.Body:           Reset,
	fetch.Encoding:       Garbage,
	fetch.Canceled:       Timeout,
	fetch.NoSockets:      noSockets,
}

// noSockets is the reason of requests that could not be made. No record has it.
const noSockets Reason = "no-sockets"

// faultOf returns why a request failed.
func faultOf(err error) Reason {
	var failure *fetch.Error
	var name x509.HostnameError
	var issuer x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &failure):
		return Garbage
	case failure.Kind != fetch.TLS:
		return cmp.Or(faults[failure.Kind], Garbage)
	case errors.As(err, &name):
		return TLSName
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return TLSExpired
	case errors.As(err, &issuer) && lacksIntermediate(issuer.Cert):
		return TLSChain
	case errors.As(err, &issuer):
		return TLSAuthority
	}
	return TLS
}

// lacksIntermediate reports whether a certificate names the place of the one that signed
// it. An authority that no browser knows does not publish it there; Chromium fetches it.
func lacksIntermediate(c *x509.Certificate) bool {
	return c != nil && len(c.IssuingCertificateURL) > 0 && !bytes.Equal(c.RawIssuer, c.RawSubject)
}

// pauseOf returns how long a host wants no request, at most maxWait: longer pauses are
// the business of [Judge].
func pauseOf(resp *fetch.Response, now time.Time) time.Duration {
	if resp.Status == 429 || resp.Status == 503 {
		if wait, ok := fetch.RetryAfter(resp.Header, now); ok && wait <= maxWait {
			return wait
		}
	}
	left, reset := rateLimit(resp.Header)
	if left != "0" {
		return 0
	}
	n, err := strconv.Atoi(reset)
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(min(n, 60))*time.Second, maxWait)
}

// rateLimit returns how many requests a host allows until the reset, in seconds from
// now. There are three forms: fields of their own, one field with named parts, and
// the field of the current draft.
//
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
func rateLimit(h http.Header) (left, reset string) {
	for _, prefix := range []string{"Ratelimit-", "X-Ratelimit-"} {
		if left = h.Get(prefix + "Remaining"); left != "" {
			return left, h.Get(prefix + "Reset")
		}
	}
	for part := range strings.FieldsFuncSeq(h.Get("Ratelimit"), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "remaining", "r":
			left = value
		case "reset", "t":
			reset = value
		}
	}
	return left, reset
}
