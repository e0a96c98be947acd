package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func prefixes(texts ...string) (p []netip.Prefix) {
	for _, text := range texts {
		p = append(p, netip.MustParsePrefix(text))
	}
	return p
}

// TestPeer: only what trusted proxies wrote about the client counts.
func TestPeer(t *testing.T) {
	proxies := prefixes("10.0.0.0/8", "fd00::/8")
	for _, c := range []struct {
		name    string
		remote  string
		proxies []netip.Prefix
		header  ProxyHeader
		fields  []string
		want    string
	}{
		{"direct", "192.0.2.1:5", nil, "", nil, "192.0.2.1"},
		{"forged without proxies", "192.0.2.1:5", nil, "", []string{"198.51.100.7"}, "192.0.2.1"},
		{"forged beside proxies", "192.0.2.1:5", proxies, "", []string{"198.51.100.7"}, "192.0.2.1"},
		{"one proxy", "10.0.0.1:5", proxies, "", []string{"198.51.100.7"}, "198.51.100.7"},
		{"two proxies", "10.0.0.1:5", proxies, "", []string{"198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{"forged before the client", "10.0.0.1:5", proxies, "", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		{"forged in a field of its own", "10.0.0.1:5", proxies, "", []string{"203.0.113.9", "198.51.100.7"}, "198.51.100.7"},
		{"forged as a proxy", "10.0.0.1:5", proxies, "", []string{"10.9.9.9, 198.51.100.7"}, "198.51.100.7"},
		{"with a port", "10.0.0.1:5", proxies, "", []string{"198.51.100.7:1234"}, "198.51.100.7"},
		{"IPv6", "[fd00::1]:5", proxies, "", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 with a port", "[fd00::1]:5", proxies, "", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		{"IPv6 in brackets", "[fd00::1]:5", proxies, "", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.1]:5", proxies, "", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"a zone", "10.0.0.1:5", proxies, "", []string{"fe80::1%eth0"}, "fe80::1"},
		{"junk", "10.0.0.1:5", proxies, "", []string{"198.51.100.7, junk"}, "10.0.0.1"},
		{"an open bracket", "10.0.0.1:5", proxies, "", []string{"[2001:db8::1"}, "10.0.0.1"},
		{"unknown after a proxy", "10.0.0.1:5", proxies, "", []string{"unknown, 10.0.0.2"}, "10.0.0.2"},
		{"empty", "10.0.0.1:5", proxies, "", []string{""}, "10.0.0.1"},
		{"none", "10.0.0.1:5", proxies, "", nil, "10.0.0.1"},
		{"only proxies", "10.0.0.1:5", proxies, "", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a Unix socket", "@", nil, "", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		{"a Unix socket without the field", "@", nil, "", nil, "invalid IP"},
		{"Forwarded", "10.0.0.1:5", proxies, Forwarded, []string{`for=203.0.113.9, FOR="[2001:db8::1]:80";proto=https`}, "2001:db8::1"},
		{"Forwarded, forged with an open quote", "10.0.0.1:5", proxies, Forwarded, []string{`for="203.0.113.9, for=198.51.100.7`}, "198.51.100.7"},
		{"Forwarded, hidden", "10.0.0.1:5", proxies, Forwarded, []string{`for=_hidden;by=10.0.0.1`}, "10.0.0.1"},
		{"Forwarded, nothing", "10.0.0.1:5", proxies, Forwarded, []string{`proto=https`}, "10.0.0.1"},
	} {
		s := New(Options{Receiver: &script{}, Proxies: c.proxies, ProxyHeader: c.header})
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.remote
		for _, f := range c.fields {
			r.Header.Add(string(s.opt.ProxyHeader), f)
		}
		if c.header == "" {
			r.Header.Set(string(Forwarded), "for=203.0.113.66") // is not read
		} else {
			r.Header.Set(string(XForwardedFor), "203.0.113.66")
		}
		if got := s.peer(r).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestUnixSocket: a proxy may connect over a Unix socket.
func TestUnixSocket(t *testing.T) {
	receiver := &script{}
	name := path.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Skip("no Unix sockets here:", err)
	}
	go func() { _ = New(Options{Receiver: receiver}).Serve(t.Context(), l) }()
	c := testkit.Must(net.Dial("unix", name))(t)
	defer c.Close()
	if _, err := c.Write([]byte("LINK http://a.example/ http://b.example/doc HTTP/1.1\r\nX-Forwarded-For: 198.51.100.7\r\nConnection: close\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := c.Read(buffer)
		text.Write(buffer[:n])
		if err != nil {
			break
		}
	}
	if n := receiver.taken(); !strings.HasPrefix(text.String(), "HTTP/1.1 200 Ok\r\n") || len(n) != 1 || n[0].Peer.String() != "198.51.100.7" {
		t.Errorf("%q %+v", text.String(), n)
	}
}

// TestInNetHTTP: in a server of net/http, all but the request lines with two URLs
// works.
func TestInNetHTTP(t *testing.T) {
	receiver := &script{}
	server := httptest.NewServer(New(Options{Receiver: receiver}))
	defer server.Close()
	r := testkit.Must(http.NewRequest("LINK", server.URL+"/doc", nil))(t)
	r.Header.Set("Link", "<http://a.example/>")
	resp := testkit.Must(http.DefaultClient.Do(r))(t)
	resp.Body.Close()
	if n := receiver.taken(); resp.StatusCode != 202 || len(n) != 1 {
		t.Errorf("%s %+v", resp.Status, n)
	}
	// The size of a body is limited there too.
	for path, want := range map[string]string{"/webmention": "413", "/pingback": "-32600"} {
		w := serve(New(Options{Receiver: receiver}), "POST", path, strings.Repeat("x", 1<<20))
		if got := strconv.Itoa(w.Code) + w.Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// FuzzForgedAddress: whatever a stranger writes before what the proxy adds, the
// address is what the proxy added.
func FuzzForgedAddress(f *testing.F) {
	for _, seed := range []string{"", "203.0.113.9", `for="203.0.113.9`, `for="[2001:db8::1]", for=10.0.0.1;`, ",,", "10.0.0.1, 10.0.0.2", `"`, `\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, forged string) {
		for header, added := range map[ProxyHeader]string{XForwardedFor: "198.51.100.7", Forwarded: "for=198.51.100.7;proto=https"} {
			s := New(Options{Receiver: &script{}, Proxies: prefixes("10.0.0.0/8"), ProxyHeader: header})
			for _, values := range [][]string{{forged + ", " + added}, {forged, added}} {
				r := httptest.NewRequest("GET", "/", nil)
				r.RemoteAddr = "10.0.0.1:5"
				r.Header[http.CanonicalHeaderKey(string(header))] = values
				if got := s.peer(r).String(); got != "198.51.100.7" {
					t.Errorf("%s: %q: %s", header, values, got)
				}
				r.RemoteAddr = "192.0.2.1:5"
				if got := s.peer(r).String(); got != "192.0.2.1" {
					t.Errorf("%s: %q without a proxy: %s", header, values, got)
				}
			}
		}
	})
}
