package check

import (
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"

	isite "github.com/sitelink/sitelink/internal/site"
)

// byName are the files that hosts, browsers and robots ask for without any
// link, wherever they lie; byNameAtRoot only those at the root of the docroot.
// Each is a pattern of package path for a name in lower case.
var (
	byName = []string{
		"404.html", "404.htm", "404.shtml", "50x.html", "500.html", // error pages
		"manifest.json", "manifest.webmanifest", "site.webmanifest",
		"sitemap*.xml", "sitemap*.xml.gz", "sitemap*.txt",
	}
	byNameAtRoot = []string{
		"robots.txt", "favicon.ico", "apple-touch-icon*.png", "browserconfig.xml", "crossdomain.xml",
		"ads.txt", "app-ads.txt", "humans.txt", "security.txt", "llms.txt", "llms-full.txt",
		"google*.html", "bingsiteauth.xml", "yandex_*.html", // whose site it is
		"sw.js", "service-worker.js", // registered by a script
		"cname", "_redirects", "_headers", "_routes.json", "_worker.js", "netlify.toml", "vercel.json", "firebase.json",
		"wrangler.toml", "wrangler.json", "wrangler.jsonc", "staticwebapp.config.json", "web.config", // read by the host
	}
)

// AskedByName tells whether the file at a path of the docroot is asked for by
// its name, so that it needs no link: error pages, robots.txt, favicons,
// sitemaps, web manifests, the configuration of hosts, and everything with a
// name that begins with a dot, or below a directory with such a name.
func AskedByName(file string) bool {
	if strings.HasPrefix(file, ".") || strings.Contains(file, "/.") {
		return true
	}
	lower := strings.ToLower(file)
	name := path.Base(lower)
	return matchesAny(byName, name) || name == lower && matchesAny(byNameAtRoot, name) || lower == "404/index.html"
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// isList tells whether files of that kind are lists of pages that a generator
// made for programs: a link in one is no way for a visitor.
func isList(k isite.PageKind) bool {
	switch k {
	case isite.PageFeed, isite.PageJSONFeed, isite.PageSitemap, isite.PageIndex, isite.PageOPML, isite.PageJSONLD, isite.PageRobots, isite.PageHeaders:
		return true
	}
	return false
}

// isCopy tells whether a file is another one in a form that the host sends by
// itself: compressed, or a source map, which its file names.
func isCopy(s *isite.Site, name string) bool {
	for _, suffix := range []string{".gz", ".br", ".zst", ".map"} {
		of, ok := strings.CutSuffix(name, suffix)
		if !ok || suffix == ".map" && !strings.HasSuffix(of, "js") && !strings.HasSuffix(of, ".css") {
			continue
		}
		node, found := s.Lookup(of)
		return found && s.Tree().Kind(node) == docroot.KindFile
	}
	return false
}
