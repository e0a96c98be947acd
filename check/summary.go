package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
)

// Result is what [Run] found.
type Result struct {
	// Findings are the errors and warnings, sorted by page, offset and code.
	Findings []Finding
	Summary  Summary

	// scripts: fragments that are left to scripts were reported.
	scripts bool
	// others are the hosts that Finding.others counts, likelyHosts those of them that
	// hostNote names.
	others      []*host.Host
	likelyHosts uint32
	hostNote    string
}

// HasErrors reports whether any finding is an error.
func (r *Result) HasErrors() bool { return r.Summary.Errors+r.Summary.FileErrors > 0 }

// HasWarnings reports whether any finding is a warning.
func (r *Result) HasWarnings() bool {
	return r.scripts || r.Summary.Warnings+r.Summary.FileWarnings > 0
}

// Summary counts what a run saw. Every link is in exactly one of OK, Errors,
// Warnings, Unchecked and Ignored, or is accepted by the baseline. Faults of
// files count in FileErrors and FileWarnings instead.
type Summary struct {
	Docroot string `json:"docroot"`
	Profile string `json:"profile"`
	// ProfileFrom names the file from which the profile was detected; it is
	// empty when the profile was chosen.
	ProfileFrom string `json:"profile_from"`
	// Files are all files of the docroot, Pages those that were parsed as HTML.
	Files int `json:"files"`
	Pages int `json:"pages"`
	// Bytes is the size of all files that were read.
	Bytes int64 `json:"bytes"`
	// Links are all links; Anchors all names that fragments can have.
	Links        int `json:"links"`
	Anchors      int `json:"anchors"`
	OK           int `json:"ok"`
	Errors       int `json:"errors"`
	Warnings     int `json:"warnings"`
	Unchecked    int `json:"unchecked"`
	Ignored      int `json:"ignored"`
	FileErrors   int `json:"file_errors"`
	FileWarnings int `json:"file_warnings"`
	// Endpoints is how many of Ignored lead to the site's endpoints, and no other rule accepts
	// them.
	Endpoints int `json:"-"`
	// UnlistedErrors and UnlistedWarnings are the numbers of findings about links
	// beyond [Options.MaxFindings]: they are counted, and not in [Result.Findings].
	UnlistedErrors   int `json:"-"`
	UnlistedWarnings int `json:"-"`
	// Redirected is the number of OK links that the host answers after a
	// redirect of its own, such as one from /dir to /dir/.
	Redirected int `json:"redirected"`
	// Reasons splits Unchecked by code, the most frequent first, then by code.
	Reasons []CodeCount `json:"reasons"`
	// UnusedIgnores are the ignore rules that matched nothing, as written.
	UnusedIgnores []string `json:"unused_ignores"`
	// Skipped are the pages and directory listings that links lead to, but that
	// From, Skip or Limit left out. They are docroot paths, sorted; the path of a
	// listing ends in a slash (LL-21). Such pages do not count in Pages, Bytes,
	// Links and Anchors.
	Skipped []string `json:"skipped"`
	// Canonical is the number of pages that name another page of the site as
	// their address.
	Canonical int `json:"canonical"`
	// Read counts the files other than pages that were read for links, by kind.
	// NotRead counts those that may hold links and were not read, by reason. Both
	// are sorted, and hold no zero.
	Read    []KindCount `json:"read"`
	NotRead []KindCount `json:"not_read"`
	// ScriptFragments says which fragments were left to scripts, and on what
	// evidence, the most fragments first.
	ScriptFragments []ScriptFragmentCount `json:"script_fragments"`
	// Notes tell a person what would make the check see more.
	Notes []string `json:"notes"`
	// Lead is the note that explains many findings: the pages were built for another base
	// path, or other hosts answer otherwise. Text shows it first. It is empty if no note
	// does.
	Lead string `json:"-"`
	// External says what a run found out about links to other sites; it is nil if it did
	// not ask for them.
	External *ExternalSummary `json:"external,omitempty"`
	// Baseline says what a baseline did; it is nil without one.
	Baseline *BaselineSummary `json:"baseline,omitempty"`
	// ServerPages is the number of pages that `hugo server` wrote. Such a docroot
	// must not be published, see [Deployable].
	ServerPages int `json:"-"`

	// statedScripts counts the links with fragments that the configuration
	// leaves to scripts. They are not reported.
	statedScripts int
}

// ExternalSummary says what a run found out about links to other sites.
type ExternalSummary struct {
	// URLs counts different addresses, and Requests what was sent for them. Remembered
	// counts the addresses with a record that is recent enough. Unasked counts the
	// addresses left out because the budget was spent or the host wants no requests.
	// Unchanged counts the answers without content because nothing had changed.
	URLs       int `json:"urls"`
	Requests   int `json:"requests"`
	Remembered int `json:"remembered"`
	Unasked    int `json:"unasked"`
	Unchanged  int `json:"unchanged"`
	// Died and Recovered are the addresses that turned out to be dead, and to work again,
	// since the last run. They are sorted.
	Died      []string `json:"died"`
	Recovered []string `json:"recovered"`
	// Failing and Blocked count the addresses that failed, and those that were refused,
	// by host. The largest counts come first.
	Failing []HostCount `json:"failing"`
	Blocked []HostCount `json:"blocked"`
}

// HostCount is a number of addresses of one host.
type HostCount struct {
	Host  string `json:"host"`
	Count int    `json:"count"`
}

// ScriptFragmentCount counts missing fragments that were left to scripts on the
// same evidence.
type ScriptFragmentCount struct {
	// Evidence names the script, or the rule of the configuration.
	Evidence string `json:"evidence"`
	// Fragments counts different fragments of Pages target pages, and Links the
	// links that ask for them.
	Fragments int `json:"fragments"`
	Pages     int `json:"pages"`
	Links     int `json:"links"`
}

// CodeCount is a number of links that were not checked for the same reason.
type CodeCount struct {
	Code  Code `json:"code"`
	Count int  `json:"count"`
}

// KindCount is a number of files of one kind.
type KindCount struct {
	Kind  string `json:"kind"`
	Count int    `json:"count"`
}

// BaselineSummary says what a baseline did to a result.
type BaselineSummary struct {
	// Name says where the baseline came from, for messages.
	Name string `json:"name"`
	// Links is the number of links with findings that were accepted; no other
	// count of the summary includes them. Faults is the number of accepted
	// faults of files.
	Links  int `json:"links"`
	Faults int `json:"faults"`
	// Expired is the number of findings that are reported because the date of
	// their entry has passed.
	Expired int `json:"expired"`
	// Unneeded describes the entries that match no finding any more.
	Unneeded []string `json:"unneeded"`
}

// Accept removes each finding for which accepted is true, and moves it from its
// count to Summary.Baseline, which must be set. accepted is as long as
// r.Findings. The other findings keep their order.
func (r *Result) Accept(accepted []bool) {
	sum := &r.Summary
	left := r.Findings[:0]
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case !accepted[i]:
			left = append(left, *f)
		case !isFileFault(f):
			sum.Baseline.Links += sum.remove(f)
		default:
			sum.Baseline.Faults++
			sum.addFault(f, -1)
		}
	}
	clear(r.Findings[len(left):])
	r.Findings = left
	r.scripts = r.scripts && sum.reportsScripts()
	r.hostDecides()
}

// remove takes a finding about links out of the counts, and returns how many
// links it stands for.
func (sum *Summary) remove(f *Finding) int {
	n := max(f.Count, 1)
	switch {
	case f.Code == ScriptFragment:
		sum.addUnchecked(ScriptFragment, -n)
	case f.Verdict == Error:
		sum.Errors -= n
	case f.Verdict == Warning:
		sum.Warnings -= n
	}
	return n
}

// ignore moves an ignored finding from its own count to that of ignored links.
// Faults of files are counted afterwards.
func (sum *Summary) ignore(f *Finding, endpoint bool) {
	if isFileFault(f) {
		return
	}
	n := sum.remove(f)
	sum.Ignored += n
	if endpoint {
		sum.Endpoints += n
	}
}

func (sum *Summary) addFault(f *Finding, n int) {
	if f.Verdict == Error {
		sum.FileErrors += n
	} else {
		sum.FileWarnings += n
	}
}

// dropPage moves the bad links of a page that changed to the links that were not
// checked: they are not listed, and may not be there any more.
func (sum *Summary) dropPage(s *isite.Site, id isite.PageID, bad []badLink) {
	for _, b := range bad {
		if decide(s, id, b).verdict == Error {
			sum.Errors--
		} else {
			sum.Warnings--
		}
	}
	sum.addUnchecked(Changed, len(bad))
}

// addUnchecked adds n links, or removes them if n is negative, that were not
// checked for this reason.
func (sum *Summary) addUnchecked(c Code, n int) {
	if n == 0 {
		return
	}
	sum.Unchecked += n
	if i := slices.IndexFunc(sum.Reasons, func(r CodeCount) bool { return r.Code == c }); i < 0 {
		sum.Reasons = append(sum.Reasons, CodeCount{c, n})
	} else {
		sum.Reasons[i].Count += n
	}
	sum.Reasons = slices.DeleteFunc(sum.Reasons, func(r CodeCount) bool { return r.Count == 0 })
	slices.SortFunc(sum.Reasons, func(a, b CodeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(string(a.Code), string(b.Code)))
	})
}

// reportsScripts reports whether fragments that are left to scripts deserve a
// warning.
func (sum *Summary) reportsScripts() bool {
	return slices.ContainsFunc(sum.Reasons, func(r CodeCount) bool { return r.Code == ScriptFragment && r.Count > sum.statedScripts })
}

// addFiles counts the files that were read, and notes what is known of the site
// as a whole.
func (sum *Summary) addFiles(s *isite.Site, c *scope) {
	sum.Docroot, sum.Profile, sum.ProfileFrom, sum.Files = s.Root(), s.Profile().Name, s.ProfileFrom(), s.Files()
	if c != nil {
		sum.Skipped = c.skipped
	}
	var kinds [isite.PagePointer + 1]int
	var served []string
	var unused []string // places of definitions
	entries := 0        // addresses in sitemaps and feeds that were not checked
	for i := range s.Pages() {
		id := isite.PageID(i)
		p := s.Page(id)
		isPage := p.Kind().IsHTML() && p.Error().Err == nil
		if c.has(id) {
			if isPage {
				sum.Pages++
			}
			sum.Bytes += p.Size()
			sum.Links += p.Links()
			sum.Anchors += p.Anchors()
			for _, line := range p.Unused() {
				unused = append(unused, fmt.Sprintf("%s:%d", s.Path(id), line))
			}
		}
		if p.Served() {
			sum.ServerPages++
			served = append(served, s.Path(id))
		}
		if canon := p.Canonical(); canon != docroot.NoNode {
			if target, ok := s.PageOf(canon); !ok || target != id {
				sum.Canonical++
			}
		}
		if p.Kind().IsHTML() || p.Error().Err != nil {
			continue
		}
		kinds[p.Kind()]++
		if !s.Published() {
			entries += externalEntries(p)
		}
	}
	for kind, n := range kinds[:isite.PagePointer] {
		if n > 0 {
			sum.Read = append(sum.Read, KindCount{isite.PageKind(kind).String(), n})
		}
	}
	xml, maps, foreign := s.Unread()
	for _, k := range []KindCount{{"other-xml", xml}, {"source-map", maps}, {"node_modules", foreign}, {isite.PagePointer.String(), kinds[isite.PagePointer]}} {
		if k.Count > 0 {
			sum.NotRead = append(sum.NotRead, k)
		}
	}
	if len(served) > 0 {
		// If hugo server did not write the home page, a build came after it, and the sources
		// no longer produce the pages: Hugo does not empty its docroot.
		const most = 3
		note := "hugo server wrote " + countPages(len(served)) + ": do not publish this docroot; run hugo, or sitelink check --build"
		if home, ok := s.Lookup("index.html"); ok && !slices.Contains(served, "index.html") && s.Tree().Nodes[home].Kind == docroot.KindFile {
			names := strings.Join(served[:min(len(served), most)], ", ")
			if len(served) > most {
				names += ", ..."
			}
			note = "the sources no longer produce " + countPages(len(served)) + " that an earlier hugo server wrote: " + names +
				"; do not publish this docroot: empty it and run hugo, or run sitelink check --build"
		}
		if url := s.ServerURL(); url != "" {
			note += "; links to " + url + " count as links to this site"
		}
		sum.Notes = append(sum.Notes, note)
	}
	if n := len(unused); n > 0 {
		const most = 3
		note := "no link uses " + text.Count(n, "link definition") + ": " + strings.Join(unused[:min(n, most)], ", ")
		if n > most {
			note += ", ..."
		}
		sum.Notes = append(sum.Notes, note)
	}
	if entries > 0 {
		sum.Notes = append(sum.Notes, fmt.Sprintf("addresses in sitemaps and feeds that were not checked, because the site's own address is not known: %d; set base-url", entries))
	}
}

// externalEntries returns how many entries of a sitemap or feed lead to another
// host.
func externalEntries(p *isite.Page) (n int) {
	switch p.Kind() {
	case isite.PageSitemap, isite.PageIndex, isite.PageFeed, isite.PageJSONFeed:
		for i := range p.All() {
			if l := &p.All()[i]; l.IsEntry() && l.State == host.StateExternal {
				n++
			}
		}
	}
	return n
}

// Deployable returns an error if `hugo server` wrote pages of the docroot: their
// links lead to localhost, and drafts may be among them. The error says what to
// do.
func Deployable(sum *Summary) error {
	if sum.ServerPages == 0 {
		return nil
	}
	return fmt.Errorf("docroot %s must not be published: hugo server wrote %s; run hugo, or sitelink check --build", sum.Docroot, countPages(sum.ServerPages))
}

// lead adds a note that explains most findings.
func (sum *Summary) lead(note string) { sum.Lead, sum.Notes = note, append(sum.Notes, note) }

func countPages(n int) string {
	if n == 1 {
		return "1 page"
	}
	return fmt.Sprintf("%d pages", n)
}
