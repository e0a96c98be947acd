package remote

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/fetch"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/html"
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
			if text, _ := visible(resp.Body); refuses || letters(text) < most {
				return true
			}
		}
	}
	return false
}

// lineFragment is a fragment that the script of a source code host interprets.
var lineFragment = regexp.MustCompile(`^(L|l|line-?|lines-?|n)[0-9]`)

// look searches a page for the fragments of a job. A fragment counts as present
// unless the page shows that it is not: it may be cut off, be no HTML, or leave the
// fragment to a script.
func look(r *result) (present, missing []string) {
	resp := r.response
	var anchors map[string]bool
	if isHTML(resp) && !resp.Truncated && r.err == nil {
		var s html.Scanner
		page := s.Scan(resp.Body, scan.Options{Charset: resp.Header.Get("Content-Type")})
		anchors = make(map[string]bool, len(page.Anchors))
		for _, a := range page.Anchors {
			if a.Kind != scan.AnchorMap {
				anchors[string(a.Name)] = true
			}
		}
	}
	for _, f := range r.job.fragments {
		if anchors == nil || hasAnchor(anchors, f) {
			present = append(present, f)
		} else {
			missing = append(missing, f)
		}
	}
	return present, missing
}

// hasAnchor reports whether a browser finds the fragment, or a script may.
//
// https://html.spec.whatwg.org/#find-a-potential-indicated-element
func hasAnchor(anchors map[string]bool, fragment string) bool {
	fragment, _, _ = strings.Cut(fragment, ":~:")
	decoded := string(weburl.PercentDecode(nil, fragment))
	switch {
	case fragment == "", strings.EqualFold(decoded, "top"), anchors[fragment], anchors[decoded]:
		return true
	case strings.HasPrefix(fragment, "!"), strings.ContainsAny(fragment, "/=?&"), lineFragment.MatchString(fragment):
		return true
	}
	return anchors["user-content-"+decoded] // GitHub's script removes the prefix
}
