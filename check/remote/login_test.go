package remote

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestAskLogin: a login goes to its host alone, over https or to this machine, and to no
// request after a redirect elsewhere. A proxy on loopback stands for the network.
func TestAskLogin(t *testing.T) {
	var mu sync.Mutex
	var log []string
	serve := func(scheme string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			log = append(log, strings.TrimSpace(scheme+"://"+r.Host+r.URL.Path+" "+r.Header.Get("Authorization")))
			mu.Unlock()
			w.Header().Set("Content-Type", "text/html")
			switch to := r.URL.Query().Get("to"); {
			case strings.HasPrefix(r.URL.Path, "/refresh"):
				fmt.Fprintf(w, `<meta http-equiv="refresh" content="0; url=%s">`, to)
			case to != "":
				http.Redirect(w, r, to, http.StatusFound)
			case r.URL.Path == "/closed" && r.Header.Get("Authorization") == "":
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
	}
	secure := newTLSWeb(t, serve("https"))
	plain := httptest.NewServer(serve("http"))
	defer plain.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			serve("http")(w, r)
			return
		}
		up, err := net.Dial("tcp", secure.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer up.Close()
		down, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer down.Close()
		fmt.Fprint(down, "HTTP/1.1 200 OK\r\n\r\n")
		go io.Copy(up, down)
		io.Copy(down, up)
	}))
	defer proxy.Close()
	_, port, _ := net.SplitHostPort(plain.Listener.Addr().String())
	local, here := "http://127.0.0.1:"+port, "http://localhost:"+port
	opt := quick()
	opt.Proxy = func(r *http.Request) (*url.URL, error) {
		if name := r.URL.Hostname(); name == "127.0.0.1" || name == "localhost" {
			return nil, nil
		}
		return url.Parse(proxy.URL)
	}
	c := memory(t)
	closed := links("https://example.com/closed")
	if r, _ := ask(t, c, opt, closed).Of(closed[0].URL); r.Reason != LoginRequired {
		t.Errorf("without a login: %+v", r)
	}
	opt.Login = func(authority string) http.Header {
		if authority == "example.com" || authority == "127.0.0.1:"+port {
			return http.Header{"Authorization": {"Bearer s3cret"}}
		}
		return nil
	}
	for _, x := range []struct {
		link string
		want []string
	}{
		{"https://example.com/closed", []string{"https://example.com/closed Bearer s3cret"}}, // although the answer is fresh
		{"http://example.com/plain", []string{"http://example.com/plain"}},
		{"https://example.com:8443/port", []string{"https://example.com:8443/port"}},
		{"http://example.com/up?to=https://example.com/a", []string{"http://example.com/up", "https://example.com/a Bearer s3cret"}},
		{"https://example.com/down?to=http://example.com/b", []string{"https://example.com/down Bearer s3cret", "http://example.com/b"}},
		{"https://example.com/away?to=" + url.QueryEscape(local+"/x?to=https://example.com/c"), []string{"https://example.com/away Bearer s3cret", local + "/x", "https://example.com/c"}},
		{"https://example.com/refresh?to=http://other.example/d", []string{"https://example.com/refresh Bearer s3cret", "http://other.example/d"}},
		{local + "/e", []string{local + "/e Bearer s3cret"}},
		{local + "/f?to=" + here + "/f", []string{local + "/f Bearer s3cret", here + "/f"}},
		{here + "/g?to=" + local + "/g", []string{here + "/g", local + "/g"}},
	} {
		mu.Lock()
		log = nil
		mu.Unlock()
		ask(t, c, opt, links(x.link))
		if !slices.Equal(log, x.want) {
			t.Errorf("%s: requests\n%q, want\n%q", x.link, log, x.want)
		}
	}
	for _, key := range c.URLs() {
		if strings.Contains(fmt.Sprintf("%+v", c.Get(key)), "s3cret") {
			t.Errorf("the status cache has the login: %+v", c.Get(key))
		}
	}
}
