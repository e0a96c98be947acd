package weburl

import "strings"

// address is a URL of http, https or ftp, cut into parts that are not decoded
// yet. An empty part is the same as none.
type address struct {
	scheme         string // in any letter case
	user, password string
	host, port     string
	path           string // with the parameters; empty or from a '/' on
	args           string
}

// splitStrict cuts an absolute http or https URL in which nothing is left to
// guess.
func splitStrict(raw string) (address, Reason) {
	if strings.HasSuffix(raw, " ") {
		return address{}, OuterSpace
	}
	raw, _, _ = strings.Cut(raw, "#")
	if len(raw) > maxURLBytes {
		return address{}, TooLong
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] < ' ' || raw[i] == 0x7F {
			return address{}, ControlCharacter
		}
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return address{}, NotAbsolute
	}
	if !isHTTP(scheme) {
		return address{}, NotHTTP
	}
	a, reason := splitRest(scheme, rest)
	if strings.Contains(a.user, "@") || strings.Contains(a.password, "@") {
		return address{}, BareAt
	}
	return a, reason
}

func isHTTP(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// splitHeuristic cuts what a person would mean by raw.
func splitHeuristic(raw, site string) (address, Reason) {
	raw = strings.Trim(raw, " \t\n\r\f")
	raw, _, _ = strings.Cut(raw, "#")
	switch {
	case len(raw) > maxURLBytes || len(site) > maxURLBytes:
		return address{}, TooLong
	case raw == "":
		return address{}, EmptyHost
	case raw[0] == '/':
		return splitLocal(raw, site)
	}
	scheme, rest, ok := cutScheme(raw)
	switch {
	case !ok:
		return splitRest("http", raw)
	case !isHTTP(scheme) && !strings.EqualFold(scheme, "ftp"):
		return address{}, NotHTTP
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		rest = after
	} else {
		rest = strings.TrimPrefix(rest, "/")
	}
	return splitRest(scheme, rest)
}

// splitLocal cuts a path of the own site, or a reference that has everything
// but the scheme.
func splitLocal(raw, site string) (address, Reason) {
	a := address{scheme: "http"}
	if site != "" {
		var reason Reason
		if strings.HasPrefix(site, "/") {
			return a, NotAbsolute
		}
		if a, reason = splitHeuristic(site, ""); reason != "" {
			return a, reason
		}
	}
	if rest, ok := strings.CutPrefix(raw, "//"); ok {
		return splitRest(a.scheme, rest)
	}
	if site == "" {
		return a, NotAbsolute
	}
	a.path, a.args, _ = strings.Cut(raw, "?")
	return a, ""
}

// otherSchemes are schemes without "//" whose URLs would else be taken for a
// host and its port, or for a password: tel:123, mailto:a@example.com.
const otherSchemes = " about acct blob cid data dav dns facetime feed file geo imap im irc javascript ldap magnet mailto" +
	" matrix mid mms news nntp pop sip sips skype sms smsto tel urn view-source webcal whatsapp ws wss xmpp "

// cutScheme cuts the scheme off, if raw begins with one. A colon may stand
// before a port or a password as well: it ends a scheme if a slash follows, if
// the word before it is a scheme that we know, or if no digit follows, no slash
// comes before it, and no '@' before the first slash.
func cutScheme(raw string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(raw, ":")
	if !ok || schemeLen(raw) != len(scheme) {
		return "", "", false
	}
	beforeSlash, _, _ := strings.Cut(rest, "/")
	switch {
	case strings.HasPrefix(rest, "/"), isHTTP(scheme), strings.EqualFold(scheme, "ftp"),
		strings.Contains(otherSchemes, " "+strings.ToLower(scheme)+" "):
		return scheme, rest, true
	case rest == "", '0' <= rest[0] && rest[0] <= '9', strings.Contains(beforeSlash, "@"):
		return "", "", false
	}
	return scheme, rest, true
}

// splitRest cuts what follows "//". The authority ends at the first of / ? only:
// an '@' in the arguments is none of it.
func splitRest(scheme, rest string) (address, Reason) {
	a := address{scheme: scheme}
	end := 0
	for end < len(rest) && rest[end] != '/' && rest[end] != '?' {
		end++
	}
	authority := rest[:end]
	a.path, a.args, _ = strings.Cut(rest[end:], "?")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		a.user, a.password, _ = strings.Cut(authority[:at], ":")
		authority = authority[at+1:]
	}
	host, port := splitPort(authority)
	a.host, a.port = host, strings.TrimPrefix(port, ":")
	if host == "" {
		return a, EmptyHost
	}
	return a, ""
}
