package precheck

import (
	"net/netip"
	"net/url"
	"strings"
)

// refusedSource says why WordPress does not fetch a source of that address, ""
// if it does (wp_http_validate_url). Its own host and port, which are those of
// the target, it trusts. Which host is public it asks the DNS; that is left to
// it.
func refusedSource(raw, target string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "the address cannot be read"
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "the address is not of http or https"
	}
	if u.User != nil {
		return "the address names a user"
	}
	if strings.HasPrefix(u.Host, "[") {
		return "the host is a number of IPv6"
	}
	if own, err := url.Parse(target); err == nil && own.Host == u.Host {
		return ""
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && inner(ip) {
		return "the host is not of the public internet"
	}
	switch u.Port() {
	case "", "80", "443", "8080":
		return ""
	}
	return "the port is none of 80, 443 and 8080"
}

// inner are the networks that WordPress keeps away from.
func inner(ip netip.Addr) bool {
	return ip.IsPrivate() || ip.IsLoopback() || ip.Is4() && ip.As4()[0] == 0
}
