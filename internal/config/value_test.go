package config

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestValues(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"jobs", "-1", `--jobs: must be a whole number from 0 to 1024, not "-1"`},
		{"jobs", "1e3", `--jobs: must be a whole number from 0 to 1024, not "1e3"`},
		{"jobs", "", `--jobs: the value is empty`},
		{"page-extensions", ".PHP", ""},
		{"page-extensions", "a/b", `--page-extensions: must be a file name extension such as html or php, not "a/b"`},
		{"page-extensions", ".", `--page-extensions: must be a file name extension such as html or php, not "."`},
		{"page-extensions", "seventeen-letters", `--page-extensions: must be a file name extension such as html or php, not "seventeen-letters"`},
		{"max-page-size", "1 GiB", ""},
		{"max-page-size", "4096", ""},
		{"max-page-size", "1.5MB", `--max-page-size: must be a size such as 64MiB, 500kB or 4096, not "1.5MB"`},
		{"max-page-size", "0", `--max-page-size: must be a size from 1B to 2GiB, not "0"`},
		{"max-page-size", "99999999999999999999999GB", `--max-page-size: must be a size from 1B to 2GiB, not "99999999999999999999999GB"`},
		{"base-url", "example.org", `--base-url: must be an absolute http or https URL, not "example.org"`},
		{"base-url", "ftp://example.org/", `--base-url: must be an absolute http or https URL, not "ftp://example.org/"`},
		{"base-url", "https://example.org/?a", `--base-url: must have neither query nor fragment, not "https://example.org/?a"`},
		{"base-url", "https://u:secret@example.org/", `--base-url: must not contain a user name`},
		{"index", "a/b", `--index: must be the name of a file, without a directory, not "a/b"`},
		{"map", "/", `--map: must begin with a path prefix, not "/"`},
		{"map", "=/b", `--map: must begin with a path prefix, not "=/b"`},
		{"map", "/a?x=/b", `--map: must consist of paths, without query or fragment, not "/a?x=/b"`},
		{"fail-on", "errors", `--fail-on: must be error, warning or never, not "errors"`},
		{"fragments", "yes", `--fragments: must be true or false, not "yes"`},
		{"profile", "linklit", `--profile: unknown profile "linklit"`},
		{"limit", "2.5", `--limit: must be a whole number from 0 to 2147483647, not "2.5"`}, // LL-23
		{"limit", "-1", `--limit: must be a whole number from 0 to 2147483647, not "-1"`},
		{"orphans", "all", `--orphans: must be true or false, not "all"`},
		{"docroot", "a\x00b", `--docroot: the value contains a NUL byte`},
	} {
		_, err := load(t, "", nil, Setting{c.key, []string{c.value}})
		if got := message(err); got != c.want {
			t.Errorf("--%s %q\n got %s\nwant %s", c.key, c.value, got, c.want)
		}
	}
}

func TestMaps(t *testing.T) {
	// LL-92: the slash at the front may be missing.
	c := testkit.Must(load(t, "", nil, Setting{"map", []string{"/cgi-bin/imagemap", "/old/=/new/", "cgi-bin/htimage", "/gone=/"}}))(t)
	want := []MapRule{{"/cgi-bin/imagemap", ""}, {"/old", "/new"}, {"/cgi-bin/htimage", ""}, {"/gone", ""}}
	if !reflect.DeepEqual(c.Maps, want) {
		t.Errorf("got %q, want %q", c.Maps, want)
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1": 1, "7b": 7, "2kB": 2000, "2KiB": 2048, "3 MB": 3_000_000, "1MiB": 1 << 20, "2GiB": 2 << 30, "1gb": 1_000_000_000,
	} {
		if got, ok := bytesOf(text); got != want || !ok {
			t.Errorf("bytesOf(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []Format
		err    string
	}{
		{[]string{"json"}, []Format{{"json", ""}}, ""},
		{[]string{"text", "sarif=out.sarif", "json=a=b.json"}, []Format{{"text", ""}, {"sarif", "out.sarif"}, {"json", "a=b.json"}}, ""},
		{[]string{"sarif=-"}, []Format{{"sarif", ""}}, ""},
		{[]string{"sarif=a", "sarif=b"}, []Format{{"sarif", "a"}, {"sarif", "b"}}, ""},
		{[]string{"text", "json"}, nil, "--format: both text and json go to standard output"},
		{[]string{"text=-", "json"}, nil, "--format: both text=- and json go to standard output"},
		{[]string{"text=x/../a", "json=./a"}, nil, "--format: both text=x/../a and json=./a go to the same file"},
		{[]string{"sarif="}, nil, `--format: the name of the file is missing in "sarif="`},
		{[]string{""}, nil, `--format: unknown format ""`},
		{[]string{"text=a\x00b"}, nil, "--format: the value contains a NUL byte"},
		{[]string{}, nil, "--format: must have at least one of text, json, jsonl, markdown, github, sarif, junit, gitlab, checkstyle or html"},
	} {
		cfg, err := load(t, "", nil, Setting{"format", c.values})
		if message(err) != c.err {
			t.Errorf("%q: %v, want %q", c.values, err, c.err)
		} else if err == nil && !reflect.DeepEqual(cfg.Formats, c.want) {
			t.Errorf("%q: %v, want %v", c.values, cfg.Formats, c.want)
		}
	}
	_, err := load(t, "", nil, Setting{"format", []string{"text", "sarfi=x"}})
	if hintFor(err) != `did you mean "sarif"?` {
		t.Errorf("hint %q", hintFor(err))
	}
}

// TestFormatFiles: in the configuration file, the names of files are relative to
// the project; one string is a list of one; a flag replaces the list.
func TestFormatFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	testkit.Write(t, ".git/x", "")
	testkit.Write(t, "sitelink.toml", "[check]\nformat = [\"text\", \"sarif=build/out.sarif\", \"json=/abs/x\", \"jsonl\"]\n")
	testkit.Write(t, "sub/x", "")
	t.Chdir("sub")
	if _, err := Load(Input{}); message(err) != "../sitelink.toml:2:1: format: both text and jsonl go to standard output" {
		t.Errorf("got %v", err)
	}
	testkit.Write(t, "../sitelink.toml", "[check]\nformat = [\"text\", \"sarif=build/out.sarif\", \"json=x\"]\n")
	cfg, err := Load(Input{})
	want := []Format{{"text", ""}, {"sarif", filepath.Join("..", "build", "out.sarif")}, {"json", filepath.Join("..", "x")}}
	if err != nil || !reflect.DeepEqual(cfg.Formats, want) {
		t.Errorf("%v, %v, want %v", cfg.Formats, err, want)
	}
	cfg, err = Load(Input{Flags: []Setting{{"format", []string{"junit=j.xml"}}}})
	if err != nil || !reflect.DeepEqual(cfg.Formats, []Format{{"junit", "j.xml"}}) {
		t.Errorf("%v, %v", cfg.Formats, err)
	}
	testkit.Write(t, "../sitelink.toml", "[check]\nformat = \"sarif=-\"\n")
	if cfg, err = Load(Input{}); err != nil || !reflect.DeepEqual(cfg.Formats, []Format{{"sarif", ""}}) {
		t.Errorf("%v, %v", cfg.Formats, err)
	}
}

// LL-12: seeds come from linksets only, there is no key to set one.
func TestNoSeedKey(t *testing.T) {
	for _, k := range Keys() {
		if strings.Contains(k.Name, "seed") {
			t.Errorf("LL-12: there is a key %s", k.Name)
		}
	}
}

// Linksets are checked by the function of the input, wherever they stand,
// and the place of a command file is named in place of the flag's.
func TestLinksetsAreChecked(t *testing.T) {
	refuse := func(text string) error {
		if strings.HasPrefix(text, "http:") {
			return errors.New("no linkset")
		}
		return nil
	}
	for _, tc := range []struct {
		name  string
		input Input
		want  string
		count int
	}{
		{"LL-14/flag", Input{Flags: []Setting{{Key: "from", Values: []string{"/a", "http://h.example/"}}}}, "--from: no linkset", 0},
		{"LL-14/skip", Input{Flags: []Setting{{Key: "skip", Values: []string{"http:"}}}}, "--skip: no linkset", 0},
		{"LL-14/variable", Input{Getenv: func(name string) string {
			if name == "SITELINK_FROM" {
				return "/a,http://h.example/"
			}
			return ""
		}}, "SITELINK_FROM: no linkset", 0},
		{"place", Input{Flags: []Setting{{Key: "limit", Values: []string{"x"}}}, Places: map[string]string{"limit": "pages.txt:3: --limit"}},
			"pages.txt:3: --limit: must be a whole number", 0},
		{"accepted", Input{Flags: []Setting{{Key: "from", Values: []string{"/a", "/b/@"}}}}, "", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			tc.input.Linkset = refuse
			c, err := Load(tc.input)
			if tc.want != "" {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				return
			}
			if err != nil || len(c.From) != tc.count {
				t.Errorf("got %+v, %v", c, err)
			}
		})
	}
}

func TestIgnoreFlag(t *testing.T) {
	for _, c := range []struct {
		text string
		want Ignore
		err  string
	}{
		{text: "/search?q=*", want: Ignore{URL: "/search?q=*"}},
		{text: "/a/{b,c}", want: Ignore{URL: "/a/{b,c}"}},
		{text: "page=blog/{a,b}/*,url=/x?y=z,fragment=L*,code=missing-fragment,reason=line numbers, mostly",
			want: Ignore{Page: "blog/{a,b}/*", URL: "/x?y=z", Fragment: "L*", Code: "missing-fragment", Reason: "line numbers, mostly"}},
		{text: "pages=1", want: Ignore{URL: "pages=1"}},
		{text: "page=a,page=b", err: "the rule has two fields named page"},
		{text: "page=,url=b", err: "the field page is empty"},
		{text: "url=", err: "the field url is empty"},
	} {
		got, err := parseIgnore(c.text)
		if got != c.want || message(err) != c.err {
			t.Errorf("parseIgnore(%q) = %+v, %v", c.text, got, err)
		}
	}
}
