package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
)

// showAllBound is how many times longer than the plain check the listing of
// every link may take.
const showAllBound = 3

// runShowAll compares `check --format jsonl --show all` with the plain check.
// The rows go to the null device, into a pipe whose reader throws them away as
// fast as it can, and to a file by --output.
func runShowAll(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	return s.eachCorpus(ctx, "showall", args, nil, func(c corpus, path, version string) error {
		return s.showAll(ctx, c, path, version, out)
	})
}

func (s *settings) showAll(ctx context.Context, c corpus, path, version string, out io.Writer) error {
	docroot := c.dir(s.cache)
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	variant := func(label string, drain bool, args ...string) *entry {
		argv := append([]string{path, "check", docroot}, args...)
		return &entry{label: label, program: program{argv: argv, dir: tmp, okExits: []int{0, 1}, drain: drain}}
	}
	all := []string{"--format", "jsonl", "--show", "all"}
	plain := variant("check > /dev/null", false)
	null := variant("show all > /dev/null", false, all...)
	piped := variant("show all | reader", true, all...)
	file := variant("show all --output FILE", false, append(all, "--output", filepath.Join(tmp, "all.jsonl"))...)
	entries := []*entry{plain, null, piped, file}
	if err := rounds(ctx, entries, s.runs, s.limit, out); err != nil {
		return err
	}

	var r result
	r.addf("sitelink check --format jsonl --show all on %s\n\n", c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s\n", c.pkg, c.version(s.cache), c.docroot)
	r.addf("sitelink  %s\n", version)
	r.addf("runs      %d rounds, interleaved, files in the page cache, limit %v\n", s.runs, s.limit)
	if piped.ok() {
		last := piped.samples[len(piped.samples)-1]
		r.addf("rows      %s, %s MB\n", thousands(int(last.Lines)), megabytes(last.Bytes))
	}
	r.section("commands")
	r.addf("sitelink check $DOCROOT\nsitelink check $DOCROOT --format jsonl --show all\n" +
		"sitelink check $DOCROOT --format jsonl --show all --output $TMP/all.jsonl\n")
	r.section("figures")
	var rows [][]string
	for _, e := range entries {
		cells := row(e, report{})[:5]
		if e != plain && e.ok() && plain.ok() {
			ratio := e.medianWall().Seconds() / plain.medianWall().Seconds()
			wanted, verdict := figure{bound: showAllBound, atMost: true}.judge(ratio, false)
			cells = append(cells, fmt.Sprintf("%.2f", ratio), wanted, verdict)
		} else if !e.ok() {
			cells = append(cells, "", "", e.failure)
		}
		rows = append(rows, cells)
	}
	r.WriteString(table([]string{"program", "min s", "median s", "cpu s", "peak MiB", "/ plain", "wanted", ""}, rows))
	return r.keep(s, c.pkg+"-showall", out)
}
