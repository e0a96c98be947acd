package host

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// TestProfileKeys: every field of a profile that describes the host's behaviour
// can be configured, and the output of Describe gives the same profile again.
func TestProfileKeys(t *testing.T) {
	fixed := map[string]bool{"Name": true, "Autoindex": true, "Base": true, // keys of their own at the top of the file
		"Forge": true} // of rows that are no hosts of sites
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
