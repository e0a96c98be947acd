package weburl

import "testing"

func TestBaseOf(t *testing.T) {
	for _, c := range []struct{ address, page, want string }{
		{"https://a.example/docs/x/y/", "x/y/index.html", "https://a.example/docs/"},
		{"https://a.example/docs/x/y", "x/y/index.html", "https://a.example/docs/"},
		{"https://a.example/x/y/index.html", "x/y/index.html", "https://a.example/"},
		{"https://a.example:8443/d/x.html", "x.html", "https://a.example:8443/d/"},
		{"http://a.example/d/x", "x.html", "http://a.example/d/"},
		{"https://a.example/d/x/", "x.html", "https://a.example/d/"},
		{"https://a.example/", "index.html", "https://a.example/"},
		{"https://a.example", "index.html", "https://a.example/"},
		{"https://a.example/d", "index.html", "https://a.example/d/"},
		{"https://a.example/d/index.html", "index.html", "https://a.example/d/"},
		{"https://a.example/caf%C3%A9/b%20c/", "b c/index.html", "https://a.example/caf%C3%A9/"},
		{"https://a.example/en/x/", "fr/x/index.html", ""},
		{"https://a.example/ax/", "x/index.html", ""},
		{"https://me@a.example/x/", "x/index.html", ""},
		{"/x/", "x/index.html", ""},
		{"mailto:x", "x.html", ""},
		{"", "index.html", ""},
	} {
		if got := BaseOf(c.address, c.page); got != c.want {
			t.Errorf("%s is the address of %s: got the base %q, want %q", c.address, c.page, got, c.want)
		}
	}
}
