package host

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Resolved is the full answer to one link.
type Resolved struct {
	State State
	// Node is the file that answers; if [State.IsMeant]
	// the file that was meant.
	Node   docroot.NodeID
	Status int
	// Target is the site path of the request, with query, or the absolute URL
	// of a link that leads elsewhere.
	Target string
	// Fragment is the fragment of the resolved URL, as serialised.
	Fragment string
	// Final is the site path that answers, if the host redirects.
	Final string
	// Meant is the site path that a link means if [State.IsMeant], or a whole URL; ""
	// if that is not known.
	Meant string
	// Note explains the state if it says too little; may be empty.
	Note string
	// Temporary means that a rule with a temporary status redirects.
	Temporary bool
}

// Unpublished is the URL of a site without base URL.
const Unpublished = "http://docroot.invalid"

// Resolve answers the request for an absolute URL; trace, when set, collects
// the steps.
func (h *Host) Resolve(u weburl.URL, trace *[]Step) Resolved {
	res := Resolved{Node: docroot.NoNode}
	if sch := u.Scheme(); sch != "http" && sch != "https" {
		res.State, res.Target = schemeState([]byte(sch)), u.WithoutFragment()
		switch {
		case res.State == StateOtherScheme && isDead(sch):
			res.State = StateDeadScheme
		case (res.State == StateMailto || res.State == StateTel) && u.Path() == "" && u.Query() == "":
			res.State = StateNoRecipient
		}
		if trace != nil {
			*trace = append(*trace, Step{"scheme", sch + ": not an HTTP address, so there is no page to check"})
		}
		return res
	}
	query := ""
	if u.HasQuery() {
		query = "?" + u.Query()
	}
	b := h.ownBase(u)
	if b == nil {
		res.State, res.Target = StateExternal, u.WithoutFragment()
		other := "the link leads to another host: " + u.Host()
		switch {
		case u.HasCredentials():
			res.State = StateCredentials
		case wrongHost(h, u, query, &res) && res.Meant != "":
			other += "; " + res.Meant + " is meant"
		}
		if trace != nil {
			*trace = append(*trace, Step{"base-url", other})
		}
		return res
	}
	res.Target = u.Path() + query
	path, below := b.below(u.Path())
	if !below && h.profile.Forge != nil {
		if path, below = h.elsewhereOnForge(u, &res); !below {
			return res
		}
	}
	if v := h.opt.Crawled; v != nil && (IsVite(u.Path()) || !below && v.isModule(u.Path(), query)) {
		res.State = StateLivereload
		return res
	}
	if !below {
		res.State = StateOutsideBase
		outside := "the link leads to the site's own host, but not below the site's base path"
		if addBase(h, u, query, &res) {
			outside += "; with that added, " + res.Meant + " answers"
		} else if gluedBase(h, u, query, &res) {
			outside += "; with a slash after that, " + res.Meant + " is meant"
		}
		if trace != nil {
			*trace = append(*trace, Step{"base-url", outside})
		}
		return res
	}
	if h.Rooted() {
		res.Target = cmp.Or(b.root+path, "/") + query
	}
	bare := path == "" // the base path without its slash
	path = cmp.Or(path, "/")
	from := path
	path, loop := h.mapped(path)
	if trace != nil && path != from {
		*trace = append(*trace, Step{"map", from + " is mapped to " + path})
	}
	if loop {
		res.State = StateMappingLoop
		return res
	}
	a := h.answer(b.root+path, query, trace)
	if strings.HasSuffix(path, "/livereload.js") && strings.HasPrefix(query, "?mindelay=") && isMissing(&a) { // of hugo server
		a = Answer{State: StateLivereload, Node: docroot.NoNode}
	}
	res.State, res.Node, res.Status, res.Note, res.Temporary = a.State, a.Node, a.Status, a.Note, a.Temporary
	if bare && b.path != "" && h.profile.Directory != Serve && a.Final == "" {
		if a.State == StateOK {
			res.State = StateRedirect
		}
		if a.State.Answers() {
			a.Final = b.root + "/"
			if query != "?" {
				a.Final += query
			}
		}
	}
	res.Final = a.Final
	if strings.HasPrefix(a.Final, "/") && !h.Rooted() {
		res.Final = b.path + a.Final
	}
	return res
}

// ownBase returns the address below which u is, or else one of the same host, whatever
// the scheme (LL-65 to LL-68). It returns nil for a URL of another host.
func (h *addresses) ownBase(u weburl.URL) (own *baseURL) {
	found := false
	for i := range h.bases {
		b := &h.bases[i]
		if !b.isHostOf(u) {
			continue
		}
		_, below := b.below(u.Path())
		if own == nil || below && (!found || len(b.path) > len(own.path)) {
			own, found = b, below
		}
	}
	return own
}

// isHostOf reports whether u has the host of b. The whole authority counts: with a
// user name it is another one (LL-68).
func (b *baseURL) isHostOf(u weburl.URL) bool {
	host, port := b.host, ""
	if p := u.Port(); p != "" {
		host, port = strings.TrimSuffix(host, ":"+p), ":"+p
	}
	return u.Host() == host && host+port == b.host && !u.HasCredentials()
}

// addBase finds what answers a request outside the base path when the base path is put
// before it, and reports whether something does. It makes res a [StateMissingBase]
// then. Two answers prove nothing: an answer that any path would get, and the home
// page for a link that names only the host, because its author means the top of the
// host.
func addBase(h *Host, u weburl.URL, query string, res *Resolved) bool {
	path := u.Path()
	if path == "/" && u.Notes()&weburl.NoteHost != 0 {
		return false
	}
	for i := range h.bases {
		b := &h.bases[i]
		if b.path == "" || !b.isHostOf(u) {
			continue
		}
		a, ok := answers(h, b, path, query)
		if !ok || IsHome(h, a.Node) && path != "/" && path != "/"+h.tree.Name(a.Node) {
			continue
		}
		res.State, res.Node, res.Meant = StateMissingBase, a.Node, meantPath(h, b, path+query)
		return true
	}
	return false
}

// IsHome reports whether a file is a home page: that of the docroot, or of a
// directory with an address of its own.
func IsHome(h *Host, id docroot.NodeID) bool {
	for i := range h.bases {
		if dir := h.tree.At(strings.TrimPrefix(h.bases[i].root, "/")); dir != docroot.NoNode && h.indexOf[dir] == id {
			return true
		}
	}
	return false
}

// mapped applies the --map rules: whole segments, the longest rule first, until
// none applies (LL-93). loop reports that the rules never end.
func (h *Host) mapped(path string) (result string, loop bool) {
	const maxSteps = 20
	for range maxSteps {
		i := slices.IndexFunc(h.maps, func(m MapRule) bool {
			rest, ok := strings.CutPrefix(path, m.From)
			return ok && (rest == "" || rest[0] == '/')
		})
		if i < 0 {
			return path, false
		}
		path = h.maps[i].To + path[len(h.maps[i].From):]
		if path == "" {
			path = "/"
		}
	}
	return path, len(h.maps) > 0
}
