package audit

import (
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/endpoint"
	"github.com/sitelink/sitelink/internal/site"
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
		in := endpoint.NewInspector(e.Pingback, e.Webmention)
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
		v := endpointVerifier{site: s, endpoints: e, reader: s.NewReader()}
		defer v.reader.Close()
		for _, h := range s.Headers() {
			v.header(h)
		}
		if cfg.Templates.Headers {
			v.byServer = endpoint.HasPingback | endpoint.HasWebmention
		}
		v.pages(EndpointPages(cfg))
		return v.findings
	}
}

// EndpointFindings returns what is wrong with the elements of the endpoints on the pages
// of a site that [Open] has loaded.
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
	// headers are those of the rules of the host. byServer are the elements that pages do
	// not need, since the configuration says that the server sends headers.
	headers  []sentHeader
	byServer endpoint.HasElements
	findings []check.Finding
	reader   *site.Reader
}

// sentHeader is a header that advertises an endpoint, or removes one that does.
type sentHeader struct {
	rule redirect.HeaderRule
	has  endpoint.HasElements
}

// pages checks all pages; what each has was noted when it was read.
func (v *endpointVerifier) pages(choice templates.Choice) {
	s := v.site
	var want endpoint.HasElements
	if v.endpoints.Pingback != "" {
		want |= endpoint.HasPingback
	}
	if v.endpoints.Webmention != "" {
		want |= endpoint.HasWebmention
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
		has := endpoint.HasElements(seen.Flags)
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
		switch missing := want &^ has &^ v.byHeader(id); {
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
			v.fault(id, p, endpoint.PageFault{Off: m.Off, What: m.What})
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
func names(has endpoint.HasElements) string {
	switch has {
	case endpoint.HasPingback:
		return "pingback"
	case endpoint.HasWebmention:
		return "webmention"
	}
	return "pingback and webmention"
}

func (v *endpointVerifier) add(page string, verdict check.Verdict, code check.Code, message, cure string) *check.Finding {
	v.findings = append(v.findings, check.Finding{Page: page, Verdict: verdict, Code: code, Count: 1, Message: message, Suggestion: cure})
	return &v.findings[len(v.findings)-1]
}

// fault reports a fault of an element of a page, with its place.
func (v *endpointVerifier) fault(id site.PageID, page string, fault endpoint.PageFault) {
	rel := fault.Rel()
	right := templates.Endpoints{Pingback: v.endpoints.Pingback}
	if rel == "webmention" {
		right = templates.Endpoints{Webmention: v.endpoints.Webmention}
	}
	cure := right.HTML(v.site.Page(id).Kind() == site.PageXHTML)
	var f *check.Finding
	switch fault.Fault() {
	case endpoint.FaultAddress:
		f = v.add(page, check.Error, check.EndpointAddress, "the "+rel+" element names another address than the configuration", cure)
	case endpoint.FaultRelative:
		f = v.add(page, check.Error, check.EndpointRelative, "the address of the "+rel+" element is not absolute", cure)
	case endpoint.FaultForm:
		f = v.add(page, check.Error, check.EndpointForm, "the "+rel+" element is not written as clients look for it", cure)
	case endpoint.FaultUnquoted:
		f = v.add(page, check.Error, check.EndpointUnquoted, "a minifier took the quotes from the "+rel+" element, so that clients do not find it", "minify.tdewolff.html.keepQuotes = true")
	case endpoint.FaultTwice:
		f = v.add(page, check.Error, check.EndpointTwice, "the page has a second "+rel+" element", "remove one of them")
	case endpoint.FaultSecondMatch:
		f = v.add(page, check.Error, check.EndpointSecondMatch, "clients take this text, which is not an element, for the pingback element", "write &lt; for its <, in a script \\x3c")
	case endpoint.FaultBody:
		f = v.add(page, check.Error, check.EndpointBody, "the "+rel+" element is in the body: something before it ends the head", "move it up, right after the charset declaration")
	case endpoint.FaultLate:
		f = v.add(page, check.Warning, check.EndpointLate, "the "+rel+" element ends behind the first 5,000 bytes, where clients may stop looking", "move it up, right after the charset declaration")
	case endpoint.FaultInvalid:
		f = v.add(page, check.Warning, check.EndpointInvalidPage, "the page has a second head: clients may refuse to search it", "merge the two heads")
	}
	if line, col, offset, err := v.reader.Position(id, fault.Off); err == nil {
		f.Line, f.Column, f.Offset = line, col, offset
	}
}

// header checks a header that the rules of the host send (PB-16, PB-19).
func (v *endpointVerifier) header(h redirect.HeaderRule) {
	add := func(message, cure string) {
		f := v.add(h.Source.File, check.Error, check.EndpointHeader, message, cure)
		f.Line, f.Column = h.Source.Line, 1
	}
	sent := func(rel, uri string, has endpoint.HasElements, want string) {
		switch {
		case want == "":
		case h.Unset || uri == want:
			v.headers = append(v.headers, sentHeader{h, has})
		default:
			add(fmt.Sprintf("the header names another %s endpoint than the configuration, and wins over the element: %s", rel, uri), want)
		}
	}
	links, _ := endpoint.Links(h.Value)
	switch isLink := strings.EqualFold(h.Name, "Link"); {
	case strings.EqualFold(h.Name, "X-Pingback"):
		sent("pingback", strings.TrimSpace(h.Value), endpoint.HasPingback, v.endpoints.Pingback)
	case isLink && h.Unset:
		sent("webmention", "", endpoint.HasWebmention, v.endpoints.Webmention)
	case isLink:
		for _, l := range links {
			for rel := range strings.FieldsSeq(strings.ToLower(l.Rel)) {
				switch rel {
				case "webmention":
					sent(rel, l.Target, endpoint.HasWebmention, v.endpoints.Webmention)
				case "pingback":
					add("a Link header does not name a pingback server: clients look for X-Pingback", "X-Pingback: "+l.Target)
				}
			}
		}
	}
}

// byHeader returns what the headers advertise that the host sends with a page, so that the
// page itself need not (PB-8).
func (v *endpointVerifier) byHeader(id site.PageID) endpoint.HasElements {
	has, address := v.byServer, v.site.Href(v.site.Page(id).Node())
	for i := range v.headers {
		switch h := &v.headers[i]; {
		case !h.rule.Applies(address):
		case h.rule.Unset:
			has &^= h.has
		default:
			has |= h.has
		}
	}
	return has
}
