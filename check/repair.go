package check

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
	"github.com/sitelink/sitelink/site"
)

// RepairRule says how a [Repair] was found.
type RepairRule string

// The rules of repairs.
const (
	RepairCase      RepairRule = "wrong-case"      // exactly one address differs only in letter case
	RepairSpelling  RepairRule = "spelling"        // exactly one address has the same letters, without punctuation or space at its end
	RepairSlash     RepairRule = "slash"           // the final slash is missing, or too much
	RepairExtension RepairRule = "html-extension"  // .html is missing, or too much
	RepairIndex     RepairRule = "index-file"      // index.html is missing, or too much
	RepairAlias     RepairRule = "alias"           // an alias page leads on
	RepairRedirect  RepairRule = "redirect"        // a rule of the site leads on
	RepairMarkdown  RepairRule = "markdown-path"   // the path of a Markdown file that became a page
	RepairOwn       RepairRule = "own-address"     // another scheme or host of the site itself
	RepairBase      RepairRule = "base-path"       // the path of the base URL is missing, or the slash after it
	RepairHost      RepairRule = "wrong-host"      // browsers take a path of the site for a host
	RepairHeading   RepairRule = "renamed-heading" // another id of the page
	RepairMoved     RepairRule = "moved-page"      // the page has another address
)

// Repair is a link with a value that may be written in its place.
type Repair struct {
	// Finding is the link. Its code is empty if the link works, but only by a
	// redirect of the host, or under another address of the site.
	Finding Finding
	Rule    RepairRule
	// Likely means that the value is probably right; otherwise it is certain.
	Likely bool
	// Value is what to write in place of Finding.Raw, in the manner in which the
	// link is written. It gives no finding. It is empty if the rule applies but
	// there is no such value; Why says the reason then.
	Value, Why string
}

// Repairs returns a Repair for each link in the result of [Run] that a rule applies
// to, and for links without a finding that can be improved. They are sorted by page
// and offset. Links of feeds and sitemaps are left out, because they are written
// elsewhere.
//
// The errors are those of [Run].
func Repairs(ctx context.Context, s *site.Site, opt Options, r *Result) ([]Repair, error) {
	in := isite.Unwrap(s)
	x := repairer{fileIndex: newFileIndex(in)}
	var all []Repair
	add := func(f *Finding, of func(f *Finding) Repair) {
		page := x.open(f)
		if page == nil || f.isFeed || page.Kind() == isite.PageSitemap || page.Kind() == isite.PageIndex {
			return
		}
		if repair := of(f); repair.Rule != "" {
			repair.Finding = *f
			all = append(all, repair)
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case isFileFault(f):
		case f.others&r.likelyHosts != 0:
			add(f, func(f *Finding) Repair {
				return Repair{Rule: x.repair(f).Rule, Why: "other hosts answer what is written: choose the site's host with --profile NAME"}
			})
		default:
			add(f, x.repair)
		}
	}
	_, err := Links(ctx, s, opt, Query{}, func(l *Link) error {
		if l.Verdict == OK && (l.Final != "" || strings.Contains(l.Raw, "//")) || l.Code == External {
			f := l.Finding()
			f.Code = ""
			add(&f, x.improve)
		}
		return nil
	})
	slices.SortStableFunc(all, func(a, b Repair) int { return compareFindings(a.Finding, b.Finding) })
	return all, err
}

// Repair returns the repair of a link that Link judged, as [Repairs] does for a link of
// a page. Rule is empty if no rule applies. The errors are those of [Judge.Suggestion].
func (j *Judge) Repair(ctx context.Context, l *Link) (Repair, error) {
	f := l.Finding()
	of := (*repairer).repair
	switch {
	case l.Verdict == OK && (l.Final != "" || strings.Contains(l.Raw, "//")), l.Code == External:
		f.Code, of = "", (*repairer).improve
	case l.Verdict == OK || l.Verdict == Unchecked:
		return Repair{}, nil
	}
	var err error
	if f.Code != "" {
		if f.Suggestion, err = j.Suggestion(ctx, l); err != nil {
			return Repair{}, err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.repairs == nil {
		if j.files == nil {
			j.files = newFileIndex(j.in)
		}
		j.repairs = &repairer{fileIndex: j.files}
	}
	x := j.repairs
	if x.open(&f) == nil {
		return Repair{}, nil
	}
	if r, err := j.in.Follow(x.from, l.Raw); err == nil {
		f.node = r.Node
	}
	r := of(x, &f)
	r.Finding = f
	return r, nil
}

// repairer finds repairs. It belongs to one goroutine.
type repairer struct {
	*fileIndex
	from   isite.PageID // the page of the link
	origin string       // of that page, such as https://example.org
	folded map[string][]docroot.NodeID
}

// open makes the page of a finding the current one; nil if it is not a page.
func (x *repairer) open(f *Finding) *isite.Page {
	node, ok := x.s.Lookup(f.Page)
	id, isPage := x.s.PageOf(node)
	if !ok || !isPage {
		return nil
	}
	x.from = id
	x.origin, _ = x.s.Public("/" + f.Page)
	p := x.s.Page(id)
	f.hasBase, f.isFeed = p.HasBase(), p.Kind().IsFeed()
	return p
}

// improve returns the repair of a link without a finding, if the host redirects
// it, or if it leads to the site itself under another address. Rule is empty if
// there is no repair.
func (x *repairer) improve(f *Finding) Repair {
	if own := x.own(f.Raw); own != f.Raw && gives(x.s, f, own) {
		return Repair{Rule: RepairOwn, Value: x.settled(f, own)}
	}
	if f.Final == "" || !strings.HasPrefix(f.Final, "/") {
		return Repair{}
	}
	to, _, _ := strings.Cut(f.Final, "?")
	value := replacePath(x.s, f, to)
	if rule := formRule(f.Target, f.Final); rule != "" && gives(x.s, f, value) {
		return Repair{Rule: rule, Value: value}
	}
	return Repair{}
}

// own returns an absolute link to the site's own host, with or without www, with
// the scheme and host of the base URL. It returns other links as they are.
func (x *repairer) own(raw string) string {
	scheme, host, ok := strings.Cut(x.origin, "://")
	i := strings.Index(raw, "//")
	if !ok || i < 0 || i > 0 && !strings.EqualFold(raw[:i], "http:") && !strings.EqualFold(raw[:i], "https:") {
		return raw
	}
	rest := raw[i+2:]
	end := len(rest)
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		end = n
	}
	bare := func(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }
	if bare(rest[:end]) != bare(host) {
		return raw
	}
	if i == 0 { // without scheme
		return "//" + host + rest[end:]
	}
	return scheme + "://" + host + rest[end:]
}

// settled returns a value that leads straight to where the host redirects it, and
// under the site's own address.
func (x *repairer) settled(f *Finding, value string) string {
	for range 3 {
		r, err := x.s.Follow(x.from, value)
		if err != nil || r.State != host.StateRedirect || !strings.HasPrefix(r.Final, "/") {
			break
		}
		to, _, _ := strings.Cut(r.Final, "?")
		with := *f
		with.Raw = value
		value = replacePath(x.s, &with, to)
	}
	return x.own(value)
}

// repair returns the repair of a link that is a finding; Rule is empty if no rule
// applies.
func (x *repairer) repair(f *Finding) Repair {
	var r Repair
	switch f.Code {
	case ViaRedirect:
		r = x.behind(f)
	case MissingFile, MissingDirectory, MissingIndex, WrongCase, Fallback, ServerDependent:
		r = x.missing(f)
	case MissingBase:
		if r.Rule, r.Value = RepairBase, f.Suggestion; r.Value == "" {
			r.Why = "the address with the base path would be a finding, too"
		}
	case WrongHost:
		if f.Suggestion != "" {
			r.Rule, r.Value = RepairHost, f.Suggestion
		}
	case MixedContent:
		if own := x.own(f.Raw); own != f.Raw {
			r.Rule, r.Value = RepairOwn, own
		}
	case MissingFragment:
		if r.Rule = RepairHeading; f.Suggestion == "" {
			r.Why = "no id of the page is similar"
		}
		r.Value, r.Likely = f.Suggestion, true
		if r.Value != "" && r.Value == behindRedirect(x.s, f) {
			r.Rule, r.Likely = RepairAlias, false
		}
	}
	if r.Value != "" {
		if f.Code != MissingFragment { // the path works
			r.Value = x.settled(f, r.Value)
		}
		if !gives(x.s, f, r.Value) || r.Value == f.Raw {
			return Repair{}
		}
	}
	return r
}

// behind returns the repair of a link to a redirect or an alias page.
func (x *repairer) behind(f *Finding) Repair {
	r := Repair{Rule: RepairRedirect, Value: f.Suggestion}
	if target, ok := x.s.PageOf(f.node); ok && x.s.Page(target).Alias() != "" {
		r.Rule = RepairAlias
	}
	switch {
	case f.temporary:
		return Repair{Rule: r.Rule, Why: "the redirect is temporary"}
	case f.Final != "" && !strings.HasPrefix(f.Final, "/"):
		return Repair{Rule: r.Rule, Why: "it is a short address of the site for a page elsewhere"}
	case r.Value == "":
		r.Why = "what the redirect leads to depends on the query or fragment, or does not work"
	}
	return r
}

// missing returns the repair of a link that no file answers.
func (x *repairer) missing(f *Finding) Repair {
	if r := x.spelled(f); r.Rule != "" {
		return r
	}
	if isMarkdownPath(f.Raw) {
		switch values := x.pagesOfMarkdown(f); len(values) {
		case 0:
		case 1:
			return Repair{Rule: RepairMarkdown, Value: values[0]}
		default:
			return Repair{Rule: RepairMarkdown, Why: "it may mean several pages or files: " + strings.Join(values, " or ")}
		}
	}
	if f.Suggestion == "" {
		return Repair{}
	}
	return Repair{Rule: RepairMoved, Likely: true, Value: f.Suggestion}
}

// spelled returns the repair of a link that lacks nothing but a slash, an
// extension, the name of an index file, or the letter case: /Guide for guide/index.html is
// /guide/. If guide.html exists too, it may mean either.
func (x *repairer) spelled(f *Finding) Repair {
	target, _, _ := strings.Cut(f.Target, "?")
	if !strings.HasPrefix(target, "/") || f.Code == ServerDependent && f.Suggestion == "" {
		return Repair{}
	}
	var values []string
	var rule RepairRule
	// Other addresses differ from the path in the final slash, the extension or the name
	// of an index file.
	bare := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(target, "index.html"), ".html"), "/")
	all := []string{bare, bare + "/", bare + ".html", bare + "/index.html"}
	for _, form := range slices.DeleteFunc(all, func(s string) bool { return s == target || s == "" }) {
		value := replacePath(x.s, f, form)
		r, err := x.s.Follow(x.from, value)
		if err != nil || r.State != host.StateOK || r.Node == docroot.NoNode {
			continue
		}
		if value = replacePath(x.s, f, x.s.Link(r.Node)); gives(x.s, f, value) && !slices.Contains(values, value) {
			values, rule = append(values, value), cmp.Or(formRule(target, x.s.Link(r.Node)), RepairIndex)
		}
	}
	if len(values) > 0 { // a file of another letter case may be meant as well
		for _, node := range x.sameFolded(target) {
			href := x.s.Link(node)
			if value := replacePath(x.s, f, href); strings.EqualFold(decodeFragment(href), decodeFragment(target)) && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
		slices.Sort(values)
	} else {
		for _, node := range x.sameFolded(target) {
			if value := replacePath(x.s, f, x.s.Link(node)); !slices.Contains(values, value) {
				values, rule = append(values, value), RepairCase
				if !strings.EqualFold(bareName(decodeFragment(target)), bareName(decodeFragment(x.s.Href(node)))) {
					rule = RepairSpelling
				}
			}
		}
		if len(values) == 1 && !gives(x.s, f, values[0]) {
			return Repair{}
		}
	}
	switch len(values) {
	case 0:
		return Repair{}
	case 1:
		return Repair{Rule: rule, Value: values[0]}
	}
	return Repair{Rule: rule, Why: "it may mean several pages or files: " + strings.Join(values, " or ")}
}

// sameFolded returns the files with an address that differs from a path only in form: in
// letter case, the final slash, the extension, the name of an index file, the composition
// of letters (é of two characters) and what [withoutText] cuts.
func (x *repairer) sameFolded(target string) []docroot.NodeID {
	if x.folded == nil {
		x.folded = map[string][]docroot.NodeID{}
		t := x.s.Tree()
		for i := range t.Len() {
			if n := docroot.NodeID(i); t.Kind(n) == docroot.KindFile {
				key := folded(decodeFragment(x.s.Href(n)))
				x.folded[key] = append(x.folded[key], n)
			}
		}
	}
	return x.folded[folded(withoutText(decodeFragment(target)))]
}

// folded returns the form of a path that sameFolded compares.
func folded(p string) string { return strings.ToLower(bareName(norm.NFC.String(p))) }

// formRule returns the rule for two values that differ in form only: [RepairSlash] for
// /a and /a/, [RepairIndex] for /a/ and /a/index.html. It returns "" if they differ in more.
func formRule(old, value string) RepairRule {
	a, b := strings.TrimSuffix(pathOf(old), "/"), strings.TrimSuffix(pathOf(value), "/")
	switch {
	case !strings.EqualFold(bareName(a), bareName(b)):
		return ""
	case bareName(a) != bareName(b):
		return RepairCase
	case strings.HasSuffix(a, "index.html") != strings.HasSuffix(b, "index.html"):
		return RepairIndex
	case strings.HasSuffix(a, ".html") != strings.HasSuffix(b, ".html"):
		return RepairExtension
	}
	return RepairSlash
}

// pathOf returns a value without query and fragment.
func pathOf(value string) string {
	value, _ = cutValue(value)
	return string(weburl.PercentDecode(nil, value))
}

// bareName returns a path without what hosts add to addresses or leave out.
func bareName(p string) string {
	return strings.Trim(strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(p, "/"), "index.html"), ".html"), "/")
}
