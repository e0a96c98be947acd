package weburl

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// The tables of the requirements, section 3.6, for every byte. Both columns
// stand here, so that a slip in one shows.
func TestCanonicalTables(t *testing.T) {
	const bar, backquote = "|", "`"
	for _, c := range []struct {
		id              string
		encode          func([]byte, string) []byte
		passes, escaped string
		space           string
	}{
		{"WO-53 URLEncodePath", EncodePath, "!$()*+,-./:=_~", "\"#%&';<>?@[\\]^{}" + bar + backquote, "%20"},
		{"WO-55 URLRecodeFormArgs, unescaped", RecodeArguments, "!$()*,-./:_~&=;+?" + bar, "\"#%'<>@[\\]^{}" + backquote, "+"},
		{"WO-56 URLEncodeFormArgs", EncodeArgument, "!$()*,-./:_~" + bar, "\"#%&'+;<=>?@[\\]^{}" + backquote, "+"},
	} {
		t.Run(c.id, func(t *testing.T) {
			for b := range 256 {
				char := string([]byte{byte(b)})
				alphanumeric := '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
				want := fmt.Sprintf("%%%02X", b)
				switch {
				case b == ' ':
					want = c.space
				case alphanumeric, strings.Contains(c.passes, char):
					want = char
				}
				if printable := '!' <= b && b <= '~' && !alphanumeric; printable && strings.Contains(c.passes, char) == strings.Contains(c.escaped, char) {
					t.Errorf("%q stands in both columns, or in none", char)
				}
				if got := string(c.encode(nil, char)); got != want {
					t.Errorf("%q: got %q, want %q", char, got, want)
				}
			}
		})
	}
	// WO-55, what came escaped: the roles stay escaped, all else as above.
	for b := range 256 {
		char := string([]byte{byte(b)})
		want := string(RecodeArguments(nil, char))
		if strings.Contains("&=;+?", char) {
			want = fmt.Sprintf("%%%02X", b)
		}
		for _, in := range []string{fmt.Sprintf("%%%02X", b), fmt.Sprintf("%%%02x", b)} {
			if got := string(RecodeArguments(nil, in)); got != want {
				t.Errorf("WO-55: %q: got %q, want %q", in, got, want)
			}
		}
	}
}

// WO-6: each part of a URL is encoded in its own way.
func TestEncodeDiffers(t *testing.T) {
	for _, c := range []struct{ in, path, argument string }{
		{"|", "%7C", "|"}, {"(", "(", "("}, {" ", "%20", "+"}, {"=", "=", "%3D"}, {"p(a)s'", "p(a)s%27", "p(a)s%27"},
		{"v w+%é", "v%20w+%25%C3%A9", "v+w%2B%25%C3%A9"},
	} {
		if path, argument := string(EncodePath(nil, c.in)), string(EncodeArgument(nil, c.in)); path != c.path || argument != c.argument {
			t.Errorf("%q: got %q and %q", c.in, path, argument)
		}
	}
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]string{ // WO-58
		"a%20b+c%": "a b+c%", "%2525": "%25", "%": "%", "%4": "%4", "%zz": "%zz", "%41%00": "A\x00",
	} {
		if got := string(PercentDecode(nil, in)); got != want {
			t.Errorf("WO-58: %q: got %q, want %q", in, got, want)
		}
	}
}

// WO-60: one pass, in which a bad escape swallows nothing.
func TestRecodeArguments(t *testing.T) {
	for in, want := range map[string]string{
		"a=%": "a=%25", "a=%4": "a=%254", "a=%3f": "a=%3F", "a=@": "a=%40", "q=%&b=1": "q=%25&b=1", "%c3%a9": "%C3%A9", "é": "%C3%A9",
		"a=%2%35": "a=%2525", "": "", "a=x%20y": "a=x+y", // WO-50
	} {
		if got := string(RecodeArguments([]byte("_"), in)); got != "_"+want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// Decoding restores what was encoded, and encoded text is canonical.
func FuzzEncode(f *testing.F) {
	f.Add("a b&c=%é/\x00+;")
	f.Fuzz(func(t *testing.T, s string) {
		if e := EncodePath(nil, s); string(PercentDecode(nil, string(e))) != s {
			t.Errorf("%q is written %q", s, e)
		}
		e := EncodeArgument(nil, s)
		if back, err := url.QueryUnescape(string(e)); back != s || err != nil {
			t.Errorf("%q is written %q", s, e)
		}
		if again := RecodeArguments(nil, string(e)); !bytes.Equal(again, e) {
			t.Errorf("%q is recoded to %q", e, again)
		}
		r := RecodeArguments(nil, s)
		if again := RecodeArguments(nil, string(r)); !bytes.Equal(again, r) {
			t.Errorf("%q is recoded to %q", r, again)
		}
	})
}
