package weburl

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func TestPercentDecode(t *testing.T) {
	for in, want := range map[string]string{
		"":              "",
		"abc":           "abc",
		"a%20b":         "a b",
		"%C3%a9%00":     "é\x00",
		"%":             "%",
		"%4":            "%4",
		"%zz%4g%41":     "%zz%4gA",
		"%%41":          "%A",
		"%2541":         "%41",
		"x%e2%82%ac%2F": "x€/",
	} {
		if got := string(PercentDecode([]byte("_"), in)); got != "_"+want {
			t.Errorf("%q: got %q, want %q", in, got, "_"+want)
		}
	}
}

// https://url.spec.whatwg.org/#string-percent-encode-after-encoding
func TestQueryEncoding(t *testing.T) {
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for _, c := range []struct {
		base string
		enc  encoding.Encoding
		ref  string
		want string
	}{
		{"http://h/p", nil, "é?smörgås#é", "http://h/%C3%A9?sm%C3%B6rg%C3%A5s#%C3%A9"},
		{"http://h/p", unicode.UTF8, "?é", "http://h/p?%C3%A9"},
		{"http://h/p", charmap.Windows1252, "é?smörgås#é", "http://h/%C3%A9?sm%F6rg%E5s#%C3%A9"},
		{"http://h/p", charmap.Windows1252, "?a=あ&b='é'", "http://h/p?a=%26%2312354%3B&b=%27%E9%27"},
		{"http://h/p", charmap.Windows1252, "?\U0001F600\uFFFD\xFF", "http://h/p?%26%23128512%3B%26%2365533%3B%26%2365533%3B"},
		{"http://h/p", charmap.Windows1252, "?plain#x", "http://h/p?plain#x"},
		{"http://h/p", japanese.ShiftJIS, "?あé", "http://h/p?%82%A0%26%23233%3B"},
		{"http://h/p", japanese.ISO2022JP, "?あéあb", "http://h/p?%1B$B$%22%1B(B%26%23233%3B%1B$B$%22%1B(Bb"},
		{"http://h/p", simplifiedchinese.GBK, "?中", "http://h/p?%D6%D0"},
		{"http://h/p", utf16, "?é", "http://h/p?%C3%A9"},
		{"http://h/p", charmap.Windows1252, "https://i/?é", "https://i/?%E9"},
		{"file:///p", charmap.Windows1252, "?é", "file:///p?%E9"},
		{"ws://h/p", charmap.Windows1252, "?é", "ws://h/p?%C3%A9"},
		{"foo://h/p", charmap.Windows1252, "?é'", "foo://h/p?%C3%A9'"},
		{"http://h/p", charmap.Windows1252, "mailto:x?é", "mailto:x?%C3%A9"},
		{"http://h/p?é", charmap.Windows1252, "#x", "http://h/p?%C3%A9#x"},
	} {
		u, err := mustParse(t, c.base).ResolveWith(c.ref, c.enc)
		if err != nil || u.String() != c.want {
			t.Errorf("%q in %v: got %q, %v, want %q", c.ref, c.enc, u, err, c.want)
		}
	}
	// More than one buffer of the encoder.
	long := strings.Repeat("あé", 2000)
	u, err := mustParse(t, "http://h/").ResolveWith("?"+long, japanese.ISO2022JP)
	if want := strings.Repeat("%1B$B$%22%1B(B%26%23233%3B", 2000); err != nil || u.Query() != want {
		t.Errorf("got %d bytes, %v, want %d", len(u.Query()), err, len(want))
	}
}
