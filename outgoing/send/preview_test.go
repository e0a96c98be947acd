package send_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

// codes returns the codes of problems.
func codes(problems []send.Problem) []send.ProblemCode {
	var all []send.ProblemCode
	for _, p := range problems {
		all = append(all, p.Code)
	}
	return all
}

// TestPreview: each target has its protocol and the problems that matter to it, and
// nothing is sent. PB-6: a target that does not accept notices is not a problem.
func TestPreview(t *testing.T) {
	var posts atomic.Int64
	var text string
	mux := http.NewServeMux()
	mux.HandleFunc("/post", func(w http.ResponseWriter, r *http.Request) {
		if text == "" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, text)
	})
	mux.HandleFunc("/pingback", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Pingback", "http://h.example/x") })
	mux.HandleFunc("/both", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Pingback", "http://h.example/x")
		w.Header().Set("Link", "</wm>; rel=webmention")
	})
	mux.HandleFunc("/unusable", func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-Pingback", "/x") })
	mux.HandleFunc("/none", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			posts.Add(1)
		}
		mux.ServeHTTP(w, r)
	}))
	defer server.Close()
	client := outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	senders := []outgoing.Sender{send.NewWebmention(client), send.NewPingback(client, send.PingbackOptions{})}
	var targets []string
	page := "<!DOCTYPE html>"
	for _, path := range []string{"/pingback", "/both", "/unusable", "/none", "/busy"} {
		targets = append(targets, server.URL+path)
		page += fmt.Sprintf(`<p><a href="%s"><img src="x"></a>`, server.URL+path)
	}
	preview := func(built []byte) *send.Preview {
		t.Helper()
		r := testkit.Must(send.Previewer{Client: client, Senders: senders}.Preview(t.Context(), server.URL+"/post", targets, built))(t)
		return r
	}
	check := func(r *send.Preview) {
		t.Helper()
		rows := r.Rows
		if rows[0].Protocol != ledger.Pingback || rows[0].Endpoint != "http://h.example/x" || !slices.Equal(codes(rows[0].Problems), []send.ProblemCode{send.LinkText}) {
			t.Errorf("%+v", rows[0])
		}
		if rows[1].Protocol != ledger.Webmention || rows[1].Endpoint != server.URL+"/wm" || rows[1].Problems != nil {
			t.Errorf("%+v", rows[1])
		}
		if rows[2].Endpoint != "" || rows[2].Via == "" || rows[2].Problems != nil || rows[3].Endpoint != "" || rows[3].Via != "" || rows[3].Err != nil {
			t.Errorf("%+v", rows[2:4])
		}
		if rows[4].Err == nil || !r.Failing() {
			t.Errorf("%+v", rows[4])
		}
	}

	r := preview(nil)
	if r.Live || r.Built || !slices.Equal(codes(r.Problems), []send.ProblemCode{send.NotLive}) || r.Rows[0].Problems != nil {
		t.Errorf("%+v", r)
	}
	r = preview([]byte(page))
	if r.Live || !r.Built || !slices.Equal(codes(r.Problems), []send.ProblemCode{send.NotLive, send.NoTitle}) {
		t.Errorf("%+v", r)
	}
	check(r)
	text = page
	r = preview(nil)
	if !r.Live || !slices.Equal(codes(r.Problems), []send.ProblemCode{send.NoTitle}) {
		t.Errorf("%+v", r)
	}
	check(r)
	text, targets = "<title>t</title>"+`<a href="`+targets[0]+`">text</a>`, targets[:1]
	if r = preview(nil); r.Failing() {
		t.Errorf("%+v", r)
	}
	if posts.Load() > 0 {
		t.Errorf("%d requests other than GET", posts.Load())
	}

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (send.Previewer{Client: client, Senders: senders}).Preview(canceled, server.URL+"/post", targets, nil); err == nil {
		t.Error("no error")
	}
	server.Close()
	if r := preview(nil); r.Live || len(r.Problems) != 1 || r.Rows[0].Err == nil {
		t.Errorf("%+v", r)
	}
}
