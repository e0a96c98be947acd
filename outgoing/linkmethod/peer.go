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
	host  string
	below bool
	form  Form // "" is found out
}

// ParsePeer reads one entry of a list of peers: a host, "b.example",
// "b.example:8080", or all below one, "*.example.org". Behind a space may
// follow the form that it takes, raw or header; without it the raw form is
// tried, and the other one where that is not understood.
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
	host := fields[0]
	host, p.below = strings.CutPrefix(host, "*.")
	u, err := weburl.Parse("http://" + host + "/")
	if err != nil || u.HasCredentials() || u.Path() != "/" || u.HasQuery() || u.HasFragment() || strings.ContainsAny(host, "*/") {
		return Peer{}, fmt.Errorf("peer %q: %q is no host, such as \"b.example\" or \"*.example.org\"", entry, fields[0])
	}
	p.host = authority(u)
	return p, nil
}

// matches tells whether the peer is the host of u. An entry without port is the
// host at every port.
func (p Peer) matches(u weburl.URL) bool {
	match := func(host string) bool {
		if p.below {
			return strings.HasSuffix(host, "."+p.host)
		}
		return host == p.host
	}
	return match(u.Host()) || match(authority(u))
}

func authority(u weburl.URL) string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}

// origin is the name under which a host is remembered.
func origin(u weburl.URL) string { return u.Scheme() + "://" + authority(u) }
