package hook

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/report"
)

// Write writes the result to w in one of the formats of `sitelink check
// --format`: text, json, jsonl, markdown, github, sarif, junit, gitlab,
// checkstyle, html (docs/reference/formats.md). Findings stand at their place in the
// sources where that is known, else in the docroot, under the name that
// Summary.Docroot has. The same result gives the
// same bytes. The errors are an unknown format and those of w.
func (r *Result) Write(w io.Writer, format string) error {
	f, ok := report.ByName(format)
	if !ok {
		return fmt.Errorf("write report: no format is named %q", format)
	}
	return f.Write(w, r.Result, report.Options{TextOptions: report.TextOptions{Prefix: r.Summary.Docroot}, Base: filepath.ToSlash(r.Summary.Docroot)})
}
