package export

import (
	"encoding/json"
	"encoding/xml"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/testkit"
)

// hostile are texts that break encoders, readers and pages.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `{{ .Site }}{{ template "x" }}`, "{{< raw >}}", `'; DROP TABLE mentions; --`,
	"key: value\n- item\n--- \n...", "!!python/object/apply:os.system [id]", "&anchor *alias", "yes", "~", "null", "2001-12-14", "0x1F", "1_000", "12:30:45", "=", "<<",
	"\"\"\"\nevil = true\n", "'''\n[section]\nx=1", "a = 'b'\n[[mentions]]", "\\u0041\\x41 \\n", "# comment", "  leading and trailing  ", "tab\there", "\r\n", "]]>", "<!--", "--> <![CDATA[", "&lt;&#60;&amp;",
	"nul\x00byte", "bell\x07 escape\x1b[31m", "\xff\xfe invalid", "\uFFFE\uFFFF", "\u2028\u2029", "\u202Etxt.exe", "\uFEFFmark", "日本語 🎉 e\u0301", "%s%n", "$(id) `id`", "", " ", "|", ">", "- ", "? ", "\u0085", "\U0001F600\U000E0001",
}

// decoded reads a file of a page with a parser of its format, and returns the mention
// as JSON would have it.
func decoded(t *testing.T, f Format, text string) Item {
	t.Helper()
	var page PageFile
	var err error
	switch f {
	case JSON:
		err = json.Unmarshal([]byte(text), &page)
	case YAML:
		d := yaml.NewDecoder(strings.NewReader(text))
		d.KnownFields(true)
		err = d.Decode(&page)
	case TOML:
		err = toml.NewDecoder(strings.NewReader(text)).DisallowUnknownFields().Decode(&page)
	case JF2:
		var feed jf2Feed
		err = json.Unmarshal([]byte(text), &feed)
		for _, e := range feed.Children {
			i := Item{Source: e.URL, Target: e.MentionOf, Title: e.Name}
			if e.Author != nil {
				i.Author = Author{e.Author.Name, e.Author.URL}
			}
			if e.Content != nil {
				i.Excerpt = e.Content.Text
			}
			page.Mentions = append(page.Mentions, i)
		}
	case Atom:
		var feed struct {
			Entries []struct {
				Title   string `xml:"title"`
				Summary string `xml:"summary"`
				Link    []struct {
					Href string `xml:"href,attr"`
				} `xml:"link"`
				Author struct {
					Name string `xml:"name"`
					URI  string `xml:"uri"`
				} `xml:"author"`
			} `xml:"entry"`
		}
		err = xml.Unmarshal([]byte(text), &feed)
		for _, e := range feed.Entries {
			page.Mentions = append(page.Mentions, Item{Source: e.Link[0].Href, Target: e.Link[1].Href, Title: e.Title, Excerpt: e.Summary, Author: Author{e.Author.Name, e.Author.URI}})
		}
	}
	if err != nil || len(page.Mentions) != 1 {
		t.Fatalf("%s: %d mentions, %v in\n%s", f, len(page.Mentions), err, text)
	}
	return page.Mentions[0]
}

// roundTrip exports a mention with a hostile text in each field and compares what
// parsers read.
func roundTrip(t *testing.T, f Format, text string) {
	t.Helper()
	m := incoming.Mention{ID: text, Protocol: incoming.Pingback, State: incoming.Approved, Source: "https://a.example/?q=" + "%22%3E&lt;'", Target: "https://our.example/p",
		Title: text, Excerpt: text, Lang: text, Author: incoming.Author{Name: text, URL: "javascript:" + text}}
	page := &PageFile{Generator: generator, Page: "/p", Mentions: []Item{itemOf(m)}}
	form := testkit.Must(formatOf(f))(t)
	out := testkit.Must(form.page(page))(t)
	if !utf8.Valid(out) || !hasMark("x"+form.extension, out) {
		t.Fatalf("%s: not UTF-8, or without its mark:\n%q", f, out)
	}
	want := plain(text)
	got := decoded(t, f, string(out))
	title, name := want, want
	if f == Atom && want == "" {
		title, name = m.Source, "a.example" // an entry has a title and an author
	}
	if got.Source != m.Source || got.Target != m.Target || got.Title != title || got.Excerpt != want || got.Author.Name != name || got.Author.URL != "" {
		t.Errorf("%s: %q became %+v", f, text, got)
	}
}

func TestHostileTexts(t *testing.T) {
	for _, f := range Formats {
		for _, text := range hostile {
			roundTrip(t, f, text)
		}
	}
	for text, want := range map[string]string{"a\x00b\nc": "a b c", "\xff": "\uFFFD", "\u202Ea\u2066b": "ab", "é 🎉": "é 🎉"} {
		if got := plain(text); got != want {
			t.Errorf("plain(%q) = %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"https://user@evil.example/", "https://bank.example:x@evil.example/", "https:// evil.example/", "data:text/html,x", "//a.example/", "https://a.example/\x01"} {
		if isWeb(text) {
			t.Errorf("%q passes as an address", text)
		}
	}
}

// FuzzFormats: no text of a stranger can leave its field.
func FuzzFormats(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, f := range Formats {
			roundTrip(t, f, text)
		}
	})
}

func TestRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mentions")
	if all, err := Read(os.DirFS(dir)); len(all) != 0 || err != nil {
		t.Errorf("without an export: %v, %v", all, err)
	}
	m := from("https://a.example/", "/caf%C3%A9/")
	m.Verified = time.Unix(1700000001, 0)
	mustWrite(t, dir, JSON, m)
	all, err := Read(os.DirFS(dir))
	if err != nil || len(all) != 1 || len(all["/caf%C3%A9"]) != 1 || all["/caf%C3%A9"][0] != itemOf(m) {
		t.Errorf("%+v, %v", all, err)
	}
	testkit.Check(t, os.WriteFile(filepath.Join(dir, "index.json"), []byte("{"), 0o666))
	if _, err := Read(os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), "index.json") {
		t.Error(err)
	}
	pipe := &fstest.MapFile{Data: []byte(`{"pages": {"/a": {"file": "a"}}}`), Mode: fs.ModeNamedPipe}
	if _, err := Read(fstest.MapFS{"index.json": pipe}); err == nil || !strings.Contains(err.Error(), "index.json: not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
	index := &fstest.MapFile{Data: pipe.Data}
	if _, err := Read(fstest.MapFS{"index.json": index, "pages/a.json": pipe}); err == nil || !strings.Contains(err.Error(), "pages/a.json: not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
}
