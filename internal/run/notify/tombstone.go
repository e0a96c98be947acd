package notify

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/outgoing"
)

// WriteTombstones writes a page with the text of a 410 at the address of each deleted
// page where no file exists, and returns their paths in the docroot. A fresh build of the
// docroot removes them. Files are created beneath the docroot only.
func WriteTombstones(s *site.Site, plan *outgoing.Plan) (written []string, err error) {
	root, err := os.OpenRoot(s.Root())
	if err != nil {
		return nil, fmt.Errorf("open docroot %s: %w", s.Root(), system.Cause(err))
	}
	defer root.Close()
	for _, address := range plan.Unanswered {
		name, ok := tombstoneFile(s, address)
		if !ok {
			continue
		}
		if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return written, fmt.Errorf("write tombstone %s: %w", path.Join(s.Root(), name), system.Cause(err))
		}
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			_, err = file.WriteString(outgoing.TombstonePage)
			err = errors.Join(err, file.Close())
			if err != nil {
				root.Remove(name) // not half a page
			}
		}
		if err != nil {
			return written, fmt.Errorf("write tombstone %s: %w", path.Join(s.Root(), name), system.Cause(err))
		}
		written = append(written, name)
	}
	return written, nil
}

// tombstoneFile returns the path in the docroot of the file that answers for an
// address of the site.
func tombstoneFile(s *site.Site, address string) (name string, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	below, ok := strings.CutPrefix(u.Path, s.BasePath()+"/")
	if !ok {
		return "", false
	}
	switch {
	case below == "" || strings.HasSuffix(below, "/"):
		below += s.IndexNames()[0]
	case path.Ext(below) == "":
		below += ".html"
	}
	return below, fs.ValidPath(below)
}

// GoneRule says how the site's host can answer 410 itself, "" if it cannot.
func GoneRule(profile string, graves []string) string {
	if len(graves) == 0 {
		return ""
	}
	u, err := url.Parse(graves[0])
	if err != nil {
		return ""
	}
	kind, _ := host.KindByName(profile)
	if kind.Gone == "" {
		return ""
	}
	return fmt.Sprintf(kind.Gone, u.EscapedPath())
}
