package analysis

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/site"
)

// A generator writes the whole docroot after each save, but what most source files
// say, and where their links lead, stays the same. A new snapshot takes over what the
// last one knows of a file if three things are the same: the file, the content files
// with their pages, and what the site answers to every address. Reading a site again
// then takes little time, and the sources are in memory once.

// hashAnswers returns a hash of all that decides which file a link of a source leads
// to, as far as the docroot decides it: the names and kinds of files, the aliases, and
// the rules. It is 0 if a page has a base element, which none of these show.
func (s *tree) hashAnswers() uint64 {
	h := xxhash.New()
	number := func(n uint64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], n)
		h.Write(b[:])
	}
	text := func(t string) {
		number(uint64(len(t)))
		h.WriteString(t)
	}
	tree := s.Site.Tree()
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		name := tree.NameOf(n)
		number(uint64(n.Parent))
		number(uint64(n.Kind)<<32 | uint64(n.Flags))
		number(uint64(n.Real))
		number(uint64(len(name)))
		h.Write(name)
		if slices.Contains(site.RuleNames, string(name)) {
			rules, err := disk.Read(filepath.Join(s.Site.Root(), filepath.FromSlash(tree.Path(docroot.NodeID(i)))), 16<<20)
			if err != nil {
				return 0
			}
			text(string(rules))
		}
	}
	for i := range s.Site.Pages() {
		p := s.Site.Page(site.PageID(i))
		if p.HasBase() {
			return 0
		}
		number(uint64(p.Node()))
		number(uint64(p.Kind()))
		text(p.Alias())
	}
	for _, address := range s.Site.Addresses() {
		text(address)
	}
	return h.Sum64()
}

// answersAs reports whether the links of a source file that has not changed lead to
// the same files as in the last snapshot.
func (s *Snapshot) answersAs(last *Snapshot) bool {
	return last != nil && s.answers != 0 && s.answers == last.answers && s.Dir == last.Dir && s.hooks == last.hooks && s.generator == last.generator && s.headingIDs == last.headingIDs &&
		reflect.DeepEqual(s.Project.Config, last.Project.Config) && slices.Equal(s.content, last.content) && slices.Equal(s.fileOf, last.fileOf)
}

// share takes over what is the same in the last snapshot.
func (s *Snapshot) share(last *Snapshot) {
	s.content, s.byFile, s.fileOf, s.pageOf, s.roots, s.names = last.content, last.byFile, last.fileOf, last.pageOf, last.roots, last.names
}

// stampOf returns a number that changes with a file, 0 if there is no such file.
func (s *tree) stampOf(file string) uint64 {
	info, err := os.Lstat(s.Path(file))
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	h := xxhash.New()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], uint64(info.Size()))
	binary.LittleEndian.PutUint64(b[8:], uint64(info.ModTime().UnixNano()))
	h.Write(b[:])
	return max(1, h.Sum64())
}
