package fetch

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// parse reads the address of a request as a browser would.
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
		return u, &Error{URL: hideCredentials(u.Scheme() + "://" + authority(u) + u.Path()), Kind: BadRequest, Err: err}
	}
	return u, nil
}

// follow reads the address of a redirect.
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
// would end up in records and at the wrong host.
func acceptable(u weburl.URL) error {
	switch {
	case u.Scheme() != "http" && u.Scheme() != "https":
		return errors.New("only http and https are fetched")
	case u.HasCredentials():
		return errors.New("the address holds a user name or a password")
	}
	return nil
}

// authority is host and port.
func authority(u weburl.URL) string {
	if u.Port() == "" {
		return u.Host()
	}
	return u.Host() + ":" + u.Port()
}

// setTarget makes the request line carry path and query byte for byte.
func setTarget(to *url.URL, u weburl.URL) {
	if u.HasQuery() {
		to.RawQuery, to.ForceQuery = u.Query(), true
	}
	if !strings.HasPrefix(u.Path(), "//") {
		to.Opaque = u.Path()
		return
	}
	// Opaque would be taken for an authority. This way writes the path as it is,
	// but for characters that no server's own links hold.
	to.Path = string(weburl.PercentDecode(nil, u.Path()))
	to.RawPath = u.Path()
}

// literal is the guard for what is not dialled here: an address that stands in
// the URL itself, and the port.
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
		// A name, which may lead to any address: that of no block is judged.
		addr = netip.AddrFrom4([4]byte{1, 1, 1, 1})
	}
	at := netip.AddrPortFrom(addr, uint16(port))
	if reason := g.refuses(at); reason != "" {
		return &refusedError{addr: at, reason: reason}
	}
	return nil
}
