package config

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs/reference/configuration.md lists exactly the keys of the table, each in its
// section, with its words and its default.
func TestManualListsTheKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, section := range []struct{ title, table string }{{"Keys of the site", ""}, {"Keys of `[check]`", "check"}, {"Ignore rules", ""}} {
		for _, row := range manualRows(t, string(text), section.title, "key") {
			name := strings.Trim(row[0], "`")
			documented = append(documented, name)
			k, ok := Lookup(name)
			switch {
			case !ok:
				t.Errorf("%q documents %s, which is no key", section.title, name)
				continue
			case k.Table != section.table:
				t.Errorf("%s stands in the section %q but belongs in %q", name, section.title, k.Table)
			}
			for _, word := range k.Values {
				if !strings.Contains(row[1], "`"+word+"`") {
					t.Errorf("%s: the word %s is missing", name, word)
				}
			}
			if got := strings.ReplaceAll(row[2], "`", ""); got != k.Default {
				t.Errorf("%s: documented default %q, is %q", name, got, k.Default)
			}
		}
	}
	var want []string
	for _, k := range Keys() {
		want = append(want, k.Name)
	}
	if !slices.Equal(documented, want) {
		t.Errorf("documented keys\n%q\nkeys\n%q", documented, want)
	}
	var fields []string
	for _, row := range manualRows(t, string(text), "Ignore rules", "field") {
		fields = append(fields, strings.Trim(row[0], "`"))
	}
	if !slices.Equal(fields, newTable(reflect.TypeFor[Ignore](), "ignore", true).names()) {
		t.Errorf("documented fields %q", fields)
	}
}

// manualRows returns the cells of the table in a section whose first column is
// headed by head.
func manualRows(t *testing.T, text, title, head string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n## "+title+"\n")
	if !ok {
		t.Fatalf("no section %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	_, text, ok = strings.Cut(text, "\n| "+head+" |")
	if !ok {
		t.Fatalf("section %q has no table of %ss", title, head)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
		if line == "\n" && len(rows) > 0 {
			break
		}
	}
	if len(rows) == 0 {
		t.Fatalf("the table of %ss in section %q is empty", head, title)
	}
	return rows
}

// The example of the manual is a file that sitelink accepts, and its error
// message is the one that sitelink prints.
func TestManualExamples(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("no example")
	}
	c, err := load(t, string(m[1]), nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Docroot != "public" || c.FailOn != "warning" || len(c.Ignores) != 2 {
		t.Errorf("the example is read as %+v", c)
	}
	_, err = load(t, "docroot = \"public\"\nbase_url = \"https://example.org/\"\n", nil)
	want := "sitelink: error: " + message(err) + "\nsitelink: hint: " + hintFor(err) + "\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("the manual does not show\n%s", want)
	}
}
