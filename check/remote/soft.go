package remote

import (
	"bytes"
	"crypto/rand"
	"hash/fnv"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/fetch"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// A host may answer 200 for a page that is missing. A second look at a good answer
// finds two kinds that the page alone does not reveal: a page that sends its visitors
// on to a missing page, and a page that the host sends for every address.

// glance is the second look that a chain takes before its good answer counts.
type glance struct {
	answer Answer
	// refresh is the address that the page sends its visitors on to, and hops are the
	// redirects from there. Without refresh, the look is at a random address of the
	// host.
	refresh string
	hops    int
	prints  []uint64
}

// secondLook decides whether the good answer of a page needs a second look, and begins
// it. A random address is asked for once for each origin in a run, and only where a page
// is new, has another title, or has said before that it is missing.
func (c *chain) secondLook(a Answer, resp *fetch.Response, h *host) step {
	at, err := weburl.Parse(c.url)
	if c.isSide || a.Fault != "" || !a.Read || !isHTML(resp) || err != nil {
		return step{answer: a}
	}
	if to, err := at.Resolve(refreshOf(resp.Body)); err == nil && to.WithoutFragment() != at.WithoutFragment() && (to.Scheme() == "http" || to.Scheme() == "https") && !to.HasCredentials() {
		if missingPath().MatchString(to.Path()) && !missingPath().MatchString(at.Path()) {
			return step{answer: a.missing("the page sends its visitors on to " + to.WithoutFragment())}
		}
		c.look = &glance{answer: a, refresh: to.WithoutFragment()}
		c.url, c.get = c.look.refresh, true
		return step{again: true}
	}
	from, err := weburl.Parse(c.record.URL)
	isHome := func(u weburl.URL) bool { return !u.HasQuery() && (u.Path() == "/" || homePath().MatchString(u.Path())) }
	if !c.random || err != nil || isHome(from) || isHome(at) || c.record.Known() && c.record.Reason == "" && !differs(c.record.Title, a.Title) && !softMissing().MatchString(a.Title) {
		return step{answer: a}
	}
	prints := fingerprints(resp.Body, at)
	if last := len(a.Hops) - 1; last >= 0 {
		prints = append(prints, fingerprint("-> "+a.Hops[last].To))
	}
	if len(prints) == 0 {
		return step{answer: a}
	}
	c.look = &glance{answer: a, prints: prints}
	origin := originOf(at)
	found, asked := h.random[origin]
	switch {
	case asked && found == asking:
		return step{hold: true}
	case asked:
		return step{answer: c.compare(found)}
	}
	if h.random == nil {
		h.random = map[string]uint64{}
	}
	h.random[origin] = asking
	c.url, c.get = origin+h.dir+"sitelink-looks-for-a-missing-page-"+strings.ToLower(rand.Text()[:12]), true
	return step{again: true}
}

// asking stands for the fingerprint of a random address until its answer arrives.
// nothing stands for an answer that cannot be compared.
const (
	asking  uint64 = 0
	nothing uint64 = 1
)

// looked takes the result of a second look. resp is nil without a response.
func (c *chain) looked(resp *fetch.Response, h *host) step {
	l := c.look
	at, err := weburl.Parse(c.url)
	if err != nil {
		return step{answer: l.answer}
	}
	if l.refresh == "" {
		print := nothing
		if resp != nil && isRedirect(resp.Status) {
			if to, err := at.Resolve(resp.Header.Get("Location")); err == nil {
				print = fingerprint("-> " + to.WithoutFragment())
			}
		} else if resp != nil && resp.Status == 200 && isHTML(resp) && !resp.Truncated {
			if all := fingerprints(resp.Body, at); len(all) > 0 {
				print = all[0]
			}
		}
		h.random[originOf(at)] = print
		return step{answer: c.compare(print)}
	}
	switch {
	case resp == nil:
	case isRedirect(resp.Status) && l.hops < maxRefreshHops:
		if to, err := at.Resolve(resp.Header.Get("Location")); err == nil && (to.Scheme() == "http" || to.Scheme() == "https") && !to.HasCredentials() {
			l.hops++
			c.url = to.WithoutFragment()
			return step{again: true}
		}
	case resp.Status == 404, resp.Status == 410:
		return step{answer: l.answer.missing("the page sends its visitors on to " + l.refresh + ", which is missing")}
	}
	return step{answer: l.answer}
}

// maxRefreshHops is the largest number of redirects to follow from the address that a
// page sends its visitors on to.
const maxRefreshHops = 5

// compare returns the answer that waits, with what a comparison with the random address
// has shown.
func (c *chain) compare(random uint64) Answer {
	for _, p := range c.look.prints {
		if p == random {
			return c.look.answer.missing("the host answers the same to an address that cannot exist")
		}
	}
	return c.look.answer
}

// missing returns the answer of a page that says that it is missing by what was seen.
func (a Answer) missing(seen string) Answer {
	a.Fault, a.Hints = SoftMissing, append([]string{seen}, a.Hints...)
	return a
}

// missingPath is the path of pages that say that another one is missing.
var missingPath = text.Regexp(`(?i)/(error[/_-]?)?(404|(page|file)?[_-]?not[_-]?found|404[_-]?(page|error|not[_-]?found))(\.\w{2,5})?/?$`)

var refreshElement = text.Regexp(`(?is)<meta\b[^>]*\bhttp-equiv\s*=\s*["']?refresh\b[^>]*>`)
var refreshContent = text.Regexp(`(?is)\bcontent\s*=\s*["']?\s*[0-5](?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"'>\s]+)`)

// refreshOf returns the address that a page sends its visitors on to within five
// seconds, or "".
func refreshOf(page []byte) string {
	if !bytes.Contains(page, []byte("efresh")) && !bytes.Contains(page, []byte("EFRESH")) { // as nearly all
		return ""
	}
	if m := refreshContent().FindSubmatch(refreshElement().Find(page)); m != nil {
		return html.UnescapeString(string(m[1]))
	}
	return ""
}

// letters returns the number of letters of a text.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// fewLetters is the number below which a page that has scripts shows nothing without
// them.
const fewLetters = 40

// fingerprints returns what identifies the text of a page: without the address of the
// page, and without digits, which count and measure. The second one, if there is one, keeps
// the last part of the address, which may be a word of the text. "No page /tea-7/, error 12"
// at /tea-7/ and "No page /x-9/, error 13" at /x-9/ are the same.
func fingerprints(page []byte, at weburl.URL) []uint64 {
	title, body, scripted := scanhtml.Visible(page)
	if n := letters(body); n == 0 || scripted && n < fewLetters {
		return nil
	}
	text := strings.ToLower(title + "\n" + body)
	path := strings.ToLower(target(at))
	decoded := string(weburl.PercentDecode(nil, path))
	for _, address := range []string{strings.ToLower(at.WithoutFragment()), path, decoded, strings.TrimPrefix(path, "/"), strings.TrimPrefix(decoded, "/")} {
		if len(address) > 3 {
			text = strings.ReplaceAll(text, address, "")
		}
	}
	name := decoded[strings.LastIndexByte(strings.TrimSuffix(decoded, "/"), '/')+1:]
	if len(name) <= 3 || !strings.Contains(text, name) {
		return []uint64{fingerprint(text)}
	}
	return []uint64{fingerprint(strings.ReplaceAll(text, name, "")), fingerprint(text)}
}

// fingerprint identifies a text without its digits and spaces.
func fingerprint(text string) uint64 {
	h := fnv.New64a()
	for i := range len(text) {
		if c := text[i]; c > ' ' && (c < '0' || c > '9') {
			h.Write([]byte{c})
		}
	}
	return max(h.Sum64(), nothing+1)
}
