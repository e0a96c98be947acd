package analysis

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/weburl"
)

// found says what a destination means as the path of a content file.
type found uint8

const (
	notContent found = iota // it is not one
	published               // of one file, which has a page
	unbuilt                 // of one file, which the last build made no page of
	missing                 // of none
	ambiguous               // of several
)

// contentPath returns the path of a content file that a value names, without
// fragment and query; ok is false if it is a URL.
func contentPath(value string) (name string, ok bool) {
	if strings.Contains(value, "://") || strings.HasPrefix(value, "//") {
		return "", false
	}
	name, _, _ = strings.Cut(value, "#")
	name, _, _ = strings.Cut(name, "?")
	name = string(weburl.PercentDecode(nil, name))
	return name, strings.HasPrefix(name, "@/") || generator.IsMarkdown(name)
}

// contentTarget returns the page of the content file that a destination names.
// resolves says that the generator turns such paths into addresses.
func (s *resolver) contentTarget(at *place, d *destination.Link, resolves bool) (node docroot.NodeID, fragment string, f found) {
	_, fragment, _ = strings.Cut(d.Value, "#")
	name, isPath := contentPath(d.Value)
	var files []int32
	switch {
	case d.IsRef():
		if name == "" { // a heading of the page itself
			if at.page == "" || fragment == "" {
				return docroot.NoNode, "", notContent
			}
			node, _ = s.Site.Lookup(at.page)
			return node, fragment, published
		}
		if files = s.names.Ref(at.name, at.language, name); len(files) == 0 {
			if r, ok := s.follow("", s.Site.BasePath()+path.Join("/", name)+"/"); ok && r.State.Answers() { // a section without a file
				return r.Node, fragment, published
			}
		}
	case isPath && at.content && (resolves || s.hooks) && isLinkKind(d.Kind):
		if files = s.names.Path(at.name, name); len(files) == 0 {
			return docroot.NoNode, "", notContent
		}
	default:
		return docroot.NoNode, "", notContent
	}
	switch files = s.names.InLanguage(at.language, files); len(files) {
	case 0:
		return docroot.NoNode, "", missing
	case 1:
		pages := s.pageOf[files[0]]
		if len(pages) == 0 {
			return docroot.NoNode, "", unbuilt
		}
		return s.Site.Page(pages[0]).Node(), fragment, published
	}
	return docroot.NoNode, "", ambiguous
}

// resolvedByHook returns the target of a link that is wrong as a URL, if the
// site's render hook may look it up as the path of a page.
func (s *resolver) resolvedByHook(at *place, d *destination.Link) (Target, bool) {
	if s.generator != generator.Hugo || !s.hooks || strings.Contains(d.Value, "://") {
		return noTarget, false
	}
	name, fragment, _ := strings.Cut(d.Value, "#")
	name, _, _ = strings.Cut(name, "?")
	if name == "" {
		return noTarget, false
	}
	files := s.names.InLanguage(at.language, s.names.Ref(at.name, at.language, name))
	if len(files) != 1 || len(s.pageOf[files[0]]) == 0 {
		return noTarget, false
	}
	t := noTarget
	t.Node, t.Fragment = s.Site.Page(s.pageOf[files[0]][0]).Node(), fragment
	t.Page, t.Value, t.Judged = at.page, s.addressOf(t.Node, fragment), true
	t.Link = check.Link{Page: at.page, Raw: t.Value, Target: s.Site.Href(t.Node), Fragment: fragment}
	return t, true
}

func refMessage(value string, f found) string {
	if f == ambiguous {
		return "several content files match " + value + "; write a longer path, such as /section/" + path.Base(value)
	}
	return "no content file matches " + value
}

// hookSetting matches a setting of Hugo by which links to content files become
// addresses.
var hookSetting = regexp.MustCompile(`(?im)^\s*"?(enableDefault|useEmbedded)"?\s*[:=]\s*"?(true|always|fallback)`)

// resolvesContent reports whether the generator, or a render hook of the site,
// resolves links to content files.
func (s *tree) resolvesContent() bool {
	switch s.generator {
	case generator.MkDocs, generator.Docusaurus, generator.Zola:
		return true
	case generator.Hugo:
	default:
		return false
	}
	for _, name := range s.Project.Generator.Configs {
		if text, err := s.ReadText(name); err == nil && hookSetting.Match(text) {
			return true
		}
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	has, n := false, 0
	for _, dir := range []string{"layouts", "themes", "_vendor"} {
		fs.WalkDir(root.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if n++; err != nil || n > maxFiles {
				return fs.SkipAll
			}
			if strings.HasPrefix(d.Name(), "render-link") && path.Base(path.Dir(name)) == "_markup" {
				has = true
				return fs.SkipAll
			}
			return nil
		})
	}
	return has
}

// exists reports whether a regular file of the project exists.
func (s *tree) exists(file string) bool {
	root, err := os.OpenRoot(s.Dir)
	if err != nil || filepath.IsAbs(file) {
		return false
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(file))
	return err == nil && info.Mode().IsRegular()
}

// readHead reads the first bytes of a source file.
func (s *tree) readHead(file string, n int64) ([]byte, error) {
	f, err := disk.Open(s.Path(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = io.CopyN(&b, f, n)
	return b.Bytes(), err
}
