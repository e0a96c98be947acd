package fix

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// errOther means that the page shows another value than the source, and that it is
// not known how one became the other.
var errOther = errors.New("the generator writes another value than the source has")

// valueAt returns what to write in place of a destination, so that the page gets
// the value of a repair. The source need not have the value of the page: templates
// put the base URL before it, and ref names a page by its file.
func (m *maker) valueAt(l *destination.Destination, file string, r *check.Repair) (string, error) {
	raw, value := strings.TrimSpace(r.Finding.Raw), r.Value
	written := strings.TrimSpace(l.Value)
	isMarkdown := l.Form == read.FormInline || l.Form == read.FormDefinition
	name, _ := destination.CutTail(written)
	ofFile := strings.HasSuffix(strings.ToLower(name), ".md") && !strings.Contains(name, "://") && (r.Rule == check.RepairMarkdown || r.Rule == check.RepairMoved)
	if isMarkdown && !ofFile && slices.Contains([]check.RepairRule{check.RepairMoved, check.RepairCase, check.RepairSpelling, check.RepairExtension, check.RepairSlash, check.RepairIndex}, r.Rule) {
		var others []string
		for i := range m.files[file].destinations {
			if other := &m.files[file].destinations[i]; other.Start != l.Start && (other.Form == read.FormInline || other.Form == read.FormDefinition) {
				others = append(others, other.Value)
			}
		}
		ofFile = source.WantsFile(m.generator, name, others)
	}
	if isMarkdown && ofFile && m.resolvesMarkdown() {
		// A path that names the right file already does not work on this page.
		if path, err := m.markdownValue(l, file, r); err != nil || path != written {
			return path, err
		}
	}
	if r.Rule == check.RepairBase {
		if by := baseByGenerator(m, l, file, r); by != "" {
			return by, nil
		}
		if name := baseFilter().Find(m.files[file].text); name != nil {
			return "", fmt.Errorf("other links of the file add the base path with %s: write this one in the same way", name)
		}
	}
	if same(written, raw) {
		return value, nil
	}
	if prefix, ok := strings.CutSuffix(raw, written); ok && written != "" && (strings.HasSuffix(prefix, "/") || strings.HasPrefix(written, "/")) {
		if rest, ok := strings.CutPrefix(value, prefix); ok {
			return rest, nil
		}
	}
	page, old, _ := strings.Cut(raw, "#")
	if other, want, _ := strings.Cut(value, "#"); page == other && old != want { // only the fragment changes
		if before, fragment, ok := strings.Cut(written, "#"); ok && same(fragment, old) {
			return before + "#" + want, nil
		}
		return "", errOther
	}
	if l.IsRef() {
		return "", errOther // the reference resolves; its page has no better address
	}
	return m.throughAddress(written, r)
}

// hugoURL is a function of Hugo that puts the base path before an argument without a
// slash in front.
var hugoURL = text.Regexp(`\b(rel|abs)(Lang)?URL\b`)

// baseFilter matches what adds the base path in sources of Jekyll, Eleventy, Astro and
// Vite.
var baseFilter = text.Regexp(`\b(?:relative_url|absolute_url|site\.baseurl|import\.meta\.env\.BASE_URL|withBase)\b`)

// baseByGenerator returns what to write so that the generator adds the base path: the
// argument of a function of Hugo without its slash, or the path of the Markdown file.
// It returns "" if the generator cannot add it at this place.
func baseByGenerator(m *maker, l *destination.Destination, file string, r *check.Repair) string {
	switch {
	case l.Form == read.FormString && m.generator.Traits().Refs:
		action, _, _ := bytes.Cut(m.files[file].text[l.Position:], []byte("}}"))
		if hugoURL().Match(action) {
			return strings.TrimLeft(l.Value, "/")
		}
	case (l.Form == read.FormInline || l.Form == read.FormDefinition) && m.resolvesMarkdown():
		from, ok := m.byFile[file]
		to, err := m.site.Request(m.site.BasePath() + r.Finding.Target)
		if !ok || err != nil || !to.State.Answers() {
			return ""
		}
		if at := m.makersOf(to.Node, from, r.Finding.Page); len(at) == 1 {
			_, tail := destination.CutTail(l.Value)
			return (&url.URL{Path: weburl.Relative("/"+m.content[from].Name, "/"+m.content[at[0]].Name)}).EscapedPath() + tail
		}
	}
	return ""
}

// throughAddress handles a source that has a rooted path where the page has an
// absolute or relative one, or a base path before it.
func (m *maker) throughAddress(written string, r *check.Repair) (string, error) {
	if !strings.HasPrefix(written, "/") || strings.HasPrefix(written, "//") {
		return "", errOther
	}
	base := m.site.BasePath()
	target := r.Finding.Target
	if r.Finding.Fragment != "" {
		target += "#" + r.Finding.Fragment
	}
	node, _ := m.site.Lookup(r.Finding.Page)
	page, ok := m.site.PageOf(node)
	if !ok {
		return "", errOther
	}
	to, err := m.site.Follow(page, r.Value)
	if err != nil || !strings.HasPrefix(to.Target, "/") {
		return "", errOther
	}
	value := to.Target
	if to.Fragment != "" {
		value += "#" + to.Fragment
	}
	switch {
	case same(written, target):
		return value, nil
	case base != "" && same(base+written, target) && strings.HasPrefix(value, base+"/"):
		return strings.TrimPrefix(value, base), nil
	}
	return "", errOther
}

// same compares two values without their percent-encoding.
func same(a, b string) bool {
	return a == b || destination.PercentDecoded(a) == destination.PercentDecoded(b)
}

// markdownValue returns the path of the Markdown file behind a page, relative to
// the file that links there.
func (m *maker) markdownValue(l *destination.Destination, file string, r *check.Repair) (string, error) {
	from, ok := m.byFile[file]
	if !ok {
		return "", errOther
	}
	target, err := m.contentOf(r, from)
	if err != nil {
		return "", err
	}
	_, tail := destination.CutTail(l.Value)
	to := target.Name
	if !strings.HasPrefix(l.Value, "/") {
		to = weburl.Relative("/"+m.content[from].Name, "/"+target.Name)
		if strings.HasPrefix(l.Value, "./") {
			to = "./" + to
		}
	} else {
		to = "/" + to
	}
	return (&url.URL{Path: to}).EscapedPath() + tail, nil
}

// makersOf returns the content files of the page at a node of the docroot. Keys of
// content may begin with the directory of all content, such as docs. The key of page,
// which the content file from makes, shows whether they do.
func (m *maker) makersOf(node docroot.NodeID, from int, page string) []int {
	key := source.PageKey(m.site.Tree().Path(node))
	if at := m.byPage[key]; len(at) > 0 {
		return at
	}
	return m.byPage[path.Join(strings.TrimSuffix(m.content[from].Page, source.PageKey(page)), key)]
}

// contentOf returns the content file of the page that the value of a repair leads
// to. The content file from has the link.
func (m *maker) contentOf(r *check.Repair, from int) (*source.ContentFile, error) {
	node, _ := m.site.Lookup(r.Finding.Page)
	page, ok := m.site.PageOf(node)
	if !ok {
		return nil, errOther
	}
	to, err := m.site.Follow(page, r.Value)
	if err != nil || !to.State.Answers() {
		return nil, errOther
	}
	at := m.makersOf(to.Node, from, r.Finding.Page)
	if len(at) != 1 {
		return nil, errors.New("the Markdown file of the page is not known")
	}
	return &m.content[at[0]], nil
}

const bom = "\uFEFF"

// positionOf returns the line and column of an offset, as [destination.Offset] takes
// them.
func positionOf(text []byte, at int) (line, column int) {
	before := text[:at]
	line = bytes.Count(before, []byte("\n")) + 1
	start := bytes.LastIndexByte(before, '\n') + 1
	if start == 0 && bytes.HasPrefix(before, []byte(bom)) {
		start = len(bom)
	}
	return line, utf8.RuneCount(before[start:]) + 1
}
