package config

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/sitelink/sitelink/internal/glob"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Redirect is one [[redirect]] table: a rule of the host that is in no file of
// the docroot.
type Redirect struct {
	From string `toml:"from"`
	To   string `toml:"to"`
	// Status is 301 if the file gives none.
	Status int `toml:"status" words:"200,301,302,303,307,308,404,410"`
	// Force applies the rule even where a file exists.
	Force bool `toml:"force"`
	// File and Line are the place of the rule.
	File string
	Line int
}

func (r *Redirect) complete(_ *loader, at *Error) error {
	switch {
	case !strings.HasPrefix(r.From, "/"):
		return text.Usage("the rule needs a key from, with a path that begins with a slash", `add from = "/old"`)
	case r.To == "" && r.Status != 404 && r.Status != 410:
		return text.Usage("the rule needs a key to", `add to = "/new"`)
	}
	r.Status = cmp.Or(r.Status, 301)
	r.File, r.Line = at.Name, at.Line
	return nil
}

// Site is one [[site]] table: a directory of the docroot that is published at
// an address of its own.
type Site struct {
	// Root is a clean slash path below the docroot, "" for the docroot itself.
	Root string `toml:"root" check:"site-root" empty:"ok"`
	// Base is an absolute http or https URL.
	Base string `toml:"base" check:"site-url"`
}

func (s *Site) complete(l *loader, _ *Error) error {
	switch {
	case s.Base == "":
		return text.Usage("the table needs a key base, the address of its root", `add base = "https://fr.example.org/"`)
	case slices.ContainsFunc(l.cfg.Sites, func(other Site) bool { return other.Root == s.Root }):
		return fmt.Errorf("another table gives the root %q an address already", s.Root)
	}
	return nil
}

// ExternalHost is one [[external.host]] table: what differs for some hosts. Of several
// tables that match, the first applies.
type ExternalHost struct {
	// Host is a host or a pattern such as *.example.org.
	Host string        `toml:"host" check:"not-blank"`
	Pace time.Duration `toml:"pace" min:"1ms" max:"24h"`
	// Accept, Missing and Blocked are statuses that count as a good answer, as 404 and
	// as 403.
	Accept  []string `toml:"accept" check:"status"`
	Missing []string `toml:"missing" check:"status"`
	Blocked []string `toml:"blocked" check:"status"`
	// Header are fields of requests to Host alone, by name: see [Config.Logins].
	Header map[string]string `toml:"header"`
	// Origin is the place of the table: "sitelink.toml:12".
	Origin string
}

func (h *ExternalHost) complete(l *loader, at *Error) error {
	h.Origin = at.place()
	if h.Host == "" {
		return text.Usage("the table needs a key host", `add host = "*.example.org"`)
	}
	seen := map[string]string{}
	for _, list := range []struct {
		key      string
		statuses []string
	}{{"accept", h.Accept}, {"missing", h.Missing}, {"blocked", h.Blocked}} {
		for _, status := range list.statuses {
			if other := seen[status]; other != "" && other != list.key {
				return text.Usage(fmt.Sprintf("the status %s is in %s and in %s", status, other, list.key), "keep it in one of them")
			}
			seen[status] = list.key
		}
	}
	if len(h.Header) > 0 {
		u, err := weburl.Parse("https://" + h.Host)
		if err != nil || strings.ContainsAny(h.Host, "*{@") || u.String() != "https://"+h.Host+"/" {
			return text.Usage("header needs the name of one host", `write it like host = "wiki.example.org", or "wiki.example.org:8443" for another port`)
		}
		return nil
	}
	return l.addPatterns(h.Host)
}

// Logins returns the fields that requests to hosts have, by host or host:port. In their
// values, env:NAME at the end is replaced by that variable, and Basic USER:PASSWORD is
// encoded. Errors show no value.
func (c *Config) Logins(getenv func(string) string) (map[string]http.Header, error) {
	all := map[string]http.Header{}
	for _, h := range c.External.Hosts {
		if len(h.Header) == 0 || all[h.Host] != nil {
			continue
		}
		header := http.Header{}
		for _, name := range slices.Sorted(maps.Keys(h.Header)) {
			value := h.Header[name]
			if at := strings.LastIndex(" "+value, " env:"); at >= 0 {
				variable := value[at+len("env:"):]
				secret := getenv(variable)
				if secret == "" {
					return nil, text.Usage(fmt.Sprintf("%s: %s for %s: the variable %q is not set", h.Origin, name, h.Host, variable), "set it to the secret, in CI as a masked variable")
				}
				value = value[:at] + secret
			}
			if scheme, login, _ := strings.Cut(value, " "); strings.EqualFold(scheme, "Basic") && strings.Contains(login, ":") {
				value = "Basic " + base64.StdEncoding.EncodeToString([]byte(login))
			}
			if value == "" || !httpguts.ValidHeaderFieldValue(value) {
				return nil, text.Usage(fmt.Sprintf("%s: %s for %s: the value is empty, or has a line break or control character", h.Origin, name, h.Host), "remove it, also from the variable that env: names")
			}
			header.Set(name, value)
		}
		all[h.Host] = header
	}
	return all, nil
}

// ScriptFragment is one [[script-fragments]] table: fragments that scripts serve.
type ScriptFragment struct {
	// Page and Fragment are doublestar patterns; an empty one matches anything.
	Page     string `toml:"page" check:"not-blank"`
	Fragment string `toml:"fragment" check:"not-blank"`
	// Origin is the place of the rule: "sitelink.toml:12".
	Origin string
}

func (r *ScriptFragment) complete(l *loader, at *Error) error {
	r.Origin = at.Name + ":" + strconv.Itoa(at.Line)
	if r.Page == "" && r.Fragment == "" {
		return text.Usage("the table needs a key page or fragment", `add page = "app/index.html"`)
	}
	return l.addPatterns(r.Page, r.Fragment)
}

// addPatterns refuses an invalid pattern, and patterns that are too large.
func (l *loader) addPatterns(patterns ...string) error {
	for _, pattern := range patterns {
		if err := l.addPattern(pattern); err == glob.ErrSyntax {
			return text.Usage(fmt.Sprintf("invalid pattern %q", pattern),
				`patterns may contain *, **, ?, [a-z] and {a,b}; write \[ for a plain bracket`)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// maxPatterns is the largest size of all patterns of a configuration, in bytes, as
// [glob.MaxSize] is that of one. Each is compared with each name.
const maxPatterns = 64 << 10

// addPattern compiles a pattern, and counts its size.
func (l *loader) addPattern(pattern string) error {
	p, err := glob.Compile(pattern)
	if err == nil {
		if l.patternBytes += p.Size(); l.patternBytes > maxPatterns {
			err = errors.New("the patterns of the configuration are too large: with their alternatives written out, they have more than 64 KiB")
		}
	}
	if err == glob.ErrSize || l.patternBytes > maxPatterns {
		err = text.Usage(err.Error(), "replace alternatives such as {a,b}{c,d} with *, or name directories instead of pages")
	}
	return err
}

// Ignore is one rule about findings that the user accepts. It applies to a
// finding that all of its fields match; an empty field matches anything.
type Ignore struct {
	// URL, Page and Fragment are doublestar patterns, Code is a finding code.
	URL      string `toml:"url" check:"not-blank"`
	Page     string `toml:"page" check:"not-blank"`
	Fragment string `toml:"fragment" check:"not-blank"`
	Code     string `toml:"code" check:"not-blank"`
	// Reason explains the rule to the next reader. The file requires it.
	Reason string `toml:"reason" check:"not-blank"`
	// Origin is the place of the rule: "sitelink.toml:12" or "--ignore".
	Origin string
}

func (r *Ignore) complete(l *loader, at *Error) error {
	r.Origin = at.Name + ":" + strconv.Itoa(at.Line)
	if err := r.check(l); err != nil {
		return err
	}
	if r.Reason == "" {
		return text.Usage("the rule needs a reason", `add reason = "..."`)
	}
	return nil
}

// field returns the field that belongs to a key of [[ignore]].
func (r *Ignore) field(name string) *string {
	return map[string]*string{"url": &r.URL, "page": &r.Page, "fragment": &r.Fragment, "code": &r.Code, "reason": &r.Reason}[name]
}

// check refuses a rule that would match everything, an invalid pattern, and a
// code that does not exist.
func (r *Ignore) check(l *loader) error {
	codes := l.input.Codes
	if r.URL == "" && r.Page == "" && r.Fragment == "" && r.Code == "" {
		return errors.New("the rule needs a url, page, fragment or code")
	}
	if err := l.addPatterns(r.URL, r.Page, r.Fragment); err != nil {
		return err
	}
	if r.Code != "" && !slices.Contains(codes, r.Code) {
		return text.Usage(fmt.Sprintf("unknown code %q", r.Code), cmp.Or(DidYouMean(r.Code, codes), "sitelink help codes lists the codes"))
	}
	return nil
}

// parseIgnore parses a rule of the command line: fields such as
// page=blog/**,code=missing-file if it begins with one, else a URL pattern.
// A comma ends a value only if another field follows, so that patterns may
// contain commas.
func parseIgnore(text string) (Ignore, error) {
	var rule Ignore
	name := ignoreField(text)
	if name == "" {
		rule.URL = text
		return rule, nil
	}
	for name != "" {
		text = text[len(name)+1:]
		end, next := len(text), ""
		for i := range len(text) {
			if text[i] == ',' {
				if next = ignoreField(text[i+1:]); next != "" {
					end = i
					break
				}
			}
		}
		field := rule.field(name)
		if *field != "" {
			return Ignore{}, fmt.Errorf("the rule has two fields named %s", name)
		}
		if end == 0 {
			return Ignore{}, fmt.Errorf("the field %s is empty", name)
		}
		*field = text[:end]
		if next != "" {
			text = text[end+1:]
		}
		name = next
	}
	return rule, nil
}

// ignoreField returns the name of the field that text begins with, as in
// "page=x", or "".
func ignoreField(text string) string {
	name, _, ok := strings.Cut(text, "=")
	if !ok || new(Ignore).field(name) == nil {
		return ""
	}
	return name
}
