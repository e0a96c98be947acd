package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// nextBuilt is what a user can always do.
const nextBuilt = "run sitelink inject --docroot DIR after each build: it writes the elements into the pages that are built in DIR"

// refused returns an error if the elements cannot be written into the project's
// templates, wherever that is.
func (s *templateSet) refused() error {
	switch t := s.generator.Traits(); {
	case s.endpoints.IsZero():
		return ErrNoEndpoints
	case t.NoTemplates != "":
		return text.WithHint(fmt.Errorf("%s has no template that inject can change: %s", s.generator.Title(), t.NoTemplates), s.forConfig(t))
	case t.Templates == "":
		return text.WithHint(errors.New("the project has no generator that inject supports"), nextBuilt)
	case t.Templates != generator.GoTemplates && len(s.choice.Pages)+len(s.choice.Exclude) > 0:
		return text.WithHint(fmt.Errorf("inject cannot write the patterns of [templates] into templates of %s", s.generator.Title()), nextBuilt)
	}
	return nil
}

// forConfig returns what to paste into a configuration that is a program, or else what a
// user can always do.
func (s *templateSet) forConfig(t generator.Traits) string {
	if t.HeadKey == "" {
		return nextBuilt
	}
	var tags []string
	for _, tag := range []struct{ rel, uri string }{{"pingback", s.endpoints.Pingback}, {"webmention", s.endpoints.Webmention}} {
		if tag.uri != "" {
			tags = append(tags, fmt.Sprintf(t.HeadItem, tag.rel, strings.ReplaceAll(tag.uri, "'", "%27")))
		}
	}
	return "paste this into the object of the configuration: " + t.HeadKey + ": [" + strings.Join(tags, ", ") + "],"
}

// elements returns the configured elements under the condition that the page is chosen.
func (s *templateSet) elements(l language, xhtml bool) string {
	return pages(s.choice).other(s.language(), l, s.endpoints.HTML(xhtml))
}

// candidates returns what to try, best first: each is a list of edits that belong
// together. data is the expression for the page in Hugo's templates.
func (s *templateSet) candidates(data string) (all [][]edit) {
	lines := s.lines(data)
	if len(lines) > 1 { // usually each is the head of other pages
		var together []edit
		for _, e := range lines {
			if !slices.ContainsFunc(together, func(o edit) bool { return o.path == e[0].path }) {
				together = append(together, e[0])
			}
		}
		lines = append([][]edit{together}, lines...)
	}
	switch s.language() {
	case generator.GoTemplates:
		stubs, wraps := s.hugoTheme(data)
		all = slices.Concat(stubs, lines, wraps)
		for i := range all {
			all[i] = append(all[i], s.head())
		}
	case generator.Liquid:
		all = append(lines, s.jekyllStubs()...)
	case generator.Tera:
		all = append(lines, s.zolaBlocks()...)
	case generator.Jinja:
		all = append(s.mkdocs(), lines...)
	default:
		all = lines
	}
	return all
}

// The places in a template, best first.
var (
	charsetTag = text.Regexp(`(?i)<meta\s[^<>]*(charset\s*=|http-equiv\s*=\s*["']?content-type)[^<>]*>`)
	headTag    = text.Regexp(`(?i)<head(\s[^<>]*)?>`)
	headEnd    = text.Regexp(`(?i)</head\s*>`)
	xhtmlMark  = text.Regexp(`(?i)//DTD XHTML|<\?xml`)
)

// maxTags is how many tags of a kind are tried in a file.
const maxTags = 3

// lines returns the places in the project's own templates.
func (s *templateSet) lines(data string) (all [][]edit) {
	for _, at := range []struct {
		tag *regexp.Regexp
		how string
	}{{charsetTag(), "line after the charset declaration"}, {headTag(), "line after <head>"}, {headEnd(), "line before </head>"}} {
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			f := s.files[name]
			l, ok := s.languageOf(name)
			if !ok || f.mode&0o200 == 0 || strings.HasPrefix(path.Base(name), "404.") {
				continue
			}
			for _, found := range at.tag.FindAllIndex(f.bare, maxTags) { // some are in comments and scripts
				e := edit{path: name, lang: l, how: at.how}
				if s.language() == generator.GoTemplates {
					e.before = callOf(data)
				} else {
					e.elements = s.elements(l, xhtmlMark().Match(f.bare))
				}
				e.insert = func(text []byte, inner string) []byte {
					if at.tag == headEnd() {
						return l.insertBefore(text, found[0], inner)
					}
					return l.insertAfter(text, found[1], inner)
				}
				all = append(all, []edit{e})
			}
		}
	}
	return all
}

// language is that of the generator's templates.
func (s *templateSet) language() generator.Templates { return s.generator.Traits().Templates }

// languageOf returns the template language of a file. ok is false if the file is no
// template of the generator.
func (s *templateSet) languageOf(name string) (l language, ok bool) {
	ext := path.Ext(name)
	switch s.language() {
	case generator.GoTemplates:
		return goTemplate, strings.HasPrefix(name, s.layouts+"/") && strings.HasPrefix(ext, ".htm")
	case generator.Liquid:
		return liquid, ext == ".html" || ext == ".liquid"
	case generator.Nunjucks:
		if ext == ".njk" {
			return jinja, true
		}
		return liquid, ext == ".html" || ext == ".liquid"
	case generator.Tera:
		return jinja, strings.HasPrefix(name, "templates/") && ext == ".html"
	case generator.Jinja:
		return jinja, ext == ".html"
	}
	return astro, ext == ".astro"
}

// jekyllStubs returns the includes that themes leave to their users: of minima,
// minimal-mistakes, just-the-docs and chirpy. The files of a theme are elsewhere.
func (s *templateSet) jekyllStubs() (all [][]edit) {
	dir := "_includes"
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if above, _, ok := strings.Cut(name, "_includes/"); ok {
			dir = above + dir
			break
		}
	}
	for _, stub := range []string{"custom-head.html", "head/custom.html", "head_custom.html", "metadata-hook.html"} {
		all = append(all, []edit{{path: path.Join(dir, stub), lang: liquid, elements: s.elements(liquid, false), how: "include that the theme leaves to you"}})
	}
	return all
}

var blockTag = text.Regexp(`\{%-?\s*block\s+(\w+)`)

// zolaBlocks returns templates that extend one of the theme and fill a block of its
// head, the last block first.
func (s *templateSet) zolaBlocks() (all [][]edit) {
	found, _ := fs.Glob(s.root.FS(), "themes/*/templates/*.html")
	for _, name := range found {
		text, err := system.ReadFS(s.root.FS(), name, maxTemplate)
		own := "templates/" + path.Base(name)
		from := headTag().FindIndex(text)
		if f := s.files[own]; err != nil || from == nil || f != nil && f.bare != nil || path.Base(name) == "404.html" {
			continue
		}
		to := len(text)
		if end := headEnd().FindIndex(text); end != nil && end[0] > from[1] {
			to = end[0]
		}
		for _, m := range slices.Backward(blockTag().FindAllSubmatch(text[from[1]:to], -1)) {
			block := string(m[1])
			if strings.Contains(block, "title") || strings.Contains(block, "description") {
				continue
			}
			all = append(all, []edit{{path: own, lang: jinja, elements: s.elements(jinja, false), after: "{% endblock " + block + " %}",
				before: fmt.Sprintf("{%% extends \"%s\" %%}{%% block %s %%}{{ super() }}", strings.TrimPrefix(name, "themes/"), block),
				how:    "block " + block + " of the theme's " + path.Base(name)}})
		}
	}
	return all
}

var (
	customDir   = text.Regexp(`(?m)^[ \t]+custom_dir:[ \t]*["']?([^"'#\r\n]+)`)
	themeKey    = text.Regexp(`(?m)^theme[ \t]*:`)
	themeTable  = text.Regexp(`(?m)^theme[ \t]*:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*([ \t]+)[^ \t\r\n#]`)
	extraBlock  = text.Regexp(`\{%-?\s*block\s+extrahead\s*-?%\}`)
	extendsBase = text.Regexp(`\{%-?\s*extends\s`)
)

// mkdocs uses the block extrahead, which all themes of MkDocs have, in main.html of the
// theme's custom_dir. If there is none, it adds one to the configuration, if that is YAML.
func (s *templateSet) mkdocs() [][]edit {
	name := s.config
	config := s.files[name]
	if config == nil || path.Ext(name) == ".toml" {
		return nil
	}
	dir, elements := "overrides", s.elements(jinja, false)
	var edits []edit
	const line = "custom_dir: overrides"
	if m := customDir().FindSubmatch(config.bare); m != nil {
		dir = path.Clean(strings.TrimSpace(string(m[1])))
	} else if m := themeTable().FindSubmatchIndex(config.bare); m != nil {
		in := string(config.bare[m[2]:m[3]])
		edits = append(edits, edit{path: name, lang: hash, before: "\n" + in + line + "\n" + in, how: "theme.custom_dir", insert: func(text []byte, inner string) []byte {
			end := lineEnd(text, m[0])
			return splice(text, end, end, in+hash.marked(inner)+eol(text, m[0]))
		}})
	} else if !themeKey().Match(config.bare) && len(config.bare) > 0 && config.bare[len(config.bare)-1] == '\n' {
		edits = append(edits, edit{path: name, lang: hash, before: "\ntheme:\n  name: mkdocs\n  " + line + "\n", how: "theme.custom_dir"})
	} else {
		return nil
	}
	main := edit{path: path.Join(dir, "main.html"), lang: jinja, elements: elements, how: "block extrahead of the theme"}
	var bare []byte
	if f := s.files[main.path]; f != nil {
		bare = f.bare
	}
	if at := extraBlock().FindIndex(bare); at != nil {
		main.insert = func(text []byte, inner string) []byte { return jinja.insertAfter(text, at[1], inner) }
	} else {
		main.before, main.after = "{% block extrahead %}{{ super() }}", "{% endblock extrahead %}"
		if bare == nil {
			main.before = `{% extends "base.html" %}` + main.before
		} else if !extendsBase().Match(bare) {
			return nil // a whole page
		}
	}
	return [][]edit{append(edits, main)}
}
