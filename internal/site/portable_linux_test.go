package site

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/internal/hostcases"
)

// TestPortable: where generic, which is nginx, finds nothing to say about a link,
// Apache, Caddy and lighttpd answer it as well.
func TestPortable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "servers", "plain.txt"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := hostcases.ParseTable(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Load(t.Context(), pathDocroot(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]map[string]hostcases.Answer{}
	for _, server := range table.Servers {
		answers[server] = table.Of(server)
	}
	all := details(t, s, hostcases.Page)
	fine := 0
	for i, c := range hostcases.Cases() {
		d, key := &all[i], hostcases.Key(c.Target)
		if d.State.IsError() || d.State.IsWarning() {
			continue
		}
		fine++
		for _, server := range table.Servers {
			if a := answers[server][key]; a.Status != 200 {
				t.Errorf("%s: no warning, and %s answers %d", key, server, a.Status)
			}
		}
	}
	if fine < 500 {
		t.Errorf("%d links without a warning, want 500 or more", fine)
	}
}
