package inject

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the changes as a unified diff that patch(1) and git apply read,
// the files in alphabetical order of the plan's changes.
func (p *Plan) Diff() []byte {
	var b bytes.Buffer
	for _, c := range p.Changes {
		from, to := "a/"+c.Path, "b/"+c.Path
		if c.Before == nil {
			from = "/dev/null"
		}
		if c.After == nil {
			to = "/dev/null"
		}
		text := diff.Diff(from, c.Before, to, c.After)
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // "diff a b", which git reads as a header of its own
			text = rest
		}
		b.Write(text)
	}
	return b.Bytes()
}
