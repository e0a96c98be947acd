package check

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Cause is one reason for findings. It is the place in the sources that they
// all come from or, when that is not known, one link that many pages have in
// the same context, such as their menu. Repairing it repairs all of them.
type Cause struct {
	// ID identifies the cause in reports: 16 hexadecimal digits. Another run gives
	// the same cause the same ID, until the place moves.
	ID string
	// Findings are indexes into the findings, ascending.
	Findings []int
	// First is the index of the finding that describes the cause best: one with
	// the most frequent code of the worst verdict, on a page rather than in a feed.
	First int
	// Errors and Warnings count the findings, Links the links that they stand for.
	Errors, Warnings, Links int
	// Pages and Feeds count the files that have the findings.
	Pages, Feeds int
	// Files counts the source files, 0 if they are not known.
	Files int
	// SameLink reports whether all findings are about one link: the same value, or
	// the same target.
	SameLink bool
	// Targets are indexes of one finding for each target that the links lead to: First, then
	// the most frequent targets; only First if all are about one link.
	Targets []int
	// Family is what the links of First have in common with links of other causes. It is
	// the first directory or file of their address that the docroot lacks, or the page
	// that lacks an id, followed by #, or else the address. An asterisk stands for a
	// language, and for each version or date. For links that a rule of the host redirects,
	// it is the place of the rule, such as .htaccess:3. Causes with the same Family often
	// have one repair. It is empty for faults of files.
	Family string
}

// Causes groups findings by cause, the worst first: most errors, then most
// links, then in the order of the findings. Every finding has exactly one
// cause. fs must be in the order of [Result.Findings]; findings may be left out.
//
// These findings have the same cause:
//   - those with the same position in the sources, and the same link in the same
//     file of several versions: docs/v1.1/a.md and docs/v1.2/a.md, where the link
//     may name the version, too;
//   - without one, links with the same value or the same target in elements that
//     look the same, in all pages that have them;
//   - a link of a page, and the same link in feeds that repeat the page;
//   - what one template does wrong about endpoints, on all pages;
//   - fragments that are left to scripts on the same evidence, of all pages;
//   - links to ids of their own page that a template has turned into links to
//     another page;
//   - addresses that moved from one directory to another, and an id that is gone
//     from many pages;
//   - links of a language switcher to translations that are missing;
//   - entries of one sitemap or feed that lack the base path, and those whose pages ask
//     not to be indexed.
//
// A fault of a file is a cause of its own. Memory grows with the number of
// causes, and by one word for each finding. Calls may be concurrent.
func Causes(fs []Finding) []Cause {
	keys := make([]causeKey, len(fs))
	for i := range fs {
		keys[i] = keyOfCause(&fs[i])
	}
	joinVersions(fs, keys)
	joinByValue(fs, keys)
	joinFeeds(fs, keys)
	joinAnchors(fs, keys)
	index := map[causeKey]int{}
	var causes []Cause
	for i := range fs {
		n, ok := index[keys[i]]
		if !ok {
			n = len(causes)
			index[keys[i]] = n
			causes = append(causes, Cause{ID: keys[i].id()})
		}
		causes[n].Findings = append(causes[n].Findings, i)
	}
	for i := range causes {
		causes[i].count(fs)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(cmp.Compare(b.Errors, a.Errors), cmp.Compare(b.Links, a.Links), cmp.Compare(b.users(fs), a.users(fs)), compareFirst(&fs[a.First], &fs[b.First]))
	})
	return causes
}

// compareFirst sorts causes of the same weight by their place in the sources, so
// that those of a file are together, or else by their page.
func compareFirst(a, b *Finding) int {
	place := func(f *Finding) (string, int, int) {
		if f.Source != nil {
			return f.Source.File, f.Source.Line, f.Source.Column
		}
		return f.Page, f.Line, f.Column
	}
	aFile, aLine, aColumn := place(a)
	bFile, bLine, bColumn := place(b)
	return cmp.Or(strings.Compare(aFile, bFile), cmp.Compare(aLine, bLine), cmp.Compare(aColumn, bColumn))
}

// causeKey is what findings of one cause have in common.
type causeKey struct {
	kind         causeKind
	file         string // in the sources or in the docroot
	line, column int
	// what is the code and message of a fault, or the element, attribute and link.
	what    string
	context uint64
}

type causeKind uint8

const (
	bySource  causeKind = iota // one place
	byTarget                   // the same target in the same context
	byValue                    // the same value in the same context
	byFault                    // of one file
	bySite                     // of the whole site
	byFeed                     // the same target in feeds
	byVersion                  // the same link in the same file of several versions
)

func (k *causeKey) id() string {
	h := sha256.New()
	for _, field := range []string{"sitelink-cause/1", strconv.Itoa(int(k.kind)), k.file, strconv.Itoa(k.line), strconv.Itoa(k.column),
		k.what, strconv.FormatUint(k.context, 16)} {
		h.Write([]byte(strconv.Itoa(len(field)) + ":" + field))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// keyOfCause returns the key of a finding by itself.
func keyOfCause(f *Finding) causeKey {
	switch {
	case strings.HasPrefix(string(f.Code), "endpoint-"):
		return causeKey{kind: bySite, what: joined(string(f.Code), f.Message)}
	case f.Code == ScriptFragment:
		return causeKey{kind: bySite, what: joined(string(f.Code), f.evidence)}
	case isOwnAnchor(f):
		return causeKey{kind: bySite, what: joined(string(f.Code), "of the linking page")}
	case f.Code == AddressGone:
		return causeKey{kind: bySite, what: joined(string(f.Code), movedTogether(f))}
	case f.Code == AnchorGone:
		return causeKey{kind: byFault, file: f.Page, what: joined(string(f.Code), f.Fragment)}
	case isFileFault(f) && f.Source != nil && f.Source.Kind == InTemplate:
		return causeKey{kind: bySource, file: f.Source.File, line: f.Source.Line, column: f.Source.Column, what: string(f.Code)}
	case isFileFault(f):
		return causeKey{kind: byFault, file: f.Page, line: f.Line, what: joined(string(f.Code), cmp.Or(f.about, f.Message))}
	case f.Source != nil:
		return causeKey{kind: bySource, file: f.Source.File, line: f.Source.Line, column: f.Source.Column}
	case f.linkCode == MissingBase, f.Code == NoIndexInSitemap:
		// One setting of the generator writes all entries, or the robots element of all pages.
		return causeKey{kind: byFault, file: f.Page, what: string(cmp.Or(f.linkCode, f.Code))}
	case f.plainCode() == LocalAddress && f.Verdict == Error:
		host, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(f.Target, "http://"), "https://"), "/")
		return causeKey{kind: bySite, what: joined(string(LocalAddress), host)} // one setting of the build
	case f.Code == DeadScheme && strings.HasPrefix(f.Target, "file:"):
		return causeKey{kind: bySite, what: joined(string(DeadScheme), f.Element, f.Attribute)} // one template or setting
	case f.translation:
		return causeKey{kind: bySite, what: joined("translation", f.Element, f.Attribute), context: f.context} // one switcher
	case f.isFeed:
		return causeKey{kind: byFeed, what: feedLink(f)}
	}
	return causeKey{kind: byTarget, what: joined(f.Element, f.Attribute, leadsTo(f)), context: f.context}
}

// movedTogether returns what addresses that are gone have in common if one change
// moved them: the directories that were replaced, as in /posts -> /blog. Others have
// nothing in common: each needs a decision of its own.
func movedTogether(f *Finding) string {
	from, to := strings.Split(strings.Trim(f.Target, "/"), "/"), strings.Split(strings.Trim(f.Suggestion, "/"), "/")
	n := 0
	for n < len(from) && n < len(to) && from[len(from)-1-n] == to[len(to)-1-n] {
		n++
	}
	if n == 0 {
		return f.Target
	}
	return strings.Join(from[:len(from)-n], "/") + " -> " + strings.Join(to[:len(to)-n], "/")
}

// joined joins the parts of a key.
func joined(parts ...string) string { return strings.Join(parts, "\x00") }

// leadsTo returns the target with its fragment, or the value of a link without
// one.
func leadsTo(f *Finding) string {
	switch {
	case f.Target == "":
		return f.Raw
	case f.Fragment == "":
		return f.Target
	}
	return f.Target + "#" + f.Fragment
}

// version is a part of a path that often names a version: v1.2.0, 1-19, 2024.
var version = text.Regexp(`\bv?\d+(?:[._-]\d+)*`)

// joinVersions joins the places that have the same link in the same file of several
// versions. Documentation is often copied with its faults. A place that writes several
// links keeps its key.
func joinVersions(fs []Finding, keys []causeKey) {
	joined := map[causeKey]causeKey{}
	files := map[string]string{}
	named := map[string]*strings.Replacer{} // the versions in the name of a file
	for k, value := range singleValues(fs, keys, bySource) {
		file, ok := files[k.file]
		if !ok {
			file = version().ReplaceAllLiteralString(k.file, "*")
			// The versions in the directories of the file are replaced with an asterisk, as
			// directories of a link.
			var pairs []string
			for _, dir := range strings.Split(path.Dir(k.file), "/") {
				if version().FindString(dir) == dir {
					pairs = append(pairs, "/"+dir+"/", "/*/")
				}
			}
			files[k.file], named[k.file] = file, strings.NewReplacer(pairs...)
		}
		if file != k.file {
			joined[k] = causeKey{kind: byVersion, file: file, what: named[k.file].Replace("/" + value + "/")}
		}
	}
	for i, k := range keys {
		if to, ok := joined[k]; ok {
			keys[i] = to
		}
	}
}

// singleValues returns the value of the links of each key of a kind. It leaves out keys
// with several values. A link of a feed does not count if its place has other links.
func singleValues(fs []Finding, keys []causeKey, kind causeKind) map[causeKey]string {
	values := map[causeKey]string{}
	several := map[causeKey]bool{}
	for i, k := range keys {
		if k.kind != kind {
			continue
		}
		if value, ok := values[k]; !ok {
			values[k] = fs[i].Raw
		} else if value != fs[i].Raw && !fs[i].isFeed {
			several[k] = true
		}
	}
	maps.DeleteFunc(values, func(k causeKey, _ string) bool { return several[k] })
	return values
}

// joinByValue joins the links that are written the same but lead to different
// targets, such as ../help.html in the menu of pages of several directories: it leads to
// /a/help.html and /b/help.html, and is one cause. A target that the same context
// writes in several ways, as relative menus do, keeps its key: help.html on /a.html and
// ../help.html on /a/b.html.
func joinByValue(fs []Finding, keys []causeKey) {
	values := singleValues(fs, keys, byTarget)
	for i, k := range keys {
		if _, single := values[k]; single {
			keys[i].kind, keys[i].what = byValue, joined(fs[i].Element, fs[i].Attribute, fs[i].Raw)
		}
	}
}

// feedLink returns what a link of a page and its copy in a feed have in common. An
// address that the feed itself has, such as that of its channel, is in another
// element than the links of pages: another template wrote it.
func feedLink(f *Finding) string {
	return joined(string(f.plainCode()), f.Element, f.Attribute, leadsTo(f))
}

// joinFeeds gives the links of feeds without a position the cause of the link of
// a page that leads to the same target, if there is only one.
func joinFeeds(fs []Finding, keys []causeKey) {
	if !slices.ContainsFunc(keys, func(k causeKey) bool { return k.kind == byFeed }) {
		return
	}
	ofPages := map[string]causeKey{}
	several := map[string]bool{}
	for i := range fs {
		f := &fs[i]
		if keys[i].kind == byFeed || isFileFault(f) {
			continue
		}
		link := feedLink(f)
		if k, ok := ofPages[link]; ok && k != keys[i] {
			several[link] = true
		}
		ofPages[link] = keys[i]
	}
	for i, k := range keys {
		if of, ok := ofPages[k.what]; k.kind == byFeed && ok && !several[k.what] {
			keys[i] = of
		}
	}
}

// users counts what relies on addresses and anchors that are gone, as far as it is
// known.
func (c *Cause) users(fs []Finding) (n int) {
	for _, i := range c.Findings {
		if w := fs[i].Concerns; w != nil {
			n += w.Links + w.Mentions + w.Requests
		}
	}
	return n
}

// fewAnchors is how many pages lose the same id by chance.
const fewAnchors = 2

// joinAnchors joins the ids that are gone from many pages: a template wrote them. If
// #comments is gone from three posts, it is one cause; if from two, it is two.
func joinAnchors(fs []Finding, keys []causeKey) {
	pages := map[string]int{}
	for i := range fs {
		if fs[i].Code == AnchorGone {
			pages[fs[i].Fragment]++
		}
	}
	for i := range fs {
		if fs[i].Code == AnchorGone && pages[fs[i].Fragment] > fewAnchors {
			keys[i] = causeKey{kind: bySite, what: joined(string(AnchorGone), fs[i].Fragment)}
		}
	}
}

// count fills in the counts, and chooses the first finding.
func (c *Cause) count(fs []Finding) {
	codes := map[Code]int{}
	worst := Warning
	c.SameLink = true
	first := &fs[c.Findings[0]]
	files := map[string]bool{}
	page := ""
	for n, i := range c.Findings {
		f := &fs[i]
		if f.Verdict == Error {
			c.Errors++
			worst = Error
		} else {
			c.Warnings++
		}
		codes[f.Code]++
		if f.Source != nil && !files[f.Source.File] {
			files[f.Source.File] = true
			c.Files++
		}
		c.Links += max(1, f.Count)
		if n == 0 || f.Page != page { // findings come sorted by page
			if f.isFeed {
				c.Feeds++
			} else {
				c.Pages++
			}
			page = f.Page
		}
		c.SameLink = c.SameLink && (f.Raw == first.Raw || leadsTo(f) == leadsTo(first))
	}
	most := -1
	for _, i := range c.Findings {
		f := &fs[i]
		weight := codes[f.Code]
		if f.Verdict == worst {
			weight += 2 * len(c.Findings)
		}
		if !f.isFeed {
			weight += len(c.Findings)
		}
		if weight > most {
			c.First, most = i, weight
		}
	}
	c.countTargets(fs)
	c.Family = family(&fs[c.First])
}

var (
	// language matches a first directory that names a language: de/, pt-br/.
	language = text.Regexp(`^[a-z]{2}(?:-[A-Za-z]{2,4})?/`)
	// versionAddress matches a number at the start of a name, or one after a v.
	versionAddress = text.Regexp(`(/)v?\d+(?:[._-]\d+)*\b|\bv\d+(?:[._-]\d+)*\b`)
)

// languageOf returns the first directory of a path if it names a language, with its
// slash: zh-cn/ of zh-cn/guide/a.html.
func languageOf(path string) string { return language().FindString(path) }

// family returns the [Cause.Family] that a finding describes.
func family(f *Finding) string {
	if f.Target == "" || isFileFault(f) {
		return ""
	}
	if f.Code == ViaRedirect && f.evidence != "" {
		return f.evidence
	}
	to, _, _ := strings.Cut(f.Target, "?")
	if f.lacking > 0 {
		to = to[:f.lacking]
	}
	if to = string(weburl.PercentDecode(nil, to)); f.Code == MissingFragment {
		to += "#"
	}
	if named := languageOf(strings.TrimPrefix(to, "/")); named != "" && len(to) > 1+len(named) {
		to = "/*/" + to[1+len(named):]
	}
	if !strings.ContainsAny(to, "0123456789") { // most
		return to
	}
	return versionAddress().ReplaceAllString(to, "$1*")
}

// countTargets fills in Targets, after First.
func (c *Cause) countTargets(fs []Finding) {
	c.Targets = []int{c.First}
	if c.SameLink {
		return
	}
	count := map[string]int{}
	for _, i := range c.Findings {
		to := leadsTo(&fs[i])
		if count[to]++; count[to] == 1 && to != leadsTo(&fs[c.First]) {
			c.Targets = append(c.Targets, i)
		}
	}
	slices.SortStableFunc(c.Targets[1:], func(a, b int) int { return count[leadsTo(&fs[b])] - count[leadsTo(&fs[a])] })
}
