package server

import (
	"bytes"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// net/http refuses a request line with two URLs, and has no way to send the reason
// phrases of the LINK draft (LK-55, LK-56). A conn translates both between the client
// and net/http, which does everything else: of the line
//
//	LINK http://a.example/post http://b.example/doc HTTP/1.1
//
// net/http sees "LINK / HTTP/1.0", and its handler finds the URLs in the conn. The answer
// ends the connection. A call that is sent before the answer to the previous request
// arrives as it is, and net/http refuses it.

// Limits of the head of one request.
const (
	maxRequestLine = 8 << 10
	maxHead        = 16 << 10 // the request line and all header fields
)

// conn is a connection to a client.
type conn struct {
	net.Conn
	writeTimeout time.Duration // for each write, so that a client that does not read cannot keep the connection
	release      func()

	looked   bool        // the line of the current request was read
	start    []byte      // what was read and net/http did not get yet
	answered atomic.Bool // an answer was sent: what is read from now on is the next request
	// head is what was read of the current request, up to the end of its fields, which are
	// then in fields. There are none for a request that came together with the one before.
	head   []byte
	whole  bool
	fields atomic.Pointer[[]byte]
	// call is the line of the current request, if it is one of the draft. Its handler takes
	// it, while net/http may be reading the next request.
	call   atomic.Pointer[call]
	status string // the status line to send in place of that of net/http; "" for its own
}

// call is a request line of the LINK draft (LK-14 to LK-20).
type call struct {
	method string
	urls   []string // source, target and further words
}

// Read reads requests as net/http understands them.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.read(p)
	if !c.whole {
		c.head = append(c.head, p[:n]...)
		if len(c.head) > 2*maxHead || bytes.Contains(c.head, []byte("\n\r\n")) || bytes.Contains(c.head, []byte("\n\n")) {
			c.whole = true
			fields := c.head
			c.fields.Store(&fields)
		}
	}
	return n, err
}

// ambiguous reports whether a request with chunks also has a length. net/http uses the
// chunks, and a proxy in front of it may have used the length. Then one reads as a request
// what the other reads as a body (RFC 9112 6.1). A request with fields that were not seen
// counts, too.
func (c *conn) ambiguous(r *http.Request) bool {
	fields := c.fields.Swap(nil)
	if len(r.TransferEncoding) == 0 {
		return false
	}
	if fields == nil {
		return true
	}
	for line := range bytes.Lines(*fields) {
		if name, _, ok := bytes.Cut(line, []byte(":")); ok && strings.EqualFold(string(bytes.TrimSpace(name)), "Content-Length") {
			return true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	return false
}

func (c *conn) read(p []byte) (int, error) {
	if c.looked && len(c.start) == 0 {
		n, err := c.Conn.Read(p)
		if n == 0 || !c.answered.Swap(false) {
			return n, err
		}
		c.looked, c.start = false, append(c.start, p[:n]...)
		c.head, c.whole = nil, false
	}
	for !c.looked {
		end := bytes.IndexByte(c.start, '\n')
		if end >= 0 || len(c.start) > maxRequestLine || !mayBeCall(c.start) {
			c.looked = true
			if end > maxRequestLine {
				break
			}
			if call := parseCall(string(c.start[:max(end, 0)])); call != nil {
				c.call.Store(call)
				c.start = append([]byte(call.method+" / HTTP/1.0\r\n"), c.start[end+1:]...)
			}
			break
		}
		buf := make([]byte, 4<<10) // p may have room for one byte only
		n, err := c.Conn.Read(buf)
		c.start = append(c.start, buf[:n]...)
		if n == 0 && err != nil { // also if net/http only stops waiting, with a deadline in the past
			return 0, err
		}
	}
	n := copy(p, c.start)
	c.start = c.start[n:]
	return n, nil
}

// Write sends a part of a response.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
		return 0, err
	}
	c.answered.Store(!bytes.HasPrefix(p, []byte("HTTP/1.1 100 ")))
	if _, rest, ok := bytes.Cut(p, []byte("\r\n")); ok && c.status != "" {
		const ends = "Connection: close\r\n" // net/http leaves it out in answers to HTTP/1.0
		rest = append([]byte(ends), bytes.Replace(rest, []byte(ends), nil, 1)...)
		if _, err := c.Conn.Write(append([]byte(c.status+"\r\n"), rest...)); err != nil {
			return 0, err
		}
		c.status = ""
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// CloseWrite ends the connection in one direction. net/http does so before it closes
// the other one, so that the client receives the answer.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

func (c *conn) Close() error {
	c.release()
	return c.Conn.Close()
}

// isLinkMethod reports whether a method is one of the draft. Method names are
// case-sensitive (LK-25).
func isLinkMethod(method string) bool {
	_, ok := actions[method]
	return ok
}

// mayBeCall reports whether a line that begins like this can be a call.
func mayBeCall(start []byte) bool {
	word, _, _ := strings.Cut(string(start), " ")
	for method := range actions {
		if strings.HasPrefix(method, word) || strings.HasPrefix(word, method) {
			return true
		}
	}
	return false
}

// parseCall reads a request line of the LINK draft: a method and two or three
// further words, then the version, which may be missing (LK-53, LK-54). It returns
// nil for other lines, which are for net/http.
func parseCall(line string) *call {
	line = strings.TrimSuffix(line, "\r")
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	control := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
	if len(words) == 0 || !isLinkMethod(words[0]) || !strings.HasPrefix(line, words[0]) || control {
		return nil
	}
	urls := words[1:]
	if last := len(urls) - 1; last >= 0 && (urls[last] == "HTTP/1.0" || urls[last] == "HTTP/1.1") {
		urls = urls[:last]
	}
	if len(urls) < 2 || len(urls) > 3 || strings.HasPrefix(urls[len(urls)-1], "HTTP/") {
		return nil
	}
	return &call{words[0], urls}
}
