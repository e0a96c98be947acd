package config

import (
	"fmt"
	"math"
	"strconv"
)

// linksets checks each value by the function of the request: what a linkset
// is, package check knows.
func linksets(field func(*Config) *[]string) func(*loader, []string, string) error {
	return func(l *loader, values []string, _ string) error {
		for _, v := range values {
			if l.req.Linkset == nil {
				break
			}
			if err := l.req.Linkset(v); err != nil {
				return &hintError{err.Error(), "linksets look like /, /page.html, /sub/# or /sub/@"}
			}
		}
		*field(l.cfg) = values
		return nil
	}
}

// limit must be a whole number (LL-23).
func limit(l *loader, values []string, _ string) error {
	n, err := strconv.Atoi(values[0])
	if err != nil || n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("want a whole number from 0 to %d, got %q", math.MaxInt32, values[0])
	}
	l.cfg.Limit = n
	return nil
}
