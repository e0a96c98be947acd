package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
)

func TestSplitWords(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{" \t ", nil},
		{"--skip /a/@", []string{"--skip", "/a/@"}},
		{`--skip "/a b/@"\t'/c "d"'`, nil},
		{`--skip="/a b" x"y"z ''`, []string{"--skip=/a b", "xyz", ""}},
	} {
		in := strings.ReplaceAll(tc.in, `\t`, "\t")
		want := tc.want
		if want == nil && strings.Contains(in, "/c") {
			want = []string{"--skip", "/a b/@", `/c "d"`}
		}
		if got, err := splitWords(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := splitWords(`a "b`); err == nil {
		t.Error("an open quote is taken")
	}
}

// TestCommandFileLimits: LL-13, argument files nest, but neither deep nor large
// without end.
func TestCommandFileLimits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		testkit.Check(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	next := write("last", "/page.html\n")
	for i := range maxArgumentDepth - 1 {
		next = write(fmt.Sprintf("nested%d", i), "@"+next+"\n")
	}
	_, files, err := splitArguments([]string{"dir", "@" + next})
	if err != nil || len(files.settings) != 1 || files.settings[0].Values[0] != "/page.html" {
		t.Fatalf("LL-13: %d files deep: %+v, %v", maxArgumentDepth, files, err)
	}
	if _, _, err := splitArguments([]string{"@" + write("deeper", "@"+next)}); err == nil || !strings.Contains(err.Error(), "nested0:1: argument files are nested deeper than 16") {
		t.Errorf("one deeper: %v", err)
	}
	if _, _, err := splitArguments([]string{"@" + write("line", "/a\n/"+strings.Repeat("x", maxArgumentLine))}); err == nil ||
		!strings.Contains(err.Error(), "line:2: the line is longer than 64 KiB") {
		t.Errorf("a long line: %v", err)
	}
	big := write("big", strings.Repeat("#"+strings.Repeat("x", 1022)+"\n", 1<<15)) // 32 MiB
	if _, _, err := splitArguments([]string{"@" + big, "@" + big, "@" + big}); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("large files: %v", err)
	}
	if _, _, err := splitArguments([]string{"@" + write("help", "--help\n")}); err == nil || !strings.Contains(err.Error(), "help:1: an argument file cannot contain --help") {
		t.Errorf("help: %v", err)
	}
	_, files, err = splitArguments([]string{"@" + write("dos", "\uFEFF/a.html\r\n# c\r\n--limit 3\r\n")})
	if err != nil || len(files.settings) != 2 || files.settings[0].Values[0] != "/a.html" || files.settings[1].Values[0] != "3" {
		t.Errorf("a file with byte order mark and DOS line ends: %+v, %v", files, err)
	}
}

// TestCommandFilePrecedence: the command line comes before the file; lists are
// joined, and the last line counts for the rest.
func TestCommandFilePrecedence(t *testing.T) {
	f := &argumentFiles{places: map[string]string{}}
	for i, line := range []string{"/a.html", "--limit 3 --index x.html y.html --orphans", "--limit=4", "--index z.html", "b.html"} {
		testkit.Check(t, f.line(line, fmt.Sprintf("f:%d", i+1)))
	}
	if f.places["limit"] != "f:3: --limit" || f.places["orphans"] != "f:2: --orphans" || f.places["index"] != "" {
		t.Errorf("places %q", f.places)
	}
	got := fmt.Sprint(f.join([]config.Setting{{Key: "limit", Values: []string{"5"}}, {Key: "from", Values: []string{"/c"}}}))
	if want := "[{from [/a.html b.html /c]} {limit [5]} {index [x.html y.html z.html]} {orphans [true]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if f.places["limit"] != "" || f.places["from"] != "" {
		t.Errorf("places %q", f.places)
	}
}

// FuzzCommandFile: a line is taken or refused with its place, and what is taken
// are keys of the configuration with a value each.
func FuzzCommandFile(f *testing.F) {
	for _, line := range []string{"", "# c", "/a/@", "a.html", "http://h/", "-skip /a", "--skip /a '/b c' \"d\"", "--limit", "--", "-- x", "--help", "-h",
		"--index=a b", "--fragments=false x", "--=x", "---", "@@x", "--ignore page=a,code=b", "\x00\xff", "--color -"} {
		f.Add(line)
	}
	f.Add("-.")
	f.Add("--docroot.x=y")
	f.Fuzz(func(t *testing.T, line string) {
		if strings.HasPrefix(line, "@") {
			return // opens files
		}
		files := &argumentFiles{places: map[string]string{}}
		if err := files.line(line, "file:7"); err != nil {
			var usage *text.UsageError
			if !errors.As(err, &usage) || !strings.HasPrefix(usage.Msg, "file:7: ") || len(files.settings) > 0 && line[0] != '-' {
				t.Errorf("%q: %v, %+v", line, err, files.settings)
			}
			return
		}
		for _, s := range files.settings {
			if _, ok := config.Lookup(s.Key); !ok || len(s.Values) == 0 {
				t.Errorf("%q: %+v", line, s)
			}
		}
	})
}
