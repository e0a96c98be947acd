package remote

import (
	"bytes"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/sitelink/sitelink/internal/fetch"
	scanhtml "github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// softMissing is the title of a page that says that there is no such page.
var softMissing = text.Regexp(`(?i)\b(error|erreur|fehler|http)\W*404\b|\b404\W+(not found|page|error|file|fehler|seite)|^\W*404\s*([-–—|:·]|$)` +
	`|\b(page|site|file|document)( was| is)? (not found|does(n['’]t| not) exist)\b|^\s*not found\s*$` +
	`|seite (wurde )?nicht gefunden|page (non trouvée|introuvable)|página no encontrada|pagina non trovata|pagina niet gevonden|页面不存在|ページが見つかりません`)

// parkedMarks are parts of pages on domains for sale.
var parkedMarks = []string{
	"sedoparking.com", "parkingcrew.net", "bodis.com", "hugedomains.com", "dan.com/buy-domain", "domain is for sale", "buy this domain",
	"this domain may be for sale", "parked free, courtesy of",
}

var (
	// loginPath and loginTitle belong to pages that ask who the visitor is.
	loginPath     = text.Regexp(`(?i)(^|[/_.-])(log-?in|sign-?in|log-?on|sign-?on|sso|authenticate|anmelden|connexion)([/_.-]|$)`)
	loginTitle    = text.Regexp(`(?i)^\W*(log ?in|sign ?in|anmelden|anmeldung|connexion|iniciar sesión|accedi)\b`)
	passwordInput = text.Regexp(`(?is)<input\b[^>]*\btype\s*=\s*["']?password\b`)
)

// parkedHosts matches the addresses where hosts sell domains. Parked domains
// redirect there.
var parkedHosts = text.Regexp(`(?i)^(www\.)?(hugedomains\.com/domain_profile|dan\.com/buy-domain|afternic\.com/forsale|sedo\.com/search/details|godaddy\.com/domainsearch|atom\.com/name/)`)

// parkedText is the number of letters that a page on a domain for sale has at most: an
// article about one has more.
const parkedText = 2000

// homePath is the path of pages that are rightly the home page.
var homePath = text.Regexp(`(?i)^/(index|home|default|welcome|start|main|[a-z]{2}([_-][a-z]{2})?)(\.\w+)?/?$`)

// hints returns what a person should look at, although the host answers well. With a
// fault, the first hint says what was seen of it.
func hints(c *chain, resp *fetch.Response, title string) (all []string, fault Reason) {
	if softMissing().MatchString(title) {
		all = append(all, "the title of the page says that it was not found: "+title)
	}
	from, err := weburl.Parse(c.record.URL)
	if err != nil {
		return all, ""
	}
	last := from
	for _, h := range c.hops {
		if to, err := weburl.Parse(h.To); err == nil {
			last = to
		}
	}
	see := func(what Reason, seen string) {
		if fault == "" {
			fault, all = what, append([]string{seen}, all...)
		}
	}
	page := bytes.ToLower(resp.Body) // faster than ignoring case for each mark
	if parkedHosts().MatchString(last.Host() + last.Path()) {
		see(Parked, "a redirect leads to an offer of the domain: "+last.WithoutFragment())
	}
	for _, mark := range parkedMarks {
		if bytes.Contains(page, []byte(mark)) {
			if title, body, _ := scanhtml.Visible(resp.Body); letters(title+body) <= parkedText {
				see(Parked, "the page offers the domain for sale, or shows only advertisements: it has "+strconv.Quote(mark))
			} else {
				all = append(all, "the domain seems to be parked")
			}
			break
		}
	}
	asksPassword := passwordInput().Match(resp.Body)
	sameHost := withoutWWW(last.Host()) == withoutWWW(from.Host())
	isHome := last.Path() == "/" && !last.HasQuery() && !last.HasFragment() && !homePath().MatchString(from.Path())
	switch elsewhere := last.Path() != from.Path(); {
	case loginPath().MatchString(from.Path()):
	case elsewhere && (asksPassword || loginPath().MatchString(last.Path())):
		all = append(all, "a redirect leads to a login page: "+last.WithoutFragment())
	case asksPassword && loginTitle().MatchString(title):
		all = append(all, "the page is a login page: "+title)
	case elsewhere && missingPath().MatchString(last.Path()) && !missingPath().MatchString(from.Path()):
		see(SoftMissing, "a redirect leads to "+last.WithoutFragment())
	case elsewhere && isHome && sameHost:
		see(SoftMissing, "a redirect leads to the home page")
	case elsewhere && isHome && strings.Count(strings.Trim(from.Path(), "/"), "/") > 0:
		all = append(all, "a redirect leads to the home page of another site: "+last.WithoutFragment())
	}
	if from.Scheme() == "https" && slices.ContainsFunc(c.hops, func(h Hop) bool { return strings.HasPrefix(h.To, "http:") }) {
		all = append(all, "a redirect leads from https to http")
	}
	return all, fault
}

func withoutWWW(host string) string { return strings.TrimPrefix(host, "www.") }

// maxTitle is the longest title that is kept, in bytes.
const maxTitle = 120

var titleElement = text.Regexp(`(?is)<title\b[^>]*>(.*?)</title`)

// titleOf returns the text of the title of a page, in one line.
func titleOf(resp *fetch.Response) string {
	m := titleElement().FindSubmatch(resp.Body)
	if m == nil {
		return ""
	}
	raw := m[1]
	if encoding, name, _ := charset.DetermineEncoding(resp.Body[:min(len(resp.Body), 1024)], resp.Header.Get("Content-Type")); name != "utf-8" {
		if decoded, err := encoding.NewDecoder().Bytes(raw); err == nil {
			raw = decoded
		}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, html.UnescapeString(strings.ToValidUTF8(string(raw), "")))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxTitle {
		text = strings.ToValidUTF8(text[:maxTitle], "") + "..."
	}
	return text
}

// differs reports whether two titles have nothing in common: the page is about
// something else now. An empty title says nothing. "Tea - Shop" and "Shop: green tea" have
// a word in common, "Tea" and "Casino" have none.
func differs(old, now string) bool {
	a, b := words(old), words(now)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	return !slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}

const driftStart = "the title was: "

// drift is the hint about a page that is about something else now.
func drift(old, now string) string { return driftStart + old + ", and is now: " + now }

func isDrift(hint string) bool { return strings.HasPrefix(hint, driftStart) }

// words returns the words of a title in lower case: the longer ones, which carry its
// meaning, if there are any. In scripts without spaces, each character is a word.
func words(title string) (all []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			all = append(all, string(word))
		}
		word = word[:0]
	}
	for _, r := range strings.ToLower(title) {
		switch {
		case isWord(r):
			end()
			all = append(all, string(r))
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.Is(unicode.M, r):
			word = append(word, r)
		default:
			end()
		}
	}
	end()
	long := slices.DeleteFunc(slices.Clone(all), func(w string) bool {
		first, _ := utf8.DecodeRuneInString(w)
		return utf8.RuneCountInString(w) < 4 && !isWord(first)
	})
	if len(long) > 0 {
		return long
	}
	return all
}

// isWord reports whether a character is from a script without spaces.
func isWord(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
