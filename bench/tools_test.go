package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func toolByLabel(t *testing.T, label string) tool {
	t.Helper()
	for _, tool := range tools() {
		if tool.label == label {
			return tool
		}
	}
	t.Fatalf("no tool %q", label)
	return tool{}
}

// TestParse gives each tool's closing words, as its version in peers.go writes
// them.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		label, output string
		links, errors string
		said          int
	}{
		{labelRead, "read 32,101 files, 477,753,249 bytes\n", "-", "-", 1},
		{labelSitelink, "a.html:1:2: error: 9 links, 7 errors [x]\n" +
			"checked 530 pages, 2,512,003 links, 1,203,400 anchors in $DOCROOT (profile generic): 12 errors, 3 warnings, on 112,330 links\n",
			"2,512,003", "12", 1},
		{labelAnchors, "Reading files\nChecking 166792 links from 1063 files (530 documents)\nx.html\n  error: bad link /y\n\n" +
			"Found 2511 bad links\nFound 4 bad anchors\n", "166,792", "2,515", 3},
		{labelHyperlink, "Checking 10 links from 3 files (2 documents)\n", "10", "-", 1},
		{labelLychee, "Issues found in 532 inputs.\n\n🔍 172451 Total (in 7s 958ms) 🔗 26261 Unique ✅ 160635 OK 🚫 1987 Errors 👻 9829 Excluded\n",
			"172,451", "1,987", 1},
		{"htmltest --skip-external", "\x1b[0m\x1b[91m====\n✘✘✘ failed in 2.07s\n4375 errors in 530 documents\n\x1b[0m", "-", "4,375", 1},
		{"linklint", "ERROR 21288 missing named anchors\n\nLinklint found 542 files in 17 directories and checked 526 html files.\n" +
			"There were 3 missing files. 526 files had broken links.\n21291 errors, 20 warnings.\n", "-", "21,291", 2},
		{"linkchecker", "That's it. 5263 links in 5263 URLs checked. 0 warnings found. 3 errors found.\n", "5,263", "3", 1},
		{"linkchecker", "", "-", "-", 0},
	} {
		got := toolByLabel(t, c.label).parse(c.output)
		if got.links != c.links || got.errors != c.errors || len(got.said) != c.said {
			t.Errorf("%s: links %s, errors %s, said %q; want %s, %s and %d lines", c.label, got.links, got.errors, got.said, c.links, c.errors, c.said)
		}
	}
}

// TestCommandLines: results are kept in the repository, so they name no
// directory of the machine, and every tool has a label and an output of its own.
func TestCommandLines(t *testing.T) {
	p := place{docroot: "/srv/cache/rust-doc/html", tmp: "/var/scratch"}
	labels, outputs := map[string]bool{}, map[string]bool{}
	for _, tool := range tools() {
		line := tool.commandLine(p)
		if strings.Contains(line, "/srv") || strings.Contains(line, "/var") || !strings.Contains(line, "$DOCROOT") {
			t.Errorf("%s: command line %q", tool.label, line)
		}
		if labels[tool.label] || outputs[tool.program(p).out] {
			t.Errorf("%s: label or output taken twice", tool.label)
		}
		labels[tool.label], outputs[tool.program(p).out] = true, true
	}
	got := toolByLabel(t, "linkchecker").commandLine(p)
	want := "linkchecker --no-status --no-warnings '--ignore-url=^(?!file:)' file://$DOCROOT/index.html"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, f := range figures {
		if !labels[f.over] || !labels[f.under] {
			t.Errorf("figure %q divides %q by %q: no such tool", f.title, f.over, f.under)
		}
		for _, c := range f.corpora {
			if _, ok := corpusByName(c); !ok {
				t.Errorf("figure %q: no corpus %q", f.title, c)
			}
		}
	}
}

func TestEnds(t *testing.T) {
	name := filepath.Join(t.TempDir(), "out")
	long := "first\n" + strings.Repeat("a finding\n", 100_000) + "last\n"
	if err := os.WriteFile(name, []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := ends(name)
	if err != nil || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "last\n") || len(got) > 70_000 {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	if err := os.WriteFile(name, []byte("short"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := ends(name); got != "short" || err != nil {
		t.Errorf("got %q, error %v", got, err)
	}
}

func TestRatios(t *testing.T) {
	e := func(label string, rss int64, walls ...time.Duration) *entry {
		e := &entry{label: label}
		for _, w := range walls {
			e.samples = append(e.samples, sample{usage: usage{Wall: w, User: w, PeakRSS: rss}})
		}
		return e
	}
	stopped := e(labelLychee, 1, 180*time.Second)
	stopped.samples[0].TimedOut, stopped.failure = true, "stopped after 3m0s"
	failed := &entry{label: labelHyperlink, failure: "signal: killed"}
	entries := []*entry{
		e(labelRead, 1, 2*time.Second, 4*time.Second, 3*time.Second),
		e(labelSitelink, 50, 6*time.Second),
		e(labelAnchors, 100, 60*time.Second),
		stopped, failed,
	}
	got := ratios("rust-doc", entries)
	for _, line := range []string{
		"sitelink / bare reading of pages 2.00 <= 3.5 reached; the aim is 2",
		"hyperlink --check-anchors / sitelink 10.00 >= 12 missed",
		"lychee --include-fragments / sitelink > 30.00 memory:",
		"memory: sitelink / hyperlink --check-anchors 0.50 <= 1 reached",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), line) {
			t.Errorf("no line %q in\n%s", line, got)
		}
	}
	if strings.Contains(got, "no anchors") {
		t.Errorf("a failed program has a ratio:\n%s", got)
	}
	if got := ratios("openjdk-17-doc", entries); !strings.Contains(got, "> 30.00  >= 100  open: the program was stopped") {
		t.Errorf("a stopped program below the bound is judged:\n%s", got)
	}
}
