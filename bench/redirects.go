package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A rule file of manyRules rules may make the check of a site of 10,000 pages
// slower by this much.
const (
	manyRules      = 10000
	redirectsBound = 1.10
)

// runRedirects compares the check of a docroot with a _redirects of 10,000 rules
// and that of the same docroot without it.
func runRedirects(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	return s.eachCorpus(ctx, "redirects", args, nil, func(c corpus, path, version string) error {
		return s.redirects(ctx, c, path, version, out)
	})
}

func (s *settings) redirects(ctx context.Context, c corpus, path, version string, out io.Writer) error {
	tmp, remove, err := scratchIn(s.cache)
	if err != nil {
		return err
	}
	defer remove()
	var entries []*entry
	pages := 0
	for _, label := range []string{"without", "with"} {
		docroot := filepath.Join(tmp, label)
		if pages, err = linkTree(c.dir(s.cache), docroot); err != nil {
			return err
		}
		argv := []string{path, "check", docroot, "--profile", "netlify"}
		entries = append(entries, &entry{label: label, program: program{argv: argv, dir: tmp, out: filepath.Join(tmp, "report"), okExits: []int{0, 1}}})
	}
	rules, err := rulesFor(filepath.Join(tmp, "with"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "with", "_redirects"), rules, 0o666); err != nil {
		return fmt.Errorf("write rules: %w", err)
	}
	if err := rounds(ctx, entries, s.runs, s.limit, out); err != nil {
		return err
	}
	without, with := entries[0], entries[1]
	if !without.ok() || !with.ok() {
		return fmt.Errorf("a check failed: %s%s", without.failure, with.failure)
	}

	var r result
	r.addf("sitelink check --profile netlify with a _redirects of %s rules on %s\n\n", thousands(manyRules), c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s, %s pages\n", c.pkg, c.version(s.cache), c.docroot, thousands(pages))
	r.addf("sitelink  %s\n", version)
	r.addf("runs      %d rounds, interleaved, files in the page cache, limit %v\n", s.runs, s.limit)
	r.section("figures")
	var rows [][]string
	for _, e := range entries {
		rows = append(rows, row(e, report{})[:5])
	}
	ratio := func(of func(*entry) float64) string { return fmt.Sprintf("%.3f", of(with)/of(without)) }
	wall := with.medianWall().Seconds() / without.medianWall().Seconds()
	rows = append(rows, []string{"with / without", ratio(func(e *entry) float64 { return e.minWall().Seconds() }),
		fmt.Sprintf("%.3f", wall), ratio(func(e *entry) float64 { return e.medianCPU().Seconds() }), ratio(func(e *entry) float64 { return float64(e.peakRSS()) })})
	r.WriteString(table([]string{"check", "min s", "median s", "cpu s", "peak MiB"}, rows))
	wanted, verdict := figure{bound: redirectsBound, atMost: true}.judge(wall, false)
	r.addf("\nwith / without by the median %.3f, wanted %s: %s\n", wall, wanted, verdict)
	return r.keep(s, c.pkg+"-redirects", out)
}

// linkTree makes a copy of a docroot whose files are hard links: as quick to read,
// and nothing is added to the original. It returns the number of pages.
func linkTree(from, to string) (pages int, err error) {
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		dest := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(dest, 0o777)
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(target, dest)
		case !d.Type().IsRegular():
			return nil
		}
		if strings.HasSuffix(rel, ".html") {
			pages++
		}
		return os.Link(name, dest)
	})
	if err != nil {
		return 0, fmt.Errorf("link files: %w", err)
	}
	return pages, nil
}

// rulesFor writes rules that lead to pages of the docroot: of each form a fifth.
func rulesFor(docroot string) ([]byte, error) {
	var pages []string
	err := fs.WalkDir(os.DirFS(docroot), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".html") {
			pages = append(pages, "/"+name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list pages: %w", err)
	}
	if len(pages) == 0 {
		return nil, fmt.Errorf("no pages in %s", docroot)
	}
	slices.Sort(pages)
	rnd := rand.New(rand.NewPCG(1, 1))
	var out bytes.Buffer
	for i := range manyRules {
		page := pages[rnd.IntN(len(pages))]
		switch i % 5 {
		case 0:
			fmt.Fprintf(&out, "/old/%d/:slug %s 301\n", i, page)
		case 1:
			fmt.Fprintf(&out, "/old%d/* %s/:splat 302\n", i, strings.TrimSuffix(path.Dir(page), "/"))
		case 2:
			fmt.Fprintf(&out, "/was/page%d.html %s\n", i, page)
		case 3:
			fmt.Fprintf(&out, "/x/%d.html %s 301!\n", i, page)
		case 4:
			fmt.Fprintf(&out, "/v2/%d %s 308\n", i, page)
		}
	}
	return out.Bytes(), nil
}
