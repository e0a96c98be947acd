package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Outgoing is the table [outgoing]: whom the site tells of its links, and how.
// It is set in the file; flags of the commands stand in for some of it.
type Outgoing struct {
	// Enabled: `sitelink notify` sends without --send.
	Enabled bool
	// Ledger is a file, git:REF, or a postgres:// address.
	Ledger string
	// Pages and Exclude are patterns of page paths in the docroot.
	Pages, Exclude []string
	// Allow and Deny are patterns of hosts or whole addresses.
	Allow, Deny []string
	// Content is a CSS selector, "" for the rules of package outgoing.
	Content string
	// Rel are the link types that do not count.
	Rel []string
	// Protocols are words of [Protocols], in the order of preference.
	Protocols []string
	// LinkPeers are hosts that are known to take LINK and UNLINK.
	LinkPeers []string
	// Contact is an address for the User-Agent, "" for the base URL.
	Contact string
	// Pace is the least time between two requests to one host.
	Pace time.Duration
	// Live is how long the site has after a deploy to show its pages.
	Live time.Duration
	// Deadline is how long a run may take; 0 for any time.
	Deadline time.Duration
	// MaxNotices is how many notices one run may send; 0 for any number.
	MaxNotices int
}

// Fetch is the table [fetch]: what requests to other hosts may do.
type Fetch struct {
	// AllowAddress are networks that may be dialled although they are not
	// public.
	AllowAddress []netip.Prefix
	// Timeout bounds one request with its redirects.
	Timeout time.Duration
	// Proxy: the proxy that the environment names is used.
	Proxy bool
}

// Protocols are the ways of telling, DefaultProtocols those in use unless the
// file says otherwise, in the order of preference. "link" asks every host
// whether it takes LINK; peers are called without it.
var (
	Protocols        = []string{"webmention", "pingback", "link", "websub"}
	DefaultProtocols = []string{"webmention", "pingback", "websub"}
)

// outgoingKeys are the keys of the table, each with what takes its value.
var outgoingKeys = []tableKey{
	{"enabled", func(f *tomlFile, n *unstable.Node) error { return setBool(n, &f.cfg.Outgoing.Enabled) }},
	{"ledger", func(f *tomlFile, n *unstable.Node) error { return setText(n, &f.cfg.Outgoing.Ledger) }},
	{"pages", func(f *tomlFile, n *unstable.Node) error { return pagePatterns(n, &f.cfg.Outgoing.Pages) }},
	{"exclude", func(f *tomlFile, n *unstable.Node) error { return pagePatterns(n, &f.cfg.Outgoing.Exclude) }},
	{"allow", func(f *tomlFile, n *unstable.Node) error { return targetPatterns(n, &f.cfg.Outgoing.Allow) }},
	{"deny", func(f *tomlFile, n *unstable.Node) error { return targetPatterns(n, &f.cfg.Outgoing.Deny) }},
	{"content", outgoingContent},
	{"rel", func(f *tomlFile, n *unstable.Node) error { return setTexts(n, &f.cfg.Outgoing.Rel) }},
	{"protocols", outgoingProtocols},
	{"link-peers", outgoingPeers},
	{"contact", func(f *tomlFile, n *unstable.Node) error { return setText(n, &f.cfg.Outgoing.Contact) }},
	{"pace", func(f *tomlFile, n *unstable.Node) error { return setTime(n, &f.cfg.Outgoing.Pace, 0) }},
	{"live", func(f *tomlFile, n *unstable.Node) error { return setTime(n, &f.cfg.Outgoing.Live, 0) }},
	{"deadline", func(f *tomlFile, n *unstable.Node) error { return setTime(n, &f.cfg.Outgoing.Deadline, 0) }},
	{"max-notices", func(f *tomlFile, n *unstable.Node) error { return setNumber(n, &f.cfg.Outgoing.MaxNotices) }},
}

// fetchKeys are the keys of the table [fetch].
var fetchKeys = []tableKey{
	{"allow-address", fetchNetworks},
	{"timeout", func(f *tomlFile, n *unstable.Node) error { return setTime(n, &f.cfg.Fetch.Timeout, time.Second) }},
	{"proxy", func(f *tomlFile, n *unstable.Node) error { return setBool(n, &f.cfg.Fetch.Proxy) }},
}

// tableKey is a key of a table that the file alone sets.
type tableKey struct {
	name string
	set  func(f *tomlFile, n *unstable.Node) error
}

// tableValue takes one key of such a table.
func (f *tomlFile) tableValue(table, name string, keys []tableKey, at *Error, n *unstable.Node) {
	var names []string
	for _, k := range keys {
		if k.name == name {
			if err := k.set(f, n); err != nil {
				f.failAt(at, hintOf(err), "%s: %v", name, err)
			}
			return
		}
		names = append(names, k.name)
	}
	f.failAt(at, didYouMean(name, names), "unknown key %q in [%s]", name, table)
}

func setText(n *unstable.Node, field *string) error {
	text, err := hookText(n)
	if err == nil {
		*field = text
	}
	return err
}

func setTexts(n *unstable.Node, field *[]string) error {
	values, err := listTexts(n)
	if err == nil && slices.Contains(values, "") {
		err = errors.New("a value is empty")
	}
	if err == nil {
		*field = values
	}
	return err
}

func setBool(n *unstable.Node, field *bool) error {
	if n.Kind != unstable.Bool {
		return fmt.Errorf("want true or false, got %s", describe(n))
	}
	*field = string(n.Data) == "true"
	return nil
}

func setNumber(n *unstable.Node, field *int) error {
	number, err := strconv.Atoi(string(n.Data))
	if n.Kind != unstable.Integer || err != nil || number < 0 {
		return fmt.Errorf("want a whole number from 0, got %s", describe(n))
	}
	*field = number
	return nil
}

// setTime takes a time from least to a day.
func setTime(n *unstable.Node, field *time.Duration, least time.Duration) error {
	text, err := hookText(n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > maxHookTimeout {
		return fmt.Errorf("want a time such as 500ms, 90s or 5m, from %v to 24h, got %q", least, text)
	}
	*field = d
	return nil
}

func targetPatterns(n *unstable.Node, field *[]string) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v == "" || !doublestar.ValidatePattern(v) {
			return fmt.Errorf("want a host, a pattern such as *.example.org, or one of whole addresses such as https://example.org/**, got %q", v)
		}
	}
	*field = values
	return nil
}

// outgoingContent has the function of the request check a selector: what one
// is, package outgoing knows.
func outgoingContent(f *tomlFile, n *unstable.Node) error {
	text, err := hookText(n)
	if err == nil && f.req.Selector != nil {
		err = f.req.Selector(text)
	}
	if err == nil {
		f.cfg.Outgoing.Content = text
	}
	return err
}

// outgoingPeers has the function of the request check each entry, as
// outgoingContent does.
func outgoingPeers(f *tomlFile, n *unstable.Node) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if f.req.Peer != nil {
			if err := f.req.Peer(v); err != nil {
				return err
			}
		}
	}
	f.cfg.Outgoing.LinkPeers = values
	return nil
}

func outgoingProtocols(f *tomlFile, n *unstable.Node) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if !slices.Contains(Protocols, v) {
			return &hintError{fmt.Sprintf("want %s, got %q", oneOf(Protocols), v), didYouMean(v, Protocols)}
		}
	}
	if len(values) == 0 {
		return fmt.Errorf("want at least one of %s", oneOf(Protocols))
	}
	f.cfg.Outgoing.Protocols = values
	return nil
}

func fetchNetworks(f *tomlFile, n *unstable.Node) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	var networks []netip.Prefix
	for _, v := range values {
		network, err := ParseNetwork(v)
		if err != nil {
			return err
		}
		networks = append(networks, network)
	}
	f.cfg.Fetch.AllowAddress = networks
	return nil
}

// ParseNetwork reads an address or a network in CIDR form.
func ParseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	if err != nil {
		return network, fmt.Errorf("want an address or a network such as 127.0.0.0/8, got %q", text)
	}
	return network.Masked(), nil
}
