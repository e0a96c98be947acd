package source

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/similar"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
)

// fileOf returns the file that a page was made of. It returns nil without a
// candidate, or if none of several is clearly the best. declared is the file that
// the page itself names.
func (m *Map) fileOf(name string, text []byte, declared string, links []pageLink) *document {
	c := m.content
	if declared != "" {
		if f, ok := c.named(declared); ok {
			return m.document(f)
		}
	}
	key := PageKey(name)
	found := c.makersOf(key)
	certain := len(found) > 0
	switch {
	case len(found) == 1:
		return m.document(c.files[found[0]])
	case !certain && key != "":
		last := path.Base(key)
		found = slices.Concat(c.byLast[last], c.matter()[last])
		slices.Sort(found)
		found = slices.Compact(found)
	}
	return m.bestFile(found, name, text, links, certain)
}

// maxCandidates is how many files are compared with a page.
const maxCandidates = 64

// bestFile returns the candidate with the links and name that match the page
// best, or nil if two match equally well. If certain is set, the candidates
// have the key of the page.
func (m *Map) bestFile(found []int, name string, text []byte, links []pageLink, certain bool) *document {
	c := m.content
	if len(found) > maxCandidates {
		return nil
	}
	if !certain {
		// A single file that ends with the whole path of the page is enough.
		whole := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
			return commonTail(c.files[i].key, PageKey(name)) <= strings.Count(PageKey(name), "/")
		})
		if len(whole) > 0 {
			found = whole
		}
	}
	language := ""
	if l := htmlLanguage().FindSubmatch(text[:min(len(text), 4096)]); l != nil {
		language = string(l[1])
	}
	best, bestScore, tie := -1, 0, false
	for _, i := range found {
		doc := m.document(c.files[i])
		_, pairs := align(doc.Links, m.addresses(doc.Links, name), links)
		common := commonTail(c.files[i].key, PageKey(name))
		if !certain && pairs == 0 && common < strings.Count(PageKey(name), "/")+1 {
			continue
		}
		score := 1 + 4*pairs + 3*common
		if l := languageSuffix().FindStringSubmatch(strings.TrimSuffix(c.files[i].name, path.Ext(c.files[i].name))); l != nil && strings.EqualFold(l[2], language) {
			score += 6
		}
		switch {
		case score > bestScore:
			best, bestScore, tie = i, score, false
		case score == bestScore:
			tie = true
		}
	}
	if best < 0 || tie {
		return nil
	}
	return m.document(c.files[best])
}

// commonTail counts the names at the end that two keys have in common.
func commonTail(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(as) && n < len(bs) && as[len(as)-1-n] == bs[len(bs)-1-n] {
		n++
	}
	return n
}

var htmlLanguage = text.Regexp(`(?i)<html[^>]*\slang\s*=\s*["']?([a-zA-Z-]+)`)

// nearestFile returns the Markdown file, or the file beside it, that an author most likely
// meant by a path that no file has: one with a similar path, or the only one with the same
// name, or "".
func nearestFile(m *Map, from contentFile, want string) string {
	top := ""
	if m.opt.Generator.Traits().Versions { // versions have the same files
		top = from.name[:strings.IndexByte(from.name, '/')+1]
	}
	var names similar.Names
	var same []string
	for _, f := range m.content.files {
		if f.dir.prefix != from.dir.prefix || !read.IsMarkdown(f.name) && path.Ext(f.name) != path.Ext(want) || !strings.HasPrefix(f.name, top) {
			continue
		}
		names.Add(f.name)
		if path.Base(f.name) == path.Base(want) {
			same = append(same, f.name)
		}
	}
	entries, _ := fs.ReadDir(from.dir.fsys, path.Dir(want)) // of pictures and the like
	for _, e := range entries {
		if path.Ext(e.Name()) == path.Ext(want) && !read.IsContent(want) {
			names.Add(path.Join(path.Dir(want), e.Name()))
		}
	}
	if nearest := names.Nearest(want); nearest != "" || len(same) != 1 {
		return nearest
	}
	return same[0]
}
