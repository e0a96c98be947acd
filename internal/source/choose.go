package source

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// sourceOf finds the file that a page was made of, parsed. doc is nil when
// there is none, or when several may be it and nothing tells which. said is
// what the page says itself.
func (m *Map) sourceOf(name string, text []byte, said string, links []pageLink) (doc *document, file string) {
	c := m.content
	if said != "" {
		if f, ok := c.named(said); ok {
			return m.document(f), f.shown
		}
	}
	key := pageKey(name)
	if i, ok := c.listed[key]; ok {
		return m.document(c.files[i]), c.files[i].shown
	}
	found := c.byKey[key]
	if len(found) != 1 {
		if f, ok := c.editLink(links); ok {
			return m.document(f), f.shown
		}
	}
	if len(found) > 0 {
		return m.pick(found, name, text, links, true)
	}
	if found := c.maybe[key]; len(found) > 0 {
		return m.pick(found, name, text, links, true)
	}
	if key == "" {
		return nil, ""
	}
	matter := m.matterKeys()
	if found := matter["/"+key]; len(found) > 0 {
		return m.pick(found, name, text, links, true)
	}
	last := path.Base(key)
	found = slices.Concat(c.byLast[last], matter[last])
	slices.Sort(found)
	return m.pick(slices.Compact(found), name, text, links, false)
}

// maxChoices bounds how many files are compared with a page.
const maxChoices = 64

// pick returns the file whose links and name fit the page best, and none when
// two do. A single file is taken as it is when its name is sure.
func (m *Map) pick(found []int, name string, text []byte, links []pageLink, sure bool) (*document, string) {
	c := m.content
	if len(found) == 0 || len(found) > maxChoices {
		return nil, ""
	}
	if sure && len(found) == 1 {
		return m.document(c.files[found[0]]), c.files[found[0]].shown
	}
	if !sure {
		// One file alone that has the whole path at its end needs no more.
		whole := slices.DeleteFunc(slices.Clone(found), func(i int) bool {
			return commonTail(c.files[i].key, pageKey(name)) <= strings.Count(pageKey(name), "/")
		})
		if len(whole) > 0 {
			found = whole
		}
	}
	language := pageLanguage(text)
	best, bestScore, tie := -1, 0, false
	for _, i := range found {
		doc := m.document(c.files[i])
		if doc == nil {
			continue
		}
		_, pairs := align(doc.items, m.addresses(doc.items, name), links)
		common := commonTail(c.files[i].key, pageKey(name))
		if !sure && pairs == 0 && common < strings.Count(pageKey(name), "/")+1 {
			continue
		}
		score := 1 + 4*pairs + 3*common
		if l := languageSuffix.FindStringSubmatch(strings.TrimSuffix(c.files[i].name, path.Ext(c.files[i].name))); l != nil && strings.EqualFold(l[2], language) {
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
		return nil, ""
	}
	return m.document(c.files[best]), c.files[best].shown
}

// commonTail counts the last names that two keys share.
func commonTail(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < len(as) && n < len(bs) && as[len(as)-1-n] == bs[len(bs)-1-n] {
		n++
	}
	return n
}

var htmlLanguage = regexp.MustCompile(`(?i)<html[^>]*\slang\s*=\s*["']?([a-zA-Z-]+)`)

func pageLanguage(text []byte) string {
	if l := htmlLanguage.FindSubmatch(text[:min(len(text), 4096)]); l != nil {
		return string(l[1])
	}
	return ""
}

// maxDocuments bounds the parsed files that are kept.
const maxDocuments = 256

// document reads and parses a content file; nil when it cannot be read.
func (m *Map) document(f contentFile) *document {
	if d, ok := m.docs[f.shown]; ok {
		return d
	}
	if len(m.docs) >= maxDocuments {
		clear(m.docs)
	}
	var d *document
	if text, err := readFile(f.dir.fsys, f.name, maxContentFile); err == nil {
		d = parseDocument(f.name, text, m.opt.Generator == Hugo)
		d.module = f.dir.module
	}
	m.docs[f.shown] = d
	return d
}

// matterLine is a line of front matter that has a say in the page's address.
var matterLine = regexp.MustCompile(`(?m)^\s*"?(slug|url|permalink|title|path)"?\s*[:=]\s*(.+?),?\s*$`)

// maxMatter is how much of a file is searched for these lines.
const maxMatter = 16 << 10

// matterKeys indexes what front matter says of addresses: "/" and the key for
// a whole path, the last name for a slug or a title.
func (m *Map) matterKeys() map[string][]int {
	c := m.content
	if c.matter != nil {
		return c.matter
	}
	c.matter = map[string][]int{}
	for i, f := range c.files {
		file, err := f.dir.fsys.Open(f.name)
		if err != nil {
			continue
		}
		head := make([]byte, maxMatter)
		n := 0
		for n < len(head) {
			k, err := file.Read(head[n:])
			if n += k; err != nil {
				break
			}
		}
		file.Close()
		head = head[:n]
		end := frontMatter(head)
		for _, l := range matterLine.FindAllSubmatch(head[:end], -1) {
			text := strings.Trim(string(bytes.TrimSpace(l[2])), `"'`)
			switch string(l[1]) {
			case "url", "permalink", "path":
				key := pageKey(strings.TrimPrefix(text, "/"))
				c.matter["/"+key] = append(c.matter["/"+key], i)
			default:
				if key := urlize(text); key != "" {
					c.matter[key] = append(c.matter[key], i)
				}
			}
		}
	}
	return c.matter
}

// urlize is what generators make of a title in an address, in the main.
func urlize(s string) string {
	return strings.Trim(nonWord.ReplaceAllString(strings.ToLower(s), "-"), "-")
}

var nonWord = regexp.MustCompile(`[^\p{L}\p{N}_.]+`)
