//go:build linux

package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	soakPages = 40
	// soakForged is an address that only forged header fields have.
	soakForged = "203.0.113.99"
	// soakSecret is in credentials and tokens that clients send. No log may have it.
	soakSecret = "hunter2-f00d"
	soakXSS    = `</title><script>alert(1)</script><img src=x onerror=alert(1)>"' --- !!js/x: {} [[a]]` + "\n---\n= '''"
)

// soakClient is one client of the receiver with its connection, which it keeps for
// several requests.
type soakClient struct {
	*soak
	random *rand.Rand
	conn   net.Conn
	in     *bufio.Reader
}

// connect opens a connection from one of the addresses of clients.
func (c *soakClient) connect() bool {
	c.hangUp()
	conn, err := c.dial(fmt.Sprintf("127.0.0.%d", 10+c.random.IntN(30)))
	if err != nil {
		c.problem("connect: %v", err)
		return false
	}
	c.conn, c.in = conn, bufio.NewReader(conn)
	return true
}

func (c *soakClient) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// soakAnswer is a response that was read as a whole.
type soakAnswer struct {
	status string // with its phrase
	code   int
	header http.Header
	body   string
	close  bool // the connection ends after it
}

// ask sends a request and reads the answer. The answer is nil if none comes, which is
// a problem.
func (c *soakClient) ask(method, request string) *soakAnswer {
	if c.conn == nil && !c.connect() {
		return nil
	}
	c.conn.SetDeadline(time.Now().Add(soakPatience))
	io.WriteString(c.conn, request)
	a, err := readAnswer(c.in, method)
	if err != nil {
		c.problem("no answer to %.300q: %v", request, err)
		c.hangUp()
		return nil
	}
	if a.close {
		c.hangUp()
	}
	return a
}

// readAnswer reads a response, and reports whatever is not in the protocol.
func readAnswer(in *bufio.Reader, method string) (*soakAnswer, error) {
	resp, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.Proto != "HTTP/1.1" || !regexp.MustCompile(`^[1-5]\d\d [A-Z][A-Za-z :-]+$`).MatchString(resp.Status) {
		return nil, fmt.Errorf("the status line is %s %s", resp.Proto, resp.Status)
	}
	// net/http leaves the date out where it refuses a request without a handler.
	refused := resp.Close && (resp.StatusCode == 400 || resp.StatusCode == 417 || resp.StatusCode == 431 || resp.StatusCode == 501)
	if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil && !refused || len(body) > 0 && resp.Header.Get("Content-Type") == "" {
		return nil, fmt.Errorf("%s with the fields %v", resp.Status, resp.Header)
	}
	return &soakAnswer{resp.Status, resp.StatusCode, resp.Header, string(body), resp.Close}, nil
}

// soakNotice is a notice that a client sends.
type soakNotice struct {
	protocol string // webmention, pingback, raw or fields
	method   string
	source   string
	target   string
	extra    string
}

// send sends a notice and returns the answer in short: a status or a fault.
func (c *soakClient) send(n soakNotice) string {
	switch n.protocol {
	case "webmention":
		form := url.Values{"source": {n.source}, "target": {n.target}}.Encode()
		a := c.ask("POST", c.post("/webmention", "application/x-www-form-urlencoded", form))
		if a != nil && (a.code == 201) != strings.HasPrefix(a.header.Get("Location"), servedBase+"webmention/status/") {
			c.problem("webmention: %s with Location %q", a.status, a.header.Get("Location"))
		}
		return c.short(a)
	case "pingback":
		call := "<?xml version='1.0'?><methodCall><methodName>pingback.ping</methodName><params><param><value><string>" + escapeXML(n.source) +
			"</string></value></param><param><value><string>" + escapeXML(n.target) + "</string></value></param></params></methodCall>"
		return c.fault(c.ask("POST", c.post("/pingback", "text/xml", call)))
	case "raw":
		words := strings.TrimSpace(n.method + " " + n.source + " " + n.target + " " + n.extra)
		a := c.ask(n.method, words+" HTTP/1.1\r\nHost: blog.example\r\n\r\n")
		if short := c.short(a); short != "200" && short != "207" {
			return short
		}
		return a.status
	}
	ours, theirs := n.target, n.source
	if n.method == "UNLINKR" || n.method == "LINKMOD" {
		ours, theirs = theirs, ours
	}
	return c.short(c.ask(n.method, n.method+" "+strings.TrimPrefix(ours, "http://blog.example")+" HTTP/1.1\r\nHost: blog.example\r\nLink: <"+theirs+">"+n.extra+"\r\n\r\n"))
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

func (c *soakClient) post(path, kind, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: blog.example\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, c.forgery(), kind, len(body), body)
}

// forgery returns header fields that strangers make up.
func (c *soakClient) forgery() string {
	return []string{
		"", "", "X-Forwarded-For: " + soakForged + "\r\n", "X-Real-IP: " + soakForged + "\r\nForwarded: for=" + soakForged + "\r\n",
		"Cookie: __Host-sitelink=" + soakSecret + "\r\nAuthorization: Bearer " + soakSecret + "\r\n",
	}[c.random.IntN(5)]
}

// short returns the status of an answer, and reports limits without Retry-After.
func (c *soakClient) short(a *soakAnswer) string {
	if a == nil {
		return "none"
	}
	if limited := a.code == 429 || a.code == 500 || a.code == 503; limited != (a.header.Get("Retry-After") != "") {
		c.problem("%s with Retry-After %q: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	return fmt.Sprint(a.code)
}

var faultCode = regexp.MustCompile(`<name>faultCode</name><value><int>(-?\d+)</int>`)

// fault returns the fault of an answer to a pingback, or "ok".
func (c *soakClient) fault(a *soakAnswer) string {
	if a == nil {
		return "none"
	}
	var response struct {
		XMLName xml.Name  `xml:"methodResponse"`
		Params  []string  `xml:"params>param>value>string"`
		Fault   *struct{} `xml:"fault"`
	}
	if err := xml.Unmarshal([]byte(a.body), &response); err != nil || a.code != 200 || (len(response.Params) == 1) == (response.Fault != nil) {
		c.problem("pingback: %s: %v: %s", a.status, err, a.body)
	}
	if m := faultCode.FindStringSubmatch(a.body); m != nil {
		return "fault " + m[1]
	}
	return "ok"
}

// soakWanted are the answers to notices by what is wrong with them. soakAlways may
// always come: the address sent too much, or a moderator has blocked the site.
var (
	soakWanted = map[string]map[string]string{
		"webmention": {"good": "201", "missing": "400", "elsewhere": "400", "closed": "400", "junk": "400", "same": "400"},
		"pingback":   {"good": "ok|fault 48", "missing": "fault 32", "elsewhere": "fault 33", "closed": "fault 33", "junk": "fault -32602", "same": "fault -32602"},
		"raw": {"good": "200 Ok", "missing": "417", "elsewhere": "404", "closed": "417", "junk": "400", "same": "400",
			"unlink": "200 Ok|416", "ours": "200 Ok", "not ours": "416"},
		"fields": {"good": "202|204", "missing": "404", "closed": "403", "junk": "422", "same": "422", "unlink": "202|204|422", "ours": "202|204", "not ours": "422"},
	}
	soakAlways = map[string]string{"webmention": "403|429", "pingback": "fault 49", "raw": "400|500", "fields": "403|429"}
)

// notice sends a notice, compares the answer with what is wanted, and remembers what
// was accepted.
func (c *soakClient) notice(what string, n soakNotice) {
	got := c.send(n)
	c.count(n.protocol+" "+what, got)
	if got == "none" {
		return
	}
	if slices.Contains(strings.Split(soakWanted[n.protocol][what], "|"), got) {
		switch what {
		case "good", "ours":
			c.accept(n)
		}
		return
	}
	if !slices.Contains(strings.Split(soakAlways[n.protocol], "|"), got) {
		c.problem("%s %s %s: %s -> %s", n.protocol, n.method, what, n.source, got)
	}
}

// goodNotice returns a notice that is acceptable, about a page that is not.
func (c *soakClient) goodNotice() soakNotice {
	to := fmt.Sprintf("/p/%d/", c.random.IntN(soakPages))
	n := soakNotice{protocol: []string{"webmention", "pingback", "raw", "fields"}[c.random.IntN(4)], method: "LINK"}
	switch kind := soakKinds[c.random.IntN(len(soakKinds))]; kind {
	case "refused":
		n.source = []string{"http://" + c.sources.inside + "/", "http://169.254.169.254/latest/", "http://[::1]/", "http://[::ffff:a00:1]/", "http://10.0.0.1:22/", "http://127.1.0.1:22/"}[c.random.IntN(6)] +
			fmt.Sprint(c.number.Add(1))
	default:
		n.source = c.sources.source(c.random.IntN(soakHosts), kind, c.number.Add(1), to)
	}
	n.target = strings.TrimSuffix(servedBase, "/") + to
	if (n.protocol == "webmention" || n.protocol == "pingback") && c.random.IntN(10) == 0 {
		n.target += "#a"
	}
	if n.protocol == "raw" && c.random.IntN(8) == 0 {
		n.extra = "LINKMOD"
	}
	return n
}

// badNotice returns what is wrong, and a notice that is not acceptable.
func (c *soakClient) badNotice() (what string, n soakNotice) {
	n = c.goodNotice()
	n.source, n.extra = c.never(), ""
	what = []string{"missing", "elsewhere", "closed", "junk", "same"}[c.random.IntN(5)]
	switch what {
	case "missing":
		n.target = servedBase + "p/none/"
	case "closed":
		n.target = servedBase + "closed/"
	case "same":
		n.source = n.target
	case "elsewhere":
		n.target = "http://elsewhere.example/"
		if n.protocol == "fields" {
			n.protocol = "raw"
		}
	case "junk":
		n.source = []string{"junk", "ftp://a.example/", "javascript:alert(1)", "http://user:" + soakSecret + "@a.example/", "http://a.example:99999/", "http://[::1/",
			"http://a.example/" + strings.Repeat("x", 2100), "http://%00/", "file:///etc/passwd"}[c.random.IntN(9)]
		if n.protocol == "raw" || n.protocol == "fields" {
			n.source = "http://user:" + soakSecret + "@a.example/"
		}
	}
	return what, n
}

// never returns a source that no answer accepts: it must not be in the store.
func (c *soakClient) never() string {
	return fmt.Sprintf("http://%s/never/%d", c.sources.hosts[0], c.number.Add(1))
}

// follow sends a call about a link that exists already, or about one of ours.
func (c *soakClient) follow() {
	protocol := []string{"raw", "fields"}[c.random.IntN(2)]
	page := c.random.IntN(soakPages)
	ours, theirs := fmt.Sprintf("%sp/%d/", servedBase, page), c.sources.outside(page)
	method := []string{"UNLINKR", "LINKMOD"}[c.random.IntN(2)]
	switch c.random.IntN(4) {
	case 0:
		c.notice("ours", soakNotice{protocol: protocol, method: method, source: ours, target: theirs})
	case 1:
		c.notice("not ours", soakNotice{protocol: protocol, method: method, source: ours, target: c.never()})
	default:
		if n, ok := c.some(); ok && n.method == "LINK" {
			what := "unlink"
			if method = "UNLINK"; c.random.IntN(3) == 0 {
				what, method = "good", "LINK" // known already
			}
			target, _, fragment := strings.Cut(n.target, "#")
			if !fragment {
				c.notice(what, soakNotice{protocol: protocol, method: method, source: n.source, target: target})
			}
		}
	}
}

// browse requests what people and monitors request.
func (c *soakClient) browse() {
	some, _ := c.some()
	for _, r := range []struct{ method, path, want string }{
		{"GET", "/p/1/", "404"}, {"HEAD", "/webmention", "200"}, {"GET", "/webmention?target=" + url.QueryEscape("<script>"), "200"}, {"OPTIONS", "*", "204"},
		{"OPTIONS", "/p/1/", "204"}, {"GET", "/healthz", "200"}, {"GET", "/mentions?target=" + url.QueryEscape(some.target), "200|400"}, {"DELETE", "/webmention", "405"},
		{"BREW", "/pot", "501"}, {"GET", "/webmention/status/" + fmt.Sprint(c.random.Uint64()), "404"}, {"GET", "/moderation", "401"},
		{"GET", "/moderation/login?token=" + soakSecret, "200"}, {"TRACE", "/", "405"}, {"GET", "/pingback", "405|200"}, {"GET", "/../../etc/passwd", "404|400"},
	} {
		if c.random.IntN(4) != 0 {
			continue
		}
		a := c.ask(r.method, r.method+" "+r.path+" HTTP/1.1\r\nHost: blog.example\r\n"+c.forgery()+"\r\n")
		c.count("browse "+r.method, c.status(a))
		if a == nil {
			continue
		}
		if !slices.Contains(strings.Split(r.want, "|"), c.status(a)) || strings.Contains(a.body, "<script>") || strings.Contains(a.header.Get("Set-Cookie"), "=") {
			c.problem("%s %s: %s %v\n%.500s", r.method, r.path, a.status, a.header, a.body)
		}
	}
	guess := url.Values{"token": {fmt.Sprintf("%x.%s.%s", time.Now().Unix()+100, soakSecret, soakSecret)}}.Encode()
	if a := c.ask("POST", c.post("/moderation/login", "application/x-www-form-urlencoded", guess)); a != nil && a.code != 403 {
		c.problem("a guessed token: %s", a.status)
	}
	if a := c.ask("POST", c.post("/moderation/decide", "application/x-www-form-urlencoded", "action=approve&id=1")); a != nil && a.code != 401 {
		c.problem("a decision without login: %s", a.status)
	}
}

func (c *soakClient) status(a *soakAnswer) string {
	if a == nil {
		return "none"
	}
	return fmt.Sprint(a.code)
}
