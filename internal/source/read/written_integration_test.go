//go:build integration

package read

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoHeadingIDs: Hugo gives headings the ids of the table.
func TestHugoHeadingIDs(t *testing.T) {
	hugo := os.Getenv("SITELINK_HUGO")
	if hugo == "" {
		t.Skip("no SITELINK_HUGO: .ci/run installs one")
	}
	for _, tt := range []struct {
		setting string
		ids     generator.HeadingIDs
	}{
		{"", ""},
		{"autoIDType = 'github'", ""},
		{"autoIDType = 'github-ascii'", generator.GitHubASCIIIDs},
		{"autoHeadingIDType = 'blackfriday'", generator.BlackfridayIDs}, // the older name
		{"autoHeadingID = false", generator.NoHeadingIDs},
	} {
		root := t.TempDir()
		for name, text := range map[string]string{
			"hugo.toml":         "baseURL = '/'\n[markup.goldmark.renderer]\nunsafe = true\n[markup.goldmark.parser]\n" + tt.setting + "\n",
			"layouts/all.html":  "{{ .Content }}\n",
			"content/_index.md": headingPage(),
		} {
			file := filepath.Join(root, filepath.FromSlash(name))
			err := os.MkdirAll(filepath.Dir(file), 0o777)
			if err == nil {
				err = os.WriteFile(file, []byte(text), 0o666)
			}
			testkit.Check(t, err)
		}
		// The settings that are read agree with what Hugo does.
		p, _ := generator.Detect(root, generator.None)
		if s, err := p.Settings(os.Environ()); err != nil || s.HeadingIDs != tt.ids {
			t.Errorf("%s: the settings are %q, %v, want %q", tt.setting, s.HeadingIDs, err, tt.ids)
		}
		cmd := exec.Command(hugo, "build", "--quiet")
		cmd.Dir = root
		testkit.Run(t, cmd)
		page, err := os.ReadFile(filepath.Join(root, "public", "index.html"))
		testkit.Check(t, err)
		got, want := regexp.MustCompile(`<h2(?: id="([^"]*)")?>`).FindAllSubmatch(page, -1), wantIDs(tt.ids)
		if len(got) != len(want) {
			t.Fatalf("Hugo wrote %d headings, want %d:\n%s", len(got), len(want), page)
		}
		for i := range want {
			if tt.ids == generator.NoHeadingIDs {
				want[i] = ""
				if i < len(headingIDs) && strings.HasSuffix(headingIDs[i].text, "{#ex}") {
					want[i] = "ex"
				}
			}
			if id := string(got[i][1]); id != want[i] {
				t.Errorf("%s: Hugo gives heading %d the id %q, the table has %q", tt.setting, i, id, want[i])
			}
		}
	}
}
