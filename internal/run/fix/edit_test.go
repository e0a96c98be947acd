package fix

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
	"github.com/sitelink/sitelink/internal/testkit"
)

// editPlaces are files with one destination between « and » among others.
var editPlaces = []struct{ name, file, text string }{
	{"inline", "content/a.md", "See [x](/1/) and [y](«/a/b/» \"T (t)\"), [z](/2/).\n"},
	{"inline in brackets", "content/a.md", "| a | b |\n|---|---|\n| ä | [y](<«/a b/»>) |\n"},
	{"definition", "content/a.md", "[x][r] and [r], [z](/2/)\n\n[r]: «/a/b» 'T'\n"},
	{"autolink", "content/a.md", "See <«https://example.org/a?b=c»>, <https://example.org/2>.\n"},
	{"bare address", "content/a.md", "See «https://example.org/a» there.\n"},
	{"raw HTML", "content/a.md", "x <a class=y href=\"«/a/?b=1&amp;c=2»\">x</a> [z](/2/)\n"},
	{"raw HTML without quotes", "content/a.md", "x <a href=«/a/b»>x</a> [z](/2/)\n"},
	{"shortcode", "content/a.md", "x {{< figure src=\"«/a.png»\" alt=\"/2/\" >}} [z](/2/)\n"},
	{"shortcode without quotes", "content/a.md", "x {{< figure «/a.png» >}} [z](/2/)\n"},
	{"ref", "content/a.md", "[x]({{< ref \"«b.md#c»\" >}}) [z](/2/)\n"},
	{"front matter in YAML", "content/a.md", "---\ntitle: x\nimage: «/a.png»\nthumb: /2.png\n---\n[z](/2/)\n"},
	{"front matter in TOML", "content/a.md", "+++\ntitle = 'x'\nimage = '«/a.png»'\n+++\n[z](/2/)\n"},
	{"front matter in JSON", "content/a.md", "{\n\"image\": \"«\\/a.png»\"\n}\n[z](/2/)\n"},
	{"menu", "hugo.toml", "[[menus.main]]\nname = 'X'\nurl = '«/a/»'\n[[menus.main]]\nname = 'Y'\nurl = '/2/'\n"},
	{"data in YAML", "data/x.yaml", "- name: x\n  url: «/a/b/»\n- url: /2/\n"},
	{"data in JSON", "data/x.json", "{\"url\": \"«/a/b/»\", \"other\": \"/2/\"}\n"},
	{"template", "layouts/x.html", "{{ if .X }}<a href=\"«/a/b/»\">x</a>{{ end }}<a href=\"/2/\">y</a>\n"},
	{"expression", "layouts/x.html", "<link href=\"{{ \"«css/a.css»\" | relURL }}\"><a href=\"/2/\">y</a>\n"},
	{"style sheet", "assets/a.css", "a{background:url(«../a.png»)}\nb{background:url(/2.png)}\n"},
	{"style sheet with quotes", "static/a.css", "@import \"«a b.css»\";\n@import \"/2.css\";\n"},
}

// plainAddress matches addresses that count as links in every place.
var plainAddress = regexp.MustCompile(`^(https://example\.org)?/[a-z0-9]+/[a-z0-9/?=&#]*$`)

// writeValue writes a value in place of the destination of a place, through a plan and its
// set of edits, in a file with the given line ends. It checks that nothing but the
// destination changed and that the file, read again, has the new one. ok is false if
// the value cannot be written there.
func writeValue(t *testing.T, n int, windows bool, value string) (ok bool) {
	t.Helper()
	p := editPlaces[n]
	text := p.text
	if windows {
		text = bom + strings.ReplaceAll(text, "\n", "\r\n")
	}
	before, rest, _ := strings.Cut(text, "«")
	inner, after, _ := strings.Cut(rest, "»")
	text = before + inner + after
	m := testMaker(t, map[string]string{p.file: text})
	all := m.open(p.file).destinations
	at := -1
	for i := range all {
		if all[i].Start == len(before) {
			at = i
		}
	}
	if at < 0 || all[at].End != len(before)+len(inner) {
		t.Fatalf("%s: no destination at %d: %+v", p.name, len(before), all)
	}
	e, err := m.newEdit(Edit{Rule: "test"}, p.file, &all[at], value)
	if err != nil {
		return false
	}
	if line, column := e.Line, e.Column; line != strings.Count(before, "\n")+1 || column < 1 {
		t.Errorf("%s: at %d:%d", p.name, line, column)
	}
	set, err := (&Plan{Root: m.plan.Root, Edits: []Edit{*e}}).Set(nil)
	if err != nil {
		t.Fatalf("%s: %v", p.name, err)
	}
	got := testkit.Must(set.Text(p.file))(t)
	middle, hasBefore := strings.CutPrefix(string(got), before)
	middle, hasAfter := strings.CutSuffix(middle, after)
	if !hasBefore || !hasAfter {
		t.Fatalf("%s: %q changes more than the destination:\n%q\n%q", p.name, value, text, got)
	}
	again := destination.In(p.file, got, generator.Hugo)
	isData := all[at].Form == read.FormMatter || all[at].Form == read.FormData
	if isData && !plainAddress.MatchString(value) {
		return true // text that need not be a link
	}
	if len(again) != len(all) {
		t.Fatalf("%s: %q is written as %q, which leaves %d destinations of %d: %q", p.name, value, middle, len(again), len(all), got)
	}
	for i := range again {
		want := all[i].Value
		if i == at {
			want = value
		}
		if !same(again[i].Value, want) {
			t.Fatalf("%s: %q is written as %q and read as %q, want %q", p.name, value, middle, again[i].Value, want)
		}
	}
	return true
}

// testMaker returns a maker for a Hugo project with some files, without a site.
func testMaker(t *testing.T, files map[string]string) *maker {
	t.Helper()
	root := t.TempDir()
	testkit.AddFiles(t, root, files)
	return &maker{
		generator: generator.Hugo, root: root, prefix: ".", set: destination.NewSet(root, nil), files: map[string]*file{}, byFile: map[string]int{}, byPage: map[string][]int{},
		places: map[spot]*proposals{}, plan: &Plan{Root: root},
	}
}

// TestEdits: at each place of a source, an edit changes the bytes of the destination
// only, whatever has to be escaped there.
func TestEdits(t *testing.T) {
	values := []string{"/new/", "https://example.org/new/?a=1&b=2#c", "../up/x.md", "/q/?a=1&copy=2", "/a(b/", "/a)b", "/a b/c", "/it's", `/a"b`, "/%C3%BC/", "/ü/", "#x"}
	for n, p := range editPlaces {
		for _, windows := range []bool{false, true} {
			written := 0
			for _, value := range values {
				if writeValue(t, n, windows, value) {
					written++
				}
			}
			if written < 1 || written < 6 && !strings.Contains(p.text, "https://example.org/a") {
				t.Errorf("%s: %d of %d values can be written", p.name, written, len(values))
			}
		}
	}
}

// FuzzEdit: an edit changes exactly the bytes of the destination, and the file, read
// again, has the new one.
func FuzzEdit(f *testing.F) {
	for n := range editPlaces {
		f.Add(byte(n), n%2 == 0, "/new/?a=1&b=2#c")
		f.Add(byte(n), n%2 == 1, "/a(b) 'c'\"d\"<e>`f`\\")
	}
	f.Fuzz(func(t *testing.T, n byte, windows bool, value string) {
		writeValue(t, int(n)%len(editPlaces), windows, value)
	})
}
