//go:build integration && linux

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// joined are three sites that link to each other. One is below a path of
// another's host. Every link that says so in its text is broken between the
// sites.
var joined = map[string]map[string]string{
	"https://book.example/": {
		"index.html": `<!doctype html><meta charset=utf-8><title>t</title><p id=start>
<a href="https://shop.example/">ok</a>
<a href="https://shop.example/items/tea/">ok</a>
<a href="http://SHOP.example:80/items/tea">ok: another scheme, a redirect to the slash</a>
<a href="https://shop.example/items/tea/index.html?from=book#price">ok</a>
<a href="https://shop.example/items/tea/#h%C3%A9">ok: decoded</a>
<a href="https://shop.example/items/tea/#100%25">ok: as written</a>
<a href="https://shop.example/items/tea/#2026-11-21">ok: an anchor that looks like a date</a>
<a href="https://shop.example/items/tea/#top">ok</a>
<a href="https://shop.example/items/tea/#:~:text=tea">ok</a>
<a href="https://shop.example/items/tea/#/cart">ok: for a script</a>
<a href="https://shop.example/list.pdf#page=3">ok: no page</a>
<a href="https://shop.example/items/coffee/">broken</a>
<a href="https://shop.example/items/tea/#weight">broken</a>
<a href="https://shop.example/items/tea/#plan">broken: a map is no anchor</a>
<a href="https://shop.example/help/#faq">ok</a>
<a href="https://shop.example/help/#no-faq">broken</a>
<a href="https://shop.example/help/gone.html">broken</a>
<a href="https://shop.example/help">ok: a redirect to the slash</a>
<a href="https://shop.example/helper.html">broken: not below /help/</a>
<a href="https://elsewhere.example/gone">not one of ours</a>
<a href="gone.html">broken inside the site: check reports it</a>
`,
		"more/a.html": `<title>t</title><a href="https://shop.example/items/coffee/">broken, again</a>`,
	},
	"https://shop.example/": {
		"index.html": `<title>t</title><a href="https://book.example/#start">ok</a>
<a href="https://book.example/#end">broken</a>
<a href="https://book.example/gone.html">broken</a>`,
		"items/tea/index.html": `<!doctype html><meta charset=utf-8><title>t</title><p id=price><p id="hé"><p id="100%25"><p id="2026-11-21"><map name=plan></map>`,
		"list.pdf":             "%PDF",
	},
	"https://shop.example/help/": {
		"index.html": `<title>t</title><a name=faq></a>
<a href="/items/tea/#price">ok</a>
<a href="/items/milk/">broken: outside of its base path, on its own host</a>
<a href="https://book.example/more/a.html">ok</a>
<a href="https://book.example/more/">broken: no index file</a>`,
	},
}

// brokenBetween are the rows that the query must list, and no others.
var brokenBetween = []string{
	"https://book.example/ index.html:13 https://shop.example/items/coffee/ x2 https://shop.example/ missing-file",
	"https://book.example/ index.html:14 https://shop.example/items/tea/#weight x1 https://shop.example/ missing-fragment",
	"https://book.example/ index.html:15 https://shop.example/items/tea/#plan x1 https://shop.example/ missing-fragment",
	"https://book.example/ index.html:17 https://shop.example/help/#no-faq x1 https://shop.example/help/ missing-fragment",
	"https://book.example/ index.html:18 https://shop.example/help/gone.html x1 https://shop.example/help/ missing-file",
	"https://book.example/ index.html:20 https://shop.example/helper.html x1 https://shop.example/ missing-file",
	"https://shop.example/ index.html:2 https://book.example/#end x1 https://book.example/ missing-fragment",
	"https://shop.example/ index.html:3 https://book.example/gone.html x1 https://book.example/ missing-file",
	"https://shop.example/help/ index.html:3 /items/milk/ x1 https://shop.example/ missing-file",
	"https://shop.example/help/ index.html:5 https://book.example/more/ x1 https://book.example/ missing-file",
}

// runQuery runs the statements of argv[1] in the working directory and prints
// the rows of the last one as JSON.
const runQuery = `
import duckdb, json, sys
db = duckdb.connect()
for statement in json.loads(sys.argv[1]):
    rows = db.execute(statement)
print(json.dumps(rows.fetchall()))
`

// TestIssue4Item7JoinedSites: the statements of docs/guide/join.md, run by
// DuckDB over the exports of three sites, list the broken links between them.
func TestIssue4Item7JoinedSites(t *testing.T) {
	t.Parallel()
	python := os.Getenv("SITELINK_DUCKDB")
	if python == "" {
		t.Skip("SITELINK_DUCKDB is not set: it names a Python that has the package duckdb")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	text := testkit.Read(t, "../../docs/guide/join.md")
	var statements []string
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(text, -1) {
		for statement := range strings.SplitSeq(string(block[1]), ";\n") {
			if statement = strings.TrimSpace(statement); statement != "" {
				statements = append(statements, statement)
			}
		}
	}
	if len(statements) != 4 {
		t.Fatalf("docs/guide/join.md has %d statements, want 4", len(statements))
	}

	dir := t.TempDir()
	bin := sitelinkProgram(t)
	testkit.Check(t, os.Mkdir(filepath.Join(dir, "exports"), 0o755))
	for base, files := range joined {
		name := strings.Trim(strings.NewReplacer("https://", "", "/", "-").Replace(base), "-")
		for path, content := range files {
			testkit.Write(t, filepath.Join(dir, name, path), content)
		}
		for _, question := range []string{"external", "addresses", "anchors"} {
			cmd := exec.CommandContext(ctx, bin, "links", name, "--base-url", base, "--"+question, "--format", "jsonl",
				"--output", filepath.Join("exports", name+"."+question+".jsonl"))
			cmd.Dir = dir
			testkit.Run(t, cmd)
		}
	}

	arg := testkit.Must(json.Marshal(statements))(t)
	cmd := exec.CommandContext(ctx, python, "-c", runQuery, string(arg))
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("duckdb: %v\n%s", err, stderr.Bytes())
	}
	var rows [][]any
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for _, r := range rows {
		word := func(i int) string { b, _ := json.Marshal(r[i]); return strings.Trim(string(b), `"`) }
		target := word(3)
		if word(4) != "" {
			target += "#" + word(4)
		}
		got = append(got, word(0)+" "+word(1)+":"+word(2)+" "+target+" x"+word(5)+" "+word(6)+" "+word(7))
	}
	if !slices.Equal(got, brokenBetween) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(brokenBetween, "\n"))
	}
}
