package host

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

var code = regexp.MustCompile("`([^`]*)`")

// TestWebHostsDocumented compares the tables of docs/reference/profiles.md with
// the profiles, in every row that begins with paths.
func TestWebHostsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/profiles.md")
	testkit.Check(t, err)
	root := testkit.MakeDocroot(t, testkit.Files{"index.html": page, "page.html": page, "dir/index.html": page, "both.html": page, "both/index.html": page, "404.html": page})
	var sites []*Host
	compared := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case len(cells) > 2 && cells[0] == "" && !strings.Contains(cells[1], ","):
			sites = nil
			for _, name := range cells[1:] {
				sites = append(sites, loadHost(t, root, Options{Profile: builtin(name)()}))
			}
		case len(cells) > 1 && cells[1] == "vercel, cleanUrls":
			sites = nil
			for _, name := range []string{"vercel", "firebase"} {
				for _, slash := range []*bool{nil, new(true), new(false)} {
					sites = append(sites, loadHost(t, root, Options{Profile: builtin(name)().WithURLs(true, slash)}))
				}
			}
		case len(cells) > 1 && cells[0] == "`html_handling`":
			sites = nil
			for _, word := range code.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
				project := testkit.MakeDocroot(t, testkit.Files{"wrangler.jsonc": `{"assets": {"html_handling": "` + word[1] + `",}}`})
				sites = append(sites, loadHost(t, root, Options{Profile: builtin("cloudflare-workers")(), Project: project}))
			}
		case len(sites) == len(cells)-1 && strings.HasPrefix(cells[0], "`/"):
			for _, path := range code.FindAllStringSubmatch(cells[0], -1) {
				if strings.HasPrefix(path[1], "//") || strings.Contains(path[1], "a.html") {
					continue // described in words
				}
				for i, s := range sites {
					compared++
					compareCell(t, s, path[1], cells[i+1])
				}
			}
		}
	}
	if compared < 100 {
		t.Errorf("only %d cells compared", compared)
	}
}

// compareCell compares one cell with the profile's answers.
func compareCell(t *testing.T, s *Host, path, cell string) {
	t.Helper()
	first, last := predict(s, path), finally(s, path)
	want := ""
	if m := code.FindStringSubmatch(cell); m != nil {
		want = m[1]
	}
	ok := false
	switch {
	case cell == "=":
		ok = first.status == 200
	case cell == "-":
		ok = first.location == "" && first.status == 404
	case strings.HasSuffix(cell, "then 404"):
		ok = last.location == want && last.status == 404
	case strings.HasPrefix(cell, "> "):
		ok = last.location == want && last.status == 200
	case cell == "the directory":
		ok = first.status == 200 && first.file == "both/index.html"
	default:
		ok = first.status == 200 && first.file == want
	}
	if !ok {
		t.Errorf("%s: %s: docs/reference/profiles.md has %q, but the profile answers %v, and after all redirects %v", s.profile.Name, path, cell, first, last)
	}
}
