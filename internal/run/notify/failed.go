package notify

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// AllFailed asks [Failed] for all failed notices.
const AllFailed = "all"

// Failed returns the failed notices of a ledger to retry: all of them, or those with
// an address as their source or target.
func Failed(snap *ledger.Snapshot, address string) ([]ledger.Notice, error) {
	failed := snap.Failed()
	if address == AllFailed {
		return failed, nil
	}
	base, _ := weburl.Parse(snap.Base) // without a base, only absolute addresses are known
	u, err := base.Resolve(address)
	if err != nil {
		return nil, text.Usage("--retry: "+err.Error(), "name the page, or the target, with its address")
	}
	same := func(raw string) bool {
		other, err := weburl.Parse(raw)
		return raw == address || err == nil && other.String() == u.String()
	}
	var named []ledger.Notice
	for _, n := range failed {
		if same(n.Source) || same(n.Target) {
			named = append(named, n)
		}
	}
	if len(named) == 0 {
		return nil, text.WithHint(fmt.Errorf("no failed notice has the source or target %s", address), "sitelink ledger show --failed lists them")
	}
	return named, nil
}

// Cured returns the failed notices that might succeed now, for [deliver.Options].
// The built page no longer has the problems that made the target refuse it, or the
// cause was an answer of the host, and only a request shows whether that has
// changed. entries are nil if the docroot was not read.
func Cured(p *project.Project, snap *ledger.Snapshot, entries *outgoing.Entries) []ledger.Notice {
	pages := map[string]string{}
	if entries != nil {
		for _, e := range entries.List {
			pages[e.URL] = e.Page
		}
	}
	root, err := os.OpenRoot(p.Abs(p.Docroot))
	if err != nil {
		root = nil // as if the docroot were not read
	} else {
		defer root.Close()
	}
	var cured []ledger.Notice
	for _, n := range snap.Failed() {
		if n.Problems == "" {
			continue
		}
		page, known := pages[n.Source]
		if send.OfHost(n.Problems) || known && root != nil && !hasProblems(root, page, &n) {
			cured = append(cured, n)
		}
	}
	return cured
}

// hasProblems reports whether a built page has the problems of a notice. A page that
// cannot be read has them.
func hasProblems(root *os.Root, page string, n *ledger.Notice) bool {
	body, err := root.ReadFile(filepath.FromSlash(page))
	if err != nil {
		return true
	}
	built := &outgoing.Response{Status: http.StatusOK, URL: n.Source, Body: body}
	return send.ProblemCodes(send.ProblemsFor(n.Protocol, send.CheckSource(n.Source, built, n.Target))) == n.Problems
}

// Cure says how to fix the cause of a failed notice.
func Cure(n *ledger.Notice) string {
	retry := "sitelink notify --send --retry=" + n.Target + " sends it again"
	switch {
	case n.Problems != "":
		return n.Cure + "; sitelink notify --send then sends the notice again"
	case strings.HasPrefix(n.Message, "gave up"):
		return "wait until the target works again; " + retry
	}
	return "correct the link, or ask the owner of the target; " + retry
}
