package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// htmltestConf sets htmltest to what the others are asked for: internal links
// and fragments, on all processors, nothing written.
//
//go:embed htmltest.yml
var htmltestConf string

// Groups of tools, as in ripgrep's benchmarks: what a user gets by typing the
// name, and what can be compared.
const (
	floor    = "floor"
	defaults = "defaults, no network"
	alike    = "like for like: internal links and fragments"
)

// place is where a tool is run.
type place struct {
	docroot, tmp string
	bin          map[string]string // path by tool name
}

// tool is one way to run one program.
type tool struct {
	label, group string
	name         string // key of place.bin
	args         func(p place) []string
	okExits      []int
	// said finds the lines in which the tool sums up its work; they are quoted
	// below the table. links and errors find its counts in these lines, several
	// matches are added up; nil: it reports none.
	said, links, errors *regexp.Regexp
}

var (
	hyperlinkLinks  = regexp.MustCompile(`Checking (\d+) links`)
	hyperlinkErrors = regexp.MustCompile(`Found (\d+) bad`)
	hyperlinkSaid   = regexp.MustCompile(`(?m)^(?:Checking \d+ links|Found \d+ bad).*$`)
	lycheeLinks     = regexp.MustCompile(`(\d+) Total`)
	lycheeErrors    = regexp.MustCompile(`(\d+) Errors?`)
	lycheeSaid      = regexp.MustCompile(`(?m)^.*\d+ Total.*$`)
	htmltestErrors  = regexp.MustCompile(`(\d+) errors? in \d+ documents`)
	sitelinkLinks   = regexp.MustCompile(`pages, ([\d,]+) links`)
	sitelinkErrors  = regexp.MustCompile(`([\d,]+) errors?\b`)
	sitelinkSaid    = regexp.MustCompile(`(?m)^.*\bpages, .*links.*$`)
	readSaid        = regexp.MustCompile(`(?m)^read .*$`)
)

const (
	labelRead       = "bare reading, pages"
	labelReadAll    = "bare reading, all files"
	labelSitelink   = "sitelink check"
	labelHyperlink  = "hyperlink"
	labelAnchors    = "hyperlink --check-anchors"
	labelLychee     = "lychee --include-fragments"
	labelLycheeHTML = "lychee, html only"
)

// tools lists every comparison in the order of the table.
func tools() []tool {
	sitelink := tool{label: labelSitelink, group: alike, name: "sitelink", okExits: []int{0, 1},
		args:  func(p place) []string { return []string{"check", p.docroot} },
		links: sitelinkLinks, errors: sitelinkErrors, said: sitelinkSaid}
	hyperlink := tool{label: labelHyperlink, group: defaults, name: "hyperlink", okExits: []int{0, 1, 2},
		args:  func(p place) []string { return []string{p.docroot} },
		links: hyperlinkLinks, errors: hyperlinkErrors, said: hyperlinkSaid}
	lychee := tool{label: "lychee --offline", group: defaults, name: "lychee", okExits: []int{0, 2},
		args: func(p place) []string {
			return []string{"--offline", "--no-progress", "--root-dir", p.docroot, p.docroot}
		},
		links: lycheeLinks, errors: lycheeErrors, said: lycheeSaid}
	htmltest := tool{label: "htmltest --skip-external", group: defaults, name: "htmltest", okExits: []int{0, 1},
		args:   func(p place) []string { return []string{"--skip-external", p.docroot} },
		errors: htmltestErrors, said: htmltestErrors}

	list := []tool{
		{label: labelRead, group: floor, name: "bench", okExits: []int{0}, said: readSaid,
			args: func(p place) []string { return []string{"read", p.docroot} }},
		{label: labelReadAll, group: floor, name: "bench", okExits: []int{0}, said: readSaid,
			args: func(p place) []string { return []string{"read", "-all", p.docroot} }},
		sitelink, // its defaults are the whole check, so it stands for both groups
	}
	anchors := hyperlink
	anchors.label, anchors.group = labelAnchors, alike
	anchors.args = func(p place) []string { return []string{"--check-anchors", p.docroot} }

	fragments := lychee
	fragments.label, fragments.group = labelLychee, alike
	fragments.args = func(p place) []string {
		return []string{"--offline", "--include-fragments", "--no-progress", "--root-dir", p.docroot, p.docroot}
	}
	// By default lychee also reads Markdown, text and CSS files.
	pagesOnly := lychee
	pagesOnly.label, pagesOnly.group = labelLycheeHTML, alike
	pagesOnly.args = func(p place) []string {
		return []string{"--offline", "--include-fragments", "--extensions", "html,htm", "--no-progress", "--root-dir", p.docroot, p.docroot}
	}
	concurrent := htmltest
	concurrent.label, concurrent.group = "htmltest, concurrent", alike
	concurrent.args = func(p place) []string {
		return []string{"--conf", filepath.Join(p.tmp, "htmltest.yml"), p.docroot}
	}
	return append(list, anchors, fragments, pagesOnly, concurrent,
		tool{label: "linklint", group: alike, name: "linklint", okExits: []int{0},
			args: func(p place) []string {
				// Without -limit it stops after 500 pages, without /@ after the first.
				return []string{"-root", p.docroot, "-limit", "10000000", "/@"}
			},
			errors: regexp.MustCompile(`(?m)^(\d+) errors?`), said: regexp.MustCompile(`(?m)^(?:Linklint found|\d+ errors?).*$`)},
		hyperlink, lychee, htmltest,
		tool{label: "linkchecker", group: defaults, name: "linkchecker", okExits: []int{0, 1},
			args: func(p place) []string {
				return []string{"--no-status", "--no-warnings", "--ignore-url=^(?!file:)", "file://" + p.docroot + "/index.html"}
			},
			links:  regexp.MustCompile(`(\d+) links in \d+ URLs checked`),
			errors: regexp.MustCompile(`(\d+) errors? found`), said: regexp.MustCompile(`(?m)^That's it\..*$`)},
	)
}

// program makes the command line of t at p.
func (t tool) program(p place) program {
	return program{
		argv:    append([]string{p.bin[t.name]}, t.args(p)...),
		dir:     p.tmp,
		okExits: t.okExits,
		out:     filepath.Join(p.tmp, strings.NewReplacer(" ", "-", ",", "").Replace(t.label)+".out"),
	}
}

// commandLine writes the command as a reader can run it: tools by name,
// directories as variables.
func (t tool) commandLine(p place) string {
	args := make([]string, 0, 8)
	for _, a := range append([]string{t.name}, t.args(p)...) {
		a = strings.ReplaceAll(strings.ReplaceAll(a, p.docroot, "$DOCROOT"), p.tmp, "$TMP")
		if strings.ContainsAny(a, "()^*? ") {
			a = "'" + a + "'"
		}
		args = append(args, a)
	}
	return strings.Join(args, " ")
}

// report is what a tool said about its own work.
type report struct {
	links, errors string // counts with commas, or "-" where it gives none
	said          []string
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (t tool) parse(output string) report {
	output = colour.ReplaceAllString(output, "")
	said := t.said.FindAllString(output, 3)
	all := strings.Join(said, "\n")
	return report{links: sum(t.links, all), errors: sum(t.errors, all), said: said}
}

func sum(re *regexp.Regexp, s string) string {
	if re == nil {
		return "-"
	}
	total, found := 0, false
	for _, m := range re.FindAllStringSubmatch(s, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			continue // longer than any count
		}
		total, found = total+n, true
	}
	if !found {
		return "-"
	}
	return thousands(total)
}

// ends reads the first and last bytes of a tool's output, where the counts
// stand. Reports of 100,000 findings are not loaded: this process must stay
// small (see usage.PeakRSS).
func ends(name string) (string, error) {
	const most = 32 << 10
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("read output of a tool: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read output of a tool: %w", err)
	}
	if info.Size() <= 2*most {
		buf, err := os.ReadFile(name)
		return string(buf), err
	}
	buf := make([]byte, 2*most)
	if _, err := f.ReadAt(buf[:most], 0); err != nil {
		return "", fmt.Errorf("read output of a tool: %w", err)
	}
	if _, err := f.ReadAt(buf[most:], info.Size()-most); err != nil {
		return "", fmt.Errorf("read output of a tool: %w", err)
	}
	return string(buf[:most]) + "\n" + string(buf[most:]), nil
}
