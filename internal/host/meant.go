package host

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/similar"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Before a link counts as a link to another site, the docroot is searched for what it
// may mean. Generators and authors write //about/, https://me.exampleabout/ and
// /baseabout/, with a slash missing or one too many.

// answers returns the answer to a path below the top of b, if it proves that the
// docroot has what is asked for: not the answer that any path gets.
func answers(h *Host, b *baseURL, path, query string) (Answer, bool) {
	a := h.answer(b.root+path, query, nil)
	return a, a.State.Answers() && a.State != StateFallback && a.Node != docroot.NoNode
}

// meantPath returns the site path of a path with query below the top of b.
func meantPath(h *Host, b *baseURL, path string) string {
	if h.Rooted() {
		return b.root + path
	}
	return b.path + path
}

// wrongHost reports whether a URL has something else in place of its host, and finds what
// the URL means. The host may be a second scheme, as in https://http://x.example/. It may
// be a name of the docroot, as in //about/ and https:///about/, where the text has no
// scheme, or not two slashes after it. Or it may be the site's own host glued to a path, as
// in https://me.exampleabout/.
func wrongHost(h *Host, u weburl.URL, query string, res *Resolved) bool {
	name, path := u.Host(), u.Path()
	if u.Port() != "" || u.HasCredentials() || name == "localhost" {
		return false
	}
	if name == "http" || name == "https" {
		if !strings.HasPrefix(path, "//") {
			return false
		}
		res.State, res.Meant = StateWrongHost, name+":"+path+query
		return true
	}
	for i := range h.bases {
		b := &h.bases[i]
		rest, glued := strings.CutPrefix(name, b.host)
		switch {
		case b.unknown() || !glued || rest == "":
		case (rest == "http" || rest == "https") && strings.HasPrefix(path, "//"):
			res.State, res.Meant = StateWrongHost, rest+":"+path+query
			return true
		default:
			for _, meant := range []string{"/" + rest + path, "/" + strings.TrimSuffix(rest+path, "/")} { // a file has no slash
				if a, ok := answers(h, b, meant, query); ok {
					res.State, res.Node, res.Meant = StateWrongHost, a.Node, meantPath(h, b, meant+query)
					return true
				}
			}
		}
	}
	isBare := u.Notes()&weburl.NoteSlashes != 0
	if !isFileOrWord(name) || !isBare && (strings.Contains(name, ".") || !h.IsPublic()) {
		return false
	}
	for i := range h.bases {
		b := &h.bases[i]
		top := h.tree.At(strings.TrimPrefix(b.root, "/"))
		known := false // a host is in lower case, whatever the name in the docroot is
		for _, end := range []string{"", ".html"} {
			if top == docroot.NoNode || known {
				break
			}
			if id := h.tree.FoldChild(top, name+end); id != docroot.NoNode {
				name, known = strings.TrimSuffix(h.tree.Name(id), end), true
			}
		}
		for _, meant := range []string{"/" + name + path, "/" + strings.TrimSuffix(name+path, "/")} { // a file has no slash
			if a, ok := answers(h, b, meant, query); ok {
				res.State, res.Node, res.Meant = StateWrongHost, a.Node, meantPath(h, b, meant+query)
				return true
			}
		}
		if isBare && known {
			res.State = StateWrongHost
			return true
		}
	}
	return false
}

// isFileOrWord reports whether a host cannot be reached by the public: it is one word,
// or ends like a file instead of a top-level domain.
func isFileOrWord[T string | []byte](host T) bool {
	name := string(host) // does not escape
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return true
	}
	switch strings.ToLower(name[dot+1:]) {
	case "html", "htm", "css", "js", "mjs", "json", "xml", "txt", "pdf", "svg", "png", "jpg", "jpeg", "gif", "webp", "ico", "webmanifest":
		return true
	}
	return false
}

// gluedBase finds what a path of the site's own host means in which the slash after the
// base path is missing, and reports whether something answers it: /baseabout/ means
// /base/about/, and /basehttps://x.example/ that address.
func gluedBase(h *Host, u weburl.URL, query string, res *Resolved) bool {
	for i := range h.bases {
		b := &h.bases[i]
		rest, ok := strings.CutPrefix(u.Path(), b.path)
		if !ok || b.path == "" || !b.isHostOf(u) {
			continue
		}
		if weburl.IsWeb(rest) {
			res.State, res.Meant = StateGluedBase, rest+query
			return true
		}
		if a, ok := answers(h, b, "/"+rest, query); ok {
			res.State, res.Node, res.Meant = StateGluedBase, a.Node, meantPath(h, b, "/"+rest+query)
			return true
		}
	}
	return false
}

// Served returns the site path that an address of a generator's server means, which has
// the base path or not; "" if nothing answers it. The home page proves nothing: texts
// about the server name its address.
func Served(h *Host, u weburl.URL) string {
	query := ""
	if u.HasQuery() {
		query = "?" + u.Query()
	}
	for i := range h.bases {
		b := &h.bases[i]
		path, below := b.below(u.Path())
		if !below {
			path = u.Path()
		}
		if a, ok := answers(h, b, path, query); ok && !IsHome(h, a.Node) {
			return meantPath(h, b, path+query)
		}
	}
	return ""
}

// IsPublic reports whether an address of the docroot is one that visitors can reach.
func (h *addresses) IsPublic() bool {
	for i := range h.bases {
		b := &h.bases[i]
		name, _, _ := strings.Cut(b.host, ":")
		if !b.unknown() && strings.Contains(name, ".") && !IsLocal([]byte(b.host)) {
			return true
		}
	}
	return false
}

// localNames are the ends of names that no public name server knows (RFC 6761, RFC 6762,
// and internal, which ICANN reserved in 2024).
var localNames = [...]string{"localhost", "local", "test", "internal"}

// IsLocal reports whether a host, which may have a port, can only be reached from one
// machine or one network: localhost, a private address or a name reserved for them.
func IsLocal(host []byte) bool {
	if i := bytes.LastIndexByte(host, ':'); i >= 0 && (len(host) == 0 || host[0] != '[' || host[i-1] == ']') {
		host = host[:i]
	}
	last := host[bytes.LastIndexByte(host, '.')+1:]
	if len(last) == 0 {
		return false
	}
	if c := last[0]; c != '[' && (c < '0' || c > '9') {
		for _, name := range localNames {
			if bytes.EqualFold(last, []byte(name)) {
				return true
			}
		}
		return false
	}
	addr, err := netip.ParseAddr(strings.Trim(string(host), "[]"))
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified())
}

// isDead reports whether no browser follows a scheme from a page of a site: file:, the
// letter of a drive, or a misspelt one.
func isDead(scheme string) bool {
	return scheme == "file" || len(scheme) == 1 || MeantScheme(scheme) != ""
}

// MeantScheme returns the scheme that a misspelt one means, "" if it may be a scheme that
// some program knows: https for htttps, httpd and ttps.
func MeantScheme(scheme string) string {
	if strings.Trim(scheme, "htps") == "" && scheme != "shttp" && // RFC 2660 has shttp
		strings.Contains(scheme, "p") && (strings.Contains(scheme, "tt") || strings.Contains(scheme, "t") && strings.Contains(scheme, "h")) {
		if strings.Contains(scheme, "s") {
			return "https"
		}
		return "http"
	}
	for _, known := range []string{"https", "http", "mailto", "javascript"} {
		if errors, ok := similar.Typo(scheme, known); ok && errors > 0 {
			return known
		}
	}
	return ""
}
