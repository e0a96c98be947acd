package lsp

import (
	"bytes"
	"context"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// How a destination gets its verdict, the first that applies:
//
//  1. The last build has a link that was written with this value in this file. It
//     shows what render hooks and shortcodes make of the value.
//  2. The last build has a link that was written with another value at this place of a
//     template, a data file or the configuration, or for this key of front matter.
//  3. The destination names a content file: an argument of ref, or a path that the
//     generator or the site's render hook resolves. The link leads to its page.
//  4. It is a URL, resolved against the address of the page.
//
// A value that may be no link at all, such as a parameter of a shortcode, gets no
// verdict by the last two, only a target.

// Target is where a destination leads.
type Target struct {
	// Node is the file that answers, [docroot.NoNode] if none does or if it is
	// elsewhere. Fragment is what the link asks of it, decoded.
	Node     docroot.NodeID
	Fragment string
	// Value is the value of the link on the page, and Page the page.
	Value, Page string
	// Judged reports that the destination is a link of the page with a known
	// verdict.
	Judged bool
	check.Judgement
}

// noTarget is the target of what leads to no file.
var noTarget = Target{Node: docroot.NoNode}

// origin is the file to resolve destinations of.
type origin struct {
	file    string
	content bool
	// judged reports that destinations are links of a page: of that of the file, or
	// of the one that the next build will make of it.
	judged bool
	// page is the page that was made of it, or "". address is the site path
	// that such a page would get, or "" if that is not known.
	page, address string
	language      string
	name          string // of the file below the directory of content
	built         builtLinks
	rendered      map[int]*rendered // changed destinations of a file that is not content
}

func (s *Snapshot) origin(file string) origin {
	at := origin{file: file, content: s.isContent(file)}
	i, known := s.byFile[file]
	if known {
		at.language, at.name = s.content[i].Language, s.content[i].Name
	} else if root := s.contentRoot(file); at.content {
		at.name = strings.TrimPrefix(file, root)
	}
	if id, ok := s.page(file); ok {
		at.page = s.Site.Path(id)
		at.address = s.Site.Href(s.Site.Page(id).Node())
	} else if at.content {
		at.address = s.guessAddress(file)
	}
	at.judged = at.page != "" || at.content && !known
	return at
}

// guessAddress returns the address of a page that no build has made yet, by that
// of a file beside it, "" if none tells.
func (s *Snapshot) guessAddress(file string) string {
	own := strings.TrimSuffix(file, path.Ext(file))
	if base := path.Base(own); base == "index" || base == "_index" {
		own = path.Dir(own)
	}
	for _, other := range s.order {
		if path.Dir(other) != path.Dir(own) || other == file {
			continue
		}
		id, ok := s.page(other)
		if !ok {
			continue
		}
		stem := strings.TrimSuffix(path.Base(other), path.Ext(other))
		href := strings.TrimSuffix(s.Site.Href(s.Site.Page(id).Node()), "/")
		if before, ok := strings.CutSuffix(href, "/"+stem); ok {
			return before + "/" + path.Base(own) + "/"
		}
	}
	return ""
}

// builtLinks are the links that the last build made of the destinations of a file.
type builtLinks struct {
	values map[writtenValue]builtValue
	// differ are values that became several addresses: a render hook looks at more
	// than the destination.
	differ map[writtenValue]bool
	// resolves reports that a path of a content file became an address.
	resolves bool
	// keys are the keys of front matter with what the template makes of their values.
	keys map[string]keyForm
}

// keyForm is how a template makes a link of the value of a key of front matter.
type keyForm struct {
	before  string // what it writes before the value: the address of the site, or nothing
	element string // "" if it makes no link, or something else
}

// ownAddress are the keys that decide the address of the page itself. Pages may link to
// their values, but these are not links of the page.
var ownAddress = map[string]bool{"url": true, "slug": true, "path": true, "permalink": true, "aliases": true, "alias": true, "redirect_from": true}

// formOf returns how a template made one of the links of a page of a value, by their
// values with their elements.
func (s *Snapshot) formOf(value string, elements map[string]string) keyForm {
	for _, before := range []string{"", s.Site.BasePath() + "/", s.Site.BaseURL()} {
		f := keyForm{before: before}
		if f.element = elements[f.link(value)]; f.element != "" {
			return f
		}
	}
	return keyForm{}
}

// link returns the link that a template makes of a value, "" for none.
func (f keyForm) link(value string) string {
	switch {
	case f.before == "":
		return value
	case value == "" || strings.Contains(value, ":") || strings.HasPrefix(value, "#"):
		return ""
	}
	return f.before + strings.TrimPrefix(value, "/")
}

// writtenValue is a destination as the author wrote it, without its place.
type writtenValue struct {
	form  read.Form
	value string
}
type builtValue struct{ raw, element string }

// builtLinks returns them for a file, from its text on disk.
func (s *Snapshot) builtLinks(file string) builtLinks {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok := s.built[file]; ok {
		return b
	}
	b := builtLinks{values: map[writtenValue]builtValue{}, keys: map[string]keyForm{}}
	id, ok := s.page(file)
	if !ok || s.sources == nil || s.reader == nil {
		return b
	}
	raw, err := s.readRaw(file)
	of, own := s.sources.OwnLinks(s.reader, s.Site.Path(id))
	if err != nil || of != file {
		return b
	}
	text := bytes.TrimPrefix(raw, []byte("\ufeff"))
	shift := len(raw) - len(text)
	b.differ = map[writtenValue]bool{}
	all := s.destinations(file, text)
	for _, l := range own {
		d := destination.At(all, l.At-shift)
		if d == nil || d.IsRef() {
			continue
		}
		key := writtenValue{d.Form, d.Value}
		if was, ok := b.values[key]; ok && was.raw != l.Raw {
			b.differ[key] = true
		}
		b.values[key] = builtValue{l.Raw, l.Element}
		if _, isPath := contentPath(d.Value); isPath && l.Raw != d.Value {
			if _, still := contentPath(l.Raw); !still {
				b.resolves = true
			}
		}
	}
	// A destination of the text that is on the page neither so nor as another address
	// is one that a render hook rewrites in a way that only the hook knows.
	elements := map[string]string{} // by the values of the page's links
	if err := s.reader.Written(id, func(d *site.Detail) { elements[strings.Clone(d.Raw)] = d.Element }); err == nil {
		for i := range all {
			key := writtenValue{all[i].Form, all[i].Value}
			_, onPage := elements[key.value]
			switch v, ok := b.values[key]; {
			case key.form == read.FormMatter:
				f := s.formOf(key.value, elements)
				if was, ok := b.keys[all[i].Key]; ok && was != f || ownAddress[all[i].Key] || all[i].Key == "" { // values of one key must agree
					f = keyForm{}
				}
				b.keys[all[i].Key] = f
			case !ok && isLinkForm(key.form) && !onPage:
				b.differ[key] = true
			case ok && v.raw != key.value && isRooted(v.raw) && isRooted(key.value) && onPage:
				// The page has this very address: on a page with many equal links, the pair is
				// wrong.
				delete(b.values, key)
				delete(b.differ, key)
			}
		}
	}
	s.built[file] = b
	return b
}

// judgeLink returns where a destination leads, with its verdict.
func (s *Snapshot) judgeLink(ctx context.Context, o *Overlay, at *origin, text []byte, d *destination.Destination) (Target, error) {
	built := at.built
	key := writtenValue{d.Form, d.Value}
	if at.rendered[d.Start] != nil {
		// The last build made a link of the destination: the new value is judged as that link.
		r := at.rendered[d.Start]
		raw := r.link(d.Value)
		// Hugo writes the address /Docs/?q#A of a menu entry as /docs/qa.
		changes := r.kind == read.Configuration && s.generator.Traits().Modules && strings.HasPrefix(d.Value, "/") &&
			strings.Trim(d.Value, "abcdefghijklmnopqrstuvwxyz0123456789/.-_#") != ""
		if r.page == "" || r.differs || !isRooted(raw) || strings.Contains(d.Value, "{{") || changes {
			return s.lead(ctx, at, d), nil
		}
		on := *at
		on.page = r.page
		t, err := s.judgeValue(ctx, &on, r.keyForm.element, raw)
		if err != nil {
			return t, err
		}
		if t = s.withOverlay(o, t); t.Verdict == check.Error && s.isUnbuilt(&on, raw) {
			return noTarget, nil
		}
		return t, nil
	}
	if built.differ[key] || d.Form == read.FormAutolink && strings.HasPrefix(d.Value, "mailto:") {
		return noTarget, nil
	}
	if b, ok := built.values[key]; ok && at.page != "" {
		t, err := s.judgeValue(ctx, at, b.element, b.raw)
		return s.withOverlay(o, t), err
	}
	if d.Form == read.FormMatter && built.keys[d.Key].element != "" {
		form := built.keys[d.Key]
		raw := form.link(d.Value)
		if raw == "" {
			return noTarget, nil
		}
		t, err := s.judgeValue(ctx, at, form.element, raw)
		return s.withOverlay(o, t), err
	}
	if node, fragment, found := s.contentTarget(at, d, built.resolves); found != notContent {
		switch {
		case found == ambiguous || found == missing && d.IsRef():
			t := Target{Node: docroot.NoNode, Page: at.page, Value: d.Value, Judged: true}
			message := "no content file matches " + d.Value
			if found == ambiguous {
				message = "several content files match " + d.Value + "; write a longer path, such as /section/" + path.Base(d.Value)
			}
			t.Link = check.Link{Page: at.page, Raw: d.Value, Verdict: check.Error, Code: check.UnresolvedRef, Message: message}
			return t, nil
		case found == unbuilt:
			return noTarget, nil
		case node != docroot.NoNode:
			t, err := s.judgeValue(ctx, at, d.Element, s.addressOf(node, fragment))
			return s.withOverlay(o, t), err
		}
	}
	if d.Form == read.FormDefinition && !isUsed(text, d.Start) {
		return s.lead(ctx, at, d), nil
	}
	if !isLinkForm(d.Form) || !at.judged || strings.Contains(d.Value, "{{") || d.IsRef() {
		return s.lead(ctx, at, d), nil
	}
	t, err := s.judgeValue(ctx, at, d.Element, d.Value)
	if err != nil {
		return t, err
	}
	t = s.withOverlay(o, t)
	if t.Verdict == check.Error {
		if found, ok := s.resolvedByHook(at, d); ok {
			return s.withOverlay(o, found), nil
		}
		if s.isUnbuilt(at, d.Value) {
			return noTarget, nil
		}
	}
	return t, nil
}

// isUsed reports whether a link of the text uses the definition with its
// destination at an offset. A definition alone is no link.
func isUsed(text []byte, at int) bool {
	start := bytes.LastIndexByte(text[:at], '[')
	if start < 0 {
		return true
	}
	end := bytes.IndexByte(text[start:at], ']')
	if end < 0 {
		return true
	}
	label := text[start : start+end+1]
	for i := 0; i < len(text); {
		n := scan.IndexFold(text[i:], strings.ToLower(string(label)))
		if n < 0 {
			return false
		}
		after := i + n + len(label)
		if i+n != start && (after == len(text) || text[after] != ':' || len(bytes.TrimRight(text[bytes.LastIndexByte(text[:i+n], '\n')+1:i+n], " ")) > 0) {
			return true
		}
		i = after
	}
	return false
}

// isLinkForm reports whether destinations of a form are links of the page, not
// values that a template may use.
func isLinkForm(f read.Form) bool {
	switch f {
	case read.FormInline, read.FormDefinition, read.FormAutolink, read.FormHTML, read.FormComponent:
		return true
	}
	return false
}

// isRooted reports whether a value means the same on all pages of the site.
func isRooted(value string) bool {
	return strings.HasPrefix(value, "/") || strings.Contains(value, "://")
}

// judgeValue judges a value as a link of the page of a place.
func (s *Snapshot) judgeValue(ctx context.Context, at *origin, element, value string) (Target, error) {
	t := Target{Node: docroot.NoNode, Value: value, Page: at.page, Judged: true}
	page, raw := at.page, value
	if page == "" && !isRooted(value) && (value != "" || element != "img") {
		if raw = relativeTo(at.address, value); raw == "" || value == "" || strings.HasPrefix(value, "#") {
			return noTarget, nil
		}
	}
	judged, err := s.judge.Link(ctx, page, element, raw)
	if err != nil {
		return noTarget, err
	}
	t.Judgement = judged
	if r, ok := s.follow(page, raw); ok && r.State != host.StateExternal {
		t.Fragment = string(weburl.PercentDecode(nil, r.Fragment))
		if r.State.Answers() {
			t.Node = r.Node
		}
	}
	return t, nil
}

// relativeTo resolves a relative value against a site path, "" if that is not
// possible.
func relativeTo(address, value string) string {
	base, err := url.Parse(address)
	if err != nil || address == "" {
		return ""
	}
	u, err := base.Parse(value)
	if err != nil {
		return ""
	}
	return u.String()
}

// follow asks the host for a value on a page, "" for the home page.
func (s *Snapshot) follow(page, value string) (host.Resolved, bool) {
	var from docroot.NodeID
	if page != "" {
		from, _ = s.Site.Lookup(page)
	} else if index := s.Site.IndexOf(0); index != docroot.NoNode {
		from = index
	}
	id, ok := s.Site.PageOf(from)
	if !ok {
		id = 0
	}
	r, err := s.Site.Follow(id, value)
	return r, err == nil
}

// lead returns where a destination leads by rules alone, without a verdict. It is
// what references are found by.
func (s *Snapshot) lead(_ context.Context, at *origin, d *destination.Destination) Target {
	t := noTarget
	if node, fragment, found := s.contentTarget(at, d, false); found == published {
		t.Node, t.Fragment = node, fragment
		return t
	}
	value := d.Value
	switch {
	case strings.Contains(value, "{{") || value == "" || d.IsRef():
		return t
	case at.page == "" && !isRooted(value):
		if value = relativeTo(at.address, value); value == "" {
			return t
		}
	case !isLinkForm(d.Form) && (!strings.ContainsAny(value, "/#") || strings.ContainsAny(value, " \t\n")): // it is surely no link
		return t
	}
	r, ok := s.follow(at.page, value)
	if !ok || !r.State.Answers() || r.State == host.StateExternal {
		return t
	}
	t.Node, t.Fragment = r.Node, string(weburl.PercentDecode(nil, r.Fragment))
	return t
}

// withOverlay applies what the author's texts change about the headings of the
// target.
func (s *Snapshot) withOverlay(o *Overlay, t Target) Target {
	if o == nil || t.Fragment == "" || t.Node == docroot.NoNode {
		return t
	}
	change, ok := o.anchors[t.Node]
	switch {
	case !ok:
	case t.Code == check.MissingFragment && change.added[t.Fragment]:
		t.Verdict, t.Code, t.Message = check.OK, "", ""
	case t.Verdict == check.OK && change.removed[t.Fragment]:
		t.Verdict, t.Code = check.Error, check.MissingFragment
		t.Message = "no heading of " + s.SourceOf(t.Node) + " has the id " + t.Fragment + " any more"
	}
	return t
}

// isUnbuilt reports whether a value names a file that the next build will copy to
// the site.
func (s *Snapshot) isUnbuilt(at *origin, value string) bool {
	name, _, _ := strings.Cut(value, "#")
	name, _, _ = strings.Cut(name, "?")
	name = string(weburl.PercentDecode(nil, name))
	if name == "" || strings.Contains(name, "://") || strings.HasSuffix(name, "/") || path.Ext(name) == "" || generator.IsMarkdown(name) {
		return false
	}
	if strings.HasPrefix(name, "/") {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.sources != nil && s.sources.Static(strings.TrimPrefix(strings.TrimPrefix(name, s.Site.BasePath()), "/")) != ""
	}
	return s.exists(path.Join(path.Dir(at.file), name))
}

// addressOf returns the site path of a file with a fragment.
func (s *Snapshot) addressOf(node docroot.NodeID, fragment string) string {
	href := s.Site.Href(node)
	if fragment != "" {
		href += "#" + (&url.URL{Fragment: fragment}).EscapedFragment()
	}
	return href
}

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
func (s *Snapshot) contentTarget(at *origin, d *destination.Destination, resolves bool) (node docroot.NodeID, fragment string, f found) {
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
	case isPath && at.content && (resolves || s.hooks) && isLinkForm(d.Form):
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
func (s *Snapshot) resolvedByHook(at *origin, d *destination.Destination) (Target, bool) {
	if !s.generator.Traits().Refs || !s.hooks || strings.Contains(d.Value, "://") {
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

// hookSetting matches a setting of Hugo that turns links to content files into
// addresses.
var hookSetting = text.Regexp(`(?im)^\s*"?(enableDefault|useEmbedded)"?\s*[:=]\s*"?(true|always|fallback)`)

// resolvesContent reports whether the generator, or a render hook of the site,
// resolves links to content files.
func (s *Snapshot) resolvesContent() bool {
	switch t := s.generator.Traits(); {
	case t.ResolvesMarkdown || t.ContentRoot != "":
		return true
	case !t.Refs: // no render hooks
		return false
	}
	for _, name := range s.Project.Generator.Configs {
		if text, err := s.ReadText(name); err == nil && hookSetting().Match(text) {
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
func (s *Snapshot) exists(file string) bool {
	root, err := os.OpenRoot(s.Dir)
	if err != nil || filepath.IsAbs(file) {
		return false
	}
	defer root.Close()
	info, err := root.Stat(filepath.FromSlash(file))
	return err == nil && info.Mode().IsRegular()
}
