package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/scan/script"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// answer makes the answer of the last response of a chain.
func (c *chain) answer(r *result) Answer {
	resp := r.response
	a := Answer{
		Status: resp.Status, Hops: c.hops,
		ETag: field(resp.Header.Get("ETag")), LastModified: field(resp.Header.Get("Last-Modified")),
	}
	if wait, ok := fetch.RetryAfter(resp.Header, time.Now()); ok {
		a.RetryAfter = wait
	}
	if isWall(resp) {
		a.Fault = BotWall
		return a
	}
	if resp.Status < 200 || resp.Status >= 300 || r.request.Method != "GET" {
		return a
	}
	if a.ETag == "" && a.LastModified == "" && r.err == nil {
		sum := sha256.Sum256(resp.Body)
		a.Hash = hex.EncodeToString(sum[:16])
	}
	a.Read = true
	if isHTML(resp) {
		a.Title = titleOf(resp)
		a.Hints, a.Fault = hints(c, resp, a.Title)
	}
	if len(r.job.fragments) > 0 {
		a.Looked = true
		a.Present, a.Missing = look(r)
	}
	return a
}

// maxField is the longest field of a host that the cache keeps.
const maxField = 1024

func field(text string) string {
	if len(text) > maxField {
		return ""
	}
	return valid(text)
}

func isHTML(resp *fetch.Response) bool {
	kind, _, _ := strings.Cut(strings.ToLower(resp.Header.Get("Content-Type")), ";")
	switch strings.TrimSpace(kind) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

// wallMarks are parts of pages that ask whether the visitor is a person. Ordinary pages
// behind the same walls have some of them too. So each counts with a status that refuses,
// and with 200 if the page has at most so many letters that a visitor without scripts sees.
var wallMarks = map[string]int{
	"/cdn-cgi/challenge-platform/":    0, // on all pages behind Cloudflare
	"_cf_chl_opt":                     600,
	"cf-browser-verification":         600,
	"captcha-delivery.com":            600, // DataDome
	"px-captcha":                      600,
	"_Incapsula_Resource":             300, // Imperva
	"awsWafCookieDomainList":          600,
	"sucuri_cloudproxy_js":            600,
	"/.within.website/x/cmd/anubis/":  2000,
	"check.ddos-guard.net":            600,
	"/_sec/cp_challenge/":             600, // Akamai
	"opfcaptcha.amazon.com":           2000,
	"api-services-support@amazon.com": 2000,
	"Vercel Security Checkpoint":      600,
}

// isWall reports whether a response is a page for people only.
func isWall(resp *fetch.Response) bool {
	switch h := resp.Header; {
	case h.Get("Cf-Mitigated") == "challenge", h.Get("X-Amzn-Waf-Action") != "", resp.Status == 403 && h.Get("X-Datadome") != "":
		return true
	}
	if resp.Status == 400 && bytes.Contains(resp.Body, []byte("No required SSL certificate was sent")) { // nginx
		return true
	}
	refuses := resp.Status == 403 || resp.Status == 503 || resp.Status == 202 || resp.Status == 429
	if !refuses && resp.Status != 200 {
		return false
	}
	for mark, most := range wallMarks {
		if bytes.Contains(resp.Body, []byte(mark)) {
			if title, body, _ := html.Visible(resp.Body); refuses || letters(title+body) < most {
				return true
			}
		}
	}
	return false
}

// look searches a page for the fragments of a job. A fragment counts as present
// unless the page shows that it is not: the page may be cut off or be no HTML.
func look(r *result) (present, missing []string) {
	has := func(string) bool { return true }
	if isHTML(r.response) && !r.response.Truncated && r.err == nil {
		var s html.Scanner
		page := s.Scan(r.response.Body, scan.Options{Charset: r.response.Header.Get("Content-Type")})
		p := &anchors{names: make(map[string]bool, len(page.Anchors)), alias: page.Alias != 0}
		for _, a := range page.Anchors {
			if a.Kind != scan.AnchorMap {
				p.names[string(a.Name)] = true
				p.ids.Add(string(a.Name))
			}
		}
		for i := range page.Scripts {
			use := script.ByText(page.Scripts[i].Text)
			if l := page.ScriptLink(&page.Scripts[i]); l >= 0 {
				address := string(page.Links[l].Value)
				if use = script.ByAddress(address); !use.Any() && !script.IsLibrary(address) {
					use = script.Unread
				}
			}
			p.uses = append(p.uses, use)
		}
		_, body, scripted := html.Visible(r.response.Body)
		p.blank = scripted && letters(body) < fewLetters
		has = p.has
	}
	for _, f := range r.job.fragments {
		if has(f) {
			present = append(present, f)
		} else {
			missing = append(missing, f)
		}
	}
	return present, missing
}

// anchors are what a page has for fragments: its ids, and what its scripts do.
type anchors struct {
	names map[string]bool
	ids   script.IDs
	uses  []script.Use
	// blank: without its scripts, the page shows nothing. alias: it sends its visitors on.
	blank, alias bool
}

// has reports whether a browser finds the fragment, or a script may.
//
// https://html.spec.whatwg.org/#find-a-potential-indicated-element
func (p *anchors) has(fragment string) bool {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	decoded := string(weburl.PercentDecode(nil, fragment))
	return fragment == "" || strings.EqualFold(decoded, "top") || p.names[fragment] || p.names[decoded] ||
		p.names["user-content-"+decoded] || // GitHub's script removes the prefix
		p.blank || p.leaves(fragment, decoded)
}

// lineFragment is a fragment that the script of a source code host interprets.
var lineFragment = text.Regexp(`^(line-?|lines-?|n)[0-9]`)

// leaves reports whether the page leaves a fragment that it does not have to a script. The
// evidence is that of package check, as far as one page shows it: the scripts that it loads
// are not read, and may be like those that read the fragment.
func (p *anchors) leaves(fragment, decoded string) bool {
	form, from, to := script.FormOf([]byte(fragment))
	if form == script.FormOrdinary && lineFragment().MatchString(fragment) {
		form = script.FormLines
	}
	guess := false
	for i := range p.uses {
		switch u := &p.uses[i]; {
		case u.AddsComment(decoded, &p.ids), u.Framework == script.Docsify, p.alias && u.ReadsHash():
			return true
		case !u.Forms.Has(form):
		case u.Scaladoc, form == script.FormLines && from != nil && p.names[string(from)] && p.names[string(to)]:
			return true
		default:
			guess = true
		}
	}
	return guess && p.ids.Allow(form, decoded)
}
