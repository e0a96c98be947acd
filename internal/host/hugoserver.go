package host

import (
	"bytes"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A docroot written by `hugo server` differs from what will be published: its
// absolute links lead to localhost, it may contain drafts, and each page loads
// a script that only that server has.

// livereload is the end of the address of that script, after the base path.
const livereload = "livereload.js?mindelay="

// ServerURL returns the address at which `hugo server` serves the docroot,
// taken from the home page; empty if hugo server did not write it. Links to
// that address are internal.
func (h *Host) ServerURL() string { return h.serverURL }

// isLivereload reports whether a request is for the script of `hugo server`.
func isLivereload(path, query string) bool {
	return strings.HasSuffix(path, "/livereload.js") && strings.HasPrefix(query, "?mindelay=")
}

// addServers adds the addresses of `hugo server` to those of the site.
func (h *Host) addServers(found []baseURL) {
	h.servers = found
	if len(found) == 0 {
		return
	}
	h.serverURL = "http://" + found[0].host + found[0].path + "/"
	if len(h.bases) == 1 && h.bases[0].unknown() && !h.Rooted() {
		h.bases[0].path = found[0].path // its links begin with the base path
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
		b, ok := serverOf(dir, path.Join(at, "index.html"))
		if !ok {
			continue
		}
		if at != "" && at != "." {
			b.root = "/" + at
		}
		if !slices.Contains(found, b) {
			found = append(found, b)
		}
	}
	if len(found) > 0 || len(h.opt.Roots) > 0 {
		return found
	}
	// If each language has a directory, the home page of the site may be a mere
	// redirect, without the script.
	entries, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range entries {
		if !e.IsDir() || !languageName.MatchString(e.Name()) {
			continue
		}
		if b, ok := serverOf(dir, path.Join(e.Name(), "index.html")); ok {
			return []baseURL{b}
		}
	}
	return nil
}

var languageName = regexp.MustCompile(`^[a-z]{2,3}([-_][a-zA-Z]{2,4})?$`)

// serverOf reads the address from a home page.
func serverOf(dir *os.Root, name string) (b baseURL, ok bool) {
	if info, err := dir.Stat(name); err != nil || !info.Mode().IsRegular() {
		return b, false
	}
	f, err := dir.Open(name)
	if err != nil {
		return b, false
	}
	defer f.Close()
	const head = 64 << 10 // the script is the first thing in the head
	text, err := io.ReadAll(io.LimitReader(f, head))
	if err != nil {
		return b, false
	}
	at := bytes.Index(text, []byte(livereload))
	if at < 0 {
		return b, false
	}
	src := text[bytes.LastIndexAny(text[:at], "\"'= \n")+1:]
	if end := bytes.IndexAny(src, "\"' >\n"); end >= 0 {
		src = src[:end]
	}
	u, err := url.Parse(strings.NewReplacer("&amp;", "&", `\u0026`, "&").Replace(string(src)))
	if err != nil {
		return b, false
	}
	port, err := strconv.ParseUint(u.Query().Get("port"), 10, 16)
	if err != nil || port == 0 {
		return b, false
	}
	base := strings.TrimSuffix(strings.TrimSuffix(u.Path, "livereload.js"), "/")
	if base != "" && !strings.HasPrefix(base, "/") {
		base = "" // relativeURLs
	}
	return baseURL{scheme: "http", host: "localhost:" + strconv.FormatUint(port, 10), path: base}, true
}
