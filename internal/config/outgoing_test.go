package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func loadOutgoing(t *testing.T, text string) (*Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sitelink.toml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(Request{File: file})
}

func TestOutgoing(t *testing.T) {
	c, err := loadOutgoing(t, `
[outgoing]
enabled = true
ledger = "git:refs/sitelink/ledger"
pages = "post/**"
deny = ["*.evil.example", "https://a.example/x/**"]
rel = []
protocols = ["pingback"]
pace = "0s"
max-notices = 0
[fetch]
allow-address = ["127.0.0.1", "fd00::/8"]
timeout = "5s"
`)
	if err != nil {
		t.Fatal(err)
	}
	o := c.Outgoing
	if !o.Enabled || o.Ledger != "git:refs/sitelink/ledger" || !slices.Equal(o.Pages, []string{"post/**"}) || len(o.Deny) != 2 ||
		len(o.Rel) != 0 || !slices.Equal(o.Protocols, []string{"pingback"}) || o.Pace != 0 || o.MaxNotices != 0 || o.Live != 10*time.Minute {
		t.Errorf("%+v", o)
	}
	if a := c.Fetch.AllowAddress; len(a) != 2 || a[0].String() != "127.0.0.1/32" || a[1].String() != "fd00::/8" || c.Fetch.Timeout != 5*time.Second {
		t.Errorf("%+v", c.Fetch)
	}
}

// What a peer is, the sender knows.
func TestOutgoingPeers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sitelink.toml")
	if err := os.WriteFile(file, []byte("[outgoing]\nlink-peers = ['b.example', 'http://c.example/x']\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(Request{File: file})
	if err != nil || !slices.Equal(c.Outgoing.LinkPeers, []string{"b.example", "http://c.example/x"}) ||
		slices.Contains(c.Outgoing.Protocols, "link") {
		t.Errorf("%+v, %v", c, err)
	}
	_, err = Load(Request{File: file, Peer: func(text string) error {
		if strings.Contains(text, "/x") {
			return errors.New("no host")
		}
		return nil
	}})
	if err == nil || !strings.Contains(err.Error(), "sitelink.toml:2:1: link-peers: no host") {
		t.Errorf("got %v", err)
	}
}

func TestOutgoingFaults(t *testing.T) {
	for text, want := range map[string]string{
		"[outgoing]\nlegder = 'x'":            `:2:1: unknown key "legder" in [outgoing]`,
		"[outgoing]\nenabled = 'yes'":         "enabled: must be true or false",
		"[outgoing]\nprotocols = ['pingbak']": `protocols: must be webmention, pingback, link or websub, not "pingbak"`,
		"[outgoing]\nprotocols = []":          "protocols: must have at least one",
		"[outgoing]\npace = '1'":              "pace: must be a time",
		"[outgoing]\nmax-notices = -1":        "max-notices: must be a whole number",
		"[outgoing]\nallow = ['a[']":          "allow: must be a host",
		"[outgoing]\nrel = ['']":              "rel: the value is empty",
		"[fetch]\nallow-address = 'x'":        `must be an address or a network such as 127.0.0.0/8, not "x"`,
		"[fetch]\ntimeout = '0s'":             "timeout: must be a time",
	} {
		if _, err := loadOutgoing(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// docs/reference/configuration.md lists exactly the keys of both tables, in order.
func TestManualListsTheOutgoingKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var want, documented []string
	for _, name := range []string{"outgoing", "fetch"} {
		k, _ := root.key(name)
		want = append(want, k.table.names()...)
	}
	_, part, _ := strings.Cut(string(text), "## Notifications\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for line := range strings.SplitSeq(part, "\n") {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") {
			documented = append(documented, strings.Trim(cells[1], " `"))
		}
	}
	if !slices.Equal(documented, want) {
		t.Errorf("documented keys\n%q\nkeys\n%q", documented, want)
	}
}
