// Command site builds the manual: every Markdown file below docs becomes a page
// with navigation, the help of the program one more, and all of them one index for
// the search of the browser. Then it checks the links of what it built.
//
//	go run ./docs/site          builds into a temporary directory
//	go run ./docs/site public   builds into the directory public
//
// Run it in the repository's root. The exit code is 0 if every link works, 1 if
// one does not, and 3 if the program could not do its work.
package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/hook"
)

const (
	baseURL = "https://sitelink.github.io/sitelink/"
	// repository is where links lead that leave docs.
	repository = "https://github.com/sitelink/sitelink/blob/main/"
)

//go:embed page.html style.css site.js
var files embed.FS

var layout = template.Must(template.ParseFS(files, "page.html"))

func main() {
	code, err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
	}
	os.Exit(code)
}

// run builds and checks the manual and returns the exit code.
func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	const failed = 3
	if len(args) > 1 {
		return 2, fmt.Errorf("want at most one directory, got %d", len(args))
	}
	temporary, err := os.MkdirTemp("", "manual-")
	if err != nil {
		return failed, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	dir := append(args, temporary)[0]

	m := newManual(os.DirFS("docs"))
	roff, err := exec.CommandContext(ctx, "go", "run", "./cmd/sitelink", "man").Output()
	if err != nil {
		return failed, fmt.Errorf("print the manual page: %w", err)
	}
	m.commands = commands(string(roff))
	if err := m.read(); err != nil {
		return failed, err
	}
	if err := m.write(dir); err != nil {
		return failed, err
	}
	result, err := hook.Check(ctx, hook.Site{Docroot: dir, BaseURL: baseURL, Sources: m.links.Sources})
	if err != nil {
		return failed, err
	}
	result.Summary.Docroot = "manual"
	if err := result.Write(out, "text"); err != nil {
		return failed, err
	}
	if result.HasErrors() || result.Summary.Warnings > 0 {
		return 1, nil
	}
	return 0, nil
}

// manual is the site. Its sections are the lists of index.md.
type manual struct {
	fsys     fs.FS
	commands []byte // reference/commands.md, which is no file
	md       goldmark.Markdown
	links    hook.Recorder
	Sections []*section
	pages    []*page // in the order of the sections, index.md first
	search   []entry
}

type section struct {
	Title string
	Pages []*page
}

type page struct {
	File     string // guide/watch.md
	Title    string
	Body     template.HTML
	Headings []heading // of the second level

	doc *hook.Document
}

type heading struct{ ID, Title string }

// Address returns the path of the page below the top: guide/watch.html.
func (p *page) Address() string { return strings.TrimSuffix(p.File, ".md") + ".html" }

// entry is the text below one heading, for the search.
type entry struct {
	Page    string `json:"p"`
	Heading string `json:"h,omitempty"`
	Address string `json:"u"`
	Text    string `json:"t"`
}

func newManual(fsys fs.FS) *manual {
	m := &manual{fsys: fsys}
	m.md = goldmark.New(
		goldmark.WithExtensions(extension.GFM, &m.links, addresses{}),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	return m
}

// commands returns the page of the commands: the help of each, as it is in roff in the
// manual page of the program.
func commands(roff string) []byte {
	plain := strings.NewReplacer(`\&`, "", `\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~")
	page := []byte("# Commands\n\n`sitelink COMMAND -h` shows the flags of a command that matter most, `sitelink COMMAND --help` all of them.\n")
	for _, section := range strings.Split(roff, "\n.SH \"")[2:] { // after NAME
		title, text, _ := strings.Cut(section, "\"\n.nf\n")
		page = fmt.Appendf(page, "\n## %s\n\n```text\n%s```\n", strings.ToLower(plain.Replace(title)), strings.TrimSuffix(strings.TrimSpace(plain.Replace(text)), ".fi"))
	}
	return page
}

// listed is an item of a list of index.md, or a heading above one.
var listed = regexp.MustCompile(`(?m)^(?:## (.+)|- \[([^\]]+)\]\((?:` + baseURL + `)?([^)]+)\.(?:md|html)\): .*)$`)

// read renders the documents that index.md lists.
func (m *manual) read() error {
	index, err := fs.ReadFile(m.fsys, "index.md")
	if err != nil {
		return err
	}
	m.pages = []*page{{File: "index.md", Title: "Manual"}}
	for _, match := range listed.FindAllStringSubmatch(string(index), -1) {
		if match[1] != "" {
			m.Sections = append(m.Sections, &section{Title: match[1]})
			continue
		}
		p := &page{File: match[3] + ".md", Title: match[2]}
		last := m.Sections[len(m.Sections)-1]
		last.Pages = append(last.Pages, p)
		m.pages = append(m.pages, p)
	}
	m.Sections = slices.DeleteFunc(m.Sections, func(s *section) bool { return len(s.Pages) == 0 })
	for _, p := range m.pages {
		if err := m.render(p); err != nil {
			return fmt.Errorf("docs/%s: %w", p.File, err)
		}
	}
	return nil
}

// render makes the HTML of a page and its entries of the search.
func (m *manual) render(p *page) error {
	source, err := fs.ReadFile(m.fsys, p.File)
	if p.File == "reference/commands.md" {
		source, err = m.commands, nil
	}
	if err != nil {
		return err
	}
	pc := parser.NewContext(parser.WithIDs(&ids{}))
	pc.Set(fileKey, p.File)
	var body bytes.Buffer
	p.doc, err = m.links.Convert(m.md, hook.Input{File: "docs/" + p.File, Line: 1, Text: source}, &body, parser.WithContext(pc))
	if err != nil {
		return err
	}
	p.doc.Page(p.Address())
	// What may scroll to the side must be reachable with the keyboard.
	p.Body = template.HTML(strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`, "<th></th>", "<td></td>").Replace(body.String()))

	now := entry{Page: p.Title, Address: p.Address()}
	tree := m.md.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(&ids{}))))
	for node := tree.FirstChild(); node != nil; node = node.NextSibling() {
		h, ok := node.(*ast.Heading)
		if !ok {
			now.Text += plain(node, source) + " "
			continue
		}
		if h.Level > 1 {
			m.search = append(m.search, now)
			id, _ := h.AttributeString("id")
			now = entry{Page: p.Title, Heading: plain(h, source), Address: p.Address() + "#" + string(id.([]byte))}
			if h.Level == 2 {
				p.Headings = append(p.Headings, heading{string(id.([]byte)), now.Heading})
			}
		}
	}
	m.search = append(m.search, now)
	return nil
}

// plain returns the words of a node.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	// Walk returns only the errors of the callback.
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		case *ast.HTMLBlock:
		default:
			if n.Type() == ast.TypeBlock && b.Len() > 0 {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// write writes the pages, the images, the style sheet, the script and the index
// of the search.
func (m *manual) write(dir string) error {
	output := map[string][]byte{}
	for i, p := range m.pages {
		data := struct {
			*manual
			*page
			Top            string // the way to the top: "" or "../"
			Previous, Next *page
		}{manual: m, page: p, Top: strings.Repeat("../", strings.Count(p.File, "/"))}
		if i > 0 {
			data.Previous = m.pages[i-1]
		}
		if i+1 < len(m.pages) {
			data.Next = m.pages[i+1]
		}
		var html bytes.Buffer
		if err := layout.Execute(&html, data); err != nil {
			return err
		}
		output[p.Address()] = html.Bytes()
	}
	index, err := json.Marshal(m.search)
	if err != nil {
		return err
	}
	output["search.js"] = slices.Concat([]byte("const manual = "), index, []byte(";\n"))
	for _, name := range []string{"style.css", "site.js"} {
		if output[name], err = files.ReadFile(name); err != nil {
			return err
		}
	}
	images, err := fs.Glob(m.fsys, "images/*.*g")
	if err != nil {
		return err
	}
	for _, name := range images {
		if output[name], err = fs.ReadFile(m.fsys, name); err != nil {
			return err
		}
	}
	for name, content := range output {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addresses is an extension that turns links between documents into links
// between pages, and others into links to the repository:
// ../guide/watch.md#stop becomes ../guide/watch.html#stop.
type addresses struct{}

// fileKey is the key of the rendered file in the context of a parse.
var fileKey = parser.NewContextKey()

func (addresses) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(addresses{}, 500)))
}

func (addresses) Transform(doc *ast.Document, _ text.Reader, pc parser.Context) {
	file, _ := pc.Get(fileKey).(string)
	// Walk returns only the errors of the callback.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.Link)
		if !ok || !entering || strings.Contains(string(l.Destination), ":") {
			return ast.WalkContinue, nil
		}
		name, fragment, hash := strings.Cut(string(l.Destination), "#")
		target := path.Join("docs", path.Dir(file), name)
		switch {
		case !strings.HasPrefix(target, "docs/"), path.Ext(name) == "":
			if name == "" {
				return ast.WalkContinue, nil
			}
			name = repository + target
		case path.Ext(name) == ".md":
			name = strings.TrimSuffix(name, ".md") + ".html"
		}
		if hash {
			name += "#" + fragment
		}
		l.Destination = []byte(name)
		return ast.WalkContinue, nil
	})
}

// ids makes the ids of headings as GitHub does, so that a link works there and
// here: "The `[check]` table" becomes the-check-table.
type ids struct{ used []string }

func (ids *ids) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, string(value))
	free := id
	for n := 1; slices.Contains(ids.used, free); n++ {
		free = fmt.Sprintf("%s-%d", id, n)
	}
	ids.used = append(ids.used, free)
	return []byte(free)
}

func (*ids) Put([]byte) {}
