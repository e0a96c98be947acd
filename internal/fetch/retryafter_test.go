package fetch

import (
	"net/http"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0":                              0,
		"120":                            2 * time.Minute,
		" 7 ":                            7 * time.Second,
		"0000000000000000000000000003":   3 * time.Second,
		"99999999999999999999999999999":  maxRetryAfter,
		"Fri, 01 May 2026 12:00:30 GMT":  30 * time.Second,
		"Friday, 01-May-26 12:01:00 GMT": time.Minute,
		"Fri May  1 13:00:00 2026":       time.Hour,
		"Fri, 01 May 2026 11:00:00 GMT":  0,
		"Fri, 01 May 9999 11:00:00 GMT":  maxRetryAfter,
	} {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if !ok || got != want {
			t.Errorf("%q: got %s, %v, want %s", value, got, ok, want)
		}
	}
	for _, value := range []string{"", " ", "-1", "+1", "1.5", "1s", "soon", "1, 2", "²"} {
		if got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon); ok || got != 0 {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
	}
	if _, ok := RetryAfter(nil, noon); ok {
		t.Error("a value without a field")
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{"1", "9223372036854775807", "Fri, 01 May 2026 12:00:30 GMT", "-5", "Fri May  1 13:00:00 2026"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := RetryAfter(http.Header{"Retry-After": {value}}, noon)
		if got < 0 || got > maxRetryAfter || !ok && got != 0 {
			t.Errorf("%q: got %s, %v", value, got, ok)
		}
		later, ok2 := RetryAfter(http.Header{"Retry-After": {value}}, noon.Add(time.Second))
		if ok2 != ok || later > got || got-later > time.Second {
			t.Errorf("%q: got %s, and %s a second later", value, got, later)
		}
	})
}
