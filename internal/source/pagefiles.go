package source

import (
	"bytes"
	"cmp"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/generator"
)

// pageFile is what decides at which address Hugo publishes the page of a
// content file: its name and its front matter.
type pageFile struct {
	name string // as displayed
	// stamp identifies this version of the file, 0 if the file may change
	// without another stamp.
	stamp uint64
	// sum is a hash of the file, 0 if it cannot be read.
	sum uint64
	// matter is a hash of the front matter. moves reports that the front matter
	// may give the page another address than the name of the file does; computes
	// that the file's pages depend on more than the file.
	matter          uint64
	moves, computes bool
	// keys is a hash of what [contentIndex.readFrontMatter] reads of the file.
	keys uint64
}

// sameAddresses reports whether all pages have the same addresses as before.
func sameAddresses(old, now []pageFile) bool {
	return slices.EqualFunc(old, now, func(a, b pageFile) bool {
		return a.name == b.name && a.matter == b.matter && !a.computes && !b.computes
	})
}

// settled is how long ago a file must have changed for its stamp to be trusted:
// a change right after the file was read may leave the same times.
var settled = 2 * time.Second

// stampOf returns the stamp of a file that is read after now.
func stampOf(info fs.FileInfo, now time.Time) uint64 {
	changed, inode := fileChange(info)
	if changed.IsZero() || !info.Mode().IsRegular() || changed.After(now.Add(-settled)) || info.ModTime().After(now.Add(-settled)) {
		return 0
	}
	var h hashed
	h.number(uint64(info.Size()))
	h.number(uint64(info.ModTime().UnixNano()))
	h.number(uint64(changed.UnixNano()))
	h.number(inode)
	return max(1, h.sum())
}

// readPageFile returns the row of a content file. old is its row in an earlier
// answer, if there was one.
func readPageFile(f contentFile, old pageFile, now time.Time) pageFile {
	info, err := fs.Lstat(f.dir.fsys, f.name)
	if err != nil {
		return pageFile{name: f.display, moves: true, computes: true}
	}
	row := pageFile{name: f.display, stamp: stampOf(info, now)}
	if row.stamp != 0 && row.stamp == old.stamp && old.name == row.name {
		return old
	}
	text, err := readFile(f.dir.fsys, f.name, maxContentFile)
	if err != nil {
		row.moves, row.computes = true, true
		return row
	}
	matter := matterOf(f.name, text)
	row.sum, row.matter, row.keys = max(1, xxhash.Sum64(text)), xxhash.Sum64(matter), xxhash.Sum64(matterHead(text))
	row.moves = movingKey.Match(matter)
	row.computes = path.Ext(f.name) == ".gotmpl"
	return row
}

// movingKey matches what in front matter may change addresses, of this page or
// of those below it.
var movingKey = regexp.MustCompile(`(?i)\b(slug|url|cascade|outputs|path|permalinks?)["']?\s*[:=]|\\[ux]`)

// matterOf returns the part of a content file that decides its address: the
// front matter, or all of a file whose front matter is not understood.
func matterOf(name string, text []byte) []byte {
	start := bytes.TrimLeft(bytes.TrimPrefix(text, bom), " \t\r\n")
	plain := isMarkdown(name) || strings.EqualFold(path.Ext(name), ".html")
	opens := slices.ContainsFunc([]string{"---", "+++", "{", "#+"}, func(fence string) bool { return bytes.HasPrefix(start, []byte(fence)) })
	if plain && !opens {
		return nil
	}
	if end := frontMatter(text); plain && end > 0 {
		return text[:end]
	}
	return text
}

// pageFiles returns the rows of all content files, sorted by name.
func (m *Map) pageFiles(old []pageFile) []pageFile {
	before := make(map[string]int, len(old))
	for i := range old {
		before[old[i].name] = i
	}
	now := time.Now()
	rows := make([]pageFile, len(m.content.files))
	for i, f := range m.content.files {
		var known pageFile
		if at, ok := before[f.display]; ok {
			known = old[at]
		}
		rows[i] = readPageFile(f, known, now)
		if m.opt.Identity != "" && rows[i].sum == known.sum && rows[i].sum != 0 {
			rows[i] = known // with the stamp of the original
		}
	}
	slices.SortFunc(rows, func(a, b pageFile) int { return cmp.Compare(a.name, b.name) })
	return rows
}

// plainName matches the name of a content file that Hugo changes in no way but
// its letter case when it makes an address of it.
var plainName = regexp.MustCompile(`^([A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(md|markdown|html)$`)

// namesDecide reports whether Hugo publishes every page at the address that
// follows from the name of its file.
func (m *Map) namesDecide(modules []generator.HugoModule, files []pageFile) bool {
	c := m.content
	for _, v := range m.opt.Env {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "HUGO") && !strings.HasPrefix(name, "HUGO_SECURITY_") && !strings.HasPrefix(name, "HUGO_PARAMS_") && name != "HUGO_CACHEDIR" {
			return false
		}
	}
	for _, module := range modules {
		if !generator.HugoKeepsNames(slashed(module.Dir)) {
			return false
		}
	}
	for _, root := range c.roots {
		if root.lang != "" {
			return false
		}
	}
	for _, mt := range m.mounts {
		if strings.HasPrefix(mt.target, "content/") {
			return false
		}
	}
	for i := range files {
		if files[i].moves {
			return false
		}
	}
	for _, f := range c.files {
		rel := strings.TrimPrefix(strings.TrimPrefix(f.name, f.dir.dir), "/")
		if stem := path.Base(f.name); !plainName.MatchString(rel) || strings.EqualFold(strings.TrimSuffix(stem, path.Ext(stem)), "readme") || len(c.byKey[f.key]) > 1 {
			return false
		}
	}
	return true
}
