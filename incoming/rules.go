package incoming

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// ParsePattern returns a pattern of a rule in the form in which rules are stored:
// a host in ASCII and lower case, the canonical beginning of a URL, or a block of
// addresses. The error says what is wrong with it.
func ParsePattern(raw string) (string, error) {
	text := strings.TrimSpace(raw)
	if block, err := parseBlock(text); err == nil {
		if block.IsSingleIP() {
			return block.Addr().String(), nil
		}
		return block.String(), nil
	}
	if strings.Contains(text, "://") {
		url, err := weburl.Canonical(text)
		if err != nil {
			return "", fmt.Errorf("pattern %q: %w", raw, err)
		}
		return url, nil
	}
	host := strings.TrimPrefix(strings.TrimPrefix(text, "*."), ".")
	u, err := weburl.Parse("http://" + host + "/")
	if err != nil || host == "" || strings.HasPrefix(u.Host(), ".") || strings.Contains(u.Host(), "..") || strings.HasPrefix(host, "@") || u.Path() != "/" || u.HasQuery() || u.HasFragment() || u.HasCredentials() || strings.Contains(u.Host()+host, ":") {
		return "", fmt.Errorf("pattern %q: write a host (example.org), the beginning of a URL (https://example.org/~name/) or a block of addresses (192.0.2.0/24)", raw)
	}
	return strings.TrimSuffix(u.Host(), "."), nil
}

// parseBlock parses an IP address or a block of addresses.
func parseBlock(text string) (netip.Prefix, error) {
	text = strings.Trim(text, "[]")
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	block, err := netip.ParsePrefix(text)
	if err != nil {
		return block, err
	}
	if addr := block.Addr(); addr.Is4In6() && block.Bits() >= 96 {
		block = netip.PrefixFrom(addr.Unmap(), block.Bits()-96)
	}
	return block.Masked(), nil
}

// ruleSet is a set of rules, indexed for look-ups.
type ruleSet struct {
	hosts map[string]Verdict
	// urls has the rules with the beginning of a URL, without its scheme, by
	// host; the longest first.
	urls map[string][]urlRule
	// blocks are blocks of addresses of peers; the smallest first.
	blocks []blockRule
}

type urlRule struct {
	prefix  string
	verdict Verdict
}

type blockRule struct {
	block   netip.Prefix
	verdict Verdict
}

// compileRules indexes rules. It ignores patterns that are not valid.
func compileRules(rules []Rule) *ruleSet {
	set := &ruleSet{hosts: make(map[string]Verdict), urls: make(map[string][]urlRule)}
	for _, r := range rules {
		pattern, err := ParsePattern(r.Pattern)
		if err != nil {
			continue
		}
		if block, err := parseBlock(pattern); err == nil {
			set.blocks = append(set.blocks, blockRule{block, r.Verdict})
			if block.IsSingleIP() { // also the host of a URL
				set.hosts[urlHost(block.Addr())] = r.Verdict
			}
			continue
		}
		if host, prefix, ok := splitURL(pattern); ok {
			set.urls[host] = append(set.urls[host], urlRule{prefix, r.Verdict})
			continue
		}
		set.hosts[pattern] = r.Verdict
	}
	for _, list := range set.urls {
		slices.SortStableFunc(list, func(a, b urlRule) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	}
	slices.SortStableFunc(set.blocks, func(a, b blockRule) int { return cmp.Compare(b.block.Bits(), a.block.Bits()) })
	return set
}

// urlHost returns an address as the host of a URL.
func urlHost(addr netip.Addr) string {
	if addr.Is6() {
		return "[" + addr.String() + "]"
	}
	return addr.String()
}

// splitURL returns the host of a canonical URL, without port, and the URL without
// its scheme. Rules hold for http and https alike.
func splitURL(canonical string) (host, rest string, ok bool) {
	_, rest, ok = strings.Cut(canonical, "://")
	if !ok {
		return "", "", false
	}
	host, _, _ = strings.Cut(rest, "/")
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	return strings.TrimSuffix(host, "."), rest, true
}

// verdict returns the verdict of the longest pattern that matches a canonical
// URL, or "" if none does. The beginning of a URL is longer than any host. A
// directory matches without its final slash, too.
func (s *ruleSet) verdict(canonical string) Verdict {
	host, rest, ok := splitURL(canonical)
	if !ok {
		return ""
	}
	for _, r := range s.urls[host] {
		if strings.HasPrefix(rest, r.prefix) || rest+"/" == r.prefix {
			return r.verdict
		}
	}
	for name := host; ; {
		if v, ok := s.hosts[name]; ok {
			return v
		}
		_, parent, ok := strings.Cut(name, ".")
		if !ok || strings.HasPrefix(name, "[") {
			break
		}
		name = parent
	}
	if len(s.blocks) > 0 {
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			return s.peer(addr)
		}
	}
	return ""
}

// redirected returns the verdict about a canonical URL that has the verdict v and
// redirects to final. It does not hide a page that is blocked, and a site that is
// trusted does not lend its trust to another host.
func (s *ruleSet) redirected(canonical, final string, v Verdict) Verdict {
	to, err := weburl.Canonical(final)
	if err != nil || hostOf(to) == hostOf(canonical) {
		return v
	}
	switch at := s.verdict(to); {
	case at == Block:
		return Block
	case v == Trust && at != Trust:
		return Hold
	}
	return v
}

// peer returns the verdict of the smallest block that contains the address of a
// peer.
func (s *ruleSet) peer(addr netip.Addr) Verdict {
	addr = addr.Unmap().WithZone("")
	for _, r := range s.blocks {
		if r.block.Contains(addr) {
			return r.verdict
		}
	}
	return ""
}
