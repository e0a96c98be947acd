package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// hyperlinkPages is the largest site that growth gives to hyperlink, whose
// memory grows with the links: 100,000 pages take it above a gigabyte.
const hyperlinkPages = 100_000

// largeLimitBytes is the memory that a million pages may take (2 GiB).
const largeLimitBytes = 2 << 30

// runGrowth measures generated sites of growing size and deletes them.
func runGrowth(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var sizes, work string
	var large bool
	var seed uint64
	if err := s.parse("growth", args, func(fs *flag.FlagSet) {
		fs.StringVar(&sizes, "sizes", "1000,10000,100000", "pages of each site, comma-separated")
		fs.BoolVar(&large, "large", false, "add a site of 1,000,000 pages (4 GB on disk)")
		fs.Uint64Var(&seed, "seed", 1, "seed of the sites")
		fs.StringVar(&work, "work", "", "`directory` for the sites while they are measured (default: in the cache)")
	}); err != nil {
		return err
	}
	if large {
		sizes += ",1000000"
	}
	if work == "" {
		work = s.cache
	}
	pages, err := parseSizes(sizes)
	if err != nil {
		return err
	}
	list, err := chooseTools("bench,sitelink,hyperlink")
	if err != nil {
		return err
	}
	bin, versions, err := s.binaries(ctx, list)
	if err != nil {
		return err
	}
	var r result
	r.addf("sitelink on generated sites, seed %d: %d links a page, one in ten with a fragment\n\n", seed, linksPerPage)
	r.machine(ctx, s.date)
	r.addf("runs      %d rounds, interleaved, files in the page cache, output to a file, limit %v\n", s.runs, s.limit)
	r.section("versions")
	for _, v := range versions {
		r.addf("%-11s %s\n", v[0], v[1])
	}
	var rows [][]string
	var wrong []string
	for _, n := range pages {
		g, err := s.grow(ctx, newGenerated(n, seed), work, bin, out)
		if err != nil {
			return fmt.Errorf("measure %s pages: %w", thousands(n), err)
		}
		rows = append(rows, g.row())
		if g.wrong != "" {
			wrong = append(wrong, g.wrong)
		}
	}
	r.section("growth")
	r.WriteString(table([]string{"pages", "links", "MB", "read s", "sitelink s", "/ read", "us/page", "peak MiB",
		"bytes/link", "errors", "hyperlink s", "its MiB"}, rows))
	r.addf("\nMedians; differences between peaks below %s MiB mean nothing. hyperlink runs with --check-anchors, up to %s pages.\n"+
		"errors are those that sitelink found; the generator broke as many links, or the run fails.\n",
		mebibytes(floorRSS()), thousands(hyperlinkPages))
	if err := r.keep(&s, "growth", out); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("figures do not hold: %s", strings.Join(wrong, "; "))
	}
	return nil
}

func parseSizes(list string) ([]int, error) {
	var sizes []int
	for f := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%w: %q is not a number of pages", errUsage, f)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// grown is what was measured on one generated site.
type grown struct {
	made                      made
	read, sitelink, hyperlink *entry
	found                     string // errors that sitelink reports
	wrong                     string // why the figures cannot stand, if so
}

// grow writes the site below work, measures and deletes it, whatever happens.
func (s *settings) grow(ctx context.Context, site *generated, work string, bin map[string]string, out io.Writer) (g grown, err error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return g, fmt.Errorf("make work directory: %w", err)
	}
	docroot, err := os.MkdirTemp(work, "generated-")
	if err != nil {
		return g, fmt.Errorf("make work directory: %w", err)
	}
	defer func() {
		if rmErr := os.RemoveAll(docroot); err == nil && rmErr != nil {
			err = fmt.Errorf("delete generated site: %w", rmErr)
		}
	}()
	tmp, remove, err := scratch()
	if err != nil {
		return g, err
	}
	defer remove()
	if g.made, err = site.write(ctx, docroot); err != nil {
		return g, err
	}
	if _, _, err := readTree(docroot, runtime.GOMAXPROCS(0), func([]byte) bool { return true }); err != nil {
		return g, err
	}
	p := place{docroot: docroot, tmp: tmp, bin: bin}
	var entries []*entry
	for _, t := range tools() {
		e := &entry{label: t.label, program: t.program(p)}
		switch t.label {
		case labelRead:
			g.read = e
		case labelSitelink:
			g.sitelink = e
		case labelAnchors:
			if site.Pages > hyperlinkPages || bin[t.name] == "" {
				continue
			}
			g.hyperlink = e
		default:
			continue
		}
		entries = append(entries, e)
	}
	if err := rounds(ctx, entries, s.runs, s.limit, out); err != nil {
		return g, err
	}
	return g, g.verify(filepath.Join(tmp, filepath.Base(g.sitelink.program.out)))
}

// verify compares what sitelink reported with what the generator broke.
func (g *grown) verify(output string) error {
	if !g.sitelink.ok() {
		g.wrong = fmt.Sprintf("sitelink on %s pages: %s", thousands(g.made.Pages), g.sitelink.failure)
		return nil
	}
	text, err := ends(output)
	if err != nil {
		return err
	}
	for _, t := range tools() {
		if t.label == labelSitelink {
			g.found = t.parse(text).errors
		}
	}
	broken := thousands(g.made.BrokenLinks + g.made.BrokenFragments)
	switch {
	case g.found != broken:
		g.wrong = fmt.Sprintf("sitelink found %s errors on %s pages, the generator made %s", g.found, thousands(g.made.Pages), broken)
	case g.made.Pages >= 1_000_000 && g.sitelink.peakRSS() > largeLimitBytes:
		g.wrong = fmt.Sprintf("sitelink took %s MiB for %s pages", mebibytes(g.sitelink.peakRSS()), thousands(g.made.Pages))
	}
	return nil
}

func (g *grown) row() []string {
	cells := []string{thousands(g.made.Pages), thousands(g.made.Links), megabytes(g.made.Bytes), "", "", "", "", "", "", g.found, "", ""}
	if g.read.ok() {
		cells[3] = seconds(g.read.medianWall())
	}
	if g.sitelink.ok() {
		wall := g.sitelink.medianWall()
		cells[4] = seconds(wall)
		if g.read.ok() {
			cells[5] = fmt.Sprintf("%.2f", wall.Seconds()/g.read.medianWall().Seconds())
		}
		cells[6] = fmt.Sprintf("%.1f", float64(wall.Microseconds())/float64(g.made.Pages))
		cells[7] = mebibytes(g.sitelink.peakRSS())
		cells[8] = fmt.Sprintf("%.1f", float64(g.sitelink.peakRSS())/float64(g.made.Links))
	}
	if g.hyperlink != nil && g.hyperlink.ok() {
		cells[10], cells[11] = seconds(g.hyperlink.medianWall()), mebibytes(g.hyperlink.peakRSS())
	}
	return cells
}
