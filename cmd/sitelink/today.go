package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/fault"
)

// today is the day by which entries of a baseline expire. SOURCE_DATE_EPOCH,
// in seconds, takes the place of the clock, so that the same commit gives the
// same report on any day (reproducible-builds.org/specs/source-date-epoch).
func (c *cli) today() (baseline.Date, error) {
	text := c.env.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return baseline.DateOf(time.Now()), nil
	}
	const most = 253402300799 // the end of the year 9999
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > most {
		return "", fault.Usage(fmt.Sprintf("SOURCE_DATE_EPOCH: must be seconds since 1970, not %q", text), "")
	}
	return baseline.DateOf(time.Unix(seconds, 0)), nil
}
