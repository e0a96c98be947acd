package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostForPositions is the figure to reach: how many times longer a check with
// positions may take than one without, if an earlier run kept the positions.
const mostForPositions = 1.5

// runKept measures what source positions cost on real Hugo sites: on the first
// run, on an unchanged project, and after an edit that moves all links of the content
// file with the most findings. The report must be the one of a first run.
func runKept(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	var sites, hugo string
	if err := s.parse("kept", args, func(fs *flag.FlagSet) {
		fs.StringVar(&sites, "sites", "", "`directories` of Hugo sites, comma-separated; they are copied, never written")
		fs.StringVar(&hugo, "hugo", "hugo", "`program` that builds them")
	}); err != nil {
		return err
	}
	if sites == "" {
		return fmt.Errorf("%w: kept needs -sites", errUsage)
	}
	tools, err := s.tools(ctx, hugo)
	if err != nil {
		return err
	}
	var r result
	r.machine(ctx, s.date)
	r.addf("sitelink  %s\nruns      %d, the fastest counts\n", tools.version, s.runs)
	var rows [][]string
	var missed []string
	for from := range strings.SplitSeq(sites, ",") {
		tmp, remove, err := scratch()
		if err != nil {
			return err
		}
		k := keptRun{measurement: tools.in(tmp), from: filepath.Clean(from), tmp: tmp, runs: s.runs}
		err = k.measure(ctx)
		remove()
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		rows, missed = append(rows, k.rows...), append(missed, k.missed...)
	}
	r.section("Checks with source positions and with --source off")
	r.addf("%s", table([]string{"site", "run", "findings", "off s", "with s", "ratio", "off cpu s", "with cpu s", "cpu ratio", "off MiB", "with MiB"}, rows))
	if err := r.keep(&s, "kept", out); err != nil {
		return err
	}
	if len(missed) > 0 {
		return fmt.Errorf("figures not reached: %s", strings.Join(missed, "; "))
	}
	return nil
}

// keptRun is one site on its way.
type keptRun struct {
	measurement
	from, tmp string
	runs      int
	rows      [][]string
	missed    []string
}

func (k *keptRun) measure(ctx context.Context) error {
	if err := k.prepare(k.from); err != nil {
		return err
	}
	// Sites that ask git for dates need a repository.
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "bench"}} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = k.site
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, said)
		}
	}
	if err := k.build(ctx); err != nil {
		return err
	}
	first, err := k.report(ctx)
	if err != nil {
		return err
	}
	kept := filepath.Join(k.tmp, "kept")
	if err := os.Rename(k.cache(), kept); err != nil {
		return err
	}
	if err := k.state(ctx, "first", "", first); err != nil {
		return err
	}
	if err := k.state(ctx, "unchanged", kept, first); err != nil {
		return err
	}
	file, err := contentOf(k.site, first)
	if err != nil {
		return err
	}
	if err := addLine(filepath.Join(k.site, filepath.FromSlash(file))); err != nil {
		return err
	}
	if err := k.build(ctx); err != nil {
		return err
	}
	edited, err := k.report(ctx)
	if err != nil {
		return err
	}
	if bytes.Equal(first, edited) {
		return fmt.Errorf("a new line in %s moves no finding", file)
	}
	return k.state(ctx, "edited", kept, edited)
}

// cache is the cache directory of all checks: another one would be another
// environment of Hugo.
func (k *keptRun) cache() string { return filepath.Join(k.tmp, "cache") }

// command returns the check.
func (k *keptRun) command(ctx context.Context, source string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, k.sitelink, "check", "public", "--format", "jsonl", "--fail-on", "never", "--source", source)
	cmd.Dir = k.site
	cmd.Env = append(os.Environ(), "PATH="+k.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "XDG_CACHE_HOME="+k.cache())
	return cmd
}

// report returns the report of a check that begins with an empty cache.
func (k *keptRun) report(ctx context.Context) ([]byte, error) {
	if err := os.RemoveAll(k.cache()); err != nil {
		return nil, err
	}
	out, err := k.command(ctx, "auto").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("check the site: %w\n%s", err, exit.Stderr)
	}
	return out, err
}

// state measures the site as it is now. Each run starts with a copy of the cache,
// or with an empty one for "".
func (k *keptRun) state(ctx context.Context, name, kept string, want []byte) error {
	var best [2]usage
	for range k.runs {
		for i, source := range []string{"off", "auto"} {
			if err := os.RemoveAll(k.cache()); err != nil {
				return err
			}
			if kept != "" {
				if err := os.CopyFS(k.cache(), os.DirFS(kept)); err != nil {
					return err
				}
			}
			cmd := k.command(ctx, source)
			var out bytes.Buffer
			cmd.Stdout = &out
			began := time.Now()
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("check the site: %w", err)
			}
			if source == "auto" && !bytes.Equal(out.Bytes(), want) {
				return fmt.Errorf("%s: the report differs from that of a run with an empty cache", name)
			}
			u := usageOf(time.Since(began), cmd.ProcessState.SysUsage().(*syscall.Rusage))
			if b := &best[i]; b.Wall == 0 {
				*b = u
			} else {
				b.Wall, b.PeakRSS = min(b.Wall, u.Wall), min(b.PeakRSS, u.PeakRSS)
				if u.User+u.Sys < b.User+b.Sys {
					b.User, b.Sys = u.User, u.Sys
				}
			}
		}
	}
	cpu := func(u usage) time.Duration { return u.User + u.Sys }
	ratio := cpu(best[1]).Seconds() / cpu(best[0]).Seconds()
	k.rows = append(k.rows, []string{siteName(k.from), name, strconv.Itoa(bytes.Count(want, []byte("\n"))),
		seconds(best[0].Wall), seconds(best[1].Wall), fmt.Sprintf("%.2f", best[1].Wall.Seconds()/best[0].Wall.Seconds()),
		seconds(cpu(best[0])), seconds(cpu(best[1])), fmt.Sprintf("%.2f", ratio),
		strconv.FormatInt(best[0].PeakRSS>>20, 10), strconv.FormatInt(best[1].PeakRSS>>20, 10)})
	if kept != "" && ratio > mostForPositions {
		k.missed = append(k.missed, fmt.Sprintf("%s, %s: %.2f times, want at most %.1f", siteName(k.from), name, ratio, mostForPositions))
	}
	return nil
}

// siteName returns the last name of a directory that is not the same for many
// sites.
func siteName(dir string) string {
	if name := filepath.Base(dir); name != "site" && name != "docs" && name != "exampleSite" {
		return name
	}
	return filepath.Base(filepath.Dir(dir))
}

// contentOf returns the Markdown file with the most findings of a report.
func contentOf(site string, report []byte) (string, error) {
	count := map[string]int{}
	for line := range bytes.Lines(report) {
		var row struct {
			Source struct{ File, Kind, Module string }
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return "", fmt.Errorf("read the report: %w", err)
		}
		if f := row.Source; strings.HasSuffix(f.File, ".md") && f.Kind == "" && f.Module == "" {
			if _, err := fs.Stat(os.DirFS(site), f.File); err == nil {
				count[f.File]++
			}
		}
	}
	if len(count) == 0 {
		return "", errors.New("no finding is in a Markdown file")
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(count)), func(a, b string) int { return cmp.Compare(count[a], count[b]) }), nil
}

// addLine adds a paragraph at the beginning of the body of a Markdown file.
func addLine(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	at := 0
	for _, fence := range []string{"---\n", "+++\n"} {
		if strings.HasPrefix(string(text), fence) {
			if n := bytes.Index(text[4:], []byte("\n"+fence)); n >= 0 {
				at = 4 + n + 1 + len(fence)
			}
		}
	}
	return os.WriteFile(name, slices.Concat(text[:at], []byte("\nOne more line.\n\n"), text[at:]), 0o644)
}
