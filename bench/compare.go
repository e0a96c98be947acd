package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// runCompare measures every tool on every chosen corpus, a result file each.
func runCompare(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var names string
	if err := s.parse("compare", args, func(fs *flag.FlagSet) {
		fs.StringVar(&names, "tools", "bench,sitelink,hyperlink,lychee,htmltest,linklint",
			"programs to run, comma-separated; linkchecker is known too; bench is the bare reading")
	}); err != nil {
		return err
	}
	chosen, err := s.chosen()
	if err != nil {
		return err
	}
	list, err := chooseTools(names)
	if err != nil {
		return err
	}
	bin, versions, err := s.binaries(ctx, list)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if err := s.compare(ctx, c, list, bin, versions, out); err != nil {
			return fmt.Errorf("compare on %s: %w", c.pkg, err)
		}
	}
	return nil
}

func chooseTools(names string) ([]tool, error) {
	want := strings.Split(names, ",")
	var list []tool
	for _, t := range tools() {
		if slices.Contains(want, t.name) {
			list = append(list, t)
		}
	}
	for _, w := range want {
		if !slices.ContainsFunc(list, func(t tool) bool { return t.name == w }) {
			return nil, fmt.Errorf("%w: no tool %q", errUsage, w)
		}
	}
	return list, nil
}

// binaries finds the program of every tool. A peer that is not installed is
// left out of bin and said so in versions; sitelink must build.
func (s *settings) binaries(ctx context.Context, list []tool) (bin map[string]string, versions [][]string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find own program: %w", err)
	}
	bin = map[string]string{"bench": self}
	versions = [][]string{{"bench", "bare reading, built with " + runtime.Version()}}
	if slices.ContainsFunc(list, func(t tool) bool { return t.name == "sitelink" }) {
		path, version, err := s.buildSitelink(ctx)
		if err != nil {
			return nil, nil, err
		}
		bin["sitelink"] = path
		versions = append(versions, []string{"sitelink", version})
	}
	for _, p := range peers {
		if !slices.ContainsFunc(list, func(t tool) bool { return t.name == p.name }) {
			continue
		}
		path, version, err := p.find(ctx, s.cache)
		switch {
		case errors.Is(err, errNoPeer):
			version = "not installed, left out"
		case err != nil:
			return nil, nil, err
		default:
			bin[p.name] = path
		}
		versions = append(versions, []string{p.name, version})
	}
	return bin, versions, nil
}

func (s *settings) compare(ctx context.Context, c corpus, list []tool, bin map[string]string, versions [][]string, out io.Writer) error {
	docroot := c.dir(s.cache)
	v, err := surveyDocroot(docroot)
	if err != nil {
		return err
	}
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(tmp, "htmltest.yml"), []byte(htmltestConf), 0o644); err != nil {
		return fmt.Errorf("write htmltest configuration: %w", err)
	}
	p := place{docroot: docroot, tmp: tmp, bin: bin}

	var r result
	r.addf("sitelink and its peers on %s\n\n", c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s\n", c.pkg, c.version(s.cache), c.docroot)
	r.addf("files     %s files, %s MB; of these %s pages, %s MB\n",
		thousands(v.Files), megabytes(v.FileBytes), thousands(v.Pages), megabytes(v.PageBytes))
	r.addf("symlinks  %s, of these %s lead out of the docroot\n", thousands(v.Links), thousands(v.Leaving))
	r.addf("runs      %d rounds, interleaved, files in the page cache, output to a file, limit %v\n", s.runs, s.limit)

	// Warm: every file is read once before the first round.
	if _, _, err := readTree(docroot, runtime.GOMAXPROCS(0), func([]byte) bool { return true }); err != nil {
		return err
	}
	var run []tool
	var entries []*entry
	for _, t := range list {
		if bin[t.name] != "" {
			run = append(run, t)
			entries = append(entries, &entry{label: t.label, program: t.program(p)})
		}
	}
	if err := rounds(ctx, entries, s.runs, s.limit, out); err != nil {
		return err
	}
	floorBytes := floorRSS()

	r.section("versions")
	for _, v := range versions {
		r.addf("%-11s %s\n", v[0], v[1])
	}
	r.section("commands")
	for _, t := range run {
		r.addf("%-26s %s\n", t.label, t.commandLine(p))
	}
	var quotes []string
	for _, group := range []string{floor, alike, defaults} {
		var rows [][]string
		for i, t := range run {
			if t.group != group && !(t.name == "sitelink" && group == defaults) {
				continue
			}
			text, err := ends(entries[i].program.out)
			if err != nil {
				return err
			}
			said := t.parse(text)
			rows = append(rows, row(entries[i], said))
			if t.group == group {
				for _, line := range said.said {
					quotes = append(quotes, fmt.Sprintf("%-26s %s", t.label, clean(line, p)))
				}
			}
		}
		if len(rows) > 0 {
			r.section(group)
			r.WriteString(table([]string{"program", "min s", "median s", "cpu s", "peak MiB", "links", "errors", ""}, rows))
		}
	}
	r.addf("\ncpu is user and system time; differences between peaks below %s MiB mean nothing.\n", mebibytes(floorBytes))
	if text := ratios(c.pkg, entries); text != "" {
		r.section("ratios (medians)")
		r.WriteString(text)
	}
	r.section("what the programs say")
	r.addf("%s\n", strings.Join(quotes, "\n"))
	return r.keep(s, c.pkg, out)
}

func row(e *entry, said report) []string {
	switch {
	case e.timedOut():
		limit := "> " + seconds(e.samples[len(e.samples)-1].Wall)
		return []string{e.label, limit, limit, "", "", "", "", e.failure}
	case !e.ok():
		return []string{e.label, "", "", "", "", "", "", "failed: " + e.failure}
	}
	return []string{e.label, seconds(e.minWall()), seconds(e.medianWall()), seconds(e.medianCPU()),
		mebibytes(e.peakRSS()), said.links, said.errors}
}

// clean makes a quoted line fit for the result: no machine paths, one line.
func clean(line string, p place) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(line, p.docroot, "$DOCROOT"), p.tmp, "$TMP"))
}
