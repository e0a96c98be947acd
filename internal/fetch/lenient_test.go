package fetch

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// The judgements are those of Chromium 150: what it shows, net/http can read once it is
// repaired, and what it refuses stays unreadable.
func TestLenient(t *testing.T) {
	const ok, end, body = "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n", "PAGE"
	for _, c := range []struct {
		name, response string
		shown          bool
	}{
		{"valid", ok + end + body, true},
		{"lines that end in LF", "HTTP/1.1 200 OK\nConnection: close\n\n" + body, true},
		{"no reason", "HTTP/1.1 200\r\n" + end + body, true},
		{"lower case", "http/1.1 200 ok\r\n" + end + body, true},
		{"no version", "HTTP 200 OK\r\n" + end + body, true},
		{"long version", "HTTP/1.12 200 OK\r\n" + end + body, true},
		{"two spaces", "HTTP/1.1  200 OK\r\n" + end + body, true},
		{"ICY", "ICY 200 OK\r\n" + end + body, true},
		{"an empty line before", "\r\n" + ok + end + body, true},
		{"four bytes before", "abcd" + ok + end + body, true},
		{"five bytes before", "abcde" + ok + end + body, false},
		{"informational responses", "HTTP/1.1 100 Continue\r\n\r\nhttp/1.1 103 Early\r\nno field\r\n\r\n" + ok + end + body, true},
		{"a line without colon", ok + "no field\r\n" + end + body, true},
		{"a space in a name", ok + "X Odd: 1\r\n" + end + body, true},
		{"a space before the colon", ok + "X-Odd : 1\r\n" + end + body, true},
		{"a name of no bytes", ok + ": x\r\n" + end + body, true},
		{"a name that is not ASCII", ok + "X-Ü: ü\r\n" + end + body, true},
		{"a folded line", ok + "X-Long: a\r\n b\r\n" + end + body, true},
		{"a folded line at first", ok + " b\r\n" + end + body, true},
		{"a control character", ok + "X-Ctl: a\x01b\rc\r\n" + end + body, true},
		{"NUL", ok + "X-Nul: a\x00b\r\n" + end + body, false},
		{"100 KB", ok + "X-Big: " + strings.Repeat("x", 100_000) + "\r\n" + end + body, true},
		{"300 KB", ok + "X-Big: " + strings.Repeat("x", 300_000) + "\r\n" + end + body, false},
		{"300 KB in lines", ok + strings.Repeat("X-Big: "+strings.Repeat("x", 90)+"\r\n", 3_000) + end + body, false},
		{"a length of letters", ok + "Content-Length: abc\r\n" + end + body, true},
		{"a negative length", ok + "Content-Length: -5\r\n" + end + body, true},
		{"no length", ok + "Content-Length: \r\n" + end + body, true},
		{"two lengths", ok + "Content-Length: 4\r\nContent-Length: 5\r\n" + end + body, false},
		{"the same length twice", ok + "Content-Length: 4\r\nContent-Length: 4\r\n" + end + body, true},
		{"an unknown transfer encoding", ok + "Transfer-Encoding: identity\r\n" + end + body, true},
		{"chunked twice", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" + end + "4\r\nPAGE\r\n0\r\n\r\n", true},
		{"chunked with a length", ok + "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n" + end + "4\r\nPAGE\r\n0\r\n\r\n", true},
		{"chunked that is not", ok + "Transfer-Encoding: chunked\r\n" + end + body, false},
		{"only a header", ok + "Content-Type: text/html\r\n", true},
		{"ssh", "SSH-2.0-OpenSSH_9.2\r\n", false},
		{"nothing", "", false},
	} {
		read := func(bare bool) (page string, err error) {
			in := bufio.NewReader(&repaired{in: bufio.NewReader(strings.NewReader(c.response)), bare: bare})
			resp, err := http.ReadResponse(in, &http.Request{Method: "GET"})
			for err == nil && resp.StatusCode < 200 { // as the transport does
				resp, err = http.ReadResponse(in, &http.Request{Method: "GET"})
			}
			if err != nil {
				return "", err
			}
			defer resp.Body.Close()
			b, _, err := readBody(resp.Body, resp, 1000)
			return string(b), err
		}
		page, err := read(false)
		if shown := err == nil && (page == body || c.name == "only a header"); shown != c.shown {
			t.Errorf("%s: %q, %v", c.name, page, err)
		}
		if c.name == "ssh" {
			if page, err := read(true); err != nil || page != c.response {
				t.Errorf("on port 80: %q, %v", page, err)
			}
		}
	}
}
