package record

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"

	_ "github.com/sitelink/sitelink/site" // sets what converts a site
)

// loadFiles writes the files and loads them as a site.
func loadFiles(t *testing.T, files map[string]string) *site.Site {
	t.Helper()
	dir := t.TempDir()
	testkit.AddFiles(t, dir, files)
	s := testkit.Must(site.Load(t.Context(), dir, site.Options{BaseURLs: []string{"https://me.example/sub/"}}))(t)
	return s
}

// goneOf returns what is gone between two sites.
func goneOf(t *testing.T, before, now map[string]string, opt CompareOptions) *Gone {
	t.Helper()
	r := testkit.Must(Of(t.Context(), loadFiles(t, before), "before"))(t)
	g := testkit.Must(Compare(t.Context(), r, loadFiles(t, now), opt))(t)
	return g
}

// targets returns what the findings are about, with the suggestions.
func targets(g *Gone) []string {
	var list []string
	for _, f := range g.Findings(nil) {
		x := f.Target
		if f.Fragment != "" {
			x += "#" + f.Fragment
		}
		if f.Suggestion != "" {
			x += " -> " + f.Suggestion
		}
		list = append(list, x)
	}
	return list
}

func TestCompare(t *testing.T) {
	const long = "a text that is long enough to differ from every other text by its words, and that moves to another page "
	tests := []struct {
		name        string
		before, now map[string]string
		opt         CompareOptions
		want        []string
	}{
		{"nothing", map[string]string{"a.html": "<p id=x>"}, map[string]string{"a.html": "<p id=x>"}, CompareOptions{}, nil},
		{"content", map[string]string{"a.html": "<title>A</title><main>" + long + "</main>", "b.html": ""},
			map[string]string{"c/index.html": "<title>C</title><nav>menu</nav><main>" + long + "</main>", "b.html": ""}, CompareOptions{},
			[]string{"/sub/a.html -> /sub/c/"}},
		{"title", map[string]string{"a.html": "<title>A</title>"}, map[string]string{"c.html": "<title>A</title>", "d.html": ""}, CompareOptions{}, []string{"/sub/a.html -> /sub/c.html"}},
		{"only heading", map[string]string{"a.html": "<title>A | old</title><h1>A &amp; B</h1>"}, map[string]string{"c.html": "<title>A | new</title><h1>A <b>&amp;</b> B</h1>"}, CompareOptions{},
			[]string{"/sub/a.html -> /sub/c.html"}},
		{"two candidates", map[string]string{"a.html": "<title>A</title>"}, map[string]string{"c.html": "<title>A</title>", "d.html": "<title>A</title>"}, CompareOptions{}, []string{"/sub/a.html"}},
		{"a title that says nothing", map[string]string{"a.html": "<title>Site</title>", "b.html": "<title>Site</title>"}, map[string]string{"b.html": "<title>Site</title>"}, CompareOptions{}, []string{"/sub/a.html"}},
		{"letter case", map[string]string{"Readme.html": ""}, map[string]string{"README.html": ""}, CompareOptions{}, []string{"/sub/Readme.html -> /sub/README.html"}},
		{"a file of the same name", map[string]string{"a.html": "", "x/ö plan.pdf": ""}, map[string]string{"a.html": "", "y/ö plan.pdf": ""}, CompareOptions{},
			[]string{"/sub/x/%C3%B6%20plan.pdf -> /sub/y/%C3%B6%20plan.pdf"}},
		{"another file for the address", map[string]string{"a/index.html": "<p id=x>"}, map[string]string{"a.html": "<p id=x>"}, CompareOptions{}, []string{"/sub/a/"}},
		{"only a listing is left", map[string]string{"a/index.html": "", "a/b.png": "", "c.html": ""}, map[string]string{"a/b.png": "", "c.html": ""}, CompareOptions{}, []string{"/sub/a/"}},
		{"ids", map[string]string{"a.html": `<meta charset=utf-8><h2 id=one>1</h2><h2 id=two>2</h2><p id=p><a name="ä b">x</a><map name=m></map>`},
			map[string]string{"a.html": `<h2 id=one>1</h2><h2 id=zwei>2</h2>`}, CompareOptions{},
			[]string{"/sub/a.html#p", "/sub/a.html#two -> #zwei", "/sub/a.html#ä b"}},
		{"ids of headings", map[string]string{"a.html": `<h2 id=two>2</h2><p id=p>`}, map[string]string{"a.html": `<p>`}, CompareOptions{HeadingsOnly: true}, []string{"/sub/a.html#two"}},
		{"an alias", map[string]string{"a.html": "<p id=x>", "b.html": ""}, map[string]string{"a.html": `<meta http-equiv=refresh content="0; url=b.html">`, "b.html": ""}, CompareOptions{}, nil},
		{"what does not count", map[string]string{"a.html": "", "app.js": "", "a-3f2a9c41b.png": "", ".x/y.html": "", "font.woff2": ""}, map[string]string{"a.html": ""}, CompareOptions{}, nil},
		{"a name, not a hash", map[string]string{"a.html": "", "scan-20240102.png": "", "interface.png": "", "IMG_1234.jpg": "", "deadbeef01.html": "", "feed.xml": "<rss/>"}, map[string]string{"a.html": ""}, CompareOptions{},
			[]string{"/sub/IMG_1234.jpg", "/sub/deadbeef01.html", "/sub/feed.xml", "/sub/interface.png", "/sub/scan-20240102.png"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := goneOf(t, tt.before, tt.now, tt.opt)
			if got := targets(g); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			for _, f := range g.Findings(nil) {
				if f.Verdict != check.Warning || f.Message == "" || strings.Contains(f.Message, "status 200") || f.Page == "" {
					t.Errorf("finding %+v", f)
				}
			}
		})
	}
}

// TestRedirectRule: an address that a rule of the host names counts, and a rule
// satisfies.
func TestRedirectRule(t *testing.T) {
	before := map[string]string{"_redirects": "/old /a.html\n", "a.html": ""}
	if got := targets(goneOf(t, before, map[string]string{"a.html": ""}, CompareOptions{})); got != nil {
		t.Errorf("the generic host reads no _redirects, but %q are gone", got)
	}
	netlify := func(files map[string]string) *site.Site {
		profile, _ := host.ProfileByName("netlify")
		s := testkit.Must(site.Load(t.Context(), loadFiles(t, files).Root(), site.Options{Profile: profile}))(t)
		return s
	}
	r := testkit.Must(Of(t.Context(), netlify(before), "before"))(t)
	for rules, want := range map[string][]string{
		"":                             {"/old"},
		"/old /b.html\n":               {"/old"},
		"/old https://else.example/\n": nil,
		"/* /a.html\n":                 nil,
	} {
		g := testkit.Must(Compare(t.Context(), r, netlify(map[string]string{"_redirects": rules, "a.html": ""}), CompareOptions{}))(t)
		if got := targets(g); !reflect.DeepEqual(got, want) {
			t.Errorf("with %q: got %q, want %q", rules, got, want)
		}
	}
}

// TestIndexName: the name of an index file is no lost address while its directory
// answers, also where a fallback page answers everything else.
func TestIndexName(t *testing.T) {
	profile, _ := host.ProfileByName("cloudflare-pages")
	pages := func(files map[string]string) *site.Site {
		s := testkit.Must(site.Load(t.Context(), loadFiles(t, files).Root(), site.Options{Profile: profile}))(t)
		return s
	}
	r := testkit.Must(Of(t.Context(), pages(map[string]string{"index.html": "", "x/index.html": "", "y/index.html": ""}), "before"))(t)
	g := testkit.Must(Compare(t.Context(), r, pages(map[string]string{"index.html": "", "x.html": ""}), CompareOptions{}))(t)
	if got, want := targets(g), []string{"/y/"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	f := g.Findings(nil)
	g.Concern(f)
	if m := f[0].Message; strings.Contains(m, "status 200") || !strings.Contains(m, "fallback page") {
		t.Error(m)
	}
}

func TestIsHeading(t *testing.T) {
	for text, want := range map[string]bool{
		`<h2 id="x">`:                             true,
		`<H1 class=a id=x>`:                       true,
		`<section id="x"> <h2>`:                   true,
		`<div id="x"><header><h2>`:                true,
		`<a name="x"></a> <h2>`:                   true,
		`<h3>text <a id="x" href="#x">¶</a></h3>`: true,
		`<h3>text</h3><p id="x">`:                 false,
		`<p id="x">text</p><h2>`:                  false,
		`<hr id="x"><p>`:                          false,
		`<html id="x"><body><p>`:                  false,
		`<p id="x"`:                               false,
		`<p id="x" `:                              false,
		``:                                        false,
	} {
		if _, _, _, ids := describe([]byte(text)); ids["x"] != want {
			t.Errorf("%.60s: %v, want %v", text, ids, want)
		}
	}
}

func TestRenamed(t *testing.T) {
	for _, tt := range []struct {
		before, now string
		want        map[string]string
	}{
		{"a b c", "a x c", map[string]string{"b": "x"}},
		{"a b", "x y", map[string]string{"a": "x", "b": "y"}},
		{"a b c", "a c", map[string]string{}},
		{"a b c", "a x y c", map[string]string{}},
		{"a b c d", "b x d", map[string]string{"c": "x"}},
		{"a b c", "c b a", map[string]string{}},
		{"", "a", map[string]string{}},
	} {
		if got := Renamed(strings.Fields(tt.before), strings.Fields(tt.now)); !maps.Equal(got, tt.want) {
			t.Errorf("Renamed(%q, %q) = %q, want %q", tt.before, tt.now, got, tt.want)
		}
	}
}

// TestRecordFile: what is written is read again, and everything else is refused
// with the reason.
func TestRecordFile(t *testing.T) {
	r, err := Of(t.Context(), loadFiles(t, map[string]string{"a.html": `<title>"A"` + "\u2028</title><h1 id='&lt;x'>", "b/index.html": "", "c%20d ö.png": ""}), "before")
	testkit.Check(t, err)
	name := filepath.Join(t.TempDir(), AddressesFile)
	testkit.Check(t, r.Write(name))
	again := testkit.Must(Read(name, AddressesFile, "before"))(t)
	if !reflect.DeepEqual(r, again) {
		t.Errorf("read %+v, want %+v", again, r)
	}
	if _, err := Read(name+"x", "x", ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	signed := func(entries int, lines ...string) string {
		text := strings.Join(lines, "\n") + "\n"
		return fmt.Sprintf("{\"sitelink-addresses\":1,\"entries\":%d,\"sha256\":\"%x\"}\n%s", entries, sha256.Sum256([]byte(text)), text)
	}
	text := string(r.Encode())
	for name, bad := range map[string]struct{ text, want string }{
		"empty":          {"", "not a record of addresses"},
		"another file":   {"[check]\nsince = 1\n", "not a record of addresses"},
		"a ledger":       {`{"schema":1}` + "\n", "not a record of addresses"},
		"cut off":        {text[:len(text)-5], "damaged"},
		"edited":         {strings.Replace(text, "a.html", "b.html", 1), "damaged"},
		"newer":          {strings.Replace(text, `"sitelink-addresses":1`, `"sitelink-addresses":2`, 1), "newer version of sitelink"},
		"counts":         {signed(2, `{"address":"/a"}`), "2"},
		"no JSON":        {signed(1, `{"address":"/a"`), "line 2"},
		"deep JSON":      {signed(1, strings.Repeat("[", 1<<20)), "line 2"},
		"wrong type":     {signed(1, `{"address":"/a","ids":{"a":1}}`), "line 2"},
		"unsorted":       {signed(2, `{"address":"/b"}`, `{"address":"/a"}`), "sorted"},
		"twice":          {signed(2, `{"address":"/a"}`, `{"address":"/a"}`), "sorted"},
		"another host":   {signed(1, `{"address":"//evil.example/"}`), "not the path"},
		"a URL":          {signed(1, `{"address":"https://evil.example/"}`), "not the path"},
		"a control":      {signed(1, `{"address":"/a\u001b[2J"}`), "percent-encoded"},
		"a query":        {signed(1, `{"address":"/a?b"}`), "percent-encoded"},
		"outside":        {signed(1, `{"address":"/a","file":"../../etc/passwd"}`), "not a path in the docroot"},
		"absolute":       {signed(1, `{"address":"/a","file":"/etc/passwd"}`), "not a path in the docroot"},
		"a zero in file": {signed(1, `{"address":"/a","file":"a\u0000b"}`), "not a path in the docroot"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := decode([]byte(bad.text)); err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("error %v, want one with %q", err, bad.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("{\"sitelink-addresses\":1,\"entries\":0,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"))
	r := &Record{Entries: []Entry{{Address: "/a/", File: "a/index.html", Title: "A", IDs: []string{"x"}}, {Address: "/b"}}}
	f.Add(r.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if (r == nil) == (err == nil) {
			t.Fatalf("record %v, error %v", r, err)
		}
		if err == nil {
			if again, err := decode(r.Encode()); err != nil || !reflect.DeepEqual(again, r) {
				t.Fatalf("%+v becomes %+v, %v", r, again, err)
			}
		}
	})
}

// logOf returns a log with n lines of garbage of every kind between requests.
type logOf struct {
	rest  bytes.Buffer
	lines int
}

const request = `192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /sub/a.html?x HTTP/1.1" 200 5 "https://fan%d.example/" "Mozilla"` + "\n"

func (l *logOf) Read(p []byte) (int, error) {
	for l.rest.Len() < len(p) && l.lines > 0 {
		l.lines--
		switch l.lines % 4 {
		case 0:
			fmt.Fprintf(&l.rest, request, l.lines)
		case 1:
			l.rest.WriteString(strings.Repeat("\x00\xff\"", 100) + "\n")
		case 2:
			l.rest.WriteString(`192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET /sub/` + strings.Repeat("a", 100_000) + ` HTTP/1.1" 404 5` + "\n")
		case 3:
			l.rest.WriteString(`192.0.2.1 - - [22/Nov/2026:18:00:00 +0000] "GET http://me.example/sub/%61.html HTTP/1.1" 200 5` + "\r\n")
		}
	}
	if l.rest.Len() == 0 {
		return 0, io.EOF
	}
	return l.rest.Read(p)
}

// TestLog reads a log of a gigabyte with garbage in it, in bounded memory.
func TestLog(t *testing.T) {
	g := goneOf(t, map[string]string{"a.html": "", "b.html": ""}, map[string]string{"b.html": ""}, CompareOptions{})
	lines := testkit.Longer(400, 8_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	read := testkit.Must(g.ReadLog(t.Context(), &logOf{lines: lines}, "access.log"))(t)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("%d bytes stay allocated", grown)
	}
	if read.Lines != lines || read.Skipped != lines/2 {
		t.Errorf("read %+v of %d lines", read, lines)
	}
	findings := g.Findings(nil)
	g.Concern(findings)
	if c := findings[0].Concerns; c == nil || c.Requests != lines/2 || len(c.Referrers) != maxNamed || len(g.list[0].referrers) > maxReferrers {
		t.Errorf("concerns %+v", c)
	}
}

func TestLogFormats(t *testing.T) {
	const common = `::1 - - [22/Nov/2026:18:00:00 +0000] "GET /sub/a.html HTTP/1.1" 200 5`
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, common+"\n")
	z.Close()
	for name, tt := range map[string]struct {
		log           string
		lines, counts int
		fails         string
	}{
		"empty":           {"", 0, 0, ""},
		"common":          {common + "\n" + common, 2, 2, ""},
		"gzip":            {zipped.String(), 1, 1, ""},
		"gzip, cut off":   {zipped.String()[:30], 0, 0, "read the log access.log"},
		"own site":        {common + ` "https://me.example/sub/" "-"` + "\n", 1, 1, ""},
		"another page":    {strings.Replace(common, "a.html", "b.html", 1) + "\n", 1, 0, ""},
		"another base":    {strings.Replace(common, "/sub/", "/", 1) + "\n", 1, 0, ""},
		"no other format": {"{\"path\":\"/sub/a.html\"}\nx\n", 2, 0, "none of its lines"},
	} {
		t.Run(name, func(t *testing.T) {
			g := goneOf(t, map[string]string{"a.html": "", "b.html": ""}, map[string]string{"b.html": ""}, CompareOptions{})
			read, err := g.ReadLog(t.Context(), strings.NewReader(tt.log), "access.log")
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("error %v, want one with %q", err, tt.fails)
				}
				return
			}
			if c := g.list[0].concerns; err != nil || read.Lines != tt.lines || read.Skipped != 0 || c.Requests != tt.counts || len(g.list[0].referrers) > 0 {
				t.Errorf("read %+v, %v; concerns %+v", read, err, c)
			}
		})
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	g := goneOf(t, map[string]string{"a.html": "", "b.html": ""}, map[string]string{"b.html": ""}, CompareOptions{})
	if _, err := g.ReadLog(ctx, &logOf{lines: 10 * checkEvery}, "access.log"); !errors.Is(err, stopped) {
		t.Errorf("after the end of the context: %v", err)
	}
}
