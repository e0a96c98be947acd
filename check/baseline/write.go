package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// header is the line that makes a file a baseline.
var header = fmt.Sprintf(`{"sitelink-baseline":%d}`, version)

// Write writes b as [Read] reads it: the header, then one entry a line, sorted.
// The same entries give the same bytes. Errors are those of w, or that b has
// more than [MaxBytes].
func (b *Baseline) Write(w io.Writer) error {
	var buf bytes.Buffer
	buf.WriteString(header + "\n")
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // links are full of &
	size := 0
	for _, e := range b.Entries() {
		if err := enc.Encode(line{Page: e.Page, Code: string(e.Code), Link: e.Link, Expires: string(e.Expires), Reason: e.Reason, ID: e.ID}); err != nil {
			return fmt.Errorf("write baseline: %w", err)
		}
		if size+buf.Len() > MaxBytes {
			return fmt.Errorf("write baseline: %d entries are more than %d MiB; an ignore rule accepts many findings at once", b.Len(), MaxBytes>>20)
		}
		if buf.Len() >= 64<<10 {
			size += buf.Len()
			if _, err := buf.WriteTo(w); err != nil {
				return fmt.Errorf("write baseline: %w", err)
			}
		}
	}
	if _, err := buf.WriteTo(w); err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}
