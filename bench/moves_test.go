package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMovesAdded: every finding that is new or more than before counts, and a link through
// a redirect unless a template composes it.
func TestMovesAdded(t *testing.T) {
	m := mover{measurement: measurement{site: t.TempDir()}, lines: map[string]bool{"See [a](/old/) and [b](/other/).": true}, findings: map[finding][]string{
		{"missing-file", "/a/", "/gone", ""}: {"/gone"},
	}, addresses: map[string]bool{"/a/": true, "/b/": true, "/to/index.xml": true}}
	if err := os.WriteFile(filepath.Join(m.site, "a.md"), []byte("aliases: [/composed/]\nSee [a](/old/) and [b](/other/).\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		f    finding
		raws []string
		want string
	}{
		{finding{"missing-file", "/a/", "/gone", ""}, []string{"/gone"}, "[]"},
		{finding{"missing-file", "/a/", "/gone", ""}, []string{"/gone", "/gone"}, "[missing-file on /a/: /gone#]"},
		{finding{"missing-file", "/b/", "/gone", ""}, []string{"/gone"}, "[missing-file on /b/: /gone#]"},
		{finding{"missing-file", "/added/", "/gone", ""}, []string{"/gone"}, "[] 1"},
		{finding{"missing-file", "/to/index.xml", "/gone", ""}, []string{"/gone"}, "[] 1"},
		{finding{"missing-file", "/to/index.xml", "/else", ""}, []string{"/else"}, "[missing-file on /to/index.xml: /else#]"},
		{finding{"missing-file", "/added/", "/else", ""}, []string{"/else"}, "[missing-file on /added/: /else#]"},
		{finding{"missing-file", "/a/", "/else", ""}, []string{"/else"}, "[missing-file on /a/: /else#]"},
		{finding{"via-redirect", "/b/", "/composed/", ""}, []string{"/composed/"}, "[]"},
		{finding{"via-redirect", "/b/", "/x/old/", ""}, []string{"/x/old/", "d/"}, "[]"},
		{finding{"via-redirect", "/b/", "/old/", ""}, []string{"/old/"}, "[via-redirect on /b/: /old/#]"},
	} {
		names, repeated, err := m.added(map[finding][]string{tt.f: tt.raws}, "content/to")
		got := fmt.Sprint(names)
		if repeated > 0 {
			got += fmt.Sprint(" ", repeated)
		}
		if got != tt.want || err != nil {
			t.Errorf("%+v: %v, %v, want %s", tt.f, got, err, tt.want)
		}
	}
}
