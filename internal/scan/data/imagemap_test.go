package data

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// readMap returns what ImageMap finds as "line:URL".
func readMap(t *testing.T, text string) (links []string, base string, bad []int) {
	t.Helper()
	found, base, bad := ImageMap([]byte(text))
	for _, l := range found {
		if text[l.Start:l.End] != string(l.Value) {
			t.Errorf("range holds %q, value is %q", text[l.Start:l.End], l.Value)
		}
		links = append(links, fmt.Sprintf("%d:%s", l.Line, l.Value))
	}
	return links, base, bad
}

// testMapLines expects each line to give one URL, or none if it is "".
func testMapLines(t *testing.T, urlByLine [][2]string) {
	t.Helper()
	for _, c := range urlByLine {
		links, base, bad := readMap(t, c[0])
		var want []string
		if c[1] != "" {
			want = []string{"1:" + c[1]}
		}
		if !slices.Equal(links, want) || base != "" || bad != nil {
			t.Errorf("%q: links %q base %q bad %v, want %q", c[0], links, base, bad, want)
		}
	}
}

func TestLL_95_both_forms_and_no_comments(t *testing.T) {
	testMapLines(t, [][2]string{
		{"rect http://h/x 0,0 1,1", "http://h/x"},
		{"rect /x.html 0,0 1,1", "/x.html"},
		{"# see http://h/c", ""},
		{"  # see http://h/c", ""},
		{"#rect /x.html 0,0 1,1", ""},
	})
}

func TestLL_96_NCSA(t *testing.T) {
	testMapLines(t, [][2]string{
		{"rect /a.html 19,12 75,75", "/a.html"},
		{"default /d.html", "/d.html"},
		{"circle /c.html 10,10 20,20", "/c.html"},
		{"poly /p.html 1,1 2,2 3,1", "/p.html"},
		{"point /q.html 5,5", "/q.html"},
		{"oval /o.html 1,1 9,5", "/o.html"},
		{"def /d.html", "/d.html"},
		{"RECT\t../a.html\t1,1\t2,2", "../a.html"},
		{"  Rect a.html 1,1 2,2  ", "a.html"},
		{"rect /a.html 1, 1 2 ,2", "/a.html"},
		{"rect /a.html 1 1 2 2", "/a.html"},
		{"rect /a.html 1.5,1 -2,+2", "/a.html"},
		{"rect /a.html (1,1) (2,2)", "/a.html"},
		{"rect /a.html", "/a.html"}, // cannot be clicked, but it is a link
		{"rect /a.html#f?x=1,2 1,1 2,2", "/a.html#f?x=1,2"},
		{"rect mailto:a@example.org 1,1 2,2", "mailto:a@example.org"},
		{"rect /a.html 1,1 2,2 # note", "/a.html"},
		{"default nocontent", ""},
		{"rect NoContent 1,1 2,2", ""},
		{"default referer", ""},
		{"default map", ""},
		{"default menu", ""},
		{"default error", ""},
		{"default nocontent.html", "nocontent.html"},
		// Quotes and labels in Apache's form.
		{`rect "/a b.html" 1,1 2,2`, "/a b.html"},
		{`rect /a.html "Label" 1,1 2,2`, "/a.html"},
		{`rect /a.html 1,1 2,2 "A label, too"`, "/a.html"},
		{`default /d.html "Label"`, "/d.html"},
		{`rect "/a.html" "# no comment" 1,1`, "/a.html"},
	})
}

func TestLL_97_CERN(t *testing.T) {
	testMapLines(t, [][2]string{
		{"poly (1,2) (3,4) /b.html", "/b.html"},
		{"polygon (1,1) (2,2) (3,1) /p.html", "/p.html"},
		{"circle (10,10) 5 /c.html", "/c.html"},
		{"circ (10,10) 5 /c.html", "/c.html"},
		{"circ (10,10) /c.html", "/c.html"},
		{"rectangle (1,1) (2,2) /r.html", "/r.html"},
		{"rect (1,1) (2,2) http://h/r.html", "http://h/r.html"},
		{"default /d.html", "/d.html"},
		{"def /d.html", "/d.html"},
		{"rect (1, 1) (2 ,2) /r.html", "/r.html"},
		{"rect(1,1)(2,2) /r.html", "/r.html"},
		{"rect (1,1),(2,2) /r.html", "/r.html"},
		{`rect (1,1) (2,2) "/r r.html"`, "/r r.html"},
		{"rect (1,1) (2,2) nocontent", ""},
	})
}

func TestApacheImageMap_base(t *testing.T) {
	for _, c := range []struct {
		name, in, base string
		bad            []int
	}{
		{"URL", "base http://h/maps/\ndefault a.html", "http://h/maps/", nil},
		{"base_uri", "BASE_URI /maps/\ndefault a.html", "/maps/", nil},
		{"quoted", `base "/my maps/"`, "/my maps/", nil},
		{"map", "base map", "map", nil},
		{"referer", "base referer", "referer", nil},
		{"twice", "base /a/\nbase /b/", "/a/", []int{2}},
		{"no_value", "base", "", []int{1}},
		{"coordinates", "base (1,1) /x", "", []int{1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, base, bad := readMap(t, c.in)
			if base != c.base || !slices.Equal(bad, c.bad) {
				t.Errorf("base %q bad %v, want %q %v", base, bad, c.base, c.bad)
			}
		})
	}
}

func TestImageMap_lines(t *testing.T) {
	for _, c := range []struct {
		name, in string
		links    []string
		bad      []int
	}{
		{"empty", "", nil, nil},
		{"blank_lines", "\n \t\n\n", nil, nil},
		{"no_line_end", "def /a", []string{"1:/a"}, nil},
		{"line_feed", "def /a\n\nrect /b 1,1 2,2\n", []string{"1:/a", "3:/b"}, nil},
		{"CR_LF", "def /a\r\n\r\nrect /b 1,1 2,2\r\n", []string{"1:/a", "3:/b"}, nil},
		{"CR", "def /a\r\rrect /b 1,1 2,2\r", []string{"1:/a", "3:/b"}, nil},
		{"byte_order_mark", "\ufeffdef /a", []string{"1:/a"}, nil},
		{"both_forms", "rect /a 1,1 2,2\nrect (1,1) (2,2) /b", []string{"1:/a", "2:/b"}, nil},
		{"unknown_shape", "star /a 1,1\ndef /b", []string{"2:/b"}, []int{1}},
		{"shape_only", "rect\nrect  \ndef /b", []string{"3:/b"}, []int{1, 2}},
		{"shape_runs_on", "rectx /a 1,1 2,2", nil, []int{1}},
		{"CERN_without_URL", "rect (1,1) (2,2)", nil, []int{1}},
		{"CERN_open_parenthesis", "rect (1,1 /a", nil, []int{1}},
		{"CERN_letters", "rect (a,b) /a", nil, []int{1}},
		{"URL_with_space", "rect /a b.html 1,1 2,2", nil, []int{1}},
		{"two_URLs", "rect (1,1) (2,2) /a /b", nil, []int{1}},
		{"open_quote", `rect "/a 1,1 2,2`, nil, []int{1}},
		{"open_quote_of_label", `rect /a 1,1 2,2 "x`, nil, []int{1}},
		{"empty_URL", `rect "" 1,1 2,2`, nil, []int{1}},
		{"coordinates_before_URL", "rect 1,1 2,2 /a", nil, []int{1}},
		{"letters_are_not_folded_beyond_ASCII", "ba\u017fe /a", nil, []int{1}},
		{"binary", "\x00\x01\xff\xfe\n\x80", nil, []int{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			links, _, bad := readMap(t, c.in)
			if !slices.Equal(links, c.links) || !slices.Equal(bad, c.bad) {
				t.Errorf("links %q bad %v, want %q %v", links, bad, c.links, c.bad)
			}
		})
	}
}

func TestImageMap_source_maps_are_none(t *testing.T) {
	for _, in := range []string{
		"{\"version\":3,\"sources\":[\"a.ts\"]}",
		" \n{\n\"version\": 3\n}",
		"\ufeff{}",
		")]}'\n{\"version\":3}",
	} {
		if links, base, bad := readMap(t, in); links != nil || base != "" || bad != nil {
			t.Errorf("%q: links %q base %q bad %v, want nothing", in, links, base, bad)
		}
	}
}

func TestImageMap_bounds(t *testing.T) {
	_, _, bad := ImageMap([]byte(strings.Repeat("x\n", 5000)))
	if len(bad) != mapMaxBad || bad[0] != 1 || bad[mapMaxBad-1] != mapMaxBad {
		t.Errorf("%d bad lines %v, want the first %d", len(bad), bad, mapMaxBad)
	}
	links, _, bad := ImageMap([]byte(strings.Repeat("def x\n", mapMaxLinks+2)))
	if len(links) != mapMaxLinks || !slices.Equal(bad, []int{mapMaxLinks + 1, mapMaxLinks + 2}) {
		t.Errorf("%d links, bad %v, want %d links and the two lines beyond", len(links), bad, mapMaxLinks)
	}
}

func FuzzMapFile(f *testing.F) {
	for _, s := range []string{
		"rect /a 1,1 2,2\r\n# c\rdef \"/b c\" \"L\"", "circ (1,1) 5 /c\nbase map", "base_uri http://h/\n\ufeff",
		"rect (1,1", "{\"version\":3}", "default nocontent",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		testkit.Linear(t, text, func(text []byte) { ImageMap(text) })
		links, _, bad := ImageMap(text)
		lines := 1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r"))
		last, line := 0, 0
		for _, l := range links {
			if l.Start < last || l.Start >= l.End || l.End > len(text) || l.Line <= line || l.Line > lines {
				t.Fatalf("range [%d,%d) line %d after %d, line %d", l.Start, l.End, l.Line, last, line)
			}
			last, line = l.End, l.Line
			if !bytes.Equal(l.Value, text[l.Start:l.End]) || bytes.ContainsAny(l.Value, "\r\n") {
				t.Fatalf("value %q of %q", l.Value, text[l.Start:l.End])
			}
			if slices.Contains(bad, l.Line) {
				t.Fatalf("line %d is good and bad", l.Line)
			}
		}
		if len(bad) > mapMaxBad || !slices.IsSorted(bad) {
			t.Fatalf("bad lines %v", bad)
		}
	})
}
