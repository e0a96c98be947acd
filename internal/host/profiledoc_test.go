package host

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestProfileTables: the tables of docs/reference/profiles.md that begin with the column
// "key" hold the values of the profiles, and no key on which these differ is
// left out.
func TestProfileTables(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/profiles.md")
	if err != nil {
		t.Fatal(err)
	}
	var profiles []Profile
	listed := map[string]bool{}
	tables := 0
	complete := func() {
		for i := range profileKeys {
			k := &profileKeys[i]
			differ := slices.ContainsFunc(profiles, func(p Profile) bool { return documented(k, &p) != documented(k, &profiles[0]) })
			if differ && !listed[k.Name] {
				t.Errorf("the table of %s and others lacks the key %s", profiles[0].Name, k.Name)
			}
		}
		profiles, listed = nil, map[string]bool{}
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "key":
			tables++
			for _, name := range cells[1:] {
				p, ok := ProfileByName(name)
				if !ok {
					t.Fatalf("no profile %s", name)
				}
				profiles = append(profiles, p)
			}
		case profiles == nil || strings.HasPrefix(cells[0], "---"):
		case len(cells) != 1+len(profiles):
			complete()
		default:
			key := strings.Trim(cells[0], "`")
			listed[key] = true
			i := slices.IndexFunc(profileKeys, func(k ProfileKey) bool { return k.Name == key })
			if i < 0 {
				t.Errorf("no key %s", key)
				continue
			}
			for j, p := range profiles {
				if want := documented(&profileKeys[i], &p); cells[j+1] != want {
					t.Errorf("%s of %s: the document says %s, the profile %s", key, p.Name, cells[j+1], want)
				}
			}
		}
	}
	if tables == 0 {
		t.Error("no table with the column key")
	}
}

// documented is the value of a key as docs/reference/profiles.md writes it.
func documented(k *ProfileKey, p *Profile) string {
	switch f := k.field(p).(type) {
	case *[]string:
		if len(*f) == 0 {
			return "none"
		}
		return strings.Join(*f, ", ")
	case *string:
		if *f == "" {
			return "none"
		}
		return "`" + *f + "`"
	case *Way:
		return string(*f)
	case *bool:
		if *f {
			return "yes"
		}
		return "no"
	case *int:
		return fmt.Sprint(*f)
	}
	return ""
}
