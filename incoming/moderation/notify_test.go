package moderation

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/incomingtest"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
)

// mailServer is an SMTP server that takes one mail per connection.
type mailServer struct {
	address string
	mails   chan string // the commands, then the text
	config  *tls.Config // for STARTTLS, nil without
	silent  bool
}

func startMail(t *testing.T, s *mailServer) *mailServer {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	s.address, s.mails = l.Addr().String(), make(chan string, 16)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *mailServer) serve(conn net.Conn) {
	defer conn.Close()
	if s.silent {
		io.Copy(io.Discard, conn)
		return
	}
	var log strings.Builder
	fmt.Fprintf(conn, "220 test\r\n")
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		log.WriteString(line)
		switch command := strings.ToUpper(strings.TrimSpace(line)); {
		case strings.HasPrefix(command, "EHLO"):
			if _, encrypted := conn.(*tls.Conn); s.config != nil && !encrypted {
				fmt.Fprintf(conn, "250-test\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")
			} else {
				fmt.Fprintf(conn, "250-test\r\n250 AUTH PLAIN\r\n")
			}
		case command == "STARTTLS":
			fmt.Fprintf(conn, "220 go\r\n")
			conn = tls.Server(conn, s.config)
			r = bufio.NewReader(conn)
		case strings.HasPrefix(command, "AUTH"):
			fmt.Fprintf(conn, "235 ok\r\n")
		case command == "DATA":
			fmt.Fprintf(conn, "354 go\r\n")
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				log.WriteString(strings.TrimPrefix(line, "."))
			}
			s.mails <- log.String()
			fmt.Fprintf(conn, "250 ok\r\n")
		case command == "QUIT":
			fmt.Fprintf(conn, "221 bye\r\n")
			return
		default:
			fmt.Fprintf(conn, "250 ok\r\n")
		}
	}
}

// certificate returns the configurations of a server and of a client that trusts it.
func certificate(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der := testkit.Must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	cert := testkit.Must(x509.ParseCertificate(der))(t)
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

func heldMention(store *incomingtest.Store, i int, title string) {
	store.Add(incoming.Mention{Source: fmt.Sprintf("https://a.example/%d", i), Target: "https://our.example/p", State: incoming.Held, Title: title})
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// TestMail: newly held mentions are one mail, in which no text of a stranger leaves the
// body.
func TestMail(t *testing.T) {
	server, client := certificate(t)
	s := startMail(t, &mailServer{config: server})
	store := incomingtest.NewStore(nil)
	heldMention(store, 0, "old")
	opt := NotifierOptions{Store: store, Log: quiet(), Address: address, State: filepath.Join(t.TempDir(), "notified"),
		Mail: &Mail{Server: s.address, User: "me", Password: "secret", From: `"Our, Site" <site@our.example>`, To: []string{"a@our.example", "Bé <b@our.example>"}, TLS: client}}
	n := testkit.Must(NewNotifier(opt))(t)
	look := func() {
		t.Helper()
		testkit.Check(t, n.Look(t.Context()))
	}
	look()
	const evil = "Win\r\nBcc: victim@evil.example\r\n\r\n.\r\nMAIL FROM:<x@evil.example>\u2028é"
	heldMention(store, 1, evil)
	for i := range 500 {
		heldMention(store, 2+i, ".")
	}
	look()
	look()
	if len(s.mails) != 1 {
		t.Fatalf("%d mails, want 1", len(s.mails))
	}
	text := <-s.mails
	if !strings.Contains(text, "STARTTLS\r\nEHLO") || !strings.Contains(text, "AUTH PLAIN") || !strings.Contains(text, "RCPT TO:<b@our.example>\r\n") || strings.Count(text, "RCPT TO") != 2 {
		t.Errorf("commands:\n%.500s", text)
	}
	_, text, _ = strings.Cut(text, "DATA\r\n")
	m := testkit.Must(mail.ReadMessage(strings.NewReader(text)))(t)
	content, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	testkit.Check(t, err)
	if m.Header.Get("Subject") != "501 new mentions wait for a decision" || m.Header.Get("Bcc") != "" || len(m.Header) != 9 || m.Header.Get("Auto-Submitted") != "auto-generated" {
		t.Errorf("header %v", m.Header)
	}
	for _, want := range []string{"Win Bcc: victim@evil.example . MAIL FROM:<x@evil.example> é\r\n  from https://a.example/1\r\n", "And 481 more.", "in total: 502", "Decide at " + address} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the mail lacks %q:\n%s", want, content)
		}
	}

	// After a restart, only what was held since then is reported.
	if n, err = NewNotifier(opt); err != nil {
		t.Fatal(err)
	}
	look()
	heldMention(store, 1000, "new")
	look()
	if text := <-s.mails; !strings.Contains(text, "Subject: 1 new mention waits for a decision\r\n") || len(s.mails) > 0 {
		t.Errorf("after a restart:\n%s", text)
	}
}

func TestMailFails(t *testing.T) {
	store := incomingtest.NewStore(nil)
	notifier := func(m Mail) *Notifier {
		n := testkit.Must(NewNotifier(NotifierOptions{Store: store, Log: quiet(), Mail: &m}))(t)
		testkit.Check(t, n.Look(t.Context()))
		return n
	}
	base := Mail{From: "site@our.example", To: []string{"a@our.example"}}
	silent, plain := base, base
	silent.Server, silent.Timeout = startMail(t, &mailServer{silent: true}).address, 50*time.Millisecond
	s := startMail(t, &mailServer{})
	plain.Server = s.address
	late, ok := notifier(silent), notifier(plain)
	heldMention(store, 1, "x")
	if err := late.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "mail: send a mail through 127.0.0.1:") {
		t.Errorf("a silent server: %v", err)
	}
	// What was not sent is sent later.
	late.lines[0].send = ok.lines[0].send
	for range 2 {
		if err := late.Look(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if len(s.mails) != 1 {
		t.Errorf("%d mails, want 1", len(s.mails))
	}
	elsewhere := &mailer{Mail: plain, host: "mail.example", from: &mail.Address{Address: "a@b.example"}}
	elsewhere.Timeout = time.Minute
	if err := elsewhere.send(t.Context(), &Message{}, time.Now()); err == nil || !strings.Contains(err.Error(), "the server offers no encryption") {
		t.Errorf("a server without encryption: %v", err)
	}
	for _, bad := range []Mail{
		{Server: "mail.example", From: "a@b.example", To: []string{"a@b.example"}},
		{Server: "mail.example:25", From: "a@b.example\r\nBcc: x@evil.example", To: []string{"a@b.example"}},
		{Server: "mail.example:25", From: "a@b.example", To: []string{"a@b.example, c@d.example"}},
		{Server: "mail.example:25", From: "a@b.example"},
	} {
		if _, err := NewNotifier(NotifierOptions{Mail: &bad}); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}

func TestWebhook(t *testing.T) {
	secret := []byte("0123456789abcdef")
	var bodies []string
	status := http.StatusServiceUnavailable
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s", r.Header.Get("Sitelink-Timestamp"), text)
		if got := r.Header.Get("Sitelink-Signature"); r.Method != http.MethodPost || got != "sha256="+hex.EncodeToString(mac.Sum(nil)) || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s with the signature %s", r.Method, got)
		}
		bodies = append(bodies, string(text))
		w.WriteHeader(status)
	}))
	defer hook.Close()
	store := incomingtest.NewStore(nil)
	loopback := outgoing.NewClient(outgoing.ClientOptions{AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Pace: -1})
	now := time.Unix(1700000000, 0)
	n, err := NewNotifier(NotifierOptions{Store: store, Log: quiet(), Now: func() time.Time { return now }, Webhook: &Webhook{URL: hook.URL + "/x", Secret: secret, Client: loopback}})
	testkit.Check(t, err)
	testkit.Check(t, n.Look(t.Context()))
	for i := range 30 {
		heldMention(store, i, "</script>")
	}
	if err := n.Look(t.Context()); err == nil || !strings.Contains(err.Error(), "webhook: it answered 503 Service Unavailable") {
		t.Errorf("a hook that fails: %v", err)
	}
	status = http.StatusNoContent
	for range 2 {
		if err := n.Look(t.Context()); err != nil {
			t.Error(err)
		}
	}
	var msg Message
	if len(bodies) != 2 || bodies[0] != bodies[1] || json.Unmarshal([]byte(bodies[1]), &msg) != nil || msg.New != 30 || msg.Held != 30 || len(msg.Mentions) != maxReported || msg.Event != "held" {
		t.Errorf("%d requests: %+v", len(bodies), msg)
	}

	// The guard refuses private addresses.
	guarded, err := NewNotifier(NotifierOptions{Store: store, Log: quiet(), Webhook: &Webhook{URL: hook.URL, Secret: secret, Client: outgoing.NewClient(outgoing.ClientOptions{Pace: -1})}})
	testkit.Check(t, err)
	guarded.Look(t.Context())
	heldMention(store, 100, "x")
	if err := guarded.Look(t.Context()); err == nil || len(bodies) != 2 {
		t.Errorf("a private address: %v", err)
	}
	for _, bad := range []Webhook{{URL: "ftp://a.example/", Secret: secret, Client: loopback}, {URL: hook.URL, Secret: secret[1:], Client: loopback}, {URL: hook.URL, Secret: secret}} {
		if _, err := NewNotifier(NotifierOptions{Webhook: &bad}); err == nil {
			t.Errorf("%+v passes", bad)
		}
	}
}
