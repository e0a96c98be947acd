package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// trusts reports whether an address is that of a configured proxy.
func (s *Server) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(s.opt.Proxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// peer returns the address that a request came from: that of the connection, or
// what trusted proxies say. The list of addresses is read from its end, which the
// nearest proxy wrote, up to the first one that is not a proxy: everything before
// that is what a stranger may have written. The result is the zero Addr for
// a connection over a Unix socket without that header.
func (s *Server) peer(r *http.Request) netip.Addr {
	var peer netip.Addr
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		peer = at.Addr().Unmap().WithZone("")
		if !s.trusts(peer) {
			return peer
		}
	}
	var list []string
	if values := r.Header.Values(string(s.opt.ProxyHeader)); len(values) > 0 {
		list = strings.Split(strings.Join(values, ","), ",")
	}
	for _, element := range slices.Backward(list) {
		if s.opt.ProxyHeader == Forwarded {
			element = forwardedFor(element)
		}
		address, ok := parseNode(element)
		if !ok {
			return peer // unknown, or forged: the proxy that passed it on is known
		}
		peer = address
		if !s.trusts(peer) {
			return peer
		}
	}
	return peer
}

// forwardedFor returns the for parameter of an element of Forwarded (RFC 7239,
// section 4). A comma or a semicolon inside quotes is not part of an address, so
// splitting there gives an element that is not an address either.
func forwardedFor(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		if name, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
	}
	return ""
}

// parseNode reads an address with or without a port: 192.0.2.1, 192.0.2.1:80,
// 2001:db8::1, [2001:db8::1] or [2001:db8::1]:80.
func parseNode(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); !ok {
			return netip.Addr{}, false
		}
		text = inner
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err == nil
}

// forwardedProto returns the scheme that a trusted proxy was asked with, or "". A
// proxy replaces X-Forwarded-Proto, so its last value is the proxy's.
func (s *Server) forwardedProto(r *http.Request) string {
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && !s.trusts(at.Addr().Unmap().WithZone("")) {
		return ""
	}
	values := strings.Split(strings.Join(r.Header.Values("X-Forwarded-Proto"), ","), ",")
	if last := strings.ToLower(strings.TrimSpace(values[len(values)-1])); last == "http" || last == "https" {
		return last
	}
	return ""
}

// origin returns the scheme and host of the address that a request was sent to.
func (s *Server) origin(r *http.Request) string {
	if r.URL.IsAbs() {
		return r.URL.Scheme + "://" + r.URL.Host
	}
	host := strings.ToLower(r.Host)
	scheme := s.schemes[host]
	if scheme == "" {
		// The host may be written with a default port or a final dot.
		bare := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(host, ":80"), ":443"), ".")
		if scheme = s.schemes[bare]; scheme != "" {
			host = bare
		}
	}
	if scheme == "" {
		scheme = s.forwardedProto(r)
	}
	if scheme == "" {
		scheme = "http"
		if r.TLS != nil {
			scheme = "https"
		}
	}
	return scheme + "://" + host
}
