package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// schemes returns the colours of html/report.css by name: light as they stand
// first, dark and print with what their media queries change.
func schemes(t *testing.T) map[string]map[string]string {
	t.Helper()
	root := regexp.MustCompile(`(?s):root \{(.*?)\}`)
	variable := regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{3}(?:[0-9a-f]{3})?);`)
	blocks := root.FindAllStringSubmatch(htmlStyle, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d sets of colours, want light, dark and print", len(blocks))
	}
	all := map[string]map[string]string{}
	for i, name := range []string{"light", "dark", "print"} {
		colors := map[string]string{}
		for _, set := range []int{0, i} {
			for _, m := range variable.FindAllStringSubmatch(blocks[set][1], -1) {
				colors[m[1]] = m[2]
			}
		}
		if len(colors) < 10 {
			t.Fatalf("%s: only %d colours", name, len(colors))
		}
		all[name] = colors
	}
	return all
}

// contrast returns the contrast ratio of two colours.
//
// Spec: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(color string) float64 {
	if len(color) == 4 {
		color = fmt.Sprintf("#%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", color[1], color[2], color[3])
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err) // the pattern of schemes lets hex digits through only
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// TestHTMLContrast: text has a contrast of 4.5 on every ground it stands on,
// what must be told apart without being text 3, as WCAG 2.2 AA asks (1.4.3,
// 1.4.11).
func TestHTMLContrast(t *testing.T) {
	if got := contrast("#767676", "#fff"); math.Abs(got-4.54) > 0.01 {
		t.Fatalf("contrast of #767676 on white is %.2f, want 4.54", got)
	}
	for scheme, colors := range schemes(t) {
		for _, pair := range []struct {
			least       float64
			fg, grounds string
		}{
			{4.5, "text", "page card hover"},
			{4.5, "muted", "page card hover"},
			{4.5, "accent", "page card hover pressed"},
			{4.5, "error", "page card hover"},
			{4.5, "warning", "page card hover"},
			{4.5, "ok", "page card hover"},
			{3, "control", "page card"}, // borders of controls
			{3, "quiet", "page card"},   // the bar
			{3, "accent", "page card"},  // focus
		} {
			if scheme == "print" && (pair.fg == "control") {
				continue // no controls on paper
			}
			for ground := range strings.FieldsSeq(pair.grounds) {
				if scheme == "print" && ground != "page" && ground != "card" {
					continue
				}
				if got := contrast(colors[pair.fg], colors[ground]); got < pair.least {
					t.Errorf("%s: %s %s on %s %s is %.2f, want %.1f", scheme, pair.fg, colors[pair.fg], ground, colors[ground], got, pair.least)
				}
			}
		}
	}
}
