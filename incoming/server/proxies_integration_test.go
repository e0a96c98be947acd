//go:build integration && linux

package server_test

import (
	"bufio"
	"cmp"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/incoming/server"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/send"
)

var update = flag.Bool("update", false, "write testdata/proxies.txt")

const receiverDoc = "../../docs/reference/receiver.md"

// example returns the configuration that the document shows below a mark, such as
// "proxy: nginx".
func example(t *testing.T, mark string) string {
	t.Helper()
	text := testkit.Read(t, receiverDoc)
	block := regexp.MustCompile("(?s)<!-- " + regexp.QuoteMeta(mark) + " -->\n```[a-z]+\n(.*?)```\n").FindSubmatch(text)
	if block == nil {
		t.Fatalf("%s has no configuration for %s", receiverDoc, mark)
	}
	return string(block[1])
}

// replaced replaces parts of a configuration. Each part must be in it.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the configuration has no %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// free returns an address of the loopback interface on which nothing listens.
func free(t *testing.T) string {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// program starts a web server in the foreground and waits until it listens.
func program(t *testing.T, dir, address, name string, args ...string) {
	t.Helper()
	bin, err := exec.LookPath(name)
	if err != nil {
		bin = "/usr/sbin/" + name // not in every user's PATH
	}
	var out strings.Builder
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
	})
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return
		}
		select {
		case <-exited:
			t.Fatalf("%s ended: %s", name, &out)
		default:
		}
		if time.Since(begin) > 30*time.Second {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-exited
			t.Fatalf("%s does not listen: %s", name, &out)
		}
	}
}

// proxied starts a receiver behind a proxy with the configuration of the document,
// and returns the receiver and the address of the proxy.
func proxied(t *testing.T, name string) (*receiving, string) {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address, backend := free(t), l.Addr().String()
	if name == "none" {
		address = backend
	}
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "echo ", r.URL.Path) })
	r := receiveAt(t, l, "http://"+address+"/", incoming.ReceiverOptions{},
		server.Options{Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Moderation: echo, Live: echo})
	dir := t.TempDir()
	docroot := filepath.Join(dir, "site")
	testkit.Check(t, os.Mkdir(docroot, 0o755))
	write := func(name, text string) string {
		full := filepath.Join(dir, name)
		testkit.Check(t, os.WriteFile(full, []byte(text), 0o644))
		return full
	}
	write("site/doc.html", "from the proxy")
	_, port, _ := net.SplitHostPort(address)
	switch name {
	case "nginx":
		write("sitelink-proxy.conf", example(t, "proxy: nginx, sitelink-proxy.conf"))
		site := replaced(t, example(t, "proxy: nginx"), "listen 80;", "listen "+address+";", "server_name example.org;", "server_name localhost;",
			"/srv/example.org", docroot, "127.0.0.1:8035", backend)
		user := ""
		if os.Getuid() == 0 {
			user = "user root;\n" // the temporary directory is root's
		}
		conf := write("nginx.conf", user+"daemon off;\nworker_processes 1;\npid "+dir+"/nginx.pid;\nerror_log "+dir+"/error.log;\nevents {}\nhttp {\naccess_log off;\n"+
			"client_body_temp_path "+dir+"/body;\nproxy_temp_path "+dir+"/proxy;\nfastcgi_temp_path "+dir+"/fastcgi;\nuwsgi_temp_path "+dir+"/uwsgi;\nscgi_temp_path "+dir+"/scgi;\n"+site+"}\n")
		program(t, dir, address, "nginx", "-p", dir, "-c", conf, "-e", dir+"/error.log")
	case "Caddy":
		site := replaced(t, example(t, "proxy: caddy"), "example.org {", "http://:"+port+" {\n\tbind 127.0.0.1", "/srv/example.org", docroot, "127.0.0.1:8035", backend)
		program(t, dir, address, "caddy", "run", "--adapter", "caddyfile", "--config", write("Caddyfile", "{\n\tadmin off\n}\n"+site))
	}
	return r, address
}

// exchange sends a request from 127.0.0.2, which is not a trusted proxy, and
// returns the response.
func exchange(t *testing.T, address, request string) (status, body string) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c := testkit.Must(dialer.Dial("tcp", address))(t)
	defer c.Close()
	testkit.Check(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	testkit.Must(io.WriteString(c, request))(t)
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		return "no answer", ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.Status, string(text)
}

// TestProxies sends every form of a notice directly and through nginx and Caddy,
// and compares what arrives with the table in the document.
func TestProxies(t *testing.T) {
	const source = "http://192.0.2.1/"
	forms := []struct {
		name    string
		request string // FORM is a name for the source, SITE the address of the site
		form    bool
	}{
		{"`LINK SOURCE TARGET HTTP/1.1`", "LINK " + source + "FORM SITEdoc.html HTTP/1.1\r\nHost: HOST\r\n", false},
		{"`LINK SOURCE TARGET LINKMOD HTTP/1.1`", "LINK " + source + "FORM SITEdoc.html LINKMOD HTTP/1.1\r\nHost: HOST\r\n", false},
		{"`LINK SOURCE TARGET`, without version", "LINK " + source + "FORM SITEdoc.html\r\nHost: HOST\r\n", false},
		{"`LINK` with tabs between the words", "LINK\t" + source + "FORM\tSITEdoc.html\tHTTP/1.1\r\nHost: HOST\r\n", false},
		{"`LINK` with percent-encoded spaces", "LINK " + source + "FORM%20SITEdoc.html HTTP/1.1\r\nHost: HOST\r\n", false},
		{"`LINK /doc.html`, with a Link field", "LINK /doc.html HTTP/1.1\r\nHost: HOST\r\nLink: <" + source + "FORM>; rel=x\r\n", false},
		{"the same with two Link fields", "LINK /doc.html HTTP/1.1\r\nHost: HOST\r\nLink: <" + source + "FORM>\r\nLink: <" + source + "FORM2>\r\n", false},
		{"`LINK TARGET`, with a Link field", "LINK SITEdoc.html HTTP/1.1\r\nHost: HOST\r\nLink: <" + source + "FORM>\r\n", false},
		{"`UNLINKR /doc.html`, with a Link field", "UNLINKR /doc.html HTTP/1.1\r\nHost: HOST\r\nLink: <http://192.0.2.9/gone.html>\r\n", false},
		{"webmention", "POST /webmention HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/x-www-form-urlencoded\r\n", true},
		{"pingback", "POST /pingback HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/xml\r\n", true},
		{"`OPTIONS /doc.html`", "OPTIONS /doc.html HTTP/1.1\r\nHost: HOST\r\n", false},
		{"`OPTIONS *`", "OPTIONS * HTTP/1.1\r\nHost: HOST\r\n", false},
	}
	setups := []string{"none", "nginx", "Caddy"}
	cells := make([][]string, len(forms))
	for _, setup := range setups {
		r, address := proxied(t, setup)
		for i, f := range forms {
			name := fmt.Sprintf("form%d", i)
			body := ""
			switch {
			case strings.Contains(f.request, "/webmention"):
				body = "source=" + source + name + "&target=" + r.url + "doc.html"
			case f.form:
				body = "<methodCall><methodName>pingback.ping</methodName><params><param><value>" + source + name + "</value></param><param><value>" + r.url + "doc.html</value></param></params></methodCall>"
			}
			request := strings.NewReplacer("FORM", name, "SITE", r.url, "HOST", address).Replace(f.request) + "X-Forwarded-For: 198.51.100.7\r\n"
			if f.form {
				request += fmt.Sprintf("Content-Length: %d\r\n", len(body))
			}
			before := len(r.mentions(t))
			status, _ := exchange(t, address, request+"\r\n"+body)
			added := 0
			for _, m := range r.mentions(t) {
				if added++; m.Peer.String() != "127.0.0.2" {
					t.Errorf("%s, %s: the sender is %s", setup, f.name, m.Peer)
				}
				if m.Local() != r.url+"doc.html" {
					t.Errorf("%s, %s: the page is %s", setup, f.name, m.Local())
				}
			}
			cell := "no: " + status
			if added > before || strings.HasPrefix(f.request, "OPTIONS") && strings.HasPrefix(status, "20") {
				cell = "yes: " + status
			}
			cells[i] = append(cells[i], cell)
		}
		// The pages are the proxy's.
		if _, text := exchange(t, address, "GET /doc.html HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); (text == "from the proxy") != (setup != "none") {
			t.Errorf("%s: GET /doc.html: %q", setup, text)
		}
		for path, want := range map[string]string{"/webmention?target=x": "Send a webmention", "/webmention/status/x": "There is no such webmention", "/moderation": "echo", "/moderation/x": "echo", "/mentions": "echo"} {
			if _, text := exchange(t, address, "GET "+path+" HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); !strings.Contains(text, want) {
				t.Errorf("%s: GET %s: %q", setup, path, text)
			}
		}
		smuggle(t, r, setup, address)
		// Our sender finds the form that works.
		client := outgoing.NewClient(outgoing.ClientOptions{Pace: -1, AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
		sender := send.NewLink(client, send.LinkOptions{Probe: true})
		endpoint := testkit.Must(sender.Discover(t.Context(), outgoing.NewTarget(client, r.url+"doc.html")))(t)
		want := map[string]int{"none": 200}[setup]
		o := sender.Send(t.Context(), ledger.Notice{Key: ledger.Key{Source: source + "sender", Target: r.url + "doc.html"}, Event: ledger.Added}, endpoint)
		if o.Status != cmp.Or(want, 202) {
			t.Errorf("%s: our sender: %+v", setup, o)
		}
		for _, method := range []send.LinkMethod{send.UnlinkR, send.LinkMod} {
			o := sender.Notify(t.Context(), send.LinkCall{Method: method, Source: r.url + "doc.html", Target: "http://192.0.2.9/gone.html"})
			if o.State != ledger.Done && o.State != ledger.Accepted {
				t.Errorf("%s: our %s: %+v", setup, method, o)
			}
		}
	}
	var table strings.Builder
	table.WriteString("| form | no proxy | nginx | Caddy |\n|---|---|---|---|\n")
	for i, f := range forms {
		fmt.Fprintf(&table, "| %s | %s |\n", f.name, strings.Join(cells[i], " | "))
	}
	golden := filepath.Join("testdata", "proxies.txt")
	if *update {
		testkit.Check(t, os.WriteFile(golden, []byte(table.String()), 0o644))
	} else if string(testkit.Read(t, golden)) != table.String() {
		t.Errorf("%s has another table; this is what was measured:\n%s", golden, table.String())
	}
}

// smuggle sends messages with an ambiguous end. The server must not read the call
// in their body as a request.
func smuggle(t *testing.T, r *receiving, setup, address string) {
	t.Helper()
	before := len(r.mentions(t))
	hidden := "LINK /doc.html HTTP/1.1\r\nHost: x\r\nLink: <http://192.0.2.1/smuggled>\r\n\r\n"
	raw := "LINK http://192.0.2.1/smuggled " + r.url + "doc.html HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, inner := range []string{hidden, raw} {
		for _, head := range []string{
			fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", len(inner)+5),
			fmt.Sprintf("Transfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n", len(inner)+5),
			fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n", len(inner)),
			fmt.Sprintf("Transfer-Encoding: xchunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n", len(inner)+5),
			fmt.Sprintf("Transfer-Encoding:\r\n chunked\r\nContent-Length: %d\r\n\r\n0\r\n\r\n", len(inner)+5),
			fmt.Sprintf("Content_Length: 0\r\nContent-Length: %d\r\n\r\n", len(inner)),
			fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\n%s\r\n0\r\n\r\n", len(inner), inner),
		} {
			for _, path := range []string{"/webmention", "/doc.html"} {
				exchange(t, address, "POST "+path+" HTTP/1.1\r\nHost: "+address+"\r\n"+head+inner)
			}
			exchange(t, address, "OPTIONS /doc.html HTTP/1.1\r\nHost: "+address+"\r\n"+head+inner)
		}
	}
	if m := r.mentions(t); len(m) != before {
		t.Errorf("%s: a request was smuggled: %+v", setup, m)
	}
}

// TestUnits: systemd understands the units of the document, and finds the service
// well confined.
func TestUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is missing: apt-get install systemd")
	}
	dir := t.TempDir()
	var units []string
	for _, name := range []string{"sitelink.socket", "sitelink.service"} {
		text := example(t, "unit: "+name)
		if strings.HasSuffix(name, ".service") {
			text = replaced(t, text, "ExecStart=/usr/bin/sitelink serve", "ExecStart=/bin/true serve") // must exist
		}
		units = append(units, filepath.Join(dir, name))
		testkit.Check(t, os.WriteFile(units[len(units)-1], []byte(text), 0o644))
	}
	if out, err := exec.Command(analyze, append([]string{"verify", "--man=no"}, units...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("verify: %v\n%s", err, out)
	}
	// Tenths of systemd's scale, on which 10 is unconfined and below 2 is its best
	// grade.
	if out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", "--no-pager", units[1]).CombinedOutput(); err != nil {
		t.Errorf("security: %v\n%s", err, out)
	}
}
