package export

import (
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/sitelink/sitelink/internal/weburl"
)

// PageOf returns the path of the page that a URL names, as the index of an export
// has it: without host, query, fragment, a final index.html and a final slash, and
// escaped as net/url does, such as "/posts/caf%C3%A9". The home page is "/". It
// returns false if the URL is not absolute or not http or https.
func PageOf(target string) (path string, ok bool) {
	_, path, ok = split(target)
	return path, ok
}

// split returns the host of a URL, with a port that is not the default, and its
// page.
func split(target string) (host, page string, ok bool) {
	text, err := weburl.Canonical(target)
	if err != nil {
		return "", "", false
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", "", false
	}
	page = u.Path
	for _, index := range []string{"/index.html", "/index.htm"} {
		if rest, ok := strings.CutSuffix(page, index); ok {
			page = rest
			break
		}
	}
	page = strings.TrimRight(page, "/")
	if page == "" {
		return u.Host, "/", true
	}
	return u.Host, (&url.URL{Path: page}).EscapedPath(), true
}

// isWeb reports whether a text is an absolute http or https URL that can be shown as
// a link: without white space, control characters and credentials, which hide the
// host.
func isWeb(text string) bool {
	if strings.IndexFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7F }) >= 0 {
		return false
	}
	u, err := weburl.Parse(text)
	return err == nil && (u.Scheme() == "http" || u.Scheme() == "https") && u.Host() != "" && !u.HasCredentials()
}

// maxName is the length of the readable part of a file name.
const maxName = 80

// devices are names that Windows reserves, whatever their extension.
var devices = []string{"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9"}

// nameOf returns the name of the file of a page, without extension. A path of short
// names with the letters a to z, digits and hyphens keeps them, joined by "_". Any
// other path gets what can be kept of it, "__", and 26 characters of a hash, so that
// two paths never have the same name, even if letter case does not count. Names
// consist of a to z, digits, hyphens and "_" only.
func nameOf(page string) string {
	if page == "/" {
		return "_home"
	}
	plain := strings.ReplaceAll(strings.TrimPrefix(page, "/"), "/", "_")
	if isPlain(page, plain) {
		return plain
	}
	text, err := url.PathUnescape(page)
	if err != nil {
		text = page
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		switch {
		case b.Len() >= maxName:
		case isPlainByte(r):
			b.WriteRune(r)
		case r == '/':
			b.WriteByte('_')
		case !unicode.Is(unicode.Mn, r): // an accent
			b.WriteByte('-')
		}
	}
	hash := sha256.Sum256([]byte(page))
	return strings.Trim(b.String(), "-_") + "__" + strings.ToLower(base32.StdEncoding.EncodeToString(hash[:])[:26])
}

func isPlainByte(r rune) bool { return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' }

func isPlain(page, name string) bool {
	return strings.HasPrefix(page, "/") && name != "" && len(name) <= maxName && !strings.Contains(page, "//") && !strings.HasPrefix(name, "_") &&
		!slices.Contains(devices, name) && strings.IndexFunc(page, func(r rune) bool { return r != '/' && !isPlainByte(r) }) < 0
}
