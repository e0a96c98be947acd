package main

import (
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	got := table([]string{"program", "min s", "links", ""}, [][]string{
		{"sitelink", "0.351", "2,512,003"},
		{"lychee", "> 180.000", "", "stopped after 3m0s"},
		{"höher", "12.5", "-"},
	})
	want := "" +
		"program       min s      links\n" +
		"--------  ---------  ---------  ------------------\n" +
		"sitelink      0.351  2,512,003\n" +
		"lychee    > 180.000             stopped after 3m0s\n" +
		"höher          12.5          -\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{thousands(0), "0"},
		{thousands(999), "999"},
		{thousands(1000), "1,000"},
		{thousands(2512003), "2,512,003"},
		{thousands(-100), "-100"},
		{thousands(-1234567), "-1,234,567"},
		{megabytes(477_753_249), "477.8"},
		{mebibytes(3 << 20), "3.0"},
		{seconds(1234567 * time.Microsecond), "1.235"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []time.Duration
		want time.Duration
	}{
		{"none", nil, 0},
		{"one", []time.Duration{7}, 7},
		{"odd, unsorted", []time.Duration{9, 1, 5}, 5},
		{"even", []time.Duration{8, 2, 4, 100}, 6},
	} {
		if got := median(c.in); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}
