package announce

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"testing"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/outgoing"
)

// TestUserAgent: the field is valid whatever the build knows about its version,
// and whatever the contact is.
func TestUserAgent(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("User-Agent") }))
	defer server.Close()
	token := "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	valid := regexp.MustCompile("^" + token + "(/" + token + `)?( \((?:[\t !-'*-\[\]-~]|\\[()\\])*\))?$`)
	for _, c := range []struct{ version, contact, want string }{
		{"1.2.3", "https://me.example/", "sitelink/1.2.3 (+https://me.example/)"},
		{"v0.0.0-20261122112930-9153113a1b2c+dirty", "", "sitelink/v0.0.0-20261122112930-9153113a1b2c+dirty"},
		{"", "https://me.example/", "sitelink (+https://me.example/)"},
		{"", "", "sitelink"},
		{"(devel)", "me@me.example", "sitelink/devel (+me@me.example)"},
		{"1.2 (beta)/3\r\n", "J\u00f6rg (me) a\\b", `sitelink/1.2beta3 (+J%C3%B6rg \(me\) a\\b)`},
		{"\u00e9", "a\r\nX: y", "sitelink (+a%0D%0AX: y)"},
	} {
		cfg := &config.Config{}
		cfg.Outgoing.Contact, cfg.Fetch.AllowAddress = c.contact, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		if _, err := outgoing.NewClient(FetchOptions(cfg, c.version, "")).Do(t.Context(), outgoing.Request{URL: server.URL}); err != nil {
			t.Errorf("%q, %q: %v", c.version, c.contact, err)
		}
		if got != c.want || !valid.MatchString(got) {
			t.Errorf("version %q, contact %q: User-Agent %q, want %q", c.version, c.contact, got, c.want)
		}
	}
}
