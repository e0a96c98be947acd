package hook

import (
	"strings"

	"github.com/sitelink/sitelink/check"
)

// boundary takes from the output of rev-list --boundary the first commit that
// the other side has: it begins with a dash. A list that is empty says that it
// has the pushed commit itself.
func boundary(list, pushed string) string {
	if list == "" {
		return pushed
	}
	for line := range strings.Lines(list) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
			return id
		}
	}
	return ""
}

// newFindings returns the findings of now whose fingerprints before has not,
// in order, and how many it has.
func newFindings(now, before []check.Finding) (fresh []check.Finding, old int) {
	had := map[string]bool{}
	for _, id := range check.Fingerprints(before) {
		had[id] = true
	}
	for i, id := range check.Fingerprints(now) {
		if had[id] {
			old++
		} else {
			fresh = append(fresh, now[i])
		}
	}
	return fresh, old
}
