//go:build integration

package site

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/testkit"
)

// fewestMarkdown is how many files the comparison has to have.
const fewestMarkdown = 1000

// TestMarkdownPeers: real Markdown has the links that cmark-gfm makes of it, and its headings
// the ids of github-slugger. The files are those of Go modules and of packages of npm.
func TestMarkdownPeers(t *testing.T) {
	npm := os.Getenv("SITELINK_NPM")
	if _, err := os.Stat(filepath.Join(npm, "node_modules", "github-slugger")); npm == "" || err != nil {
		t.Skip("SITELINK_NPM names no directory with github-slugger; .ci/run has it")
	}
	cmark := testkit.Must(exec.LookPath("cmark-gfm"))(t)
	modules := strings.TrimSpace(string(testkit.Must(exec.Command("go", "env", "GOMODCACHE").Output())(t)))
	var files []string
	seen := map[string]bool{} // many packages have the same file
	for _, root := range []string{modules, filepath.Join(npm, "node_modules")} {
		filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) != ".md" || len(files) == 2*fewestMarkdown {
				return nil
			}
			// cmark knows no front matter.
			if data, err := os.ReadFile(name); err == nil && len(data) < 1<<18 && !bytes.HasPrefix(data, []byte("---")) && !bytes.HasPrefix(data, []byte("+++")) && !seen[string(data)] {
				seen[string(data)] = true
				files = append(files, name)
			}
			return nil
		})
	}
	if len(files) < fewestMarkdown {
		t.Fatalf("only %d files of Markdown", len(files))
	}

	kind, _ := host.KindByName("github")
	scanner := markdown.Scanner{Slug: kind.Forge.Slug}
	headings := make([][]string, len(files))
	ids := make([][]string, len(files))
	bare := 0
	for i, name := range files {
		source := testkit.Must(os.ReadFile(name))(t)
		page := scanner.Scan(source)
		var ours []string
		for j := range page.Links {
			switch l := &page.Links[j]; page.Element(l) {
			case "link", "image", "autolink", "a", "img":
				if page.Attribute(l) != "srcset" {
					ours = append(ours, plainLink(string(l.Value)))
				}
			}
		}
		for j := range page.Anchors {
			ids[i] = append(ids[i], string(page.Anchors[j].Name))
		}
		command := exec.Command(cmark, "--unsafe", "-e", "footnotes", "-e", "table", "-e", "strikethrough", "-e", "autolink", "-e", "tasklist")
		command.Stdin = bytes.NewReader(source)
		tree := testkit.Must(nethtml.Parse(bytes.NewReader(testkit.Must(command.Output())(t))))(t)
		var theirs []string
		for n := range tree.Descendants() {
			switch {
			case n.Type != nethtml.ElementNode:
			case len(n.Data) == 2 && n.Data[0] == 'h' && n.Data[1] >= '1' && n.Data[1] <= '6':
				headings[i] = append(headings[i], textOf(n))
			}
			for _, a := range n.Attr {
				if a.Key == "href" && n.Data == "a" || a.Key == "src" && n.Data == "img" {
					theirs = append(theirs, plainLink(a.Val))
				}
			}
		}
		isBare := false
		for _, difference := range [][2][]string{{theirs, ours}, {ours, theirs}} {
			for _, link := range difference[0] {
				if slices.Contains(difference[1], link) || strings.HasPrefix(link, "#fn") {
					continue
				}
				// goldmark and cmark disagree where a bare address ends, whether a host needs a dot, and
				// whether name@1.2.0 is an e-mail address, which is not checked.
				if bareAddress.MatchString(link) && !bytes.Contains(source, []byte("]("+link)) {
					isBare = isBare || !strings.HasPrefix(link, "mailto:")
					continue
				}
				t.Errorf("%s: one has the link %q", name, link)
			}
		}
		if isBare {
			bare++
		}
	}
	if bare > len(files)/50 {
		t.Errorf("bare addresses differ in %d of %d files", bare, len(files))
	}

	slugger := exec.Command("node", "--input-type=module", "-e", `import Slugger from 'github-slugger';
		let all = ''; process.stdin.setEncoding("utf8"); for await (const part of process.stdin) all += part;
		console.log(JSON.stringify(JSON.parse(all).map((texts) => { const s = new Slugger(); return (texts ?? []).map((t) => s.slug(t)); })));`)
	slugger.Dir, slugger.Stdin = npm, bytes.NewReader(testkit.Must(json.Marshal(headings))(t))
	var slugs [][]string
	testkit.Check(t, json.Unmarshal(testkit.Must(slugger.Output())(t), &slugs))
	n := 0
	for i, name := range files {
		for j, slug := range slugs[i] {
			if n++; slug != "" && !slices.Contains(ids[i], slug) {
				t.Errorf("%s: the heading %q has no id %q", name, headings[i][j], slug)
			}
		}
	}
	t.Logf("%d files, %d headings, bare addresses differ in %d files", len(files), n, bare)
}

// bareAddress matches what the extension for autolinks makes of text.
var bareAddress = regexp.MustCompile(`^(https?://|mailto:|www\.|ftp://)`)

// plainLink is a destination without the escapes that cmark adds.
func plainLink(value string) string {
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

func textOf(n *nethtml.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == nethtml.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
