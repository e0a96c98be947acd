package host

import (
	"path"
	"strings"
)

// likes are companies that publish sites and have no profile of their own: the profile
// that answers alike, and patterns (path.Match) of their host names.
var likes = []struct {
	name, profile string
	domains       []string
}{
	// These answer /a with a.html, as GitHub Pages does.
	{"gitlab-pages", "github-pages", []string{"*.gitlab.io"}},
	{"codeberg-pages", "github-pages", []string{"*.codeberg.page"}},
	// Read the Docs serves files by their names, and redirects /a to /a/ if there is a/index.html.
	{"readthedocs", "s3", []string{"*.readthedocs.io", "*.rtfd.io"}},
	// What these do without .html is not documented.
	{"render", "generic", []string{"*.onrender.com"}},
	{"amplify", "generic", []string{"*.amplifyapp.com"}},
}

// NameAt returns the name of the host at which a URL is, "" if its host name is not one
// that hosts give to sites.
func NameAt(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(url), "://")
	hostname, _, _ := strings.Cut(rest, "/")
	if k, ok := KindAt(hostname); ok {
		return k.Name
	}
	for _, l := range likes {
		for _, pattern := range l.domains {
			if ok, _ := path.Match(pattern, hostname); ok {
				return l.name
			}
		}
	}
	return ""
}

// ProfileFor returns the name of the profile for a host, which is its own name unless it
// has no profile.
func ProfileFor(name string) string {
	for _, l := range likes {
		if l.name == name {
			return l.profile
		}
	}
	return name
}
