package lsp

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/testkit"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// started is an editor with the blog, read and checked.
func started(t *testing.T, units ...protocol.PositionEncodingKind) *editor {
	t.Helper()
	return startedIn(t, blog(), units...)
}

// startedIn is started with another project.
func startedIn(t *testing.T, all files, units ...protocol.PositionEncodingKind) *editor {
	t.Helper()
	dir := t.TempDir()
	all.write(t, dir)
	e := serve(t, Options{})
	e.begin(units, "", dir)
	e.ready()
	return e
}

func TestDiagnosticsWhileTyping(t *testing.T) {
	e := started(t)
	u := e.open("content/posts/two.md", "")
	if got, want := e.shown(u, 1), []string{"4:46-58 error missing-directory"}; !slices.Equal(got, want) {
		t.Errorf("as saved: %v, want %v", got, want)
	}
	e.change(u, 2, nil, "---\ntitle: Second post\n---\n\n😀 [a](/posts/two/#none) [b](/posts/one/#the-end) [c](/old/) [d](<../three/>) {{< ref \"four.md\" >}}\n\n[e]\n\n[e]: /nowhere\n")
	want := []string{"4:7-23 error missing-fragment", "4:54-59 warning via-redirect", "4:87-94 error unresolved-ref", "8:5-13 error missing-file"}
	if got := e.shown(u, 2); !slices.Equal(got, want) {
		t.Errorf("while typing: %v, want %v", got, want)
	}
	text := "---\ntitle: Second post\n---\n\n## None\n\n😀 [a](#none)\n"
	e.change(u, 3, nil, text)
	if got := e.shown(u, 3); len(got) > 0 {
		t.Errorf("a heading that no build has seen: %v", got)
	}
	e.change(u, 4, &protocol.Range{Start: at(text, "None", 0), End: at(text, "None", 4)}, "Other")
	if got, want := e.shown(u, 4), []string{"6:7-12 error missing-fragment"}; !slices.Equal(got, want) {
		t.Errorf("a heading that is gone: %v, want %v", got, want)
	}
}

// TestMarkdownOfRepository: without a site, the files are judged as the forge shows them.
func TestMarkdownOfRepository(t *testing.T) {
	e := startedIn(t, files{"README.md": "# A\n\n[x](docs/gone.md) [y](docs/b.md#b-1) [z][no] [gude][]\n\n[guide]: docs/b.md\n", "docs/b.md": "# B\n\n# B\n"})
	u := e.open("README.md", "")
	if got, want := e.shown(u, 1), []string{"2:4-16 error missing-file", "2:41-43 error unresolved-ref", "2:46-50 error unresolved-ref"}; !slices.Equal(got, want) {
		t.Errorf("as saved: %v, want %v", got, want)
	}
	p := protocol.Position{Line: 2, Character: 47}
	r, err := e.Server.CodeAction(t.Context(), &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}, Range: protocol.Range{Start: p, End: p}})
	testkit.Check(t, err)
	if x := r[0].(*protocol.CodeAction); x.Title != "Change to guide" || len(x.Diagnostics) != 1 || x.Edit.Changes[u][0].NewText != "gude][guide]" {
		t.Errorf("action %s", asJSON(x))
	}
	e.change(u, 2, nil, "# A\n\n[x](docs/b.md#b-2)\n")
	if got, want := e.shown(u, 2), []string{"2:4-17 error missing-fragment"}; !slices.Equal(got, want) {
		t.Errorf("while typing: %v, want %v", got, want)
	}
}

// TestFrontMatterWhileTyping: a value of front matter that became a link in the last build
// is judged as the template writes it. A key that became no link is left alone, and so is
// a key that the template turns into something else.
func TestFrontMatterWhileTyping(t *testing.T) {
	all := blog()
	all["content/posts/four.md"] = "---\ntitle: Fourth\nimage: /gallery/cat.png\npaper: files/paper.pdf\nmore: /gallery/dog.png\nurl: /posts/four/\n---\n\ntext\n"
	all["public/files/paper.pdf"] = "pdf"
	all["public/posts/four/index.html"] = page(`<img src="/gallery/cat.png" alt=""><a href="/files/paper.pdf">paper</a><a href="/gallery/dog.png?x">more</a><a href="/posts/four/">4</a><p>text</p>`)
	e := startedIn(t, all)
	u := e.open("content/posts/four.md", "")
	if got := e.shown(u, 1); len(got) > 0 {
		t.Errorf("as saved: %v", got)
	}
	e.change(u, 2, nil, "---\ntitle: Fourth\nimage: /gallery/caat.png\npaper: files/papers.pdf\nmore: /gallery/eel.png\nurl: /posts/uno/\n---\n\ntext\n")
	want := []string{"2:7-24 error missing-file", "3:7-23 error missing-file"}
	if got := e.shown(u, 2); !slices.Equal(got, want) {
		t.Errorf("while typing: %v, want %v", got, want)
	}
	e.change(u, 3, nil, "---\ntitle: Fourth\nimage: /gallery/dog.png\npaper: /files/paper.pdf\n---\n\ntext\n")
	if got := e.shown(u, 3); len(got) > 0 {
		t.Errorf("values that are right: %v", got)
	}
}

// TestTemplatesWhileTyping: addresses in templates, menus and data files that became links
// in the last build are judged while they change, as the build wrote them. Values that
// became no link, strings in actions and new values get no diagnostic.
func TestTemplatesWhileTyping(t *testing.T) {
	menu := `<nav><a href="/posts/one/">First</a><a href="/posts/two/">Second</a><a href="/posts/gone/">Gone</a></nav>`
	foot := `<footer><a href="https://example.org/paper.pdf">Paper</a><a class="x" href="/posts/three/#deep">Deep</a><img src="/gallery/cat.png" alt="Cat"></footer>`
	all := blog()
	for _, name := range []string{"index", "posts/one/index", "posts/two/index", "posts/three/index"} {
		name = "public/" + name + ".html"
		all[name] = strings.Replace(strings.Replace(all[name], "<main>", menu+"<main>", 1), "</main>", "</main>"+foot, 1)
	}
	config := "baseURL = 'https://example.org/'\n[[menus.main]]\nname = 'First'\nurl = '/posts/one/'\n[[menus.main]]\nname = 'Second'\nurl = '/posts/two/'\n[[menus.main]]\nname = 'Gone'\nurl = '/posts/gone/'\n[params]\nlogo = '/posts/uno/'\nfirst = '/list/'\n"
	all["content/list.md"] = "---\ntitle: A list\n---\n"
	all["public/list/index.html"] = page("")
	all["public/posts/index.html"] = page(`<a href="/list/">A list</a>`) // of all pages: this is not params.first
	all["hugo.toml"] = config
	all["data/papers.yaml"] = "- link: paper.pdf\n  name: Paper\n- link: cat.pdf\n  name: Cat\n"
	base := "<nav>{{ range site.Menus.main }}<a href=\"{{ .URL }}\">{{ .Name }}</a>{{ end }}</nav><main>{{ .Content }}</main>" +
		"<footer>{{ range site.Data.papers }}<a href=\"{{ .link | absURL }}\">{{ .name }}</a>{{ end }}<a class=\"x\" href=\"/posts/three/#deep\">Deep</a>" +
		"<img src=\"{{ \"gallery/cat.png\" | relURL }}\" alt=\"Cat\"></footer>\n"
	all["layouts/_default/baseof.html"] = base
	all["layouts/unused.html"] = "<a href=\"/posts/one/\">one</a>\n"
	e := startedIn(t, all)
	for _, x := range []struct {
		name, old, with string
		want            []string
		repair          string
	}{
		{"layouts/_default/baseof.html", "", "", nil, ""},
		{"layouts/_default/baseof.html", "/posts/three/#deep", "/posts/three/#deeper", []string{"0:220-240 error missing-fragment"}, ""},
		{"layouts/_default/baseof.html", "/posts/three/#deep", "/posts/Three/", []string{"0:220-233 error wrong-case"}, "/posts/three/"},
		{"layouts/_default/baseof.html", "/posts/three/#deep", "/posts/one/", nil, ""},
		{"layouts/_default/baseof.html", "gallery/cat.png", "gallery/rat.png", nil, ""},
		{"layouts/_default/baseof.html", "<main>", "<a href=\"/none/\"></a><main>", nil, ""},
		{"layouts/unused.html", "/posts/one/", "/none/", nil, ""},
		{"hugo.toml", "", "", []string{"9:7-19 error missing-directory"}, ""},
		{"hugo.toml", "/posts/two/", "/posts/zwei/", []string{"6:7-19 error missing-directory", "9:7-19 error missing-directory"}, ""},
		{"hugo.toml", "/posts/gone/", "/posts/far/", []string{"9:7-18 error missing-directory"}, ""},
		{"hugo.toml", "/posts/gone/", "/posts/three/", nil, ""},
		{"hugo.toml", "/posts/gone/", "/posts/Three/", nil, ""}, // Hugo writes menus in lower case
		{"hugo.toml", "/posts/uno/", "/posts/due/", []string{"9:7-19 error missing-directory"}, ""},
		{"hugo.toml", "/list/", "/lost/", []string{"9:7-19 error missing-directory"}, ""},
		{"data/papers.yaml", "", "", nil, ""},
		{"data/papers.yaml", "paper.pdf", "papers.pdf", []string{"0:8-18 error missing-file"}, ""},
		{"data/papers.yaml", "paper.pdf", "gallery/dog.png", nil, ""},
		{"data/papers.yaml", "cat.pdf", "dog.pdf", nil, ""},
		{"data/papers.yaml", "paper.pdf", "Paper.pdf", []string{"0:8-17 error wrong-case"}, "paper.pdf"},
	} {
		u := e.open(x.name, strings.Replace(all[x.name], x.old, x.with, 1))
		if got := e.shown(u, 1); !slices.Equal(got, x.want) {
			t.Errorf("%s with %s: %v, want %v", x.name, x.with, got, x.want)
		}
		if x.repair != "" {
			from := at(strings.Replace(all[x.name], x.old, x.with, 1), x.with, 1)
			actions, err := e.Server.CodeAction(t.Context(), &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}, Range: protocol.Range{Start: from, End: from}})
			if err != nil || len(actions) == 0 || actions[0].(*protocol.CodeAction).Title != "Change to "+x.repair {
				t.Errorf("%s with %s: %v, actions %s", x.name, x.with, err, asJSON(actions))
			}
		}
		e.Server.DidClose(t.Context(), &protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}})
		e.wait("the diagnostics of the closed document", func() bool {
			_, open := e.diagnostics[u].Version.Get()
			return !open
		})
	}
}

func TestUTF8Positions(t *testing.T) {
	dir := t.TempDir()
	blog().write(t, dir)
	e := serve(t, Options{})
	r := e.begin([]protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16}, "", dir)
	if r.Capabilities.PositionEncoding != protocol.PositionEncodingKindUTF8 {
		t.Fatalf("encoding %s", r.Capabilities.PositionEncoding)
	}
	e.ready()
	u := e.open("content/posts/two.md", "😀é [a](/no/)\n")
	if got, want := e.shown(u, 1), []string{"0:11-15 error missing-directory"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	e.change(u, 2, &protocol.Range{Start: protocol.Position{Character: 4}, End: protocol.Position{Character: 6}}, "")
	if got, want := e.shown(u, 2), []string{"0:9-13 error missing-directory"}; !slices.Equal(got, want) {
		t.Errorf("after an edit: %v, want %v", got, want)
	}
}

// TestEmptyDestination: an image without an address has a finding, a link without one
// leads to its own page.
func TestEmptyDestination(t *testing.T) {
	e := started(t)
	for _, file := range []string{"content/posts/two.md", "content/posts/new.md"} {
		u := e.open(file, "![a](  ) [b]() ![c](<>)\n")
		if got, want := e.shown(u, 1), []string{"0:7-7 error empty-link", "0:21-21 error empty-link"}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

// labels returns the texts that a completion inserts.
func (e *editor) labels(u uri.URI, p protocol.Position) (list []string) {
	e.t.Helper()
	r := testkit.Must(e.Server.Completion(e.t.Context(), &protocol.CompletionParams{TextDocumentPositionParams: where(u, p)}))(e.t)
	items, ok := r.(*protocol.CompletionList)
	if !ok {
		return nil
	}
	for _, it := range items.Items {
		detail, _ := it.Detail.Get()
		list = append(list, strings.TrimSpace(it.TextEdit.(*protocol.TextEdit).NewText+" "+detail))
	}
	return list
}

func TestCompletion(t *testing.T) {
	site := blog()
	site["public/404.html"], site["public/index.xml"] = page("none"), "<rss><channel></channel></rss>"
	e := startedIn(t, site)
	u := e.open("content/posts/two.md", "")
	version := int32(1)
	complete := func(line string) []string {
		version++
		e.change(u, version, nil, line)
		return e.labels(u, protocol.Position{Line: uint32(strings.Count(line, "\n")), Character: uint32(len(line) - strings.LastIndexByte(line, '\n') - 1)})
	}
	for _, c := range []struct {
		line string
		want []string // that the answer begins with
	}{
		{"[x](/", []string{"/ ", "/gallery/ Gallery", "/posts/one/ First post", "/posts/three/ Third post", "/posts/two/ Second post", "/404.html", "/gallery/cat.png"}},
		{"[x](/posts/t", []string{"/posts/three/ Third post", "/posts/two/ Second post"}},
		{"[x](/third", []string{"/posts/three/ Third post"}}, // by the title
		{"[x](/posts/one/#", []string{"/posts/one/#start-here Start here", "/posts/one/#the-end The end"}},
		{"![x](/", []string{"/gallery/cat.png", "/gallery/dog.png"}},
		{"{{< ref \"", []string{"/gallery/index.md Gallery", "/posts/one.md First post", "/posts/three.md Third post"}},
		{"{{< relref \"th", []string{"/posts/three.md Third post"}},
		{"<a href=\"/posts/o", []string{"/posts/one/ First post"}},
		{"[x]: /posts/o", []string{"/posts/one/ First post"}},
		{"no link here", nil},
		{"[x](..", []string{"../../ ", "../../gallery/ Gallery", "../one/ First post", "../three/ Third post"}},
		{"[x](../th", []string{"../three/ Third post"}},
		{"[x](../../g", []string{"../../gallery/ Gallery"}},
		{"[b]: /c/ \"t\"\n[Ab]: <d>\n[^n]: note\n[x][", []string{"b /c/", "Ab d"}},
		{"[b]: /c/\n[Ab]: <d>\n![x][a", []string{"Ab d"}},
	} {
		got := complete(c.line)
		for i, w := range c.want {
			if i >= len(got) || strings.TrimSpace(w) != got[i] {
				t.Errorf("%s: %q, want %q", c.line, got, c.want)
				break
			}
		}
		if c.want == nil && len(got) > 0 {
			t.Errorf("%s: %q, want nothing", c.line, got)
		}
	}
	g := e.open("content/gallery/index.md", "![x](")
	if got := e.labels(g, protocol.Position{Character: 5}); len(got) < 2 || got[0] != "cat.png" || got[1] != "dog.png" {
		t.Errorf("images of the bundle: %q", got)
	}
}

// TestCompletionForm: addresses are offered as the site writes them, if its host answers.
func TestCompletionForm(t *testing.T) {
	bare := page(`<a href="/guide/a">a</a> <a href="/guide/b">b</a>`)
	e := startedIn(t, files{
		"sitelink.toml": "docroot = \"public\"\nprofile = \"github-pages\"\n", "content/x.md": "", "package.json": "{}",
		"public/index.html": bare, "public/guide/a.html": bare, "public/guide/b.html": bare,
	})
	u := e.open("content/x.md", "[x](/guide/")
	if got := e.labels(u, protocol.Position{Character: 11}); !slices.Equal(got, []string{"/guide/a", "/guide/b"}) {
		t.Errorf("got %q", got)
	}
}

func TestNavigation(t *testing.T) {
	site := blog()
	site["data/resources/parts.yaml"] = "- url: /posts/three/#deep\n"
	site["resources/_gen/parts.yaml"] = "- url: /posts/three/#deep\n" // Hugo keeps results there
	e := startedIn(t, site)
	u := e.open("content/posts/two.md", "")
	text := blog()["content/posts/two.md"]
	definition := func(needle string) []string {
		r := testkit.Must(e.Server.Definition(t.Context(), &protocol.DefinitionParams{TextDocumentPositionParams: where(u, at(text, needle, 1))}))(t)
		all, _ := r.(protocol.LocationSlice)
		return e.show(all)
	}
	if got, want := definition("/posts/one/"), []string{"content/posts/one.md:4:3-13"}; !slices.Equal(got, want) {
		t.Errorf("definition of a link: %v, want %v", got, want)
	}
	if got, want := definition("three.md#"), []string{"content/posts/three.md:4:3-7"}; !slices.Equal(got, want) {
		t.Errorf("definition of a ref: %v, want %v", got, want)
	}
	if got := definition("/posts/gone/"); len(got) > 0 {
		t.Errorf("definition of a broken link: %v", got)
	}
	references := func(name, needle string, declaration bool) []string {
		v := e.open(name, "")
		r, err := e.Server.References(t.Context(), &protocol.ReferenceParams{TextDocumentPositionParams: where(v, at(blog()[name], needle, 1)), Context: protocol.ReferenceContext{IncludeDeclaration: declaration}})
		testkit.Check(t, err)
		return e.show(r)
	}
	if got, want := references("content/posts/one.md", "Start here", true), []string{"content/posts/one.md:4:3-13", "content/posts/two.md:4:14-36"}; !slices.Equal(got, want) {
		t.Errorf("references to a heading: %v, want %v", got, want)
	}
	if got, want := references("content/posts/one.md", "title", false), []string{"content/posts/two.md:4:14-36", "layouts/index.html:0:9-20"}; !slices.Equal(got, want) {
		t.Errorf("references to a page: %v, want %v", got, want)
	}
	if got, want := references("content/posts/three.md", "Deep", false), []string{"content/posts/one.md:6:35-49", "content/posts/two.md:4:73-86", "data/resources/parts.yaml:0:7-25"}; !slices.Equal(got, want) {
		t.Errorf("references to a heading: %v, want %v", got, want)
	}
	one := e.uri("content/posts/one.md")
	lenses := testkit.Must(e.Server.CodeLens(t.Context(), &protocol.CodeLensParams{TextDocument: protocol.TextDocumentIdentifier{URI: one}}))(t)
	var titles []string
	for _, l := range lenses {
		titles = append(titles, l.Command.Title)
	}
	if want := []string{"2 references", "1 reference"}; !slices.Equal(titles, want) {
		t.Errorf("lenses: %v, want %v", titles, want)
	}
	links, err := e.Server.DocumentLink(t.Context(), &protocol.DocumentLinkParams{TextDocument: protocol.TextDocumentIdentifier{URI: one}})
	if err != nil || len(links) != 2 || !strings.HasSuffix(string(*links[0].Target), "/content/posts/two.md") {
		t.Errorf("document links: %s %v", asJSON(links), err)
	}
}

func TestHoverAndSymbols(t *testing.T) {
	e := started(t)
	text := "[a](/posts/one/#start-here) [b](/old/) [c](/posts/gone/)\n"
	u := e.open("content/posts/two.md", text)
	for needle, want := range map[string][]string{
		"/posts/one/":  {"**First post** › Start here", "`content/posts/one.md`", "\nok\n", "status"},
		"/old/":        {"warning `via-redirect`"},
		"/posts/gone/": {"error `missing-directory`", "directory not found"},
	} {
		h, err := e.Server.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: where(u, at(text, needle, 2))})
		if err != nil || h == nil {
			t.Fatalf("%s: %v %v", needle, h, err)
		}
		got := h.Contents.(*protocol.MarkupContent).Value
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", needle, w, got)
			}
		}
	}
	r := testkit.Must(e.Server.Symbols(t.Context(), &protocol.WorkspaceSymbolParams{Query: "start"}))(t)
	all := r.(protocol.SymbolInformationSlice)
	if len(all) != 1 || all[0].Name != "Start here" || *all[0].ContainerName != "First post" {
		t.Errorf("symbols: %s", asJSON(all))
	}
	d, err := e.Server.DocumentSymbol(t.Context(), &protocol.DocumentSymbolParams{TextDocument: protocol.TextDocumentIdentifier{URI: e.open("content/posts/one.md", "")}})
	testkit.Check(t, err)
	if list := d.(protocol.DocumentSymbolSlice); len(list) != 2 || list[1].Name != "The end" {
		t.Errorf("headings: %s", asJSON(list))
	}
}

func TestCodeActions(t *testing.T) {
	e := started(t)
	text := blog()["content/posts/three.md"]
	u := e.open("content/posts/three.md", "")
	e.shown(u, 1)
	p := at(text, "/posts/One/", 2)
	r, err := e.Server.CodeAction(t.Context(), &protocol.CodeActionParams{TextDocument: protocol.TextDocumentIdentifier{URI: u}, Range: protocol.Range{Start: p, End: p}})
	testkit.Check(t, err)
	var titles []string
	for _, x := range r {
		titles = append(titles, x.(*protocol.CodeAction).Title)
	}
	want := []string{"Change to /posts/one/", "Ignore in sitelink.toml, with a reason", "Add to sitelink-baseline.jsonl", "Repair the links of this file that have one certain answer (2)"}
	if !slices.Equal(titles, want) {
		t.Fatalf("actions %q, want %q", titles, want)
	}
	edits := r[3].(*protocol.CodeAction).Edit.Changes[u]
	if len(edits) != 2 || edits[0].NewText != "/posts/one/" || edits[1].NewText != "/posts/one/" {
		t.Errorf("all: %s", asJSON(edits))
	}
	if rule := asJSON(r[1].(*protocol.CodeAction).Edit); !strings.Contains(rule, `[[ignore]]\nurl = \"/posts/One/\"\ncode = \"wrong-case\"`) {
		t.Errorf("rule: %s", rule)
	}
	if entry := asJSON(r[2].(*protocol.CodeAction).Edit); !strings.Contains(entry, `wrong-case`) || !strings.Contains(entry, "posts/three/index.html") {
		t.Errorf("baseline: %s", entry)
	}
}

// applied returns the text of a file after the edits for it.
func applied(text string, edits []protocol.TextEdit) string {
	t := newText([]byte(text), utf16Units)
	for i := len(edits) - 1; i >= 0; i-- {
		from, to := edits[i].Range.Start, edits[i].Range.End
		t = t.edit(change{Range: &textRange{position(from), position(to)}, Text: edits[i].NewText})
	}
	return string(t.bytes)
}

func TestRenameHeading(t *testing.T) {
	e := started(t)
	name := "content/posts/one.md"
	u := e.open(name, "")
	place := where(u, at(blog()[name], "Start", 1))
	p, err := e.Server.PrepareRename(t.Context(), &protocol.PrepareRenameParams{TextDocumentPositionParams: place})
	if err != nil || asJSON(p) != `{"range":{"start":{"line":4,"character":3},"end":{"line":4,"character":13}},"placeholder":"Start here"}` {
		t.Errorf("prepare: %s %v", asJSON(p), err)
	}
	// The buffer of the other file is not saved.
	two := e.open("content/posts/two.md", "new line\n"+blog()["content/posts/two.md"]+"\n[again]: <../one/#start-here>\n")
	edit := testkit.Must(e.Server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: place, NewName: "Begin “here”"}))(t)
	if got := applied(blog()[name], edit.Changes[u]); !strings.Contains(got, "\n## Begin “here”\n") {
		t.Errorf("the heading: %q", got)
	}
	want := "new line\n" + strings.ReplaceAll(blog()["content/posts/two.md"], "#start-here", "#begin-here") + "\n[again]: <../one/#begin-here>\n"
	if got := applied("new line\n"+blog()["content/posts/two.md"]+"\n[again]: <../one/#start-here>\n", edit.Changes[two]); got != want {
		t.Errorf("the links: %q, want %q", got, want)
	}
	if len(edit.Changes) != 2 {
		t.Errorf("files: %s", asJSON(edit))
	}
	for _, bad := range []string{"", " ", "a\nb"} {
		if _, err := e.Server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: place, NewName: bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, err := e.Server.Rename(t.Context(), &protocol.RenameParams{TextDocumentPositionParams: where(u, protocol.Position{Line: 3}), NewName: "x"}); err == nil {
		t.Error("a rename of nothing is accepted")
	}
}

// TestRenameFileUntrusted asks for the edits of a renamed file in a project that may
// not be built.
func TestRenameFileUntrusted(t *testing.T) {
	e := started(t)
	r, err := e.Server.WillRenameFiles(t.Context(), &protocol.RenameFilesParams{Files: []protocol.FileRename{{OldURI: string(e.uri("content/posts/one.md")), NewURI: string(e.uri("content/posts/first.md"))}}})
	if err != nil || r != nil && len(r.Changes) > 0 {
		t.Errorf("%s %v", asJSON(r), err)
	}
	e.wait("the message", func() bool {
		return slices.ContainsFunc(e.messages, func(m string) bool { return strings.Contains(m, "the command mv does it") })
	})
}

// TestLongLine: a position in a long line equals the one that is counted from the
// start of the line.
func TestLongLine(t *testing.T) {
	b := []byte("first\r\n" + strings.Repeat("aé😀\xff", 1_000) + "\n" + strings.Repeat("x", 3*markEvery) + "\r\nlast")
	for _, units := range []string{utf8Units, utf16Units, utf32Units} {
		text := newText(b, units)
		if len(text.marks) < 5 {
			t.Fatalf("%s: only %d marks", units, len(text.marks))
		}
		want := position{}
		for at := 0; at < len(b); {
			if got := text.position(at); got != want {
				t.Fatalf("%s: offset %d is at %v, want %v", units, at, got, want)
			}
			r, size := utf8.DecodeRune(b[at:])
			want.Character += uint32(text.width(r, size))
			if at += size; r == '\n' {
				want = position{Line: want.Line + 1}
			}
		}
	}
}
