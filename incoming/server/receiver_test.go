package server_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/incoming/verify"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
	"github.com/sitelink/sitelink/site"
)

// receiving is a whole receiver for a site with two pages. It listens at the
// site's address.
type receiving struct {
	url   string // of the site, with a final slash
	store *incomingtest.Store
}

// receive starts a receiver. It ends with the test.
func receive(t testing.TB, opt incoming.ReceiverOptions, serverOpt server.Options) *receiving {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	return receiveAt(t, l, strings.Replace("http://"+l.Addr().String()+"/", "127.0.0.1", "localhost", 1), opt, serverOpt)
}

// receiveAt is receive for a site with another address.
func receiveAt(t testing.TB, l net.Listener, url string, opt incoming.ReceiverOptions, serverOpt server.Options) *receiving {
	t.Helper()
	r := &receiving{url: url, store: incomingtest.NewStore(time.Now)}
	docroot := t.TempDir()
	manifest := incomingtest.Manifest(t, docroot, map[string]string{
		"index.html":        `<!DOCTYPE html><title>Home</title><link rel="webmention" href="` + r.url + `webmention"><link rel="pingback" href="` + r.url + `pingback"><p>Hello`,
		"doc.html":          `<!DOCTYPE html><title>Doc</title><link rel="webmention" href="` + r.url + `webmention"><link rel="pingback" href="` + r.url + `pingback"><a href="http://192.0.2.9/gone.html">gone</a>`,
		"ping.html":         `<!DOCTYPE html><title>Ping</title><link rel="pingback" href="` + r.url + `pingback">`,
		"closed/index.html": `<!DOCTYPE html><title>Closed</title>`,
	}, site.Options{BaseURLs: []string{r.url}}, "closed/**")
	opt.Sites = &incoming.Sites{}
	opt.Sites.Set(manifest)
	opt.Store = r.store
	opt.Client = verify.NewClient(verify.Options{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	var s *server.Server
	opt.Observe = func(state incoming.State, took time.Duration) { s.ObserveVerification(state, took) }
	receiver := incoming.NewReceiver(opt)
	pages := testkit.Must(server.NewPages([]server.Docroot{{BaseURL: r.url, Dir: docroot}}))(t)
	serverOpt.Receiver, serverOpt.Mentions, serverOpt.Pages, serverOpt.BaseURLs = receiver, r.store, pages, []string{r.url}
	s = server.New(serverOpt)
	ctx, stop := context.WithCancel(context.Background())
	served, worked := make(chan error, 1), make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	go func() { worked <- receiver.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		<-worked
	})
	return r
}

// mentions returns all mentions by source.
func (r *receiving) mentions(t testing.TB) map[string]incoming.Mention {
	t.Helper()
	all := map[string]incoming.Mention{}
	for m, err := range r.store.List(context.Background(), incoming.Filter{}) {
		testkit.Check(t, err)
		all[m.Source] = m
	}
	return all
}

// raw sends a request line and returns the status with its phrase.
func (r *receiving) raw(t testing.TB, line string) string {
	t.Helper()
	c := testkit.Must(net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/")))(t)
	defer c.Close()
	testkit.Check(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	fmt.Fprintf(c, "%s\r\nHost: x\r\n\r\n", line)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	resp.Body.Close()
	return resp.Status
}

// TestReceiver joins this package with the receiver itself: the answers that follow
// from the pages of a site.
func TestReceiver(t *testing.T) {
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	doc := r.url + "doc.html"
	for _, c := range []struct{ id, line, want string }{
		{"LK-26", "LINK http://192.0.2.1/1 DOC HTTP/1.1", "200 Ok"},
		{"LK-44", "LINK HTTP://192.0.2.1:80/%31 DOC HTTP/1.1", "200 Ok"},
		{"LK-28", "LINK http://192.0.2.1/1 DOC LINKMOD HTTP/1.1", "207 No Linkmod"},
		{"LK-27", "LINK http://192.0.2.1/1 DOCx HTTP/1.1", "417 Invalid target URI"},
		{"LK-27 closed", "LINK http://192.0.2.1/1 ROOTclosed/ HTTP/1.1", "417 Invalid target URI"},
		{"A-LK-8", "LINK http://192.0.2.1/1 http://b.example/ HTTP/1.1", "404 Not Found"},
		{"LK-47", "LINK DOC DOC HTTP/1.1", "400 Bad Request"},
		{"LK-30", "UNLINK http://192.0.2.1/1 DOC HTTP/1.1", "200 Ok"},
		{"LK-30 unknown", "UNLINK http://192.0.2.1/2 DOC HTTP/1.1", "416 Invalid source URI"},
		{"LK-47 another host", "UNLINK http://192.0.2.1/1 DOC http://192.0.2.2/1 HTTP/1.1", "400 Bad Request"},
		{"LK-32", "UNLINKR DOC http://192.0.2.9/gone.html HTTP/1.1", "200 Ok"},
		{"LK-32 no such link", "UNLINKR DOC http://192.0.2.9/other.html HTTP/1.1", "416 Invalid target URI"},
		{"LK-32 not ours", "UNLINKR DOCx http://192.0.2.9/gone.html HTTP/1.1", "417 Invalid source URI"},
		{"LK-34", "LINKMOD DOC http://192.0.2.9/gone.html HTTP/1.1", "200 Ok"},
	} {
		line := strings.NewReplacer("DOC", doc, "ROOT", r.url).Replace(c.line)
		if got := r.raw(t, line); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.id, line, got, c.want)
		}
	}
}

// TestReceiverDefaults: by default, LINK and the three other methods are supported,
// and named by OPTIONS (LK-39, LK-40); a request with one URL and a Link field is
// the LINK of HTTP/1.0 and 1.1 (LK-41). Pages that are served carry nothing of what
// was received (LK-11).
func TestReceiverDefaults(t *testing.T) {
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	request := func(method, link string) (*http.Response, string) {
		t.Helper()
		req := testkit.Must(http.NewRequest(method, r.url+"doc.html", nil))(t)
		if link != "" {
			req.Header.Set("Link", "<"+link+">")
		}
		resp := testkit.Must(http.DefaultClient.Do(req))(t)
		defer resp.Body.Close()
		var text strings.Builder
		testkit.Must(bufio.NewReader(resp.Body).WriteTo(&text))(t)
		return resp, text.String()
	}
	before, page := request("GET", "")
	for _, method := range []string{"LINK", "UNLINK"} {
		// By the time of UNLINK, the receiver may have rejected the link, as its source
		// does not answer: then there is nothing to remove.
		resp, text := request(method, "http://192.0.2.1/linker")
		if resp.StatusCode != 202 && (method != "UNLINK" || resp.StatusCode != 204) {
			t.Errorf("%s: %s %s", method, resp.Status, text)
		}
	}
	for _, method := range []string{"UNLINKR", "LINKMOD"} {
		if resp, text := request(method, "http://192.0.2.9/gone.html"); resp.StatusCode != 202 {
			t.Errorf("%s: %s %s", method, resp.Status, text)
		}
	}
	resp, _ := request("OPTIONS", "")
	for _, method := range []string{"LINK", "UNLINK", "UNLINKR", "LINKMOD"} {
		if !strings.Contains(", "+resp.Header.Get("Allow")+",", " "+method+",") {
			t.Errorf("OPTIONS does not name %s: %q", method, resp.Header.Get("Allow"))
		}
	}
	if len(r.mentions(t)) == 0 {
		t.Error("nothing was received")
	}
	after, same := request("GET", "")
	if same != page || after.Header.Get("Link") != "" || len(after.Header) != len(before.Header) {
		t.Errorf("%v\n%s", after.Header, same)
	}
}

// TestReceiverPings: PB-54, each step of a server has its own fault, and the cheap
// ones come before the fetch.
func TestReceiverPings(t *testing.T) {
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	// The source does not answer, so that its mention stays queued meanwhile.
	for _, c := range []struct{ id, source, target, want string }{
		{"recorded", "http://127.0.0.1:1/1", r.url + "doc.html", "<string>"},
		{"PB-47", "http://127.0.0.1:1/1", r.url + "doc.html", "<int>48</int>"},
		{"PB-69 another fragment", "http://127.0.0.1:1/1", r.url + "doc.html#foo", "<string>"},
		{"PB-45", "http://127.0.0.1:1/1", r.url + "missing.html", "<int>32</int>"},
		{"PB-46 foreign host", "http://127.0.0.1:1/1", "http://192.0.2.2/", "<int>33</int>"},
		{"PB-46 not enabled", "http://127.0.0.1:1/1", r.url + "closed/", "<int>33</int>"},
		{"the same page", r.url + "doc.html", r.url + "doc.html", "<int>-32602</int>"},
		{"not a URL", "junk", r.url + "doc.html", "<int>-32602</int>"},
	} {
		call := "<methodCall><methodName>pingback.ping</methodName><params><param><value>" + c.source + "</value></param><param><value>" + c.target + "</value></param></params></methodCall>"
		resp := testkit.Must(http.Post(r.url+"pingback", "text/xml", strings.NewReader(call)))(t)
		var text strings.Builder
		testkit.Must(bufio.NewReader(resp.Body).WriteTo(&text))(t)
		resp.Body.Close()
		if got := text.String(); !strings.Contains(got, c.want) || strings.Contains(got, "<fault>") != strings.HasPrefix(c.want, "<int>") {
			t.Errorf("%s: %s, want %s", c.id, got, c.want)
		}
	}
}

// TestLinkOnly: LK-42.
func TestLinkOnly(t *testing.T) {
	r := receive(t, incoming.ReceiverOptions{LinkOnly: true}, server.Options{})
	for _, method := range []string{"UNLINK", "UNLINKR", "LINKMOD"} {
		if got := r.raw(t, method+" http://a.example/unknown "+r.url+"unknown HTTP/1.1"); got != "200 Ok" {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := r.raw(t, "UNLINK x y HTTP/1.1"); got != "400 Bad Request" {
		t.Errorf("malformed: %s", got)
	}
	if m := r.mentions(t); len(m) != 0 {
		t.Errorf("%+v", m)
	}
}

// TestBlocked: a blocked peer, as each protocol says it.
func TestBlocked(t *testing.T) {
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	testkit.Check(t, r.store.SetRules(t.Context(), []incoming.Rule{{Pattern: "spam.example", Verdict: incoming.Block}}))
	if got := r.raw(t, "LINK http://spam.example/ "+r.url+"doc.html HTTP/1.1"); got != "400 Bad Request" {
		t.Errorf("LK-37: %s", got)
	}
	request := func(method, path, kind, body string, fields ...string) (int, string) {
		t.Helper()
		req := testkit.Must(http.NewRequest(method, r.url+path, strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", kind)
		for _, f := range fields {
			req.Header.Set("Link", f)
		}
		resp := testkit.Must(http.DefaultClient.Do(req))(t)
		defer resp.Body.Close()
		var text strings.Builder
		testkit.Must(bufio.NewReader(resp.Body).WriteTo(&text))(t)
		return resp.StatusCode, text.String()
	}
	if status, _ := request("LINK", "doc.html", "", "", "<http://spam.example/>"); status != 403 {
		t.Errorf("with a Link field: %d", status)
	}
	if status, _ := request("POST", "webmention", "application/x-www-form-urlencoded", "source=http://spam.example/&target="+r.url+"doc.html"); status != 403 {
		t.Errorf("webmention: %d", status)
	}
	call := "<methodCall><methodName>pingback.ping</methodName><params><param><value>http://spam.example/</value></param><param><value>" + r.url + "doc.html</value></param></params></methodCall>"
	if status, text := request("POST", "pingback", "text/xml", call); status != 200 || !strings.Contains(text, "<int>49</int>") {
		t.Errorf("PB-48: %d %s", status, text)
	}
	if m := r.mentions(t); len(m) != 0 {
		t.Errorf("%+v", m)
	}
}

// TestOwnSenders: our senders discover the endpoints of a page, send a notice by
// each protocol and form, and it is verified.
func TestOwnSenders(t *testing.T) {
	var source *http.Server
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	r := receive(t, incoming.ReceiverOptions{}, server.Options{})
	target := r.url + "doc.html"
	source = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><title>A post</title><p>I like <a href="%s">this page</a>.`, target)
	})}
	go func() { _ = source.Serve(l) }()
	defer source.Close()
	base := "http://" + l.Addr().String() + "/"
	client := outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	peer := func(form string) send.LinkOptions {
		p := testkit.Must(send.ParseLinkPeer("localhost " + form))(t)
		return send.LinkOptions{Peers: []send.LinkPeer{p}}
	}
	for name, c := range map[string]struct {
		sender outgoing.Sender
		state  ledger.State
		status int
	}{
		"pingback":   {send.NewPingback(client, send.PingbackOptions{}), ledger.Done, 200},
		"webmention": {send.NewWebmention(client), ledger.Accepted, 201},
		"raw":        {send.NewLink(client, peer("raw")), ledger.Done, 200},
		"header":     {send.NewLink(client, peer("header")), ledger.Accepted, 202},
		"probed":     {send.NewLink(client, send.LinkOptions{Probe: true}), ledger.Done, 200}, // LK-61: OPTIONS names LINK
	} {
		endpoint, err := c.sender.Discover(t.Context(), outgoing.NewTarget(client, target))
		if err != nil || endpoint.URL == "" {
			t.Fatalf("%s: %+v %v", name, endpoint, err)
		}
		o := c.sender.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: base + name, Target: target}, Event: ledger.Added}, endpoint)
		if o.State != c.state || o.Status != c.status {
			t.Errorf("%s: %+v", name, o)
		}
	}
	// They are verified, and held because their host is not known.
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		mentions, held := r.mentions(t), 0
		for _, m := range mentions {
			if m.State == incoming.Held && m.Title == "A post" {
				held++
			}
		}
		if held == 5 {
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("%+v", mentions)
		}
	}
	// PB-47, LK-43: the same again is known.
	if o := send.NewPingback(client, send.PingbackOptions{}).Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: base + "pingback", Target: target}}, outgoing.Endpoint{URL: r.url + "pingback"}); o.State != ledger.Done {
		t.Errorf("again: %+v", o)
	}
	resp := testkit.Must(http.Get(r.url + "metrics"))(t)
	defer resp.Body.Close()
	var text strings.Builder
	testkit.Must(bufio.NewReader(resp.Body).WriteTo(&text))(t)
	for _, want := range []string{`sitelink_mentions{state="held"} 5`, `sitelink_verifications_total{state="held"} 5`, `sitelink_notices_total{protocol="link",outcome="accepted"} 3`} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("no %s in\n%s", want, &text)
		}
	}
}
