package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

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
