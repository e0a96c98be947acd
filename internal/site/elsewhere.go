package site

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/weburl"
)

// elsewhere returns the state of a link of page to another host. Browsers resolve its
// address from v. The state depends on what the page does with the target. plain means
// that the host is an ordinary name, as most are.
//
// A published page must neither load nor name what only its author's machine has, as
// pages of a development build do. Links that a visitor may follow are left alone,
// because texts tell people to open http://localhost:8080/. But a link to a page of the
// site at the generator's server is a mistake.
func (r *resolver) elsewhere(page *scan.Page, l *scan.Link, v []byte, plain bool) host.State {
	if !r.s.public || plain && l.Tag == scan.TagA {
		return host.StateExternal
	}
	name, isHTTP := v, len(v) > 4 && v[4] == ':' && scan.EqualFold(v[:4], "http")
	if i := bytes.Index(v, []byte("//")); plain && i >= 0 {
		name = v[i+2:]
		if end := bytes.IndexAny(name, "/?#"); end >= 0 {
			name = name[:end]
		}
	} else {
		u, err := r.resolve(v, false)
		if err != nil {
			return host.StateExternal
		}
		if name, isHTTP = []byte(u.Authority()), u.Scheme() == "http"; opensOnly(page, l) {
			if r.fromServer(u) != "" {
				return host.StateDevServer
			}
		}
	}
	switch {
	case opensOnly(page, l):
	case host.IsLocal(name):
		if r.kind != PageSitemap && r.kind != PageIndex && l.Attr != scan.AttrCite { // reported once for the file
			return host.StateLocal
		}
	case isHTTP && r.blocks(page, l):
		return host.StateMixed
	}
	return host.StateExternal
}

// afterOneSlash returns the address that https:/h.example/x means, which browsers take for
// a path of a page at an https address, without its fragment; "" for other values.
func afterOneSlash(v string) string {
	scheme, rest, ok := strings.Cut(strings.TrimSpace(v), ":/")
	rest, _, _ = strings.Cut(rest, "#")
	name, _, _ := strings.Cut(rest, "/")
	if !ok || !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") || !strings.Contains(name, ".") {
		return ""
	}
	return scheme + "://" + rest
}

// opensOnly reports whether nothing happens before a visitor follows the link.
func opensOnly(page *scan.Page, l *scan.Link) bool {
	if l.Tag == scan.TagOther {
		name := page.Element(l)
		return name == "a" || name == "area"
	}
	return l.Tag == scan.TagA || l.Tag == scan.TagArea
}

// blocks reports whether browsers refuse to load the target of a link of a page at an
// https address by http (Mixed Content, 4.1 and 4.2): scripts, style sheets, frames and
// the like. They load images, audio and video by https instead, and icons are images.
func (r *resolver) blocks(page *scan.Page, l *scan.Link) bool {
	if origin, _ := r.s.Public("/" + r.s.tree.Path(r.Page)); len(origin) < 5 || origin[:5] != "https" {
		return false
	}
	switch l.Tag {
	case scan.TagScript, scan.TagEmbed, scan.TagTrack:
		return true
	case scan.TagIframe, scan.TagFrame:
		return l.Attr == scan.AttrSrc
	case scan.TagObject:
		return l.Attr == scan.AttrData
	case scan.TagLink:
		return l.AtOnce && l.Attr == scan.AttrHref || l.Kind == scan.KindManifest
	case scan.TagOther:
		switch page.Element(l) {
		case "script", "use", "@import":
			return true
		}
	}
	return false
}

// fromServer returns the site path that an address of the generator's server means; ""
// if u is none, or nothing answers the path.
func (r *resolver) fromServer(u weburl.URL) string {
	if r.s.opt.ServerPort == 0 || u.Port() != strconv.Itoa(r.s.opt.ServerPort) || !host.IsLocal([]byte(u.Host())) {
		return ""
	}
	return host.Served(r.s.Host, u)
}
