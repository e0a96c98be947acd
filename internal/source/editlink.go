package source

import (
	"regexp"
	"strings"
)

// editPath takes the file out of the address behind which a page can be edited
// or seen at its forge: /owner/name/edit/main/docs/a.md.
var editPath = regexp.MustCompile(`^https?://[^/]+/.+?/(edit|_edit|blob|tree|src)/(?:branch/)?[^/]+/([^?#]+)`)

// editLink returns the content file that a page's "edit this page" link names;
// ok is false when there is none, or several that differ.
func (c *contentIndex) editLink(links []pageLink) (f contentFile, ok bool) {
	for i := range links {
		l := &links[i]
		parts := editPath.FindStringSubmatch(l.addr.exact)
		if l.element != "a" || parts == nil || !strings.Contains(parts[1], "edit") && !strings.Contains(l.label, "edit") {
			continue
		}
		// The project may be a directory of the repository.
		for name := parts[2]; ; {
			if at, known := c.byShown[name]; known {
				if ok && f.shown != c.files[at].shown {
					return contentFile{}, false
				}
				f, ok = c.files[at], true
				break
			}
			_, rest, more := strings.Cut(name, "/")
			if !more {
				break
			}
			name = rest
		}
	}
	return f, ok
}
