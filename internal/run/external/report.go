package external

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/site"
)

// failure describes a failed link.
func failure(r *remote.Record) string {
	what := says(r.Reason, r.Status)
	if (r.Reason == remote.SoftMissing || r.Reason == remote.Parked) && len(r.Hints) > 0 {
		what += ": " + r.Hints[0]
	}
	if r.Strikes > 1 {
		return fmt.Sprintf("%s: %s; it failed in %d runs since %s", r.URL, what, r.Strikes, r.Since.Format(time.DateOnly))
	}
	if r.Code == check.DeadLink || r.Strikes == 0 {
		return r.URL + ": " + what
	}
	return fmt.Sprintf("%s: %s; it failed first on %s, and later runs decide whether it is dead", r.URL, what, r.Since.Format(time.DateOnly))
}

// sayings are the reasons in words.
var sayings = map[remote.Reason]string{
	remote.NoSuchHost:   "no such host",
	remote.DNS:          "the host name could not be looked up",
	remote.Timeout:      "the host did not answer in time",
	remote.Refused:      "the host refused the connection, or cannot be reached",
	remote.Reset:        "the host closed the connection without an answer",
	remote.TLS:          "the TLS handshake failed",
	remote.TLSExpired:   "the TLS certificate has expired",
	remote.TLSName:      "the TLS certificate is for another host",
	remote.TLSAuthority: "the TLS certificate is self-signed, or from an unknown authority",
	remote.TLSChain:     "the host does not send the intermediate certificate that signed its own; some browsers find it elsewhere, other programs fail",
	remote.SoftMissing:  "the page seems to be missing although the host answers 200",
	remote.Parked:       "the domain seems to be for sale",
	remote.Garbage:      "the answer cannot be read",
	remote.RedirectLoop: "the redirects never end",
	remote.BadRedirect:  "the host redirects to something that is not a URL",
}

// says describes what happened.
func says(reason remote.Reason, status int) string {
	if s := sayings[reason]; s != "" {
		return s
	}
	if name := http.StatusText(status); name != "" {
		return fmt.Sprintf("the host answers %d (%s)", status, name)
	}
	return fmt.Sprintf("the host answers %d", status)
}

// remote returns what a row has about a record, besides its verdict.
func (c *Checker) remote(r *remote.Record) *check.Remote {
	row := &check.Remote{Reason: string(r.Reason), Strikes: r.Strikes, Since: r.Since}
	if _, ok := slices.BinarySearch(c.report.Died, r.URL); ok {
		row.Change = check.Died
	} else if _, ok := slices.BinarySearch(c.report.Recovered, r.URL); ok {
		row.Change = check.Recovered
	}
	return row
}

// summary says in numbers what a run did.
func (c *Checker) summary() *check.ExternalSummary {
	r := c.report
	return &check.ExternalSummary{URLs: r.Links, Requests: r.Requests, Remembered: r.Fresh, Unasked: r.OverBudget + r.Waiting, Unchanged: r.Unchanged,
		Died: r.Died, Recovered: r.Recovered, Failing: counts(r.Failing), Blocked: counts(r.Blocked)}
}

// counts returns hosts with their numbers of URLs, the largest numbers first.
func counts(hosts map[string]int) (all []check.HostCount) {
	for _, h := range remote.Top(hosts, len(hosts)) {
		all = append(all, check.HostCount{Host: h, Count: hosts[h]})
	}
	return all
}

// listed is how many URLs or hosts a note names.
const listed = 5

// notes says what a run did.
func (c *Checker) notes() (all []string) {
	r := c.report
	summary := fmt.Sprintf("other sites: %s, %s sent", text.Count(r.Links, "URL"), text.Count(r.Requests, "request"))
	if r.Fresh > 0 {
		summary += fmt.Sprintf("; the status cache answered for %s", text.Count(r.Fresh, "URL"))
	}
	if r.Unchanged > 0 {
		summary += fmt.Sprintf("; not changed and not transferred: %s", text.Thousands(r.Unchanged))
	}
	if r.Known > 0 {
		summary += fmt.Sprintf("; the baseline knows %s", text.Count(r.Known, "URL"))
	}
	all = append(all, summary)
	if r.OverBudget > 0 {
		all = append(all, fmt.Sprintf("the budget was spent before the turn of %s; the next run asks for them first", text.Count(r.OverBudget, "URL")))
	}
	if r.Waiting > 0 {
		all = append(all, fmt.Sprintf("not asked for, because their hosts asked to wait: %s", text.Count(r.Waiting, "URL")))
	}
	if r.Silent > 0 {
		all = append(all, fmt.Sprintf("no host answered, so nothing counts against %s: check the connection of this machine", text.Count(r.Silent, "URL")))
	}
	if r.Starved > 0 {
		all = append(all, fmt.Sprintf("not asked for, because this machine could not open more connections: %s; close other programs, or raise the limit of open files", text.Count(r.Starved, "URL")))
	}
	if r.Unsearched > 0 {
		all = append(all, fmt.Sprintf("the archive gave no answer about %s; the next run with --archive asks again", text.Count(r.Unsearched, "dead URL")))
	}
	name := func(title string, what []string) {
		if len(what) > 0 {
			all = append(all, title+": "+some(what))
		}
	}
	name("dead since the last run", r.Died)
	name("recovered since the last run", r.Recovered)
	name("hosts that fail most", counted(r.Failing))
	name("hosts that block sitelink", counted(r.Blocked))
	name("hosts that demand a login (401); header in [[external.host]] gives it, over https; if it does already, check its value", counted(c.closed))
	name("not asked for, because an address is not public or not http; --allow-address NETWORK allows private ones", counted(r.Unwanted))
	return all
}

// some names the first of a list.
func some(what []string) string {
	if len(what) <= listed {
		return strings.Join(what, ", ")
	}
	return fmt.Sprintf("%s and %s more", strings.Join(what[:listed], ", "), text.Thousands(len(what)-listed))
}

// counted returns hosts with their numbers of URLs.
func counted(hosts map[string]int) (all []string) {
	for _, h := range counts(hosts) {
		all = append(all, fmt.Sprintf("%s (%s)", h.Host, text.Thousands(h.Count)))
	}
	return all
}

// hintFindings returns a finding for the first link to each of the URLs that a person should
// look at, although the link works. Its message says why.
func (c *Checker) hintFindings(ctx context.Context, s *site.Site, opt check.Options) (all []check.Finding, err error) {
	if len(c.hints) == 0 {
		return nil, nil
	}
	messages := maps.Clone(c.hints)
	opt.Ignore = nil
	_, err = check.Links(ctx, s, opt, check.Query{External: true}, func(l *check.Link) error {
		if message := messages[l.Target]; message != "" && l.Code == check.External {
			delete(messages, l.Target)
			f := l.Finding()
			f.Raw, f.Target = strings.Clone(f.Raw), strings.Clone(f.Target)
			f.Message = message
			all = append(all, f)
		}
		return nil
	})
	return all, err
}

// Suggestion returns the address that should replace a URL, "" if none is known. A
// permanent redirect about which there are hints is not one.
func Suggestion(r *remote.Record) string {
	switch {
	case r.Code == check.Moved && len(r.Hints) == 0:
		return r.Final
	case r.Code == check.DeadLink && r.Variant == "":
		return r.Copy
	case r.Code == check.DeadLink, r.Code == "":
		return r.Variant
	}
	return ""
}

// Explain returns lines about what the records say about a URL.
func Explain(records []remote.Record, url string) string {
	key, err := remote.Key(url)
	i := slices.IndexFunc(records, func(r remote.Record) bool { return r.URL == key })
	if err != nil || i < 0 {
		return "the status cache does not know it: sitelink external asks for it\n"
	}
	r := &records[i]
	lines := []string{"the status cache says " + verdict(r)}
	for _, h := range r.Hops {
		lines = append(lines, fmt.Sprintf("  %d to %s", h.Status, h.To))
	}
	for _, h := range r.Hints {
		lines = append(lines, "  look at it: "+h)
	}
	if r.Strikes > 0 {
		lines = append(lines, fmt.Sprintf("  failures that counted: %d, the first on %s", r.Strikes, r.Since.Format(time.DateOnly)))
	}
	if !r.Good.IsZero() {
		lines = append(lines, "  last good answer on "+r.Good.Format(time.DateOnly))
	}
	return strings.Join(lines, "\n") + "\n"
}
