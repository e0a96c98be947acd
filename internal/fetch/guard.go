package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sitelink/sitelink/internal/weburl"
)

// refusedError means that connecting to an address is not allowed.
type refusedError struct {
	addr   netip.AddrPort
	reason string
}

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused to connect to %s: %s", e.addr, e.reason)
}

// guard decides which addresses may be connected to.
type guard struct {
	allow []netip.Prefix
	// defaultPorts refuses the ports above 1023 too.
	defaultPorts bool
	connect      func(host string, addr netip.Addr) time.Duration // may be nil
}

// hostKey is the context key of the host of a connection.
type hostKey struct{}

// BusyError means that a connection was not opened, because [Options.Connect] wants it to
// wait.
type BusyError struct{ Wait time.Duration }

func (e *BusyError) Error() string { return "the address gets no connection for " + e.Wait.String() }

// control is the ControlContext function of a net.Dialer. It gets the address that the
// kernel is about to connect to, so a second DNS lookup cannot change it.
func (g *guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if reason := g.refuses(addr); reason != "" {
		return &refusedError{addr: addr, reason: reason}
	}
	if host, ok := ctx.Value(hostKey{}).(string); ok && g.connect != nil {
		if wait := g.connect(host, addr.Addr()); wait > 0 {
			return &BusyError{wait}
		}
	}
	return nil
}

// refuses returns why an address may not be connected to, or "" if it may.
func (g *guard) refuses(a netip.AddrPort) string {
	addr := a.Addr().WithZone("").Unmap()
	allowed := func(addr netip.Addr) bool {
		return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(addr) })
	}
	if allowed(addr) {
		// Allowing the translator of an IPv6-only network does not allow the
		// private addresses behind it.
		if !nat64.Contains(addr) {
			return ""
		}
		if bytes := addr.As16(); !allowed(netip.AddrFrom4([4]byte(bytes[12:]))) {
			if reason := notPublic(netip.AddrFrom4([4]byte(bytes[12:]))); reason != "" {
				return "it is translated to an address that is " + reason
			}
		}
	} else if reason := notPublic(addr); reason != "" {
		return "the address is " + reason
	} else if a.Addr().Zone() != "" {
		return "the address has a zone"
	}
	if !webPort(a.Port()) || g.defaultPorts && a.Port() != 80 && a.Port() != 443 {
		return "the port is not a port of a web server"
	}
	return ""
}

// special is a block of addresses that are not on the public internet.
type special struct {
	prefix netip.Prefix
	what   string
}

func block(prefix, what string) special { return special{netip.MustParsePrefix(prefix), what} }

// specials4 are the blocks of IPv4 that are not public: the IANA registry of
// special-purpose addresses, multicast, reserved blocks, and the address where
// the machines of a cloud reach their host.
//
// https://www.iana.org/assignments/iana-ipv4-special-registry
var specials4 = []special{
	block("0.0.0.0/8", "unspecified (0.0.0.0/8)"),
	block("10.0.0.0/8", "private (10.0.0.0/8)"),
	block("100.64.0.0/10", "shared by carriers (100.64.0.0/10)"),
	block("127.0.0.0/8", "loopback (127.0.0.0/8)"),
	block("169.254.0.0/16", "link-local (169.254.0.0/16), where clouds keep their metadata"),
	block("172.16.0.0/12", "private (172.16.0.0/12)"),
	block("192.0.0.0/24", "for protocols (192.0.0.0/24)"),
	block("192.0.2.0/24", "for documentation (192.0.2.0/24)"),
	block("192.31.196.0/24", "for AS112 (192.31.196.0/24)"),
	block("192.52.193.0/24", "for AMT (192.52.193.0/24)"),
	block("192.88.99.0/24", "a 6to4 relay (192.88.99.0/24)"),
	block("192.168.0.0/16", "private (192.168.0.0/16)"),
	block("192.175.48.0/24", "for AS112 (192.175.48.0/24)"),
	block("198.18.0.0/15", "for benchmarks (198.18.0.0/15)"),
	block("198.51.100.0/24", "for documentation (198.51.100.0/24)"),
	block("203.0.113.0/24", "for documentation (203.0.113.0/24)"),
	block("168.63.129.16/32", "a cloud's own host (168.63.129.16)"),
	block("224.0.0.0/4", "multicast (224.0.0.0/4)"),
	block("240.0.0.0/4", "reserved (240.0.0.0/4)"),
}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// specials6 are the blocks of IPv6 that are not public and have a name. Those in
// 2000::/3 must be listed. The others are listed for a better message. Addresses
// that contain an IPv4 address are always refused.
//
// https://www.iana.org/assignments/iana-ipv6-special-registry
var specials6 = []special{
	block("::/128", "unspecified (::)"),
	block("::1/128", "loopback (::1)"),
	block("::/96", "an obsolete form of an IPv4 address (::/96)"),
	{nat64, "a translated IPv4 address (64:ff9b::/96)"},
	block("64:ff9b:1::/48", "a locally translated IPv4 address (64:ff9b:1::/48)"),
	block("100::/64", "for discarding (100::/64)"),
	block("2001::/32", "a Teredo tunnel (2001::/32)"),
	block("2001::/23", "for protocols (2001::/23)"),
	block("2001:db8::/32", "for documentation (2001:db8::/32)"),
	block("2002::/16", "a 6to4 tunnel (2002::/16)"),
	block("2620:4f:8000::/48", "for AS112 (2620:4f:8000::/48)"),
	block("3fff::/20", "for documentation (3fff::/20)"),
	block("fc00::/7", "private (fc00::/7)"),
	block("fe80::/10", "link-local (fe80::/10)"),
	block("fec0::/10", "site-local (fec0::/10)"),
	block("ff00::/8", "multicast (ff00::/8)"),
}

// global6 is the part of IPv6 that is assigned to networks today.
var global6 = netip.MustParsePrefix("2000::/3")

// notPublic says what an address is if it is not public, and returns "" if it is.
// The address must be unmapped and have no zone.
func notPublic(addr netip.Addr) string {
	specials := specials6
	if addr.Is4() {
		specials = specials4
	}
	for _, s := range specials {
		if s.prefix.Contains(addr) {
			return s.what
		}
	}
	if addr.Is6() && !global6.Contains(addr) || !addr.IsValid() {
		return "not on the public internet"
	}
	return ""
}

// otherPorts are the ports above 1023 of well-known services other than web
// servers: ports that browsers block, and ports of databases, queues and remote
// desktops, where an HTTP request could do harm. Sorted.
//
// https://fetch.spec.whatwg.org/#port-blocking
var otherPorts = []uint16{
	1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432,
	5672, 5900, 5984, 6000, 6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092, 9200, 9300,
	10080, 10250, 11211, 27017, 27018, 27019,
}

// webPort reports whether a port may be one of a web server: 80, 443, and ports
// above 1023 that no other well-known service uses.
func webPort(port uint16) bool {
	if port < 1024 {
		return port == 80 || port == 443
	}
	_, other := slices.BinarySearch(otherPorts, port)
	return !other
}

// parse parses the URL of a request as a browser would.
func parse(raw string) (weburl.URL, *Error) {
	u, err := weburl.Parse(raw)
	if err != nil {
		cause := err
		var bad *weburl.Error
		if errors.As(err, &bad) {
			cause = errors.New(string(bad.Reason))
		}
		return u, &Error{URL: hideCredentials(raw), Kind: BadRequest, Err: cause}
	}
	if err := acceptable(u); err != nil {
		return u, &Error{URL: hideCredentials(u.Scheme() + "://" + u.Authority() + u.Path()), Kind: BadRequest, Err: err}
	}
	return u, nil
}

// follow parses the URL of a redirect.
func follow(from weburl.URL, location string) (weburl.URL, *Error) {
	u, err := from.Resolve(location)
	if err != nil {
		var bad *weburl.Error
		if errors.As(err, &bad) {
			err = errors.New(string(bad.Reason))
		}
	} else {
		err = acceptable(u)
	}
	if err != nil {
		return u, &Error{Err: errors.New("redirect to " + strconv.QuoteToASCII(shorten(hideCredentials(location), 200)) + ": " + err.Error())}
	}
	return u, nil
}

// acceptable refuses schemes other than http and https, and credentials, which
// would get into records and to the wrong host.
func acceptable(u weburl.URL) error {
	switch {
	case u.Scheme() != "http" && u.Scheme() != "https":
		return errors.New("only http and https URLs can be fetched")
	case u.HasCredentials():
		return errors.New("the URL contains a user name or password")
	}
	return nil
}

// setTarget makes the request line have path and query byte for byte.
func setTarget(to *url.URL, u weburl.URL) {
	if u.HasQuery() {
		to.RawQuery, to.ForceQuery = u.Query(), true
	}
	if !strings.HasPrefix(u.Path(), "//") {
		to.Opaque = u.Path()
		return
	}
	// Opaque would be taken as an authority. This writes the path unchanged,
	// except for characters that do not occur in the links of real servers.
	to.Path = string(weburl.PercentDecode(nil, u.Path()))
	to.RawPath = u.Path()
}

// literal checks a URL that a proxy connects to: its port, and its address if the
// URL has one in place of a name.
func (g *guard) literal(u weburl.URL) error {
	port := uint64(80)
	if u.Scheme() == "https" {
		port = 443
	}
	if u.Port() != "" {
		var err error
		if port, err = strconv.ParseUint(u.Port(), 10, 16); err != nil {
			return err
		}
	}
	addr, err := netip.ParseAddr(strings.Trim(u.Host(), "[]"))
	if err != nil {
		// A name, which may have any address: check only the port, with an
		// address that is public.
		addr = netip.AddrFrom4([4]byte{1, 1, 1, 1})
	}
	at := netip.AddrPortFrom(addr, uint16(port))
	if reason := g.refuses(at); reason != "" {
		return &refusedError{addr: at, reason: reason}
	}
	return nil
}
