package fetch

import (
	"net/http"

	"github.com/sitelink/sitelink/internal/weburl"
)

// redirected returns where an answer sends the request on to, if it does and
// the request wants to follow.
func redirected(resp *Response, r *Request) (location string, ok bool) {
	if resp == nil || r.NoRedirect || r.RequestTarget != "" {
		return "", false
	}
	switch resp.Status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		location = resp.Header.Get("Location")
	}
	return location, location != ""
}

// redirect makes the request that of the next hop. A POST stays a POST after
// 301 and 302 too: a receiver that moved from http to https means just that,
// and would answer a GET with a page that looks like success. After 303 the
// answer lies elsewhere, for GET.
//
// https://www.rfc-editor.org/rfc/rfc9110#section-15.4
func (r *Request) redirect(status int, from, to weburl.URL) {
	if status == http.StatusSeeOther && r.Method != http.MethodHead {
		r.Method, r.Body = http.MethodGet, nil
		for name := range r.Header {
			switch name {
			case "Content-Type", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location":
				delete(r.Header, name)
			}
		}
	}
	if authority(from) != authority(to) || from.Scheme() != to.Scheme() {
		for _, name := range []string{"Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Www-Authenticate"} {
			r.Header.Del(name)
		}
	}
}
