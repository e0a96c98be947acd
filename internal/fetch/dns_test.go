package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

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
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	c.direct = c.transport(&net.Dialer{Control: (&guard{allow: c.opts.Allow}).control, Resolver: s.start(t)}, nil)
	for _, step := range []struct {
		host string
		want Kind // "" for an answer
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
