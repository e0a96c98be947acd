package report

import (
	"fmt"
	"io"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/report"
)

// Write writes the report of r in a format: one of the values of --format, such as
// text, json, markdown or sarif. Paths are relative to the docroot. The errors are an
// unknown format and those of w.
func Write(w io.Writer, format string, r *check.Result) error {
	f, ok := report.ByName(format)
	if !ok {
		return fmt.Errorf("no report has the format %q", format)
	}
	return f.Write(w, r, report.Options{})
}
