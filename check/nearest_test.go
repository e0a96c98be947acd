package check

import (
	"fmt"
	"testing"
)

func TestNearest(t *testing.T) {
	v := &nameList{}
	for _, n := range []string{"bowline", "Reef-Knot", "knot2", "knot1", "a", "installation"} {
		v.add(n)
	}
	for want, expect := range map[string]string{
		"bowlin": "bowline", "reefknot": "Reef-Knot", "knot": "knot1", "knots": "knot1", "b": "", "instalation": "installation",
		"uninstallations": "installation", "": "", "something-else": "",
	} {
		if got := v.nearest(want); got != expect {
			t.Errorf("nearest(%q) = %q, want %q", want, got, expect)
		}
	}
	if got := (*nameList)(nil).nearest("x"); got != "" {
		t.Errorf("nil nameList gives %q", got)
	}
}

// TestNearest_bounded: the effort is bounded for many names and many queries,
// and names that differ only in case are still found.
func TestNearest_bounded(t *testing.T) {
	v := &nameList{}
	for i := range 50_000 {
		v.add(fmt.Sprintf("Name-of-section-%d", i))
	}
	for i := range 5_000 {
		v.nearest(fmt.Sprintf("other-title-%d", i))
	}
	if v.compared < maxComparisons || v.nearest("name-of-section-7") != "Name-of-section-7" {
		t.Errorf("spent %d, nearest of a known name %q", v.compared, v.nearest("name-of-section-7"))
	}
	if got := v.nearest("Name-of-sektion-7"); got != "" {
		t.Errorf("compared more names than the bound allows: %q", got)
	}
}
