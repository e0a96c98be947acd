package audit

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/wire"
	public "github.com/sitelink/sitelink/site"
	"github.com/sitelink/sitelink/templates"
)

// Endpoints returns the addresses of the table [templates], which the
// configuration has checked.
func Endpoints(cfg *config.Config) templates.Endpoints {
	return templates.Endpoints{Pingback: cfg.Templates.Pingback, Webmention: cfg.Templates.Webmention}
}

// EndpointPages returns which pages advertise them.
func EndpointPages(cfg *config.Config) templates.Choice {
	t := cfg.Templates
	return templates.Choice{Pages: t.Pages, Exclude: t.Exclude, Kinds: t.Kinds}
}

// inspectEndpoints makes the site inspect pages for the elements of the endpoints
// while they are read; it does nothing when none is configured.
func inspectEndpoints(opt *site.Options, cfg *config.Config) {
	e := Endpoints(cfg)
	if e.IsZero() {
		return
	}
	opt.Inspect = func() site.Inspector {
		in := wire.NewInspector(e.Pingback, e.Webmention)
		return func(kind site.PageKind, page *scan.Page) site.Inspected {
			has, faults := in.Page(page, kind == site.PageXHTML)
			out := site.Inspected{Flags: uint8(has)}
			for _, f := range faults {
				out.Marks = append(out.Marks, site.Mark{Off: f.Off, What: f.What})
			}
			return out
		}
	}
}

// endpointFindings returns a function that reports the pages that do not
// advertise the endpoints as they should; nil when none is configured.
func endpointFindings(p *project.Project) func(s *public.Site) []check.Finding {
	cfg := p.Config
	e := Endpoints(cfg)
	if e.IsZero() {
		return nil
	}
	return func(handle *public.Site) []check.Finding {
		s := site.Unwrap(handle)
		v := endpointVerifier{site: s, endpoints: e, ruleDir: p.RuleDir, reader: s.NewReader()}
		defer v.reader.Close()
		// The host's rules may send headers that advertise the endpoints (PB-16, PB-19).
		root := v.site.Root()
		profile, _, _ := strings.Cut(v.site.Profile().Name, ",")
		for _, rule := range templates.HeaderRules(profile, v.endpoints) {
			if rule.File == "" {
				continue
			}
			name, shown := filepath.Join(root, rule.File), rule.File
			if !rule.InDocroot {
				if v.ruleDir == "" {
					continue
				}
				name = filepath.Join(v.ruleDir, rule.File)
				shown = fromDocroot(root, name)
			}
			text, err := system.Read(name, maxHeaderFileBytes)
			if err != nil {
				continue // loading the host's rules reports what is wrong with it
			}
			values, err := templates.ReadHeaders(rule.File, text)
			if err != nil {
				v.add(shown, check.Error, check.EndpointHeader, "the header rules cannot be read: "+err.Error(), "")
				continue
			}
			for _, value := range values {
				v.header(shown, value)
			}
		}
		if cfg.Templates.Headers {
			v.byHeader = wire.HasPingback | wire.HasWebmention
		}
		v.pages(EndpointPages(cfg))
		return v.findings
	}
}

// EndpointFindings returns what is wrong with the elements of the endpoints on the pages
// of a site that [Load] has loaded.
func EndpointFindings(p *project.Project, s *site.Site) []check.Finding {
	if find := endpointFindings(p); find != nil {
		return find(Handle(s))
	}
	return nil
}

// endpointVerifier makes the findings of one site.
type endpointVerifier struct {
	site      *site.Site
	endpoints templates.Endpoints
	// ruleDir holds the host's rule files outside the docroot; "" for none.
	ruleDir string
	// byHeader are the elements that pages do not need, since a header advertises
	// the endpoint for all of them (PB-8).
	byHeader wire.HasElements
	findings []check.Finding
	reader   *site.Reader
}

// pages checks all pages; what each has was noted when it was read.
func (v *endpointVerifier) pages(choice templates.Choice) {
	s := v.site
	var want wire.HasElements
	if v.endpoints.Pingback != "" {
		want |= wire.HasPingback
	}
	if v.endpoints.Webmention != "" {
		want |= wire.HasWebmention
	}
	plain := len(choice.Pages)+len(choice.Exclude) == 0
	chooser := sync.OnceValue(func() *templates.Chooser { return chooserOf(s, choice) })
	for i := range s.Pages() {
		id := site.PageID(i)
		page := s.Page(id)
		if !page.Kind().IsHTML() || page.Error().Err != nil {
			continue
		}
		seen := page.Inspected()
		has := wire.HasElements(seen.Flags)
		redirects := page.Alias() != ""
		if redirects && has == 0 && len(seen.Marks) == 0 {
			continue
		}
		right := plain && !redirects && has == want && len(seen.Marks) == 0
		if right && deep(s.Tree(), page.Node()) {
			continue
		}
		p := s.Path(id)
		if right && !templates.IsErrorPage(p) {
			continue // what kind of page it is does not matter then
		}
		chosen := templates.Never
		if !redirects {
			chosen = chooser().Of(p)
		}
		switch missing := want &^ has &^ v.byHeader; {
		case chosen == templates.Never && has != 0:
			why := "the configuration leaves it out"
			switch {
			case redirects:
				why = "it only redirects"
			case templates.IsErrorPage(p):
				why = "it is an error page"
			}
			v.add(p, check.Warning, check.EndpointUnwanted, "the page names the "+names(has)+" endpoint and should not: "+why, "")
			continue
		case chosen == templates.Yes && missing != 0:
			v.add(p, check.Error, check.EndpointMissing, "the page does not name the "+names(missing)+" endpoint", "sitelink inject")
		}
		for _, m := range seen.Marks {
			v.fault(id, p, wire.PageFault{Off: m.Off, What: m.What})
		}
	}
}

// deep reports whether a file is too far down to be an error page.
func deep(t *docroot.Tree, n docroot.NodeID) bool {
	up := n
	for dirs := range 3 {
		if up = t.Parent(up); up == 0 { // that many directories down
			return dirs == 2 && !strings.HasPrefix(t.Name(n), "index.")
		}
	}
	return true
}

// chooserOf returns what decides which pages of a site advertise the endpoints.
func chooserOf(s *site.Site, choice templates.Choice) *templates.Chooser {
	var pages, feeds []string
	for i := range s.Pages() {
		p := s.Path(site.PageID(i))
		switch {
		case s.Page(site.PageID(i)).Kind().IsHTML():
			pages = append(pages, p)
		case templates.IsFeed(path.Base(p)):
			feeds = append(feeds, p)
		}
	}
	return templates.NewChooser(choice, pages, feeds)
}

// names returns the elements for a sentence.
func names(has wire.HasElements) string {
	switch has {
	case wire.HasPingback:
		return "pingback"
	case wire.HasWebmention:
		return "webmention"
	}
	return "pingback and webmention"
}

func (v *endpointVerifier) add(page string, verdict check.Verdict, code check.Code, message, cure string) *check.Finding {
	v.findings = append(v.findings, check.Finding{Page: page, Verdict: verdict, Code: code, Count: 1, Message: message, Suggestion: cure})
	return &v.findings[len(v.findings)-1]
}

// fault reports a fault of an element of a page, with its place.
func (v *endpointVerifier) fault(id site.PageID, page string, fault wire.PageFault) {
	rel := fault.Rel()
	right := templates.Endpoints{Pingback: v.endpoints.Pingback}
	if rel == "webmention" {
		right = templates.Endpoints{Webmention: v.endpoints.Webmention}
	}
	cure := right.HTML(v.site.Page(id).Kind() == site.PageXHTML)
	var f *check.Finding
	switch fault.Fault() {
	case wire.FaultAddress:
		f = v.add(page, check.Error, check.EndpointAddress, "the "+rel+" element names another address than the configuration", cure)
	case wire.FaultRelative:
		f = v.add(page, check.Error, check.EndpointRelative, "the address of the "+rel+" element is not absolute", cure)
	case wire.FaultForm:
		f = v.add(page, check.Error, check.EndpointForm, "the "+rel+" element is not written as clients look for it", cure)
	case wire.FaultUnquoted:
		f = v.add(page, check.Error, check.EndpointUnquoted, "a minifier took the quotes from the "+rel+" element, so that clients do not find it", "minify.tdewolff.html.keepQuotes = true")
	case wire.FaultTwice:
		f = v.add(page, check.Error, check.EndpointTwice, "the page has a second "+rel+" element", "remove one of them")
	case wire.FaultSecondMatch:
		f = v.add(page, check.Error, check.EndpointSecondMatch, "clients take this text, which is not an element, for the pingback element", "write &lt; for its <, in a script \\x3c")
	case wire.FaultBody:
		f = v.add(page, check.Error, check.EndpointBody, "the "+rel+" element is in the body: something before it ends the head", "move it up, right after the charset declaration")
	case wire.FaultLate:
		f = v.add(page, check.Warning, check.EndpointLate, "the "+rel+" element ends behind the first 5,000 bytes, where clients may stop looking", "move it up, right after the charset declaration")
	case wire.FaultInvalid:
		f = v.add(page, check.Warning, check.EndpointInvalidPage, "the page has a second head: clients may refuse to search it", "merge the two heads")
	}
	if line, col, offset, err := v.reader.Position(id, fault.Off); err == nil {
		f.Line, f.Column, f.Offset = line, col, offset
	}
}

// maxHeaderFileBytes bounds a file of header rules.
const maxHeaderFileBytes = 4 << 20

// fromDocroot names a file of the project as seen from the docroot.
func fromDocroot(docroot, name string) string {
	from, err1 := filepath.Abs(docroot)
	to, err2 := filepath.Abs(name)
	rel, err := filepath.Rel(from, to)
	if errors.Join(err1, err2, err) != nil {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

// header checks one value.
func (v *endpointVerifier) header(file string, value templates.HeaderValue) {
	want, bit := v.endpoints.Webmention, wire.HasWebmention
	if value.Rel == "pingback" {
		want, bit = v.endpoints.Pingback, wire.HasPingback
	}
	var f *check.Finding
	switch {
	case value.Rel == "pingback" && value.IsLink:
		f = v.add(file, check.Error, check.EndpointHeader, "a Link header does not name a pingback server: clients look for X-Pingback", "X-Pingback: "+value.URI)
	case want == "":
		return
	case value.URI != want:
		f = v.add(file, check.Error, check.EndpointHeader,
			fmt.Sprintf("the header names another %s endpoint than the configuration, and wins over the element: %s", value.Rel, value.URI), want)
	default:
		if value.All {
			v.byHeader |= bit
		}
		return
	}
	f.Line, f.Column = value.Line, 1
}
