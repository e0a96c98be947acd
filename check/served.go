package check

import (
	"fmt"

	isite "github.com/sitelink/sitelink/internal/site"
)

// Deployable returns an error, which says what to do, if the docroot is one that
// nobody should publish: pages of it were written by `hugo server`, with links to
// localhost, and perhaps with drafts.
func Deployable(sum *Summary) error {
	if sum.ServerPages == 0 {
		return nil
	}
	return fmt.Errorf("docroot %s is not to be published: %s written by hugo server; run hugo, or sitelink build", sum.Docroot, pagesWere(sum.ServerPages))
}

// serverNote says that hugo server wrote a docroot.
func serverNote(s *isite.Site, n int) string {
	note := pagesWere(n) + " written by hugo server: do not publish this docroot; run hugo, or sitelink build"
	if url := s.ServerURL(); url != "" {
		note += "; links to " + url + " are taken for the site's own"
	}
	return note
}

func pagesWere(n int) string {
	if n == 1 {
		return "1 page was"
	}
	return fmt.Sprintf("%d pages were", n)
}
