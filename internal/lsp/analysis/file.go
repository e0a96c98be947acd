package analysis

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
)

// Overlay holds the texts of files that differ from what the snapshot was made of,
// by name: those of an editor's buffers, and saved files that no build has seen.
// It never changes: With returns another one.
type Overlay struct {
	texts  map[string][]byte
	files  map[string]*indexedFile
	parsed map[string]parsed
	// anchors are the changes of headings, by the page that has them.
	anchors map[docroot.NodeID]anchorChange
}

// parsed is what a text holds.
type parsed struct {
	links    []destination.Link
	headings []Heading
}

// anchorChange is how the headings of a text differ from those of the snapshot.
type anchorChange struct{ added, removed map[string]bool }

// With returns the overlay with another text of a file; nil takes the file out.
func (s *Snapshot) With(ctx context.Context, o *Overlay, file string, text []byte) *Overlay {
	n := &Overlay{texts: map[string][]byte{}, files: map[string]*indexedFile{}, parsed: map[string]parsed{}, anchors: map[docroot.NodeID]anchorChange{}}
	if o != nil {
		for name, text := range o.texts {
			if name != file {
				n.texts[name], n.files[name], n.parsed[name] = text, o.files[name], o.parsed[name]
			}
		}
	}
	if text != nil {
		n.texts[file] = text
		n.files[file], n.parsed[file] = s.index(ctx, file, text)
	}
	for name, f := range n.files {
		id, ok := s.page(name)
		was := s.files[name]
		if !ok || was == nil {
			continue
		}
		change := anchorChange{map[string]bool{}, map[string]bool{}}
		now, before := f.anchors(), was.anchors()
		for id := range now {
			change.added[id] = true
		}
		for id := range before {
			if !now[id] {
				change.removed[id] = true
			}
		}
		n.anchors[s.Site.Page(id).Node()] = change
	}
	return n
}

// Text returns the text of a file: that of the overlay, or else that on disk.
func (s *Snapshot) Text(o *Overlay, file string) ([]byte, error) {
	if o != nil {
		if text, ok := o.texts[file]; ok {
			return text, nil
		}
	}
	return s.ReadText(file)
}

// indexed returns what is known of a file, nil if it is not a source file.
func (s *Snapshot) indexed(o *Overlay, file string) *indexedFile {
	if o != nil {
		if f, ok := o.files[file]; ok {
			return f
		}
	}
	return s.files[file]
}

// indexedFile is what is kept of a file that is not open. There are many: it is
// small.
type indexedFile struct {
	title    string
	links    []indexedLink
	headings []indexedHeading
	stamp    uint64 // of the file that was read, 0 for a text of the editor
}

// indexedHeading is a heading of such a file.
type indexedHeading struct {
	start, end uint32
	text, id   string
}

// indexedLink is a destination that leads to a file of the site.
type indexedLink struct {
	start, end uint32
	node       docroot.NodeID
	fragment   uint64 // the hash of the fragment, 0 for none
}

// Heading is a heading of a source file.
type Heading struct {
	// Start and End are the offsets of its text.
	Start, End int
	Level      int
	Text       string
	// ID is the anchor that the page gets, "" for none. Explicit reports that the
	// author wrote it.
	ID       string
	Explicit bool
}

// anchors returns the ids of the headings.
func (f *indexedFile) anchors() map[string]bool {
	ids := map[string]bool{}
	for _, h := range f.headings {
		if h.id != "" {
			ids[h.id] = true
		}
	}
	return ids
}

func hashFragment(fragment string) uint64 {
	if fragment == "" {
		return 0
	}
	return xxhash.Sum64String(fragment)
}

// Headings returns the headings of a Markdown text with their ids.
func (s *tree) Headings(file string, text []byte) []Heading {
	if len(text) > maxSource {
		return nil
	}
	written := destination.Headings(file, text, s.generator, s.headingIDs)
	all := make([]Heading, 0, len(written))
	for _, w := range written {
		all = append(all, Heading{Start: w.Start, End: w.End, Level: w.Level, Text: w.Text, ID: w.Anchor, Explicit: w.ID != ""})
	}
	return all
}

var titleLine = regexp.MustCompile(`(?m)^\s*"?title"?\s*[:=]\s*(.+?),?\s*$`)

// maxHead is how many bytes of a file are searched for its title.
const maxHead = 4 << 10

// titleOf returns the title that the front matter of a text gives, or else its
// first heading.
func titleOf(text []byte, headings []Heading) string {
	head := text[:min(len(text), maxHead)]
	if len(head) > 0 && bytes.IndexByte([]byte("-+{"), head[0]) >= 0 {
		if m := titleLine.FindSubmatch(head); m != nil {
			return strings.Trim(string(m[1]), `"'`)
		}
	}
	if len(headings) > 0 {
		return headings[0].Text
	}
	return ""
}

// readFile reads a source file and returns what is kept of it, nil if it cannot
// be read. What last has of the same file is that.
func (s *Snapshot) readFile(ctx context.Context, file string, last *Snapshot) *indexedFile {
	stamp := s.stampOf(file)
	if last != nil && stamp != 0 {
		if f := last.files[file]; f != nil && f.stamp == stamp {
			return f
		}
	}
	text, err := s.ReadText(file)
	if err != nil {
		return nil
	}
	f, _ := s.index(ctx, file, text)
	f.stamp = stamp
	return f
}

// index returns what is kept of a text, and what it holds.
func (s *Snapshot) index(ctx context.Context, file string, text []byte) (*indexedFile, parsed) {
	all := parsed{s.destinations(file, text), s.Headings(file, text)}
	f := &indexedFile{headings: make([]indexedHeading, len(all.headings)), links: make([]indexedLink, 0, len(all.links))}
	for i := range all.headings {
		h := &all.headings[i]
		f.headings[i] = indexedHeading{uint32(h.Start), uint32(h.End), h.Text, h.ID}
	}
	if _, ok := s.byFile[file]; ok {
		f.title = titleOf(text, all.headings)
	}
	at := s.place(file)
	for i := range all.links {
		d := &all.links[i]
		t := s.lead(ctx, &at, d)
		if t.Node == docroot.NoNode {
			continue
		}
		f.links = append(f.links, indexedLink{uint32(d.Start), uint32(d.End), t.Node, hashFragment(t.Fragment)})
	}
	return f, all
}

// destinations returns the destinations of a text, none if it is too large to be a page.
func (s *tree) destinations(file string, text []byte) []destination.Link {
	if len(text) > maxSource {
		return nil
	}
	return destination.In(file, text, s.generator)
}

// Link is a destination with what it leads to.
type Link struct {
	destination.Link
	Target Target
}

// File is everything about one text.
type File struct {
	Name string
	Text []byte
	// Links are the destinations, sorted by offset, and Headings the headings.
	Links    []Link
	Headings []Heading
}

// Analyze returns what a text holds and where its destinations lead.
func (s *Snapshot) Analyze(ctx context.Context, o *Overlay, file string, text []byte) (*File, error) {
	var all parsed
	if o != nil && bytes.Equal(o.texts[file], text) && o.files[file] != nil {
		all = o.parsed[file]
	} else {
		all = parsed{s.destinations(file, text), s.Headings(file, text)}
	}
	f := &File{Name: file, Text: text, Headings: all.headings}
	at := s.place(file)
	at.built = s.builtLinks(file)
	shown, err := s.rendered(ctx, file)
	if err != nil {
		return nil, err
	}
	at.rendered = pairRendered(shown, all.links)
	for i := range all.links {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		t, err := s.judgeLink(ctx, o, &at, text, &all.links[i])
		if err != nil {
			return nil, err
		}
		f.Links = append(f.Links, Link{all.links[i], t})
	}
	return f, nil
}

// At returns the link at an offset of the text, nil if there is none.
func (f *File) At(offset int) *Link {
	for i := range f.Links {
		if l := &f.Links[i]; l.Start <= offset && offset <= l.End {
			return l
		}
	}
	return nil
}

// HeadingAt returns the heading whose line contains an offset, nil if there is
// none.
func (f *File) HeadingAt(offset int) *Heading {
	for i := range f.Headings {
		h := &f.Headings[i]
		start := bytes.LastIndexByte(f.Text[:h.Start], '\n') + 1
		if start <= offset && offset <= h.End {
			return h
		}
	}
	return nil
}

// isContent reports whether a file is one in which an author writes a page.
func (s *tree) isContent(file string) bool {
	if _, ok := s.byFile[file]; ok {
		return true
	}
	return destination.IsContent(file) && s.contentRoot(file) != noRoot
}

// noRoot is no directory of content.
const noRoot = "\x00"

// contentRoot returns the directory of content that a file is in, with a slash at
// its end, "" for the whole project.
func (s *tree) contentRoot(file string) string {
	for _, root := range s.roots {
		if strings.HasPrefix(file, root) {
			return root
		}
	}
	return noRoot
}
