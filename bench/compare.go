package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tool is one way to run one program.
type tool struct {
	label, name string
	args        string // $DOCROOT and $TMP stand for directories; blanks separate
	okExits     []int
	// said finds the lines in which the program sums up its work.
	said *regexp.Regexp
}

const labelSitelink, labelRead = "sitelink check", "bare reading, pages"

// htmltestConf asks htmltest for what the others do: internal links and fragments, on
// all processors, nothing written.
const htmltestConf = `CheckExternal: false
CheckMailto: false
CheckTel: false
CheckDoctype: false
IgnoreAltMissing: true
IgnoreAltEmpty: true
IgnoreEmptyHref: true
IgnoreInternalEmptyHash: true
IgnoreDirectoryMissingTrailingSlash: true
TestFilesConcurrently: true
EnableLog: false
EnableCache: false
`

// tools are compared like for like: internal links with fragments. hyperlink and
// lychee run a second time with what they do by default.
var tools = []tool{
	{labelRead, "bench", "read $DOCROOT", []int{0}, regexp.MustCompile(`(?m)^read .*$`)},
	{"bare reading, all files", "bench", "read -all $DOCROOT", []int{0}, regexp.MustCompile(`(?m)^read .*$`)},
	{labelSitelink, "sitelink", "check $DOCROOT", []int{0, 1}, regexp.MustCompile(`(?m)^.*\bpages, .*links.*$`)},
	{"hyperlink --check-anchors", "hyperlink", "--check-anchors $DOCROOT", []int{0, 1, 2}, regexp.MustCompile(`(?m)^(?:Checking \d+ links|Found \d+ bad).*$`)},
	{"hyperlink", "hyperlink", "$DOCROOT", []int{0, 1, 2}, regexp.MustCompile(`(?m)^(?:Checking \d+ links|Found \d+ bad).*$`)},
	// By default lychee also reads Markdown, text and CSS files.
	{"lychee --include-fragments", "lychee", "--offline --include-fragments --no-progress --root-dir $DOCROOT $DOCROOT", []int{0, 2}, regexp.MustCompile(`(?m)^.*\d+ Total.*$`)},
	{"lychee, html only", "lychee", "--offline --include-fragments --extensions html,htm --no-progress --root-dir $DOCROOT $DOCROOT", []int{0, 2}, regexp.MustCompile(`(?m)^.*\d+ Total.*$`)},
	{"lychee --offline", "lychee", "--offline --no-progress --root-dir $DOCROOT $DOCROOT", []int{0, 2}, regexp.MustCompile(`(?m)^.*\d+ Total.*$`)},
	{"htmltest, concurrent", "htmltest", "--conf $TMP/htmltest.yml $DOCROOT", []int{0, 1}, regexp.MustCompile(`(\d+) errors? in \d+ documents`)},
	// Without -limit linklint stops after 500 pages, without /@ after the first.
	{"linklint", "linklint", "-root $DOCROOT -limit 10000000 /@", []int{0}, regexp.MustCompile(`(?m)^(?:Linklint found|\d+ errors?).*$`)},
	{"linkchecker", "linkchecker", "--no-status --no-warnings --ignore-url=^(?!file:) file://$DOCROOT/index.html", []int{0, 1}, regexp.MustCompile(`(?m)^That's it\..*$`)},
}

// runCompare runs sitelink, the programs that are installed, and the bare reading on a
// docroot in turns.
func runCompare(ctx context.Context, args []string, out, progress io.Writer) error {
	s := newSettings("compare", progress)
	only := s.String("tools", "", "`programs` to run, comma-separated; by default all that are on PATH")
	if err := s.parse(args, 1); err != nil {
		return err
	}
	docroot, err := filepath.Abs(s.Arg(0))
	if err != nil {
		return err
	}
	// Every file is read once before the first round, so that all programs find
	// the files in the page cache.
	var size bytes.Buffer
	if err := runRead([]string{"-all", docroot}, &size); err != nil {
		return err
	}
	tmp, sitelink, err := s.begin(ctx, out)
	defer os.RemoveAll(tmp)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "htmltest.yml"), []byte(htmltestConf), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "docroot   %s, %sruns      %d rounds in turns, files in the page cache, output to a file, limit %v\n", filepath.Base(docroot), &size, s.runs, s.limit)

	paths := map[string]string{"bench": self, "sitelink": sitelink}
	var entries []*entry
	var run []tool
	var versions, commands []string
	for _, t := range tools {
		path, known := paths[t.name]
		if *only != "" && !strings.Contains(","+*only+",", ","+t.name+",") {
			continue
		}
		if !known {
			path, _ = exec.LookPath(t.name)
			paths[t.name] = path
			said := "not installed, left out"
			if path != "" {
				said = firstLine(ctx, path, "--version")
			}
			versions = append(versions, t.name+"\t"+said)
		}
		if path == "" {
			continue
		}
		argv := append([]string{path}, strings.Fields(strings.NewReplacer("$DOCROOT", docroot, "$TMP", tmp).Replace(t.args))...)
		p := program{argv: argv, dir: tmp, okExits: t.okExits, out: filepath.Join(tmp, fmt.Sprintf("%d.out", len(entries)))}
		entries, run = append(entries, &entry{label: t.label, program: p}), append(run, t)
		commands = append(commands, t.label+"\t"+t.name+" "+t.args)
	}
	if len(entries) == 0 {
		return fmt.Errorf("%w: no program of -tools %s", errUsage, *only)
	}
	if err := rounds(ctx, entries, s.runs, s.limit, progress); err != nil {
		return err
	}

	table(out, "versions", versions)
	table(out, "commands", commands)
	table(out, "like for like: internal links and fragments", rows(entries))
	var quotes []string
	for i, t := range run {
		text, err := os.ReadFile(entries[i].program.out)
		if err != nil {
			return err
		}
		for _, line := range t.said.FindAll(text, 3) {
			quotes = append(quotes, t.label+"\t"+strings.NewReplacer(docroot, "$DOCROOT", tmp, "$TMP").Replace(strings.TrimSpace(string(line))))
		}
	}
	table(out, "what the programs say", quotes)
	return nil
}

// rows are the rows of the table. A program that was stopped has a lower bound of its
// time and ratio; one that failed has neither.
func rows(entries []*entry) []string {
	all := []string{"program\tmin s\tmedian s\tcpu s\tpeak MiB\ttimes sitelink\ttimes its cpu\t"}
	var own *entry
	for _, e := range entries {
		if e.label == labelSitelink && e.failure == "" {
			own = e
		}
	}
	for _, e := range entries {
		last := e.samples[len(e.samples)-1]
		switch {
		case last.TimedOut:
			row := fmt.Sprintf("%s\t> %.3f\t> %.3f\t\t\t", e.label, last.Wall.Seconds(), last.Wall.Seconds())
			if own != nil {
				row += fmt.Sprintf("> %.2f", last.Wall.Seconds()/own.wall().Seconds())
			}
			all = append(all, row+"\t\t"+e.failure)
		case e.failure != "":
			all = append(all, e.label+"\t\t\t\t\t\t\tfailed: "+e.failure)
		default:
			least := last.Wall
			for _, s := range e.samples {
				least = min(least, s.Wall)
			}
			row := fmt.Sprintf("%s\t%.3f\t%.3f\t%.3f\t%.1f", e.label, least.Seconds(), e.wall().Seconds(), e.cpu().Seconds(), e.peakMiB())
			if own != nil {
				row += fmt.Sprintf("\t%.2f\t%.2f", e.wall().Seconds()/own.wall().Seconds(), e.cpu().Seconds()/own.cpu().Seconds())
			}
			all = append(all, row)
		}
	}
	return all
}
