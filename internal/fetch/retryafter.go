package fetch

import (
	"net/http"
	"strings"
	"time"
)

// maxRetryAfter is as far as a host can put off the next attempt.
const maxRetryAfter = 30 * 24 * time.Hour

// RetryAfter returns how long a host wants to be left alone: never negative,
// 30 days at most. It is false without a Retry-After field that can be read;
// of several the first counts.
//
// https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.Trim(h.Get("Retry-After"), " \t")
	if value == "" {
		return 0, false
	}
	if strings.Trim(value, "0123456789") == "" {
		var d time.Duration
		for _, digit := range []byte(value) {
			d = min(d*10+time.Duration(digit-'0')*time.Second, maxRetryAfter)
		}
		return d, true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(max(at.Sub(now), 0), maxRetryAfter), true
}
