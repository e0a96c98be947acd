package main

import (
	"fmt"
	"slices"
)

// figure is a ratio with the bound it has to keep.
type figure struct {
	title   string
	over    string // label of the numerator
	under   string // label of the denominator
	of      quantity
	bound   float64
	atMost  bool     // bound is the largest value allowed, else the smallest
	corpora []string // where the bound holds; elsewhere the ratio only informs
	comment string
}

// quantity is what a figure divides.
type quantity uint8

const (
	wallTime   quantity = iota // median
	cpuTime                    // median of user and system time, all threads
	peakMemory                 // largest of all rounds
)

func (q quantity) of(e *entry) float64 {
	switch q {
	case cpuTime:
		return e.medianCPU().Seconds()
	case peakMemory:
		return float64(e.peakRSS())
	}
	return e.medianWall().Seconds()
}

var figures = []figure{
	{title: "sitelink / bare reading of pages", over: labelSitelink, under: labelRead, bound: 3.5, atMost: true, corpora: []string{"rust-doc"}, comment: "the aim is 2"},
	{title: "CPU time: sitelink / bare reading of pages", over: labelSitelink, under: labelRead, of: cpuTime},
	{title: "sitelink / bare reading of all files", over: labelSitelink, under: labelReadAll},
	{title: "hyperlink --check-anchors / sitelink", over: labelAnchors, under: labelSitelink, bound: 12, corpora: []string{"rust-doc"}},
	{title: "hyperlink (no anchors) / sitelink", over: labelHyperlink, under: labelSitelink},
	{title: "lychee --include-fragments / sitelink", over: labelLychee, under: labelSitelink, bound: 100, corpora: []string{"openjdk-17-doc", "python3.11-doc"}},
	{title: "lychee, html only / sitelink", over: labelLycheeHTML, under: labelSitelink, bound: 100, corpora: []string{"openjdk-17-doc", "python3.11-doc"}},
	{title: "htmltest, concurrent / sitelink", over: "htmltest, concurrent", under: labelSitelink},
	{title: "linklint / sitelink", over: "linklint", under: labelSitelink},
	{title: "memory: sitelink / hyperlink --check-anchors", over: labelSitelink, under: labelAnchors, of: peakMemory, bound: 1, atMost: true, corpora: []string{"rust-doc"}},
}

// ratios writes the table of figures whose two entries were run, or nothing
// when there is none. A program that was stopped at the limit gives a lower
// bound of its ratio.
func ratios(corpus string, entries []*entry) string {
	find := func(label string) *entry {
		i := slices.IndexFunc(entries, func(e *entry) bool { return e.label == label })
		if i < 0 {
			return nil
		}
		return entries[i]
	}
	var rows [][]string
	for _, f := range figures {
		over, under := find(f.over), find(f.under)
		if over == nil || under == nil || !under.ok() || !over.ok() && (f.of != wallTime || !over.timedOut()) {
			continue
		}
		value := f.of.of(over) / f.of.of(under)
		r := []string{f.title, fmt.Sprintf("%.2f", value), "", ""}
		// A program stopped at the limit would have taken longer.
		if over.timedOut() {
			r[1] = "> " + r[1]
		}
		if slices.Contains(f.corpora, corpus) {
			r[2], r[3] = f.judge(value, over.timedOut())
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return ""
	}
	return table([]string{"ratio", "value", "wanted", ""}, rows)
}

// judge compares value with the bound. atLeast says that value is only a
// lower bound, which can reach a lower bound but never prove an upper one.
func (f figure) judge(value float64, atLeast bool) (wanted, verdict string) {
	sign, met := ">=", value >= f.bound
	if f.atMost {
		sign, met = "<=", value <= f.bound && !atLeast
	}
	verdict = "missed"
	if met {
		verdict = "reached"
	} else if atLeast && !f.atMost {
		verdict = "open: the program was stopped"
	}
	if f.comment != "" {
		verdict += "; " + f.comment
	}
	return fmt.Sprintf("%s %g", sign, f.bound), verdict
}
