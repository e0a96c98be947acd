package baseline

import (
	"fmt"
	"time"
)

// Date is a day of the calendar as YYYY-MM-DD, "" for none. Dates compare as
// strings do.
type Date string

// ParseDate reads a day such as 2027-01-31.
func ParseDate(text string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", fmt.Errorf("must be a date such as 2027-01-31, not %q", text)
	}
	return Date(text), nil
}

// DateOf returns the day of t in UTC: two machines that check at the same time
// agree on what has expired.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }
