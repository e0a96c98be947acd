package weburl

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// FuzzResolve holds Resolve to what must be true of any URL, the fast path to
// the parser, and both to another parser of the same standard.
func FuzzResolve(f *testing.F) {
	seeds := 0
	for _, row := range wptFile(f, "urltestdata.json") {
		var c struct {
			Input string
			Base  *string
		}
		if err := json.Unmarshal(row, &c); err != nil {
			f.Fatal(err)
		}
		if c.Base == nil {
			c.Base = new(string)
		}
		f.Add(*c.Base, c.Input)
		seeds++
	}
	if seeds < 500 {
		f.Fatalf("%d seeds", seeds)
	}
	f.Add("https://example.org/a/b/c.html?q#f", "../d%20e.html?x='#y")
	f.Add("http://h/a//b", "..//./c")
	f.Add("", "http:.Xn--")
	f.Add("http:0", "//0.0.0+0")
	f.Add("", "http:111111111111111111111r")

	f.Fuzz(func(t *testing.T, baseText, ref string) {
		base, err := Parse(baseText)
		if err == nil {
			checkURL(t, base)
		}
		checkOracle(t, URL{}, baseText, base, err)
		u, err := base.Resolve(ref)
		if plain, ok := base.resolvePlain(ref); ok {
			if slow, err := base.resolveByParser(ref, nil); err != nil || slow != plain {
				t.Errorf("%q against %q: fast path %+v, parser %+v, %v", ref, base, plain, slow, err)
			}
		}
		if err == nil {
			checkURL(t, u)
		} else if e, ok := err.(*Error); !ok || e.Raw != ref || e.Reason == "" || u != (URL{}) {
			t.Errorf("%q against %q: got %v, %#v", ref, base, u, err)
		}
		checkOracle(t, base, ref, u, err)
	})
}

// checkURL asserts what holds for every URL.
func checkURL(t *testing.T, u URL) {
	t.Helper()
	again, err := Parse(u.String())
	if err != nil || again.String() != u.String() {
		t.Errorf("%q parses to %q, %v", u, again, err)
	}
	again.notes = u.notes
	if again != u {
		t.Errorf("%q has the parts %+v, parsed again %+v", u, u, again)
	}
	for i := 0; i < len(u.s); i++ {
		if u.s[i] >= utf8.RuneSelf {
			t.Errorf("%q is not ASCII", u)
		}
	}
	if u.kind.special() && !strings.HasPrefix(u.Path(), "/") {
		t.Errorf("%q: path is %q", u, u.Path())
	}
	if !u.opaque {
		for segment := range strings.SplitSeq(u.Path(), "/") {
			if dots(segment) > 0 {
				t.Errorf("%q holds the segment %q", u, segment)
			}
		}
	}
	if u.WithoutFragment()+mark("#", u.HasFragment(), u.Fragment()) != u.String() {
		t.Errorf("%q: without fragment %q, fragment %q", u, u.WithoutFragment(), u.Fragment())
	}
	if !strings.HasSuffix(u.WithoutFragment(), u.Path()+mark("?", u.HasQuery(), u.Query())) {
		t.Errorf("%q: path %q, query %q", u, u.Path(), u.Query())
	}
}

func mark(m string, has bool, s string) string {
	if has {
		return m + s
	}
	return ""
}

func checkOracle(t *testing.T, base URL, ref string, u URL, err error) {
	t.Helper()
	var want *whatwg.Url
	var wantErr error
	if base == (URL{}) {
		want, wantErr = whatwg.Parse(ref)
	} else {
		oracleBase, err := whatwg.Parse(base.String())
		if err != nil || oracleBase.Href(false) != base.String() {
			return // that difference is looked at where the base is the reference
		}
		want, wantErr = oracleBase.Parse(ref)
	}
	switch {
	case wantErr != nil && err != nil, knownDifference(ref, u, err, want, wantErr) != "":
	case wantErr != nil:
		t.Errorf("%q against %q: got %q, the oracle fails: %v", ref, base, u, wantErr)
	case err != nil:
		t.Errorf("%q against %q: got %v, the oracle has %q", ref, base, err, want.Href(false))
	case want.Href(false) != u.String():
		t.Errorf("%q against %q: got %q, the oracle has %q", ref, base, u, want.Href(false))
	}
}

// knownDifference returns in what the oracle, whatwg-url 0.6.2, departs from
// the standard's present text, or from our limits, or "".
func knownDifference(ref string, u URL, err error, want *whatwg.Url, wantErr error) string {
	host := strings.TrimSuffix(u.Host(), ".")
	lastLabel := host[strings.LastIndexByte(host, '.')+1:]
	differs := func(normalize *strings.Replacer) bool {
		return err == nil && wantErr == nil && want.Href(false) != u.String() &&
			normalize.Replace(want.Href(false)) == normalize.Replace(u.String())
	}
	switch {
	case isReason(err, DomainTooLong), isReason(err, TooLong):
		return "it has no limits"
	case !utf8.ValidString(ref):
		return "it reads bytes of invalid UTF-8 as one U+FFFD each"
	case differs(strings.NewReplacer("^", "%5E", " ?", "%20?", " #", "%20#")):
		return "its path percent-encode set has no ^, and it leaves the last space of an opaque path"
	case err == nil && strings.Contains(u.Host(), "xn--"):
		return "it validates the Punycode of domains in ASCII"
	case err == nil && wantErr != nil && u.kind.special() && strings.Trim(u.Host(), "abcdefghijklmnopqrstuvwxyz0123456789.-") != "":
		return "it sets UseSTD3ASCIIRules for domains beyond ASCII"
	case strings.Contains(ref, "\u1E9E"):
		return "its tables map U+1E9E to ss"
	case err == nil && (wantErr != nil || want.IsIPv4()) && (strings.ContainsAny(lastLabel, "+-") || len(lastLabel) > 16),
		isReason(err, BadIPv4) && strings.ContainsAny(ref, "+-"):
		return "it reads IPv4 numbers by strconv.ParseInt, which takes signs, and reports the range before the syntax"
	case isReason(err, BadIPv6) && (strings.Count(ref, "[") > 1 || strings.Count(ref, "]") > 1):
		return "it strips every bracket around an IPv6 address"
	}
	return ""
}

func isReason(err error, reason Reason) bool {
	var e *Error
	return errors.As(err, &e) && e.Reason == reason
}
