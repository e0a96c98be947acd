package server

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Docroot is a directory of files and the address at which it is published.
type Docroot struct {
	BaseURL string
	Dir     string
}

// Pages serves the files of docroots, for Options.Pages: a small site needs no
// other web server. It is safe for concurrent use.
//
// For a directory, Pages redirects to the address with a final slash and serves
// the directory's index.html. For a missing file, it serves 404.html of the
// docroot. It makes no listings. It does not serve files that begin with a dot,
// except below .well-known, and nothing outside of the docroot, even through
// symbolic links.
type Pages struct {
	roots []pageRoot
}

type pageRoot struct {
	host, path string // path ends in a slash
	dir        string
}

// NewPages returns a handler for docroots. The error names a base URL that is not
// an http or https URL, or a directory that cannot be opened.
func NewPages(docroots []Docroot) (*Pages, error) {
	p := &Pages{}
	for _, d := range docroots {
		u, err := weburl.Parse(d.BaseURL)
		if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
			return nil, fmt.Errorf("serve %s: %q is not an http or https URL", d.Dir, d.BaseURL)
		}
		root, err := os.OpenRoot(d.Dir)
		if err != nil {
			return nil, fmt.Errorf("serve pages: %w", err)
		}
		root.Close() // it is opened for each request: deploying may replace it
		p.roots = append(p.roots, pageRoot{u.Authority(), strings.TrimSuffix(u.Path(), "/") + "/", d.Dir})
	}
	return p, nil
}

// find returns the docroot for a request. A single one answers on every host, so
// that a preview at another address works.
func (p *Pages) find(r *http.Request) *pageRoot {
	var best *pageRoot
	for i := range p.roots {
		root := &p.roots[i]
		if (len(p.roots) == 1 || strings.EqualFold(root.host, r.Host)) && strings.HasPrefix(r.URL.Path+"/", root.path) &&
			(best == nil || len(root.path) > len(best.path)) {
			best = root
		}
	}
	return best
}

// ServeHTTP answers GET and HEAD.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := p.find(r)
	if at == nil {
		notFound(w, nil)
		return
	}
	root, err := os.OpenRoot(at.dir)
	if err != nil {
		http.Error(w, "The site is not available.", http.StatusServiceUnavailable)
		return
	}
	defer root.Close()
	name, below := strings.CutPrefix(r.URL.Path, at.path)
	clean := path.Clean("/" + name)[1:]
	directory := name == "" || strings.HasSuffix(name, "/")
	if below && (clean != strings.TrimSuffix(name, "/") || hidden(clean) || strings.ContainsAny(name, "\\\x00")) {
		notFound(w, root)
		return
	}
	info, err := root.Stat(cmp.Or(clean, "."))
	switch {
	case !below || err == nil && info.IsDir() && !directory:
		// The target has one slash at its beginning, so it cannot lead to another host.
		target := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/") + "/"
		if r.URL.RawQuery != "" {
			target += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusMovedPermanently)
	case err == nil && info.IsDir():
		serveFile(w, r, root, path.Join(clean, "index.html"))
	case err == nil && !directory:
		serveFile(w, r, root, clean)
	default:
		notFound(w, root)
	}
}

// hidden reports whether part of a path begins with a dot.
func hidden(name string) bool {
	for i, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".") && !(i == 0 && part == ".well-known") {
			return true
		}
	}
	return false
}

func serveFile(w http.ResponseWriter, r *http.Request, root *os.Root, name string) {
	// Opening a named pipe would wait for its other end.
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		notFound(w, root)
		return
	}
	f, err := root.Open(name)
	if err != nil {
		notFound(w, root)
		return
	}
	defer f.Close()
	// By extension only: a page that a visitor may have influenced must not become
	// one of another type.
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", cmp.Or(mime.TypeByExtension(path.Ext(name)), "application/octet-stream"))
	}
	http.ServeContent(w, r, name, info.ModTime(), f)
}

// max404 is the size of a 404.html, as most of them are.
const max404 = 1 << 20

// notFound answers 404 with the site's own page, if there is one.
func notFound(w http.ResponseWriter, root *os.Root) {
	text, kind := []byte("There is no such page.\n"), "text/plain; charset=utf-8"
	if root != nil {
		if info, err := root.Stat("404.html"); err == nil && info.Mode().IsRegular() && info.Size() <= max404 {
			if own, err := root.ReadFile("404.html"); err == nil {
				text, kind = own, "text/html; charset=utf-8"
			}
		}
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(http.StatusNotFound)
	_, _ = w.Write(text)
}
