package weburl

import (
	"iter"
	"strings"
)

// Arguments returns the names and values of form data or of a query, each
// decoded once. They are parted at every & and ;, which stand for each other,
// and nothing is an error: net/url would refuse a ';'. It is meant for sitelink's
// own forms.
func Arguments(s string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for argument := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '&' || r == ';' }) {
			name, value, _ := strings.Cut(argument, "=")
			if !yield(string(DecodeArgument(nil, name)), string(DecodeArgument(nil, value))) {
				return
			}
		}
	}
}
