package config

import (
	"errors"
	"strings"
	"testing"
)

// LL-12: seeds come from linksets only, there is no key to set one.
func TestNoSeedKey(t *testing.T) {
	for _, k := range Keys() {
		if strings.Contains(k.Name, "seed") {
			t.Errorf("LL-12: there is a key %s", k.Name)
		}
	}
}

// Linksets are checked by the function of the request, wherever they stand,
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
		req   Request
		want  string
		count int
	}{
		{"LL-14/flag", Request{Flags: []Setting{{Key: "from", Values: []string{"/a", "http://h.example/"}}}}, "--from: no linkset", 0},
		{"LL-14/skip", Request{Flags: []Setting{{Key: "skip", Values: []string{"http:"}}}}, "--skip: no linkset", 0},
		{"LL-14/variable", Request{Getenv: func(name string) string {
			if name == "SITELINK_FROM" {
				return "/a,http://h.example/"
			}
			return ""
		}}, "SITELINK_FROM: no linkset", 0},
		{"place", Request{Flags: []Setting{{Key: "limit", Values: []string{"x"}}}, Places: map[string]string{"limit": "pages.txt:3: --limit"}},
			"pages.txt:3: --limit: must be a whole number", 0},
		{"accepted", Request{Flags: []Setting{{Key: "from", Values: []string{"/a", "/b/@"}}}}, "", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			tc.req.Linkset = refuse
			c, err := Load(tc.req)
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
