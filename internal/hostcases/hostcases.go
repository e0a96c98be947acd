// Package hostcases holds the path edge cases that hosts are measured with: a
// docroot of odd files, the links to request from it, and the table of what
// servers answered. Only tests use it: those that ask the servers, and those
// that compare sitelink's predictions with the recorded answers.
//
// The package does not depend on how sitelink reads a path: the docroot, the links
// and the answers are facts about hosts.
package hostcases

import "fmt"

// Page is the file of the docroot that a test writes the links to. It does not
// exist until then.
const Page = "links.html"

// Case is one link of the page [Page].
type Case struct {
	// Href is the link as written on the page.
	Href string
	// Target is the request that a browser makes for it: path and query.
	Target string
	// Hangs is set if some server never answers the request.
	Hangs bool
}

// Key names a request in messages and tables: the request itself, or its start,
// its end and its length if it is long.
func Key(target string) string {
	const most = 120
	if len(target) <= most {
		return target
	}
	return fmt.Sprintf("%s...%s(%d)", target[:most/2], target[len(target)-most/4:], len(target))
}
