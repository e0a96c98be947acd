package weburl

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzCanonical checks what must be true of a key. The canonical form is its
// own canonical form (WO-8), so that a URL built from parts can be passed
// through it (WO-46), and a browser sees the same host in it.
func FuzzCanonical(f *testing.F) {
	for _, raw := range []string{
		"http://h/a?b#c", "HTTP://u:p@H.example:80/%7Eu/./a//../b;x%20y?q=%26&r=+", "www.foo.com:80/bar", "http://[::ffff:1.2.3.4]:8080/x",
		"http://bücher.example./%2e%2E/%2f", "https://h.example/caf%C3%A9?q=%25&b=1#f", "http:/h/%zz%4?%zz%4", "mailto:a@b", "1.2.3.4", "//h/x", "/x",
		"http://h/a?%20+%2B%3F?", "https://1e.e1_/.a/..b", "http://user@host:pass@h/x", "tel:1", "http://%31.2.3.4/", "http://。h/",
		"http://h/a?b# ", "https://www.example.com/2024/05/a-post/?utm_source=feed&x=%E2%82%AC#top",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		key, err := Canonical(raw)
		if err == nil {
			checkCanonical(t, raw, key)
		} else if e, ok := err.(*Error); !ok || e.Raw != raw || e.Reason == "" {
			t.Errorf("%q: got the error %#v", raw, err)
		}
	})
}

func checkCanonical(t *testing.T, raw, key string) {
	t.Helper()
	if again, err := Canonical(key); again != key || err != nil {
		t.Errorf("%q: %q, again %q, %v", raw, key, again, err)
	}
	for i := 0; i < len(key); i++ {
		if key[i] <= ' ' || key[i] >= 0x7F || key[i] >= utf8.RuneSelf || strings.IndexByte("#\"<>\\^`{}", key[i]) >= 0 {
			t.Errorf("%q: %q holds %q", raw, key, key[i])
		}
	}
	u, err := Parse(key)
	if err != nil {
		t.Errorf("%q: %q is not a URL: %v", raw, key, err)
		return
	}
	if u.HasCredentials() || u.HasFragment() {
		t.Errorf("%q: %q has credentials or a fragment", raw, key)
	}
	_, authority, _ := strings.Cut(key, "://")
	if host := u.Host(); host != "" && host[0] != '[' && !strings.HasPrefix(authority, host) {
		t.Errorf("%q: a browser asks %q for %q", raw, host, key)
	}
}
