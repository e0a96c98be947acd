package report

import (
	"strings"

	"github.com/sitelink/sitelink/check"
)

// hint returns what stands before and after a suggestion: of a link it is what
// was meant, of the elements in the head what to do.
func hint(f *check.Finding) (before, after string) {
	if isEndpoint(f.Code) {
		return "cure: ", ""
	}
	return "did you mean ", "?"
}

// isEndpoint tells whether a code is about the elements that name endpoints.
func isEndpoint(c check.Code) bool { return strings.HasPrefix(string(c), "endpoint-") }
