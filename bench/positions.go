package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figures to reach: the share of findings at the exact line and column.
const (
	leastWithHugo    = 0.99
	leastWithoutHugo = 0.95
)

// runPositions breaks links of a real Hugo site at places that are recorded,
// builds it, and examines the positions that sitelink reports, with Hugo on the path
// and without. A second build has the breaks at the same places with few
// values that repeat, so that only the text around a link identifies it.
func runPositions(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var from, hugo string
	var n, values int
	var seed uint64
	if err := s.parse("positions", args, func(fs *flag.FlagSet) {
		fs.StringVar(&from, "site", "", "`directory` of a Hugo site; it is copied, never written")
		fs.StringVar(&hugo, "hugo", "hugo", "`program` that builds it")
		fs.IntVar(&n, "breaks", 500, "number of links to break")
		fs.IntVar(&values, "values", 5, "values that they share in the second build")
		fs.Uint64Var(&seed, "seed", 7, "seed")
	}); err != nil {
		return err
	}
	if from == "" || n < 1 || values < 1 {
		return fmt.Errorf("%w: positions needs -site, and at least one of -breaks and -values", errUsage)
	}
	tools, err := s.tools(ctx, hugo)
	if err != nil {
		return err
	}
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	m := tools.in(tmp)
	if err := m.prepare(from); err != nil {
		return err
	}
	spots, err := chooseSpots(m.site, n, seed)
	if err != nil {
		return err
	}
	var r result
	r.machine(ctx, s.date)
	said, err := exec.CommandContext(ctx, m.hugo, "version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", m.hugo, err)
	}
	r.addf("sitelink  %s\nhugo      %s\nsite      %s, %d links broken, seed %d\n", m.version, strings.TrimSpace(string(said)), filepath.Base(from), n, seed)
	rows, mistakes, missed, err := m.rows(ctx, from, spots, values, &r)
	if err != nil {
		return err
	}
	r.section("Positions of findings")
	r.addf("%s", table([]string{"values", "asked", "breaks found", "findings", "exact", "same line", "other line", "wrong file", "none", "exact %", "source s", "source cpu s", "cpu ms/finding"}, rows))
	if len(mistakes) > 0 {
		r.section("Not exact, the first 20")
		r.addf("%s\n", strings.Join(mistakes[:min(len(mistakes), 20)], "\n"))
	}
	if err := r.keep(&s, "positions", out); err != nil {
		return err
	}
	if len(missed) > 0 {
		return fmt.Errorf("figures not reached: %s", strings.Join(missed, "; "))
	}
	return nil
}

// measurement is one site on its way.
type measurement struct {
	hugo, sitelink, version string
	site                    string // the copy
	bin, none               string // directories for PATH: with hugo, and empty
}

// tools finds Hugo and builds sitelink.
func (s *settings) tools(ctx context.Context, hugo string) (m measurement, err error) {
	if m.hugo, err = exec.LookPath(hugo); err == nil {
		m.hugo, err = filepath.Abs(m.hugo)
	}
	if err != nil {
		return m, fmt.Errorf("find Hugo: %w", err)
	}
	m.sitelink, m.version, err = s.buildSitelink(ctx)
	return m, err
}

// in returns the measurement of a site in a scratch directory.
func (m measurement) in(tmp string) measurement {
	m.site, m.bin, m.none = filepath.Join(tmp, "site"), filepath.Join(tmp, "bin"), filepath.Join(tmp, "none")
	return m
}

// prepare copies the site without what builds leave.
func (m *measurement) prepare(from string) error {
	if err := os.CopyFS(m.site, os.DirFS(from)); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	for _, name := range []string{"public", "resources", ".git", ".hugo_build.lock"} {
		if err := os.RemoveAll(filepath.Join(m.site, name)); err != nil {
			return err
		}
	}
	for _, dir := range []string{m.bin, m.none} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return os.Symlink(m.hugo, filepath.Join(m.bin, "hugo"))
}

// rows makes both builds and checks each twice.
func (m *measurement) rows(ctx context.Context, from string, spots []spot, values int, r *result) (rows [][]string, mistakes, missed []string, err error) {
	// truth has the numbers of the breaks of each page in order, from the build
	// in which every value is different; the other build has the same links.
	truth := map[string][]int{}
	for _, shared := range []bool{false, true} {
		value := func(i int) string {
			if shared {
				i %= values
			}
			return fmt.Sprintf("/sitelink-broken-%d/", i)
		}
		places, err := breakAt(from, m.site, spots, value)
		if err != nil {
			return nil, nil, nil, err
		}
		if err := m.build(ctx); err != nil {
			return nil, nil, nil, err
		}
		for _, path := range []string{m.bin, m.none} {
			findings, took, err := m.check(ctx, path)
			if err != nil {
				return nil, nil, nil, err
			}
			if len(truth) == 0 {
				for i := range findings {
					f := &findings[i]
					truth[f.Page] = append(truth[f.Page], f.number)
				}
				r.addf("pages     %d with a break\n", len(truth))
			}
			c, err := score(findings, truth, places)
			if err != nil {
				return nil, nil, nil, err
			}
			asked, least, shown := "Hugo", leastWithHugo, strconv.Itoa(len(spots))
			if path == m.none {
				asked, least = "names", leastWithoutHugo
			}
			if shared {
				shown = strconv.Itoa(values)
			}
			if share := c.share(); share < least || c.wrongFile > 0 {
				missed = append(missed, fmt.Sprintf("%s values, %s: %.2f %% exact, want %.0f; %d in a wrong file, want 0", shown, asked, 100*share, 100*least, c.wrongFile))
			}
			for _, text := range c.mistakes {
				mistakes = append(mistakes, fmt.Sprintf("%s values, %s: %s", shown, asked, text))
			}
			rows = append(rows, []string{shown, asked, strconv.Itoa(c.found), strconv.Itoa(c.findings), strconv.Itoa(c.exact), strconv.Itoa(c.sameLine),
				strconv.Itoa(c.otherLine), strconv.Itoa(c.wrongFile), strconv.Itoa(c.none), fmt.Sprintf("%.2f", 100*c.share()),
				seconds(took.wall), seconds(took.cpu), fmt.Sprintf("%.2f", took.cpu.Seconds()*1000/float64(c.findings))})
		}
	}
	return rows, mistakes, missed, nil
}

func (m *measurement) build(ctx context.Context) error {
	if err := os.RemoveAll(filepath.Join(m.site, "public")); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, m.hugo, "--quiet", "--destination", "public")
	cmd.Dir = m.site
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the site: %w\n%s", err, said[:min(len(said), 2000)])
	}
	return nil
}

func (b *broken) String() string {
	if b == nil {
		return "none"
	}
	return fmt.Sprintf("%s:%d:%d", b.File, b.Line, b.Column)
}

// breakFinding is a finding about a break, as JSON has it.
type breakFinding struct {
	Page, Raw string
	Source    *broken
	number    int
}

var breakNumber = regexp.MustCompile(`sitelink-broken-(\d+)`)

// duration is the time of a program and those that it starts.
type duration struct{ wall, cpu time.Duration }

// check returns the findings about breaks, and by how much the positions made
// the check longer.
func (m *measurement) check(ctx context.Context, path string) (all []breakFinding, took duration, err error) {
	run := func(source string) ([]byte, duration, error) {
		cmd := exec.CommandContext(ctx, m.sitelink, "check", "public", "--format", "json", "--fail-on", "never", "--source", source)
		cmd.Dir = m.site
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }), "PATH="+path)
		cmd.Stderr = os.Stderr
		began := time.Now()
		out, err := cmd.Output()
		took := duration{wall: time.Since(began)}
		if s := cmd.ProcessState; s != nil {
			took.cpu = s.UserTime() + s.SystemTime()
		}
		return out, took, err
	}
	_, without, err := run("off")
	if err != nil {
		return nil, took, fmt.Errorf("check the site: %w", err)
	}
	out, with, err := run("auto")
	if err != nil {
		return nil, took, fmt.Errorf("check the site: %w", err)
	}
	var doc struct{ Findings []breakFinding }
	if err := json.Unmarshal(out, &doc); err != nil {
		return nil, took, fmt.Errorf("read the report: %w", err)
	}
	for _, f := range doc.Findings {
		if number := breakNumber.FindStringSubmatch(f.Raw); number != nil {
			if f.number, err = strconv.Atoi(number[1]); err != nil {
				return nil, took, err
			}
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		return nil, took, errors.New("no break reached a page")
	}
	return all, duration{max(0, with.wall-without.wall), max(0, with.cpu-without.cpu)}, nil
}

// counts is what became of the findings.
type counts struct {
	findings, exact, sameLine, otherLine, wrongFile, none int
	found                                                 int // breaks with an exact finding
	mistakes                                              []string
}

func (c *counts) share() float64 { return float64(c.exact) / float64(c.findings) }

// score holds the findings of each page against its breaks, both in the order
// of the page. truth has the numbers of the breaks, places where they stand.
func score(findings []breakFinding, truth map[string][]int, places []broken) (c counts, err error) {
	at := map[string]int{}
	found := map[int]bool{}
	for i := range findings {
		f := &findings[i]
		numbers := truth[f.Page]
		if at[f.Page] >= len(numbers) {
			return c, fmt.Errorf("%s has more breaks than in the first build", f.Page)
		}
		number := numbers[at[f.Page]]
		at[f.Page]++
		c.findings++
		want := places[number]
		switch {
		case f.Source != nil && *f.Source == want:
			c.exact++
			found[number] = true
			continue
		case f.Source == nil:
			c.none++
		case f.Source.File != want.File:
			c.wrongFile++
		case f.Source.Line == want.Line:
			c.sameLine++
		default:
			c.otherLine++
		}
		c.mistakes = append(c.mistakes, fmt.Sprintf("%s %s: got %v, want %v", f.Page, f.Raw, f.Source, &want))
	}
	for page, numbers := range truth {
		if at[page] != len(numbers) {
			return c, fmt.Errorf("%s has %d breaks, %d in the first build", page, at[page], len(numbers))
		}
	}
	c.found = len(found)
	return c, nil
}
