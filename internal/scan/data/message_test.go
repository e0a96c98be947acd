package data

import (
	"regexp"
	"testing"
)

var messageBegin = regexp.MustCompile(`<\?xml[ \t\r\n]|<a>`)

func TestMessageText(t *testing.T) {
	utf16le := "\xFF\xFE<\x00a\x00>\x00\xE9\x00<\x00/\x00a\x00>\x00"
	for _, c := range []struct{ name, body, contentType, fallback, want string }{
		{"UTF-8", "<a>é</a>", "", "", "<a>é</a>"},
		{"byte order mark and warnings first", "\uFEFF<b>Warning</b><?xml version=\"1.0\"?><a>x</a>", "", "", "<a>x</a>"},
		{"nothing", "hello", "", "", ""},
		{"declared", "<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>", "", "", "<a>é</a>"},
		{"charset of the type", "<a>\xE9</a>", "text/xml; charset=iso-8859-1", "", "<a>é</a>"},
		{"declaration before type", "<?xml version='1.0' encoding='UTF-8'?><a>é</a>", "text/xml; charset=iso-8859-1", "", "<a>é</a>"},
		{"UTF-16 that is not", "<?xml version='1.0' encoding='utf-16'?><a>é</a>", "", "", "<a>é</a>"},
		{"UTF-16", utf16le, "", "", "<a>é</a>"},
		{"unknown label", "<?xml version='1.0' encoding='klingon'?><a>é</a>", "", "", "<a>é</a>"},
		{"undeclared Latin-1", "<a>\xE9</a>", "", "", "<a>\uFFFD</a>"},
		{"undeclared Latin-1, fallback", "<a>\xE9</a>", "", "windows-1252", "<a>é</a>"},
		{"UTF-8 needs no fallback", "<a>é</a>", "", "windows-1252", "<a>é</a>"},
		{"control characters", "<a>\x00\x01\uFFFE</a>", "", "", "<a>\uFFFD\uFFFD\uFFFD</a>"},
	} {
		if got := MessageText([]byte(c.body), c.contentType, messageBegin, c.fallback); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
