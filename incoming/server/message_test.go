package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

// read reads one message with a body of up to 64 KiB, as a connection does.
func read(in *bufio.Reader) (*message, []byte, error) {
	w := wire{in: in}
	m, err := w.readHead()
	if err != nil {
		return nil, nil, err
	}
	body, err := w.readBody(m, 64<<10)
	return m, body, err
}

func TestRequestLine(t *testing.T) {
	const s, u, v = "http://a.example/post.html", "http://b.example/doc.html", "http://a.example/new.html"
	for _, c := range []struct {
		id, line string
		words    string // of the call; "" for none
		status   int    // of the refusal; 0 for none
		major    string
	}{
		{"LK-14", "LINK " + s + " " + u + " HTTP/1.1", s + " " + u, 0, "HTTP/1.1"},
		{"LK-15", "LINK " + s + " " + u + " LINKMOD HTTP/1.1", s + " " + u + " LINKMOD", 0, "HTTP/1.1"},
		{"LK-16", "UNLINK " + s + " " + u + " HTTP/1.1", s + " " + u, 0, "HTTP/1.1"},
		{"LK-17", "UNLINK " + s + " " + u + " " + v + " HTTP/1.1", s + " " + u + " " + v, 0, "HTTP/1.1"},
		{"LK-18", "UNLINKR " + s + " " + u + " HTTP/1.1", s + " " + u, 0, "HTTP/1.1"},
		{"LK-19", "UNLINKR " + s + " " + u + " " + v + " HTTP/1.1", s + " " + u + " " + v, 0, "HTTP/1.1"},
		{"LK-20", "LINKMOD " + s + " " + u + " HTTP/1.1", s + " " + u, 0, "HTTP/1.1"},
		{"LK-53 no version", "LINK " + s + " " + u, s + " " + u, 0, "HTTP/1.0"},
		{"LK-53 spaces and tabs", "LINK  " + s + " \t " + u + " HTTP/1.0", s + " " + u, 0, "HTTP/1.0"},
		{"LK-53 spaces at the end", "LINK " + s + " " + u + " \t", s + " " + u, 0, "HTTP/1.0"},
		{"LK-54 three words without version", "UNLINK " + s + " " + u + " " + v, s + " " + u + " " + v, 0, "HTTP/1.0"},
		{"LK-54 too many words", "UNLINK " + s + " " + u + " " + v + " x HTTP/1.1", "", 400, ""},
		{"LK-7 one URL, no version", "LINK " + s, "", 400, ""},
		{"LK-7 none", "LINK", "", 400, ""},
		{"LK-58 one URL", "LINK /doc.html HTTP/1.1", "", 0, "HTTP/1.1"},
		{"LK-25 lower case", "link " + s + " " + u + " HTTP/1.1", "", 400, ""},
		{"LK-25 lower case, no version", "link " + s + " " + u, "", 400, ""},
		{"other method", "GET " + s + " " + u + " HTTP/1.1", "", 400, ""},
		{"white space first", " LINK " + s + " " + u, "", 400, ""},
		{"tab after the method of another", "GET\t/ HTTP/1.1", "", 400, ""},
		{"run of spaces with one URL", "LINK  /doc.html HTTP/1.1", "", 400, ""},
		{"NUL", "LINK " + s + "\x00 " + u + " HTTP/1.1", "", 400, ""},
		{"vertical tab", "LINK " + s + "\v" + u + " HTTP/1.1", "", 400, ""},
		{"delete", "LINK " + s + "\x7f " + u + " HTTP/1.1", "", 400, ""},
		{"carriage return", "LINK " + s + "\r " + u + " HTTP/1.1", "", 400, ""},
		{"HTTP/2", "LINK " + s + " " + u + " HTTP/2.0", "", 505, ""},
		{"odd version", "LINK " + s + " " + u + " HTTP/1.10", "", 505, ""},
		{"HTTP/2 preface", "PRI * HTTP/2.0", "", 505, ""},
		{"HTTP/1.2", "GET / HTTP/1.2", "", 505, ""},
		{"CONNECT", "CONNECT b.example:443 HTTP/1.1", "", 501, ""},
		{"GET", "GET / HTTP/1.1", "", 0, "HTTP/1.1"},
		{"OPTIONS *", "OPTIONS * HTTP/1.1", "", 0, "HTTP/1.1"},
		{"no method", "", "", 400, ""},
		{"HTTP/0.9", "GET /", "", 400, ""},
		{"long", "LINK " + s + " " + u + strings.Repeat("x", 9000) + " HTTP/1.1", "", 414, ""},
	} {
		input := c.line + "\r\nHost: b.example\r\nX: y\r\n\r\n"
		m, _, err := read(bufio.NewReader(strings.NewReader(input)))
		var refused *wireError
		switch {
		case c.status != 0:
			if !errors.As(err, &refused) || refused.status != c.status {
				t.Errorf("%s: %v, want the status %d", c.id, err, c.status)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		words := ""
		if m.call != nil {
			words = strings.Join(m.call.urls, " ")
		}
		method, _, _ := strings.Cut(c.line, " ")
		if words != c.words || m.request.Method != method || m.request.Proto != c.major || m.request.Header.Get("X") != "y" || m.request.Host != "b.example" {
			t.Errorf("%s: %q, %s %s", c.id, words, m.request.Method, m.request.Proto)
		}
	}
}

// TestFraming: what another server or a proxy could read in another way is refused.
func TestFraming(t *testing.T) {
	post := "POST /pingback HTTP/1.1\r\nHost: b.example\r\n"
	for _, c := range []struct {
		name, input string
		status      int // 0: accepted, with the body "hello"
	}{
		{"length", post + "Content-Length: 5\r\n\r\nhello", 0},
		{"chunks", post + "Transfer-Encoding: Chunked\r\n\r\n2\r\nhe\r\n3;x=\"y\"\r\nllo\r\n0\r\nTrailer: x\r\n\r\n", 0},
		{"empty line first", "\r\n" + post + "Content-Length: 5\r\n\r\nhello", 0},
		{"two empty lines first", "\r\n\r\n" + post + "Content-Length: 5\r\n\r\nhello", 400},
		{"length and chunks", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400},
		{"chunks and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400},
		{"length 0 and chunks", post + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
		{"same length twice", post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
		{"length 0 twice", post + "Content-Length: 0\r\nContent-Length: 0\r\n\r\n", 400},
		{"two lengths", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
		{"list of lengths", post + "Content-Length: 5, 5\r\n\r\nhello", 400},
		{"signed length", post + "Content-Length: +5\r\n\r\nhello", 400},
		{"negative length", post + "Content-Length: -5\r\n\r\nhello", 400},
		{"hexadecimal length", post + "Content-Length: 0x5\r\n\r\nhello", 400},
		{"length with an underscore", post + "Content-Length: 1_0\r\n\r\nhello", 400},
		{"empty length", post + "Content-Length:\r\n\r\nhello", 400},
		{"huge length", post + "Content-Length: 99999999999999999999\r\n\r\nhello", 400},
		{"underscore in the name", post + "Content_Length: 5\r\n\r\nhello", 400},
		{"underscore in the coding's name", post + "Transfer_Encoding: chunked\r\n\r\nhello", 400},
		{"space before the colon", post + "Content-Length : 5\r\n\r\nhello", 400},
		{"two codings", post + "Transfer-Encoding: gzip, chunked\r\n\r\n", 400},
		{"coding twice", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
		{"coding with a parameter", post + "Transfer-Encoding: chunked;x\r\n\r\n", 400},
		{"identity", post + "Transfer-Encoding: identity\r\n\r\n", 400},
		{"vertical tab in the coding", post + "Transfer-Encoding: \vchunked\r\n\r\n", 400},
		{"chunks with HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 400},
		{"folded field", post + "X: y\r\n Content-Length: 5\r\n\r\nhello", 400},
		{"folded with a tab", post + "Transfer-Encoding:\r\n\tchunked\r\n\r\n", 400},
		{"bare LF after a field", post + "X: y\nContent-Length: 5\r\n\r\nhello", 400},
		{"bare LF after the head", post + "Content-Length: 5\r\n\nhello", 400},
		{"bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n", 400},
		{"bare CR in a value", post + "X: y\rContent-Length: 5\r\n\r\nhello", 400},
		{"two CRs", post + "X: y\r\r\n\r\n", 400},
		{"NUL in a value", post + "X: \x00\r\n\r\n", 400},
		{"NUL in a name", post + "X\x00: y\r\n\r\n", 400},
		{"empty name", post + ": y\r\n\r\n", 400},
		{"no colon", post + "X\r\n\r\n", 400},
		{"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
		{"absolute form without Host", "GET http://b.example/ HTTP/1.1\r\n\r\n", 400},
		{"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
		{"Host with a space", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
		{"chunk size with a sign", post + "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n", 400},
		{"chunk size with 0x", post + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n", 400},
		{"huge chunk size", post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n0\r\n\r\n", 400},
		{"no chunk size", post + "Transfer-Encoding: chunked\r\n\r\n;x\r\nhello\r\n0\r\n\r\n", 400},
		{"bare LF after the size", post + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 400},
		{"bare LF after a chunk", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n", 400},
		{"chunk longer than its size", post + "Transfer-Encoding: chunked\r\n\r\n4\r\nhello\r\n0\r\n\r\n", 400},
		{"bare LF in an extension", post + "Transfer-Encoding: chunked\r\n\r\n5;x\nhello\r\n0\r\n\r\n", 400},
		{"long extension", post + "Transfer-Encoding: chunked\r\n\r\n5;" + strings.Repeat("x", 300) + "\r\nhello\r\n0\r\n\r\n", 400},
		{"little data", post + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("x", 200)+"\r\nh\r\n", 200) + "0\r\n\r\n", 400},
		{"folded trailer", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n z\r\n\r\n", 400},
		{"malformed trailer", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nGET / HTTP/1.1\r\n\r\n", 400},
		{"long trailer", post + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n" + strings.Repeat("X: yyyyyyyyyyyyyyyy\r\n", 300) + "\r\n", 431},
		{"forbidden trailer", post + "Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n", 400},
		{"many fields", post + strings.Repeat("X: y\r\n", 200) + "\r\n", 431},
		{"long fields", post + strings.Repeat("X: "+strings.Repeat("y", 8000)+"\r\n", 3) + "\r\n", 431},
		{"long field", post + "X: " + strings.Repeat("y", 20000) + "\r\n\r\n", 431},
		{"other expectation", post + "Expect: 200-ok\r\nContent-Length: 5\r\n\r\nhello", 417},
		{"length of a raw call", "LINK http://a.example/ http://b.example/\r\nContent-Length: 5\r\n\r\nhello", 0},
		{"two lengths of a raw call", "LINK http://a.example/ http://b.example/\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400},
		{"bare LF after a raw call", "LINK http://a.example/ http://b.example/\n\n", 400},
	} {
		in := bufio.NewReader(strings.NewReader(c.input))
		_, body, err := read(in)
		var refused *wireError
		switch {
		case c.status != 0:
			if !errors.As(err, &refused) || refused.status != c.status {
				t.Errorf("%s: %v, want the status %d", c.name, err, c.status)
			}
		case err != nil || string(body) != "hello":
			t.Errorf("%s: %q, %v", c.name, body, err)
		default:
			if _, err := in.ReadByte(); err != io.EOF {
				t.Errorf("%s: the message was not read to its end", c.name)
			}
		}
	}
}

// TestBodyLimit: of a body that is too large, no more than the limit is read.
func TestBodyLimit(t *testing.T) {
	for _, c := range []struct{ name, head, body string }{
		{"length", "Content-Length: 100000000\r\n", ""},
		{"chunk", "Transfer-Encoding: chunked\r\n", "5F5E100\r\n"},
		{"chunks", "Transfer-Encoding: chunked\r\n", strings.Repeat("100\r\n"+strings.Repeat("x", 256)+"\r\n", 500)},
	} {
		source := strings.NewReader("POST / HTTP/1.1\r\nHost: b.example\r\n" + c.head + "\r\n" + c.body)
		_, body, err := read(bufio.NewReader(source))
		if err != errTooLarge || body != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if rest := source.Len(); len(c.body) > 100<<10 && rest < 50<<10 {
			t.Errorf("%s: all but %d bytes were read", c.name, rest)
		}
	}
}

// FuzzMessages compares our reading of a connection with that of net/http: what
// both accept, both read alike, and what we accept, net/http accepts, once
// a request line of the LINK draft is replaced by one with a single URL.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		"GET / HTTP/1.1\r\nHost: b.example\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n",
		"LINK http://a.example/ http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\nLINK http://a.example/ \t http://b.example/\r\n\r\n",
		"UNLINK http://a.example/ http://b.example/ http://c.example/ HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.0\r\n\r\n",
		"POST /pingback HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\nA: b\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: x\r\nX: y\r\n z\r\n\r\n",
		"GET / HTTP/1.1\nHost: x\n\n",
		"LINK /doc HTTP/1.1\r\nHost: x\r\nLink: <http://a.example/>; rel=x\r\nPragma: no-cache\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareReading(t, data) })
}

// compareReading reads all messages of a connection, and compares each with what
// net/http reads. It returns the number of messages.
func compareReading(t *testing.T, data []byte) (messages int) {
	source := bytes.NewReader(data)
	ours := bufio.NewReaderSize(source, 16)
	position := func() int { return len(data) - source.Len() - ours.Buffered() }
	for {
		start := position()
		m, body, err := read(ours)
		if err != nil {
			return messages
		}
		messages++
		// Our message, byte for byte but for the line.
		text := bytes.TrimPrefix(data[start:position()], []byte("\r\n"))
		if m.call != nil {
			_, rest, _ := bytes.Cut(text, []byte("\r\n"))
			text = append([]byte(m.call.method+" / "+m.request.Proto+"\r\n"), rest...)
		}
		marker := "GET /marker HTTP/1.1\r\nHost: marker\r\n\r\n"
		theirs := bufio.NewReaderSize(strings.NewReader(string(text)+marker), 64<<10)
		r, err := http.ReadRequest(theirs)
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", text, err)
		}
		theirBody, err := io.ReadAll(r.Body)
		if err != nil || !bytes.Equal(theirBody, body) {
			t.Fatalf("the body of %q is %q, of net/http %q, %v", text, body, theirBody, err)
		}
		if r.Method != m.request.Method || r.RequestURI != m.request.RequestURI || r.Host != m.request.Host || r.Proto != m.request.Proto ||
			r.Close != m.request.Close || !reflect.DeepEqual(r.Header, m.request.Header) || r.URL.String() != m.request.URL.String() {
			t.Fatalf("%q: %+v\nnet/http: %+v", text, m.request, r)
		}
		if next, err := io.ReadAll(theirs); err != nil || string(next) != marker {
			t.Fatalf("%q: net/http finds another end: %q", text, next)
		}
	}
}

// TestReadingAlike is FuzzMessages with messages made of parts that are each likely
// to be read in two ways.
func TestReadingAlike(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 1996))
	pick := func(parts []string) string { return parts[random.IntN(len(parts))] }
	lines := []string{"GET / HTTP/1.1", "POST /pingback HTTP/1.1", "POST / HTTP/1.0", "HEAD /x?y HTTP/1.1", "LINK /doc HTTP/1.1", "OPTIONS * HTTP/1.1",
		"LINK http://a.example/ http://b.example/ HTTP/1.1", "UNLINK  http://a.example/\thttp://b.example/ x", "LINKMOD http://a/ http://b/ HTTP/1.0",
		"GET http://b.example/ HTTP/1.1", "GET /a b HTTP/1.1", "\r\nGET / HTTP/1.1"}
	fields := []string{"Host: b.example", "Host: b.example", "Host: b.example", "X: y", "Connection: close", "Connection: keep-alive", "Content-Length: 5", "Content-Length: 0",
		"content-length:5 ", "Content-Length: 05", "Content-Length: 6", "Content-Length: 5,5", "Transfer-Encoding: chunked", "transfer-encoding:\tCHUNKED",
		"Transfer-Encoding: identity", "Transfer-Encoding : chunked", "Content_Length: 3", "Expect: 100-continue", "Trailer: X", " folded", "X: a\x00b", "X: a\rb",
		"TE: trailers", "Upgrade: h2c", "Link: <http://a.example/>; rel=x"}
	bodies := []string{"", "hello", "hello", "5\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nX: y\r\n\r\n", "5;a=b\r\nhello\r\n00\r\n\r\n", "0\r\n\r\n",
		"5 \r\nhello\r\n0\r\n\r\n", "5 ;a\r\nhello\r\n0\r\n\r\n", "GET /smuggled HTTP/1.1\r\nHost: evil.example\r\n\r\n"}
	ends := []string{"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r\r\n"}
	messages := 0
	for range 20000 {
		var b strings.Builder
		for range 1 + random.IntN(3) {
			b.WriteString(pick(lines) + pick(ends))
			for range random.IntN(4) {
				b.WriteString(pick(fields) + pick(ends))
			}
			b.WriteString(pick(ends) + pick(bodies))
		}
		messages += compareReading(t, []byte(b.String()))
	}
	if messages < 2000 {
		t.Errorf("only %d messages were accepted", messages)
	}
}

// FuzzRequestLine: a line with two URLs is read as its words, whatever is between
// them, and no other line becomes a call.
func FuzzRequestLine(f *testing.F) {
	f.Add("LINK", "http://a.example/", " \t", "http://b.example/", "", " HTTP/1.1")
	f.Add("UNLINK", "http://a.example/", " ", "http://b.example/", " http://c.example/", "")
	f.Add("GET", "/", " ", "x", "", "")
	f.Fuzz(func(t *testing.T, method, first, space, second, third, version string) {
		line := method + " " + first + space + second + third + version
		m, _, err := read(bufio.NewReader(strings.NewReader(line + "\r\nHost: x\r\n\r\n")))
		if err != nil || m.call == nil {
			return
		}
		if strings.ContainsAny(line, "\r\n\x00") || !isLinkMethod(m.call.method) || len(m.call.urls) < 2 || len(m.call.urls) > 3 {
			t.Fatalf("%q became %+v", line, m.call)
		}
		words := append([]string{m.call.method}, m.call.urls...)
		if again := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' }); !reflect.DeepEqual(words, again[:len(words)]) ||
			len(again) > len(words)+1 || len(again) == len(words)+1 && !strings.HasPrefix(again[len(words)], "HTTP/1.") {
			t.Fatalf("%q became %q", line, words)
		}
	})
}
