package generator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/sitelink/sitelink/internal/glob"
	"github.com/sitelink/sitelink/internal/text"
)

// HugoFile is a content file of a Hugo project or of one of its modules.
type HugoFile struct {
	// Name is its slash path in the tree of content, post/a.de.md.
	Name string
	// Lang is the language of its mount, "" if it has none.
	Lang string
	// Read returns its text, nil if it cannot be read.
	Read func() []byte
}

// HugoPage is what Hugo makes of a content file.
type HugoPage struct {
	// Path is where the page is or would be, a slash path below the docroot: post/a/ or
	// post/a.html. It is "" for the home page, and for a file that is a part of another
	// page.
	Path string
	// Made reports that there is a page: build.render and headless do not prevent it.
	// Known is false if the address depends on what files do not say, such as a date of
	// git.
	Made, Known bool
}

// hugoFile is a file while its address is found.
type hugoFile struct {
	name   string // without its language and extension
	dir    string // of the file, "" for the top
	base   string // the last name: index, _index or another
	lang   string
	kind   string // page, home, section, taxonomy or term
	path   string // as Hugo's Page.Path: /post/a
	matter map[string]any
	fault  bool // its front matter cannot be read
}

// Pages returns what Hugo makes of content files, in their order, by their names, their
// front matter and the configuration. If two files have the same name and language,
// the first one makes the page, as with a file of a theme that the project replaces.
// Drafts count: whether a build has them is not for files to say.
func (h *HugoSite) Pages(files []HugoFile) []HugoPage {
	all := make([]hugoFile, len(files))
	needed := hugoAddress
	if h.config["permalinks"] != nil || h.config["frontmatter"] != nil || bytes.Contains(fmt.Append(nil, h.config["languages"]), []byte("permalinks:")) {
		needed = hugoAny
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(files); i = int(next.Add(1)) - 1 {
				all[i] = h.file(files[i], needed())
			}
		})
	}
	wg.Wait()

	t := &hugoTree{site: h, bundles: map[string]bool{}, sections: map[string]bool{}, branches: map[[2]string]*hugoFile{}}
	taken := map[[2]string]bool{}
	for i := range all {
		f := &all[i]
		switch f.base {
		case "index":
			t.bundles[f.dir] = true
		case "_index":
			t.sections[f.dir] = true
			if at := [2]string{f.lang, f.dir}; t.branches[at] == nil {
				t.branches[at] = f
			}
		}
	}
	pages := make([]HugoPage, len(files))
	for i := range all {
		f := &all[i]
		at := [2]string{f.lang, f.name}
		if taken[at] || f.lang == "" && len(h.Languages) > 0 || path.Ext(files[i].Name) == ".gotmpl" {
			pages[i].Known = true // none, or those of a content adapter
			continue
		}
		taken[at] = true
		pages[i] = t.page(f)
	}
	return pages
}

// hugoTree is what the address of a file depends on beside the file itself.
type hugoTree struct {
	site     *HugoSite
	bundles  map[string]bool         // directories of leaf bundles
	sections map[string]bool         // directories with a file _index
	branches map[[2]string]*hugoFile // these files by language and directory
}

var (
	// hugoAny matches any front matter, hugoAddress that which may decide about the
	// address when the configuration has no permalinks.
	hugoAny     = text.Regexp(``)
	hugoAddress = text.Regexp(`(?i)\b(url|slug|_?build|cascade|headless)\b`)
)

// file reads what is known of a file by itself.
func (h *HugoSite) file(in HugoFile, needed *regexp.Regexp) hugoFile {
	name := strings.TrimSuffix(in.Name, path.Ext(in.Name))
	f := hugoFile{lang: in.Lang}
	if len(h.Languages) > 0 && f.lang == "" {
		f.lang = h.Languages[0]
	}
	if suffix := path.Ext(name); suffix != "" {
		lang := strings.ToLower(suffix[1:])
		if _, ok := tableOf(h.config["languages"])[lang]; ok {
			f.lang, name = lang, strings.TrimSuffix(name, suffix)
		}
	}
	if !slices.Contains(h.Languages, f.lang) {
		f.lang = "" // disabled, or the only one
	}
	f.name, f.base = name, path.Base(name)
	if f.dir = path.Dir(name); f.dir == "." {
		f.dir = ""
	}
	f.path, f.kind = "/"+name, "page"
	switch f.base {
	case "index":
		f.path = "/" + f.dir
	case "_index":
		f.path, f.kind = "/"+f.dir, h.kindOf(f.dir)
	}
	f.path = strings.ReplaceAll(strings.ToLower(f.path), " ", "-")
	if matter := hugoMatter(in.Read()); needed.Match(matter.text) {
		d, err := ParseDocument(matter.ext, matter.text)
		f.matter, f.fault = d, err != nil
	}
	return f
}

// kindOf returns the kind of the page of a file _index in a directory.
func (h *HugoSite) kindOf(dir string) string {
	if dir == "" {
		return "home"
	}
	taxonomies := tableOf(h.config["taxonomies"])
	if h.config["taxonomies"] == nil {
		taxonomies = map[string]any{"category": "categories", "tag": "tags"}
	}
	top, _, below := strings.Cut(dir, "/")
	for _, plural := range taxonomies {
		if plural == top && below {
			return "term"
		} else if plural == top {
			return "taxonomy"
		}
	}
	return "section"
}

// matter is front matter, and the extension of a file in its language.
type matter struct {
	ext  string
	text []byte
}

// maxMatter bounds the front matter that is read.
const maxMatter = 64 << 10

// hugoMatter returns the front matter of a content file: TOML between +++, YAML between
// --- or a JSON object. That of Org files has no address.
func hugoMatter(text []byte) (m matter) {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), " \t\r\n")
	text = text[:min(len(text), maxMatter)]
	for fence, ext := range map[string]string{"+++": ".toml", "---": ".yaml"} {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if string(bytes.TrimRight(line, " \t\r-+")) != "" || !bytes.HasPrefix(line, []byte(fence)) {
			continue
		}
		end := 0
		for line := range bytes.Lines(rest) {
			if string(bytes.TrimRight(line, " \t\r\n")) == fence {
				return matter{ext, rest[:end]}
			}
			end += len(line)
		}
	}
	if bytes.HasPrefix(text, []byte("{")) {
		var object json.RawMessage
		if json.NewDecoder(bytes.NewReader(text)).Decode(&object) == nil {
			return matter{".json", object}
		}
	}
	return matter{}
}

// page returns what Hugo makes of a file.
func (t *hugoTree) page(f *hugoFile) HugoPage {
	h := t.site
	for dir := f.dir; f.base != "_index"; dir = path.Dir(dir) {
		if dir == "." {
			dir = ""
		}
		if t.bundles[dir] && (f.base != "index" || dir != f.dir) {
			return HugoPage{Known: true} // a part of that bundle
		}
		if dir == "" {
			break
		}
	}
	if f.fault {
		return HugoPage{Made: true}
	}
	build := tableOf(t.value(f, "build"))
	if build == nil {
		build = tableOf(t.value(f, "_build"))
	}
	render := build["render"]
	made := render != "never" && render != "link" && render != false && t.value(f, "headless") != true

	// The address below that of the language.
	prefix, known := h.prefix(f.lang), true
	at := ""
	url := textOf(t.value(f, "url"))
	if strings.Contains(url, ":") {
		url, known = t.expand(url, f)
	}
	pattern := t.permalink(f)
	slug := t.slug(f)
	switch {
	case f.kind == "home":
	case url != "":
		if strings.Contains(url, "..") {
			url = path.Join("/", url)
		}
		if at = strings.TrimPrefix(url, "/"); at != url && !h.Multihost() || strings.HasPrefix(at, prefix) {
			prefix = ""
		}
		if at != "" && !strings.HasSuffix(at, "/") && !strings.Contains(at, ".") {
			at += "/"
		}
		return HugoPage{prefix + at, made, known}
	case pattern != "":
		at, known = t.expand(pattern, f)
		at = path.Clean("/" + at)
	case f.kind != "page":
		at = f.dir
	case f.base == "index":
		at = path.Join(path.Dir("/"+f.dir), cmp.Or(slug, path.Base(f.dir)))
	default:
		at = path.Join("/", f.dir, cmp.Or(slug, f.base))
	}
	at = strings.Trim(h.sanitized(at), "/")
	switch {
	case at == "":
	case h.ugly(f):
		at += ".html"
	default:
		at += "/"
	}
	return HugoPage{prefix + at, made, known}
}

// slug returns the last name of the address of a file that the file, a cascade or the
// date in its name decides about, "" for none.
func (t *hugoTree) slug(f *hugoFile) string {
	if slug := textOf(t.value(f, "slug")); slug != "" {
		return slug
	}
	_, slug, _ := t.site.date(f)
	return slug
}

// prefix returns the directory of a language, with a slash, "" for none.
func (h *HugoSite) prefix(lang string) string {
	switch {
	case lang == "", !h.Multihost() && lang == h.Languages[0] && h.config["defaultcontentlanguageinsubdir"] != true:
		return ""
	}
	return lang + "/"
}

// ugly reports whether the page of a file is a file of that name instead of a directory.
func (h *HugoSite) ugly(f *hugoFile) bool {
	if of := tableOf(h.config["uglyurls"]); of != nil {
		return of[section(f)] == true
	}
	return h.config["uglyurls"] == true
}

// section returns the first directory of a file.
func section(f *hugoFile) string {
	top, _, _ := strings.Cut(f.dir, "/")
	return top
}

// value returns a value of the front matter of a file, or of the cascade above it: the
// nearest one counts, and the configuration last.
func (t *hugoTree) value(f *hugoFile, key string) any {
	if v, ok := f.matter[key]; ok {
		return v
	}
	for dir := f.dir; ; dir = path.Dir(dir) {
		if dir == "." {
			dir = ""
		}
		if above := t.branches[[2]string{f.lang, dir}]; above != nil {
			if v := t.cascaded(above.matter["cascade"], f, key); v != nil {
				return v
			}
		}
		if dir == "" {
			break
		}
	}
	if v := t.cascaded(tableOf(tableOf(t.site.config["languages"])[f.lang])["cascade"], f, key); v != nil {
		return v
	}
	return t.cascaded(t.site.config["cascade"], f, key)
}

// cascaded returns a value of a table cascade, or of the first of several that is for a
// file.
func (t *hugoTree) cascaded(cascade any, f *hugoFile, key string) any {
	list, ok := cascade.([]any)
	if !ok {
		list = []any{cascade}
	}
	for _, v := range list[:min(len(list), maxCascade)] {
		of := lowered(tableOf(v))
		target := tableOf(of["target"])
		if target == nil {
			target = tableOf(of["_target"])
		}
		if value := of[key]; value != nil && matches(target, f) {
			return value
		}
	}
	return nil
}

// matches reports whether the target of a cascade or a permalink is a file.
func matches(target map[string]any, f *hugoFile) bool {
	for key, of := range map[string]string{"path": f.path, "kind": f.kind, "lang": f.lang} {
		if pattern := textOf(target[key]); pattern != "" && !glob.Match(strings.ToLower(pattern), of) {
			return false
		}
	}
	return true
}

// Bounds of what is read of a configuration: entries of a cascade, sources of a date.
const (
	maxCascade = 100
	maxDates   = 20
)

// permalink returns the pattern of the configuration for a file, "" for none: that of the
// longest path, or the first of a list.
func (t *hugoTree) permalink(f *hugoFile) string {
	of := t.site.config["permalinks"]
	if own := tableOf(tableOf(t.site.config["languages"])[f.lang])["permalinks"]; own != nil {
		of = own
	}
	if list, ok := of.([]any); ok {
		for _, v := range list {
			if rule := lowered(tableOf(v)); matches(tableOf(rule["target"]), f) {
				return textOf(rule["pattern"])
			}
		}
		return ""
	}
	best, pattern := -1, ""
	try := func(key string, v any) {
		dir := strings.Trim(key, " /")
		below := f.path == "/"+dir || strings.HasPrefix(f.path, "/"+dir+"/")
		if dir == "" {
			below = strings.Count(f.path, "/") == 1
		}
		if s := textOf(v); s != "" && key != "_merge" && below && len(dir) > best {
			best, pattern = len(dir), s
		}
	}
	for key, v := range tableOf(of) {
		if inner := tableOf(v); inner != nil && key == f.kind {
			for key, v := range inner {
				try(key, v)
			}
		} else if f.kind == "page" || f.kind == "term" {
			try(key, v)
		}
	}
	return pattern
}

var hugoToken = text.Regexp(`:\w+(\[.+?\])?`)

// expand replaces the tokens of a pattern, such as :year. ok is false if one of them
// needs more than the file.
func (t *hugoTree) expand(pattern string, f *hugoFile) (s string, ok bool) {
	ok = true
	s = hugoToken().ReplaceAllStringFunc(pattern, func(token string) string {
		value, known := t.token(token[1:], f)
		ok = ok && known
		return value
	})
	return s, ok
}

func (t *hugoTree) token(name string, f *hugoFile) (string, bool) {
	h := t.site
	date, _, hasDate := h.date(f)
	slug, title := h.sanitized(t.slug(f)), h.sanitized(textOf(f.matter["title"]))
	base := f.base
	if base == "index" {
		base = path.Base(f.dir)
	} else if base == "_index" {
		base = ""
	}
	base = h.sanitized(base)
	sections := t.sectionsOf(f)
	switch name {
	case "section":
		return section(f), true
	case "sections":
		return strings.Join(sections, "/"), true
	case "title":
		return title, true
	case "slug":
		return cmp.Or(slug, title), true
	case "slugorfilename", "slugorcontentbasename":
		return cmp.Or(slug, base), true
	case "filename", "contentbasename":
		return base, true
	case "year":
		return strconv.Itoa(date.Year()), hasDate
	case "month":
		return fmt.Sprintf("%02d", int(date.Month())), hasDate
	case "monthname":
		return date.Month().String(), hasDate
	case "day":
		return fmt.Sprintf("%02d", date.Day()), hasDate
	case "weekday":
		return strconv.Itoa(int(date.Weekday())), hasDate
	case "weekdayname":
		return date.Weekday().String(), hasDate
	case "yearday":
		return strconv.Itoa(date.YearDay()), hasDate
	}
	if cut, ok := strings.CutPrefix(name, "sections["); ok {
		return strings.Join(slice(sections, strings.TrimSuffix(cut, "]")), "/"), true
	}
	return date.Format(name), hasDate && !strings.HasPrefix(name, "sectionslug")
}

// sectionsOf returns the names of the section that a file is in, from the top.
func (t *hugoTree) sectionsOf(f *hugoFile) []string {
	dir := f.dir
	if f.base == "index" {
		dir = path.Dir(dir)
	}
	for dir != "." && strings.Contains(dir, "/") && !t.sections[dir] {
		dir = path.Dir(dir)
	}
	if dir == "." || dir == "" {
		return nil
	}
	return strings.Split(dir, "/")
}

// slice returns the part of a list that a text names: 1, last, 1:, :last or 0:2.
func slice(list []string, cut string) []string {
	number := func(s string, none int) int {
		if s == "last" {
			return len(list) - 1
		}
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
		return none
	}
	from, to, isRange := strings.Cut(strings.ToLower(cut), ":")
	low := number(from, 0)
	high := low + 1
	if isRange {
		high = min(number(to, len(list)), len(list))
	}
	if low < 0 || low >= len(list) || high < low || high > len(list) {
		return nil
	}
	return list[low:high]
}

// date returns the date of a page, by the order in the configuration. If the date in the
// file's name counts, slug is the rest of that name. ok is false without a date, or if
// only git or the times of files have it.
func (h *HugoSite) date(f *hugoFile) (date time.Time, slug string, ok bool) {
	usual := []string{"date", "publishdate", "pubdate", "published", "lastmod", "modified"}
	order := textsOf(tableOf(h.config["frontmatter"])["date"])
	if order == nil {
		order = usual
	}
	for i := 0; i < min(len(order), maxDates); i++ {
		switch key := strings.ToLower(order[i]); key {
		case ":default":
			order = slices.Concat(order[:i+1], usual, order[i+1:])
		case ":filename":
			name := f.base
			if name == "index" {
				name = path.Base(f.dir)
			}
			if day, rest, ok := dayOf(name); ok {
				return day, strings.Trim(rest, " -_"), true
			}
		case ":git", ":filemodtime":
			return date, "", false
		default:
			switch v := f.matter[key].(type) {
			case time.Time:
				return v, "", true
			case fmt.Stringer: // a date without a zone in TOML
				if day, _, ok := dayOf(v.String()); ok {
					return day, "", true
				}
			case string:
				if day, _, ok := dayOf(v); ok {
					return day, "", true
				}
			}
		}
	}
	return date, "", false
}

// dayOf reads the date at the beginning of a text, and returns what follows it.
func dayOf(s string) (day time.Time, rest string, ok bool) {
	const form = "2006-01-02"
	if len(s) < len(form) {
		return day, "", false
	}
	day, err := time.Parse(form, s[:len(form)])
	return day, s[len(form):], err == nil
}

// sanitized returns a path as Hugo writes it: with hyphens for spaces, and without
// characters that it does not allow, in small letters by default.
func (h *HugoSite) sanitized(s string) string {
	var b strings.Builder
	pending := false
	last := rune(0)
	for i, c := range s {
		allowed := unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || strings.ContainsRune(`./\_#+~-@`, c) ||
			c == '%' && hexDigits().MatchString(s[i+1:])
		switch {
		case allowed:
			if pending && c != '-' {
				b.WriteByte('-')
			}
			pending, last = false, c
			b.WriteRune(c)
		case unicode.IsSpace(c) && b.Len() > 0 && last != '-':
			pending = true
		}
	}
	if h.config["disablepathtolower"] == true {
		return b.String()
	}
	return strings.ToLower(b.String())
}

var hexDigits = text.Regexp(`^[0-9a-fA-F]{2}`)
