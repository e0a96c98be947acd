package host

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestProfileTables compares the tables of docs/reference/profiles.md that begin
// with the column "key" with the profiles. A table must list every key on which
// its profiles differ.
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
					t.Errorf("%s of %s: the document has %s, but the profile has %s", key, p.Name, cells[j+1], want)
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

// TestProfileKeys: every field of a profile that describes the host's behaviour
// can be configured, and the output of Describe gives the same profile again.
func TestProfileKeys(t *testing.T) {
	fixed := map[string]bool{"Name": true, "Autoindex": true, "Base": true} // keys of their own at the top of the file
	fields := reflect.TypeFor[Profile]().NumField()
	if got := len(ProfileKeys()) + len(fixed); got != fields {
		t.Errorf("%d keys and %d fixed fields for %d fields", len(ProfileKeys()), len(fixed), fields)
	}
	seen := map[any]string{}
	var p Profile
	for _, k := range profileKeys {
		if other := seen[k.field(&p)]; other != "" {
			t.Errorf("%s and %s are one field", k.Name, other)
		}
		seen[k.field(&p)] = k.Name
	}
	for _, p := range Profiles() {
		var file struct {
			Profile string
			Host    map[string]any
		}
		if err := toml.Unmarshal([]byte(p.Describe()), &file); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		again := Profile{Name: file.Profile, Autoindex: p.Autoindex, Base: p.Base}
		for key, v := range file.Host {
			if err := again.Set(key, textsOf(v)); err != nil {
				t.Errorf("%s: %s: %v", p.Name, key, err)
			}
		}
		if p.Deny == nil && len(again.Deny) == 0 {
			again.Deny = nil
		}
		if !reflect.DeepEqual(p, again) {
			t.Errorf("%s: described and read again\n%+v\nis not\n%+v", p.Name, again, p)
		}
	}
}

func textsOf(v any) []string {
	switch v := v.(type) {
	case []any:
		out := []string{}
		for _, x := range v {
			out = append(out, x.(string))
		}
		return out
	case string:
		return []string{v}
	}
	return []string{strings.TrimSpace(string(must(toml.Marshal(map[string]any{"x": v})))[len("x = "):])}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestProfileSet rejects values that make no sense for a host.
func TestProfileSet(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"page", "maybe", `must be one of missing, serve, redirect, not "maybe"`},
		{"bad-escape", "200", "must be a status from 400 to 599, or 0, not 200"},
		{"bad-escape", "x", `must be a whole number, not "x"`},
		{"drop-query", "perhaps", `must be true or false, not "perhaps"`},
		{"index", "a/b", `must be names without a slash, not "a/b"`},
		{"deny", "[", `invalid pattern "["`},
		{"nothing", "x", "no such key"},
	} {
		var p Profile
		if err := p.Set(c.key, []string{c.value}); err == nil || err.Error() != c.want {
			t.Errorf("%s = %s: got %v, want %s", c.key, c.value, err, c.want)
		}
	}
	var p Profile
	if err := p.Set("page", []string{"serve", "missing"}); err == nil {
		t.Error("Set accepted two values for a word")
	}
}
