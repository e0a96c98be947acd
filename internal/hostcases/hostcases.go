// Package hostcases holds the path edge cases that hosts are measured with: a
// docroot of odd files, the links to request from it, and the table of what
// servers answered. Only tests use it: those that ask the servers, and those
// that hold sitelink's predictions against the recorded answers.
//
// Nothing here knows how sitelink reads a path; the docroot, the links and the
// answers are facts about hosts.
package hostcases

import "fmt"

// Page is the file of the docroot that a test writes the links into. It is
// not there until then.
const Page = "links.html"

// Case is one link of the page [Page].
type Case struct {
	// Href is the link as it stands on the page.
	Href string
	// Target is the request that a browser makes of it: path and query.
	Target string
	// Hangs tells that some server never answers it.
	Hangs bool
}

// Key names a request in messages and tables: the request itself, or its two
// ends and its length where it is long.
func Key(target string) string {
	const most = 120
	if len(target) <= most {
		return target
	}
	return fmt.Sprintf("%s...%s(%d)", target[:most/2], target[len(target)-most/4:], len(target))
}
