package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// profileBound is how far apart the host profiles may lie, slowest to fastest.
const profileBound = 1.05

// runProfiles compares the checks by the host profiles, by the fastest run of
// each of as many: what else the machine does only adds, and adds more than
// the profiles differ. Beside it stand medians: each run of a profile lies
// between two of generic and is divided by their mean, since the speed of a
// machine drifts.
func runProfiles(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	if err := s.parse("profiles", args, nil); err != nil {
		return err
	}
	chosen, err := s.chosen()
	if err != nil {
		return err
	}
	path, version, err := s.buildSitelink(ctx)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if err := s.profiles(ctx, c, path, version, out); err != nil {
			return fmt.Errorf("profiles on %s: %w", c.pkg, err)
		}
	}
	return nil
}

// hosts are the profiles that are compared: those of hosts of today.
var hosts = strings.Fields("apache caddy cloudflare-pages firebase github-pages hugo-server lighttpd netlify nginx s3 vercel")

func (s *settings) profiles(ctx context.Context, c corpus, path, version string, out io.Writer) error {
	docroot := c.dir(s.cache)
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	if _, _, err := readTree(docroot, runtime.GOMAXPROCS(0), func([]byte) bool { return true }); err != nil {
		return err
	}
	check := func(profile string) program {
		return program{argv: []string{path, "check", docroot, "--profile", profile}, dir: tmp, out: filepath.Join(tmp, "report"), okExits: []int{0, 1}}
	}
	generic := check("generic")
	wall, cpu, best := make(map[string][]float64), make(map[string][]float64), make(map[string]float64)
	fastest := func(profile string, wall float64) {
		if b, ok := best[profile]; !ok || wall < b {
			best[profile] = wall
		}
	}
	last, err := generic.measure(ctx, s.limit)
	if err != nil {
		return err
	}
	for round := range s.runs {
		for i := range hosts {
			host := hosts[(i+round)%len(hosts)]
			one, err := check(host).measure(ctx, s.limit)
			if err != nil {
				return err
			}
			next, err := generic.measure(ctx, s.limit)
			if err != nil {
				return err
			}
			if failure := one.Failure + last.Failure + next.Failure; failure != "" {
				return fmt.Errorf("%s: %s", host, failure)
			}
			if fastest(host, one.Wall.Seconds()); i == 0 { // as often as the others
				fastest("generic", last.Wall.Seconds())
			}
			wall[host] = append(wall[host], 2*one.Wall.Seconds()/(last.Wall+next.Wall).Seconds())
			cpu[host] = append(cpu[host], 2*(one.User+one.Sys).Seconds()/(last.User+last.Sys+next.User+next.Sys).Seconds())
			last = next
		}
		fmt.Fprintf(out, "round %d/%d\n", round+1, s.runs)
	}

	var r result
	r.addf("sitelink check --profile NAME on %s, against --profile generic\n\n", c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s\n", c.pkg, c.version(s.cache), c.docroot)
	r.addf("sitelink  %s\n", version)
	r.addf("runs      %d of each, each between two of generic\n", s.runs)
	r.section("figures")
	rows := [][]string{{"generic", fmt.Sprintf("%.3f", best["generic"]), "1.000", "1.000"}}
	for _, host := range hosts {
		slices.Sort(wall[host])
		slices.Sort(cpu[host])
		rows = append(rows, []string{host, fmt.Sprintf("%.3f", best[host]), fmt.Sprintf("%.3f", wall[host][s.runs/2]), fmt.Sprintf("%.3f", cpu[host][s.runs/2])})
	}
	r.WriteString(table([]string{"profile", "fastest s", "median to generic", "median cpu to generic"}, rows))
	times := slices.Collect(maps.Values(best))
	spread := slices.Max(times) / slices.Min(times)
	wanted, verdict := figure{bound: profileBound, atMost: true}.judge(spread, false)
	r.addf("\nslowest / fastest %.3f, wanted %s: %s\n", spread, wanted, verdict)
	return r.keep(s, c.pkg+"-profiles", out)
}
