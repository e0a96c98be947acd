package host

import (
	"bytes"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// A docroot written by `hugo server` differs from what will be published: its
// absolute links lead to localhost, it may contain drafts, and each page loads
// a script that only that server has.

// livereload is the end of the address of that script, after the base path.
const livereload = "livereload.js?mindelay="

// ServerURL returns the address at which `hugo server` serves the docroot,
// taken from the home page; empty if hugo server did not write it. Links to
// that address are internal.
func (h *addresses) ServerURL() string { return h.serverURL }

// addServers adds the addresses of `hugo server` to those of the site.
func (h *addresses) addServers(found []baseURL) {
	h.servers = found
	if len(found) == 0 {
		return
	}
	h.serverURL = found[0].scheme + "://" + found[0].host + found[0].path + "/"
	switch {
	case h.Rooted() || h.bases[0].path == found[0].path:
	case len(h.bases) == 1 && h.bases[0].unknown():
		h.bases[0].path = found[0].path // its links begin with the base path
	default: // the same, with a --baseURL for the server
		h.bases = append(slices.Clip(found), h.bases...)
		return
	}
	h.bases = append(slices.Clip(h.bases), found...)
}

// findServers reads the addresses at which `hugo server` serves the docroot and
// its roots from their home pages.
func (h *Host) findServers() (found []baseURL) {
	dir, err := os.OpenRoot(h.real)
	if err != nil {
		return nil
	}
	defer dir.Close()
	for _, root := range append([]Root{{}}, h.opt.Roots...) {
		at := strings.Trim(root.Dir, "/")
		for _, b := range serversOf(dir, at) {
			if at != "" && at != "." {
				b.root = "/" + at
			}
			if !slices.Contains(found, b) {
				found = append(found, b)
			}
		}
	}
	if len(found) > 0 || len(h.opt.Roots) > 0 {
		return found
	}
	// If each language has a directory, the home page of the site may be a mere
	// redirect, without the script.
	entries, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		if !e.IsDir() || !languageName().MatchString(e.Name()) {
			continue
		}
		if found = serversOf(dir, e.Name()); len(found) > 0 {
			return found
		}
	}
	return nil
}

var languageName = text.Regexp(`^[a-z]{2,3}([-_][a-zA-Z]{2,4})?$`)

// head is how much of a page is read: the script is the first thing in its head.
const head = 64 << 10

// SitemapEntry matches an address in a sitemap, and its group is the address.
var SitemapEntry = text.Regexp(`<loc>\s*([^<\s]+)`)

// serversOf reads the addresses from the home page in a directory: localhost with
// the port of the script, and the host that --baseURL names, which only the sitemap
// has for sure.
func serversOf(dir *os.Root, at string) (found []baseURL) {
	text := system.Head(dir, path.Join(at, "index.html"), head)
	i := bytes.Index(text, []byte(livereload))
	if i < 0 {
		return nil
	}
	src := text[bytes.LastIndexAny(text[:i], "\"'= \n")+1:]
	if end := bytes.IndexAny(src, "\"' >\n"); end >= 0 {
		src = src[:end]
	}
	u, err := url.Parse(strings.NewReplacer("&amp;", "&", `\u0026`, "&").Replace(string(src)))
	if err != nil {
		return nil
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "livereload.js"), "/")
	if base != "" && !strings.HasPrefix(base, "/") {
		base = "" // relativeURLs
	}
	if port, err := strconv.ParseUint(u.Query().Get("port"), 10, 16); err == nil && port > 0 { // none with --appendPort=false
		found = append(found, baseURL{scheme: "http", host: "localhost:" + strconv.FormatUint(port, 10), path: base})
	}
	if m := SitemapEntry().FindSubmatch(system.Head(dir, path.Join(at, "sitemap.xml"), head)); m != nil {
		b, err := parseBase(string(m[1]))
		_, below := strings.CutPrefix(b.path+"/", base+"/")
		if b.path = base; err == nil && below && !slices.ContainsFunc(found, func(o baseURL) bool { return o.host == b.host }) {
			found = append(found, b)
		}
	}
	return found
}
