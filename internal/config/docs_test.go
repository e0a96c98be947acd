package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestManualListsTheKeys: docs/reference/configuration.md lists the keys of
// each table in its section, in order, with their words and defaults.
func TestManualListsTheKeys(t *testing.T) {
	text := testkit.Read(t, "../../docs/reference/configuration.md")
	for _, section := range []struct {
		title, head string
		table       *table
		keys        func(Key) bool
	}{
		{"Keys of the site", "key", root, func(k Key) bool { return (k.HasFlag || k.Kind == Text) && k.Kind != Rules }},
		{"Keys of `[check]`", "key", tableNamed(t, root, "check"), nil},
		{"Several addresses", "field", tableNamed(t, root, "site"), nil},
		{"The push hook", "key", tableNamed(t, root, "hook"), nil},
		{"The endpoints", "key", tableNamed(t, root, "templates"), nil},
		{"Notifications", "key", tableNamed(t, root, "outgoing"), nil},
		{"Notifications", "key", tableNamed(t, root, "fetch"), nil},
		{"Links to other sites", "key", tableNamed(t, root, "external"), func(k Key) bool { return k.Kind != rows }},
		{"Links to other sites", "field", tableNamed(t, tableNamed(t, root, "external"), "host"), nil},
		{"The receiver", "key", tableNamed(t, root, "incoming"), nil},
		{"Ignore rules", "key", root, func(k Key) bool { return k.Kind == Rules }},
		{"Ignore rules", "field", tableNamed(t, root, "ignore"), nil},
	} {
		var want []string
		for _, k := range section.table.keys {
			if section.keys == nil || section.keys(k) {
				want = append(want, k.Name)
			}
		}
		var documented []string
		for _, row := range manualRows(t, string(text), section.title, section.head, want[0]) {
			name := strings.Trim(row[0], "`")
			documented = append(documented, name)
			k, ok := section.table.key(name)
			if !ok || section.head == "field" {
				continue
			}
			for _, word := range k.Values {
				if !strings.Contains(row[1], "`"+word+"`") {
					t.Errorf("%s: the word %s is missing", name, word)
				}
			}
			if got := strings.ReplaceAll(row[2], "`", ""); got != k.Default && k.Default != "" {
				t.Errorf("%s: documented default %q, is %q", name, got, k.Default)
			}
		}
		if !slices.Equal(documented, want) {
			t.Errorf("%s: documented keys\n%q\nkeys\n%q", section.title, documented, want)
		}
	}
}

func tableNamed(t *testing.T, in *table, name string) *table {
	t.Helper()
	k, ok := in.key(name)
	if !ok || k.table == nil {
		t.Fatalf("no table %s", name)
	}
	return k.table
}

// manualRows returns the cells of a table in a section. The first column of the
// table has the title head and contains the key first.
func manualRows(t *testing.T, text, title, head, first string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(text, "\n## "+title+"\n")
	if !ok {
		t.Fatalf("no section %q", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	for block := range strings.SplitSeq(text, "\n\n") {
		if !strings.HasPrefix(block, "| "+head+" |") || !strings.Contains(block, "\n| `"+first+"` |") {
			continue
		}
		for line := range strings.Lines(block) {
			if strings.HasPrefix(line, "| `") {
				cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				rows = append(rows, cells)
			}
		}
		return rows
	}
	t.Fatalf("section %q has no table of %ss with %s", title, head, first)
	return nil
}

// The example of the manual is a file that sitelink accepts, and its error
// message is the one that sitelink prints.
func TestManualExamples(t *testing.T) {
	text := testkit.Read(t, "../../docs/reference/configuration.md")
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatal("no example")
	}
	c, err := load(t, string(m[1]), nil)
	testkit.Check(t, err)
	if c.Docroot != "public" || c.FailOn != "warning" || len(c.Ignores) != 2 {
		t.Errorf("the example is read as %+v", c)
	}
	_, err = load(t, "docroot = \"public\"\nbase_url = \"https://example.org/\"\n", nil)
	want := "sitelink: error: " + message(err) + "\nsitelink: hint: " + hintFor(err) + "\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("the manual does not show\n%s", want)
	}
}
