package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"golang.org/x/net/dns/dnsmessage"
)

func TestGuard(t *testing.T) {
	for _, addr := range []string{
		"8.8.8.8", "1.1.1.1", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "169.253.255.255",
		"223.255.255.255", "198.17.255.255", "198.20.0.0", "192.0.1.0", "168.63.129.15", "::ffff:8.8.8.8",
		"2606:4700::1111", "2a00:1450:4001::200e", "2001:200::1", "2000::", "3ffe::1",
	} {
		if reason := (&guard{}).refuses(netip.AddrPortFrom(netip.MustParseAddr(addr), 443)); reason != "" {
			t.Errorf("%s is refused: %s", addr, reason)
		}
	}
	for _, c := range []struct{ addr, want string }{
		{"0.0.0.0", "unspecified"}, {"0.1.2.3", "unspecified"}, {"::", "unspecified"},
		{"127.0.0.1", "loopback"}, {"127.255.255.255", "loopback"}, {"::1", "loopback"},
		{"10.0.0.0", "private"}, {"10.255.255.255", "private"}, {"172.16.0.0", "private"}, {"172.31.255.255", "private"},
		{"192.168.0.1", "private"}, {"fc00::1", "private"}, {"fdff::", "private"}, {"fd00:ec2::254", "private"},
		{"169.254.169.254", "metadata"}, {"169.254.0.0", "link-local"}, {"fe80::1", "link-local"}, {"fe80::1%eth0", "link-local"},
		{"febf::1", "link-local"}, {"fec0::1", "site-local"},
		{"100.64.0.0", "carriers"}, {"100.127.255.255", "carriers"}, {"100.100.100.200", "carriers"},
		{"192.0.0.192", "protocols"}, {"168.63.129.16", "cloud"},
		{"192.0.2.1", "documentation"}, {"198.51.100.1", "documentation"}, {"203.0.113.1", "documentation"},
		{"2001:db8::1", "documentation"}, {"3fff::1", "documentation"}, {"198.18.0.1", "benchmarks"}, {"198.19.255.255", "benchmarks"},
		{"192.88.99.1", "6to4"}, {"2002:808:808::1", "6to4"}, {"2002:7f00:1::", "6to4"}, {"2001:0:808:808::1", "Teredo"},
		{"2001:2::1", "protocols"}, {"192.31.196.1", "AS112"}, {"192.175.48.1", "AS112"}, {"2620:4f:8000::1", "AS112"}, {"192.52.193.1", "AMT"},
		{"224.0.0.1", "multicast"}, {"239.255.255.255", "multicast"}, {"ff02::1", "multicast"}, {"ff0e::1", "multicast"},
		{"240.0.0.0", "reserved"}, {"255.255.255.255", "reserved"},
		{"::ffff:127.0.0.1", "loopback"}, {"::ffff:a9fe:a9fe", "metadata"}, {"::ffff:10.1.1.1", "private"},
		{"::127.0.0.1", "obsolete"}, {"::8.8.8.8", "obsolete"},
		{"64:ff9b::808:808", "translated"}, {"64:ff9b::7f00:1", "translated"}, {"64:ff9b:1::1", "locally translated"},
		{"100::1", "discarding"}, {"5f00::1", "not on the public internet"}, {"4000::", "not on the public internet"},
		{"1::1", "not on the public internet"}, {"::ffff:0:808:808", "not on the public internet"},
	} {
		if reason := (&guard{}).refuses(netip.AddrPortFrom(netip.MustParseAddr(c.addr), 443)); !strings.Contains(reason, c.want) {
			t.Errorf("%s: got %q, want %q", c.addr, reason, c.want)
		}
	}
	if reason := (&guard{}).refuses(netip.AddrPortFrom(netip.MustParseAddr("2606:4700::1111%1"), 443)); reason == "" {
		t.Error("an address with a zone is dialled")
	}
	if reason := (&guard{}).refuses(netip.AddrPort{}); reason == "" {
		t.Error("no address is dialled")
	}
}

func TestGuardAllow(t *testing.T) {
	g := &guard{allow: []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("64:ff9b::/96"),
	}}
	for addr, want := range map[string]bool{
		"10.1.2.3:25": true, "10.2.0.0:80": false, "[::ffff:10.1.2.3]:80": true, "[fe80::1%eth0]:80": true, "8.8.8.8:25": false,
		"[64:ff9b::808:808]:80": true, "[64:ff9b::a9fe:a9fe]:80": false, "[64:ff9b::a01:203]:80": true, "[64:ff9b::808:808]:25": false,
	} {
		if reason := g.refuses(netip.MustParseAddrPort(addr)); (reason == "") != want {
			t.Errorf("%s: got %q", addr, reason)
		}
	}
	if reason := g.refuses(netip.MustParseAddrPort("[64:ff9b::a9fe:a9fe]:80")); !strings.Contains(reason, "metadata") {
		t.Errorf("got %q", reason)
	}
}

func TestPorts(t *testing.T) {
	if !slices.IsSorted(otherPorts) {
		t.Fatal("the ports are not sorted")
	}
	for port, want := range map[uint16]bool{
		80: true, 443: true, 8080: true, 8443: true, 1024: true, 8000: true, 65535: true, 3000: true,
		0: false, 1: false, 21: false, 22: false, 25: false, 53: false, 81: false, 111: false, 1023: false,
		3306: false, 5432: false, 6379: false, 11211: false, 27017: false, 2375: false, 6667: false,
	} {
		if webPort(port) != want {
			t.Errorf("%d: got %v", port, !want)
		}
	}
}

// The guard checks the address that the connection goes to.
func TestGuardDials(t *testing.T) {
	asked := false
	base := script(t, func(c net.Conn, _ string) { asked = true })
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.", "[::1]", "0.0.0.0", "[::]"} {
		_, err := New(Options{}).Do(t.Context(), Request{URL: "http://" + host + ":" + port + "/"})
		if e := wantKind(t, err, RefusedAddress); e.Sent || e.Kind.Retry() || !strings.Contains(e.Error(), "refused to connect to") {
			t.Errorf("%s: %v", host, err)
		}
	}
	if asked {
		t.Error("a connection was made")
	}
}

// Addresses that the standard library knows not to be public are refused.
func FuzzGuard(f *testing.F) {
	for _, addr := range []string{"127.0.0.1", "8.8.8.8", "::1", "::ffff:10.0.0.1", "2001:db8::1", "fe80::1", "64:ff9b::7f00:1", "ff02::1"} {
		f.Add(netip.MustParseAddr(addr).AsSlice(), uint16(80))
	}
	f.Fuzz(func(t *testing.T, bytes []byte, port uint16) {
		addr, ok := netip.AddrFromSlice(bytes)
		if !ok {
			return
		}
		for _, a := range []netip.Addr{addr, addr.Unmap(), addr.WithZone("z")} {
			refused := (&guard{}).refuses(netip.AddrPortFrom(a, port)) != ""
			plain := addr.Unmap()
			if !refused && (!plain.IsGlobalUnicast() || plain.IsPrivate() || plain.IsLoopback() || plain.IsMulticast() ||
				plain.IsLinkLocalUnicast() || plain.IsUnspecified() || plain.IsInterfaceLocalMulticast()) {
				t.Errorf("%s is dialled", a)
			}
			if !refused && port < 1024 && port != 80 && port != 443 {
				t.Errorf("port %d is dialled", port)
			}
			// An allowed address can be used in every form.
			allow := &guard{allow: []netip.Prefix{netip.PrefixFrom(plain, plain.BitLen())}}
			if !nat64.Contains(plain) && allow.refuses(netip.AddrPortFrom(a, port)) != "" {
				t.Errorf("%s is refused though it is allowed", a)
			}
		}
	})
}

// nameServer is a DNS server. Each query for the IPv4 addresses of a name gets the
// next list, and after the last list that one again. An unknown name does not
// exist.
type nameServer struct {
	mu    sync.Mutex
	names map[string][][]string
}

// start returns a resolver that uses the server.
func (s *nameServer) start(t *testing.T) *net.Resolver {
	t.Helper()
	l := testkit.Must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := l.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			s.answer(&m)
			if packed, err := m.Pack(); err == nil {
				l.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", l.LocalAddr().String())
	}}
}

func (s *nameServer) answer(m *dnsmessage.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Response, m.RecursionAvailable = true, true
	m.Additionals = nil
	q := m.Questions[0]
	lists, ok := s.names[q.Name.String()]
	switch {
	case strings.HasPrefix(q.Name.String(), "broken."):
		m.RCode = dnsmessage.RCodeServerFailure
	case !ok:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		for _, addr := range lists[0] {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(addr).As4()},
			})
		}
		if len(lists) > 1 {
			s.names[q.Name.String()] = lists[1:]
		}
	}
}

// The guard checks the address that a name has when the connection is made, even
// if it had another one just before.
func TestNames(t *testing.T) {
	base := handler(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) })
	_, port, _ := strings.Cut(strings.TrimPrefix(base, "http://"), ":")
	s := &nameServer{names: map[string][][]string{
		"good.test.":    {{"127.0.0.1"}},
		"private.test.": {{"10.1.2.3"}},
		"rebind.test.":  {{"127.0.0.1"}, {"169.254.169.254"}},
		"mixed.test.":   {{"169.254.169.254", "10.0.0.1", "127.0.0.1"}},
	}}
	c := local(Options{})
	c.direct = c.transport(&net.Dialer{ControlContext: (&guard{allow: c.opts.Allow}).control, Resolver: s.start(t)}, nil)
	for _, step := range []struct {
		host string
		want ErrorKind // "" for an answer
	}{
		{"good.test", ""},
		{"private.test", RefusedAddress},
		{"rebind.test", ""},
		{"rebind.test", RefusedAddress},
		{"mixed.test", ""}, // by the one address that may be dialled
		{"missing.test", NoSuchHost},
		{"broken.test", DNS},
	} {
		resp, err := get(t, c, "http://"+step.host+":"+port+"/")
		if step.want != "" {
			if e := wantKind(t, err, step.want); e.Sent || strings.Contains(e.Error(), "127.0.0.1:") {
				t.Errorf("%s: %+v", step.host, e)
			}
		} else if err != nil || string(resp.Body) != step.host+":"+port {
			t.Errorf("%s: got %+v, %v", step.host, resp, err)
		}
	}
}
