package text

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 pages", 1: "1 page", 999: "999 pages", 1000: "1,000 pages", 12345: "12,345 pages",
		123456: "123,456 pages", 1234567: "1,234,567 pages", -1234: "-1,234 pages", -123: "-123 pages",
	} {
		if got := Count(n, "page"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
