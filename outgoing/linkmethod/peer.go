package linkmethod

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Peer names hosts that take LINK calls.
type Peer struct {
	// host is a host name in ASCII and lower case, with its port if one was
	// written. below: every host below it, and not itself.
	host   string
	below  bool
	scheme string // "" for both
	form   Form   // "" is found out
}

// ParsePeer reads one entry of a list of peers: a host, "b.example" or
// "b.example:8080", all below one, "*.example.org", or an origin,
// "https://b.example". Behind a space may follow the form that it takes, raw or
// header; without it the raw form is tried, and the other one where that is not
// understood.
func ParsePeer(entry string) (Peer, error) {
	fields := strings.Fields(entry)
	if len(fields) == 0 || len(fields) > 2 {
		return Peer{}, fmt.Errorf("peer %q: a host is due, and a form behind it if need be", entry)
	}
	var p Peer
	if len(fields) == 2 {
		p.form = Form(fields[1])
		if p.form != Raw && p.form != Header {
			return Peer{}, fmt.Errorf("peer %q: the form is %q; it may be %q or %q", entry, fields[1], Raw, Header)
		}
	}
	host, isOrigin := fields[0], strings.Contains(fields[0], "://")
	if !isOrigin {
		host, p.below = strings.CutPrefix(host, "*.")
		if strings.ContainsAny(host, "*/") {
			host = ""
		}
		host = "http://" + host + "/"
	}
	u, err := weburl.Parse(host)
	if err != nil || u.HasCredentials() || u.Path() != "/" || u.HasQuery() || u.HasFragment() || u.Scheme() != "http" && u.Scheme() != "https" {
		return Peer{}, fmt.Errorf("peer %q: %q is no host, such as \"b.example\", \"*.example.org\" or \"https://b.example\"", entry, fields[0])
	}
	p.host = authority(u)
	if isOrigin {
		p.scheme = u.Scheme()
	}
	return p, nil
}

// matches tells whether the peer is the host of u. A host without port is that
// at every port; an origin is just itself.
func (p Peer) matches(u weburl.URL) bool {
	switch {
	case p.scheme != "":
		return p.scheme == u.Scheme() && p.host == authority(u)
	case p.below:
		return strings.HasSuffix(u.Host(), "."+p.host) || strings.HasSuffix(authority(u), "."+p.host)
	}
	return p.host == u.Host() || p.host == authority(u)
}

func authority(u weburl.URL) string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}

// origin is the name under which a host is remembered.
func origin(u weburl.URL) string { return u.Scheme() + "://" + authority(u) }
