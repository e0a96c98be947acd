package report

import "github.com/sitelink/sitelink/check"

// maxRepeats is how many links through one redirect text lists. The repair is
// one rule or one template, and a site may hold thousands of such links: on
// rust-doc one alias page gets 22,606.
const maxRepeats = 3

// repeats decides which findings text leaves out: links that work, through a
// redirect, and what one template does wrong on all pages.
type repeats struct {
	seen   map[string]int
	hidden int // findings left out
	from   int // redirects that they go through
	pages  int // findings of endpoints left out
}

// hides tells whether f says what was listed often enough.
func (r *repeats) hides(f *check.Finding) bool {
	if f.Code != check.ViaRedirect && !isEndpoint(f.Code) {
		return false
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	if isEndpoint(f.Code) {
		what := string(f.Code) + f.Message
		if r.seen[what]++; r.seen[what] > maxRepeats {
			r.pages++
			return true
		}
		return false
	}
	r.seen[f.Target]++
	n := r.seen[f.Target]
	if n <= maxRepeats {
		return false
	}
	if n == maxRepeats+1 {
		r.from++
	}
	r.hidden++
	return true
}

// append says what was left out, if anything was.
func (r *repeats) append(dst []byte) []byte {
	if r.pages > 0 {
		dst = append(dst, '\n')
		dst = appendCount(dst, r.pages, "more finding")
		dst = append(dst, " of the same kinds about endpoints not listed: --format jsonl lists them [endpoint-]\n"...)
	}
	if r.hidden == 0 {
		return dst
	}
	dst = append(dst, '\n')
	dst = appendCount(dst, r.hidden, "more link")
	dst = append(dst, " through "...)
	dst = appendCount(dst, r.from, "redirect")
	return append(dst, " not listed: --group-by target counts them, --format jsonl lists them [via-redirect]\n"...)
}
