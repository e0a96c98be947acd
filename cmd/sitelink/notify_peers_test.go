package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// rawPeer reads requests as bytes: those of the LINK methods go past net/http
// (LK-55). It answers all of them alike.
type rawPeer struct {
	addr string

	mu    sync.Mutex
	lines []string // request lines, and the bodies of POST behind them
}

func newRawPeer(t *testing.T, answer func(line string) string) *rawPeer {
	t.Helper()
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	p := &rawPeer{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c, answer)
		}
	}()
	return p
}

func (p *rawPeer) serve(c net.Conn, answer func(line string) string) {
	defer c.Close()
	r := bufio.NewReader(c)
	line, length := "", 0
	for {
		text, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if line == "" {
			line = strings.TrimSpace(text)
		}
		fmt.Sscanf(text, "Content-Length: %d", &length)
		if text == "\r\n" {
			break
		}
	}
	request := line
	if body := make([]byte, length); length > 0 {
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		request += " " + string(body)
	}
	p.mu.Lock()
	p.lines = append(p.lines, request)
	p.mu.Unlock()
	io.WriteString(c, answer(line))
}

// take returns what came since the last call, without GET, sorted.
func (p *rawPeer) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := slices.DeleteFunc(p.lines, func(s string) bool { return strings.HasPrefix(s, "GET ") })
	p.lines = nil
	slices.Sort(lines)
	return lines
}

// TestNotifyPeers: a peer gets LINK for a new link and UNLINK for a removed
// one, a hub gets a changed feed; a host that does not support LINK is asked only
// once (LK-12 to LK-16, LK-57, LK-61).
func TestNotifyPeers(t *testing.T) {
	const empty = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n"
	peer := newRawPeer(t, func(string) string { return empty })
	other := newRawPeer(t, func(line string) string {
		if strings.HasPrefix(line, "POST /hub ") {
			return "HTTP/1.1 204 No Content\r\n\r\n"
		}
		return empty // no Allow, so no LINK
	})
	work := t.TempDir()
	docroot := filepath.Join(work, "public")
	site := &http.Server{Handler: http.FileServer(http.Dir(docroot))}
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	go site.Serve(l)
	defer site.Close()
	base := "http://" + l.Addr().String()
	write := func(name, text string) {
		t.Helper()
		testkit.Write(t, filepath.Join(work, name), text)
	}
	feed := func(title string) {
		write("public/feed.xml", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>`+title+
			`</title><link rel="hub" href="http://`+other.addr+`/hub"/></feed>`)
	}
	config := func(protocols string) {
		write("sitelink.toml", "docroot = \"public\"\n[outgoing]\nenabled = true\npace = \"0s\"\nlink-peers = [\"http://"+peer.addr+"\"]\n"+protocols+
			"\n[fetch]\nallow-address = \"127.0.0.0/8\"\n")
	}
	notify := func() string {
		t.Helper()
		c := exec.Command("sitelink", "notify", "--config", "sitelink.toml", "--base-url", base+"/", "-v")
		c.Dir = work
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	want := func(p *rawPeer, lines ...string) {
		t.Helper()
		if got := p.take(); !slices.Equal(got, lines) {
			t.Errorf("got  %q\nwant %q", got, lines)
		}
	}
	linked := `<!doctype html><title>p</title><article><a href="http://` + peer.addr + `/doc.html#x">a</a> <a href="http://` + other.addr + `/y">b</a></article>`
	bare := `<!doctype html><title>p</title><article>no more</article>`

	// LK-61: peers are called, and no other host is asked.
	config("")
	write("public/index.html", "<!doctype html><title>home</title>")
	feed("one")
	notify()
	want(peer)
	want(other)
	write("public/post.html", linked)
	feed("two")
	notify()
	want(peer, "LINK "+base+"/post.html http://"+peer.addr+"/doc.html HTTP/1.1")
	want(other, "POST /hub HTTP/1.1 hub.mode=publish&hub.url="+base+"/feed.xml")
	write("public/post.html", bare)
	notify()
	want(peer, "UNLINK "+base+"/post.html http://"+peer.addr+"/doc.html HTTP/1.1")
	want(other)

	// LK-57: with the protocol named, others are asked, once.
	config(`protocols = ["webmention", "link"]`)
	write("public/post.html", linked)
	notify()
	want(peer, "LINK "+base+"/post.html http://"+peer.addr+"/doc.html HTTP/1.1")
	want(other, "OPTIONS /y HTTP/1.1")
	write("public/post.html", bare)
	notify()
	want(other)
	ledger, err := os.ReadFile(filepath.Join(work, ".sitelink", "ledger.jsonl"))
	if err != nil || !strings.Contains(string(ledger), `"origin":"http://`+other.addr+`","protocol":"link"`) {
		t.Errorf("the ledger does not remember it: %v\n%s", err, ledger)
	}

	// As the only protocol it has one outcome for each link.
	peer.take()
	config(`protocols = ["link"]`)
	write("public/post.html", linked)
	out := notify()
	want(peer, "LINK "+base+"/post.html http://"+peer.addr+"/doc.html HTTP/1.1")
	want(other)
	if !strings.Contains(out, "  notified: http://"+peer.addr+"/doc.html#x  link, added\n") ||
		!strings.Contains(out, "  no endpoint: http://"+other.addr+"/y  added: the target does not accept notices: the host is known not to support LINK\n") ||
		!strings.Contains(out, "\n1 notified, 1 to targets that take no notices\n") {
		t.Errorf("only link:\n%s", out)
	}

	// With no protocol for links there is one sentence.
	write("sitelink.toml", "docroot = \"public\"\n[outgoing]\nenabled = true\npace = \"0s\"\nprotocols = [\"websub\"]\n[fetch]\nallow-address = \"127.0.0.0/8\"\n")
	write("public/post.html", strings.Replace(linked, "/y", "/z", 1))
	if out := notify(); !strings.Contains(out, "/z  added: no protocol that notifies linked pages is enabled\n") {
		t.Errorf("only websub:\n%s", out)
	}
}
