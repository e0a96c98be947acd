package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// profileBound is how far apart the host profiles may lie, slowest to fastest.
const profileBound = 1.05

// runProfiles compares the checks by the host profiles, in turns. They are judged
// by the least processor time of each, which depends the least on what else the
// machine does: that only adds. The other columns show how far it goes. Few runs
// say little: in four series of 40 to 60 the least processor times lay 2.7 to 6.7 %
// apart, in the 199 runs of one day 3.8, other profiles at the ends each time. What
// is left then is the machine: by instructions they lie 1.7 % apart.
func runProfiles(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	instructions := false
	more := func(fs *flag.FlagSet) {
		fs.BoolVar(&instructions, "instructions", false, "count instructions instead, with valgrind: one run of each, a minute")
	}
	return s.eachCorpus(ctx, "profiles", args, more, func(c corpus, path, version string) error {
		if instructions {
			return s.profileInstructions(ctx, c, path, version, out)
		}
		return s.profiles(ctx, c, path, version, out)
	})
}

// hosts are the profiles that are compared: that of no host in particular, and
// those of hosts of today.
var hosts = strings.Fields("generic apache azure-static-web-apps caddy cloudflare-pages firebase github-pages hugo-server lighttpd netlify nginx s3 vercel")

func (s *settings) profiles(ctx context.Context, c corpus, path, version string, out io.Writer) error {
	docroot := c.dir(s.cache)
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	check := func(profile string) program {
		return program{argv: []string{path, "check", docroot, "--profile", profile}, dir: tmp, out: filepath.Join(tmp, "report"), okExits: []int{0, 1}}
	}
	wall, cpu := make(map[string][]float64), make(map[string][]float64)
	for round := range s.runs {
		for i := range hosts {
			host := hosts[(i+round)%len(hosts)]
			one, err := check(host).measure(ctx, s.limit)
			if err != nil {
				return err
			}
			if one.Failure != "" {
				return fmt.Errorf("%s: %s", host, one.Failure)
			}
			wall[host] = append(wall[host], one.Wall.Seconds())
			cpu[host] = append(cpu[host], (one.User + one.Sys).Seconds())
		}
		fmt.Fprintf(out, "round %d/%d\n", round+1, s.runs)
	}

	var r result
	r.addf("sitelink check --profile NAME on %s\n\n", c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s\n", c.pkg, c.version(s.cache), c.docroot)
	r.addf("sitelink  %s\n", version)
	r.addf("runs      %d of each, in turns\n", s.runs)
	r.section("figures")
	columns := []func(host string) float64{
		func(host string) float64 { return wall[host][0] },
		func(host string) float64 { return wall[host][s.runs/2] },
		func(host string) float64 { return cpu[host][s.runs/2] },
		func(host string) float64 { return cpu[host][0] },
	}
	for _, host := range hosts {
		slices.Sort(wall[host])
		slices.Sort(cpu[host])
	}
	var rows [][]string
	for _, host := range hosts {
		row := []string{host}
		for _, of := range columns {
			row = append(row, fmt.Sprintf("%.3f", of(host)))
		}
		rows = append(rows, row)
	}
	last, spread := []string{"slowest / fastest"}, 0.0
	for _, of := range columns {
		var all []float64
		for _, host := range hosts {
			all = append(all, of(host))
		}
		spread = slices.Max(all) / slices.Min(all)
		last = append(last, fmt.Sprintf("%.3f", spread))
	}
	r.WriteString(table([]string{"profile", "fastest s", "median s", "median cpu s", "least cpu s"}, append(rows, last)))
	wanted, verdict := figure{bound: profileBound, atMost: true}.judge(spread, false)
	r.addf("\nslowest / fastest by the least processor time %.3f, wanted %s: %s\n", spread, wanted, verdict)
	return r.keep(s, c.pkg+"-profiles", out)
}

// instructionRefs is what cachegrind says at its end.
var instructionRefs = regexp.MustCompile(`(?m)^==\d+== I +refs: +([\d,]+)`)

// profileInstructions counts the instructions of the check by each profile: the
// same in every run, whatever else the machine does. One processor, and no garbage
// collector, whose rounds come at another moment each time.
func (s *settings) profileInstructions(ctx context.Context, c corpus, path, version string, out io.Writer) error {
	tmp, remove, err := scratch()
	if err != nil {
		return err
	}
	defer remove()
	report := filepath.Join(tmp, "report")
	counts := make(map[string]float64)
	for _, host := range hosts {
		p := program{dir: tmp, out: report, okExits: []int{0, 1}, argv: []string{"env", "GOGC=off", "GOMAXPROCS=1",
			"valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + os.DevNull, path, "check", c.dir(s.cache), "--profile", host}}
		one, err := p.measure(ctx, s.limit)
		if err != nil {
			return err
		}
		if one.Failure != "" {
			return fmt.Errorf("%s: %s", host, one.Failure)
		}
		text, err := os.ReadFile(report)
		if err != nil {
			return fmt.Errorf("read what valgrind said: %w", err)
		}
		if counts[host], err = instructionsIn(string(text)); err != nil {
			return fmt.Errorf("%s: %w", host, err)
		}
		fmt.Fprintf(out, "%s\n", host)
	}

	var r result
	r.addf("instructions of sitelink check --profile NAME on %s\n\n", c.pkg)
	r.machine(ctx, s.date)
	r.addf("corpus    %s %s, docroot %s\n", c.pkg, c.version(s.cache), c.docroot)
	r.addf("sitelink  %s\n", version)
	r.section("figures")
	var rows [][]string
	var all []float64
	for _, host := range hosts {
		rows = append(rows, []string{host, fmt.Sprintf("%.3f", counts[host]/1e9)})
		all = append(all, counts[host])
	}
	spread := slices.Max(all) / slices.Min(all)
	rows = append(rows, []string{"most / least", fmt.Sprintf("%.3f", spread)})
	r.WriteString(table([]string{"profile", "billion instructions"}, rows))
	wanted, verdict := figure{bound: profileBound, atMost: true}.judge(spread, false)
	r.addf("\nmost / least %.3f, wanted %s: %s\n", spread, wanted, verdict)
	return r.keep(s, c.pkg+"-profile-instructions", out)
}

func instructionsIn(text string) (float64, error) {
	found := instructionRefs.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("valgrind counted nothing: %s", lastLines(text, 3))
	}
	return strconv.ParseFloat(strings.ReplaceAll(found[1], ",", ""), 64)
}
