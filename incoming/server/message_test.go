package server

import (
	"io"
	"net"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestRequestLine(t *testing.T) {
	const s, u, v = "http://a.example/post.html", "http://b.example/doc.html", "http://a.example/new.html"
	for _, c := range []struct {
		id, line string
		words    string // of the call; "" for none
	}{
		{"LK-14", "LINK " + s + " " + u + " HTTP/1.1", s + " " + u},
		{"LK-15", "LINK " + s + " " + u + " LINKMOD HTTP/1.1", s + " " + u + " LINKMOD"},
		{"LK-16", "UNLINK " + s + " " + u + " HTTP/1.1", s + " " + u},
		{"LK-17", "UNLINK " + s + " " + u + " " + v + " HTTP/1.1", s + " " + u + " " + v},
		{"LK-18", "UNLINKR " + s + " " + u + " HTTP/1.1", s + " " + u},
		{"LK-19", "UNLINKR " + s + " " + u + " " + v + " HTTP/1.1", s + " " + u + " " + v},
		{"LK-20", "LINKMOD " + s + " " + u + " HTTP/1.1", s + " " + u},
		{"LK-53 no version", "LINK " + s + " " + u, s + " " + u},
		{"LK-53 spaces and tabs", "LINK  " + s + " \t " + u + " HTTP/1.0", s + " " + u},
		{"LK-53 spaces at the end", "LINK " + s + " " + u + " \t", s + " " + u},
		{"LK-54 three words without version", "UNLINK " + s + " " + u + " " + v, s + " " + u + " " + v},
		{"LK-54 too many words", "UNLINK " + s + " " + u + " " + v + " x HTTP/1.1", ""},
		{"LK-7 one URL, no version", "LINK " + s, ""},
		{"LK-7 none", "LINK", ""},
		{"LK-58 one URL", "LINK /doc.html HTTP/1.1", ""},
		{"LK-25 lower case", "link " + s + " " + u + " HTTP/1.1", ""},
		{"other method", "GET " + s + " " + u + " HTTP/1.1", ""},
		{"white space first", " LINK " + s + " " + u, ""},
		{"run of spaces with one URL", "LINK  /doc.html HTTP/1.1", ""},
		{"NUL", "LINK " + s + "\x00 " + u + " HTTP/1.1", ""},
		{"vertical tab", "LINK " + s + "\v" + u + " HTTP/1.1", ""},
		{"delete", "LINK " + s + "\x7f " + u + " HTTP/1.1", ""},
		{"carriage return", "LINK " + s + "\r " + u + " HTTP/1.1", ""},
		{"HTTP/2", "LINK " + s + " " + u + " HTTP/2.0", ""},
		{"long", "LINK " + s + " " + u + strings.Repeat("x", 9000) + " HTTP/1.1", ""},
	} {
		const rest = "Host: b.example\r\n\r\n"
		for name, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader} {
			con := &conn{Conn: &scripted{Reader: wrap(strings.NewReader(c.line + "\r\n" + rest))}}
			got, err := io.ReadAll(con)
			want, words := c.line, ""
			if call := con.call.Load(); call != nil {
				want, words = call.method+" / HTTP/1.0", strings.Join(call.urls, " ")
			}
			if err != nil || words != c.words || string(got) != want+"\r\n"+rest {
				t.Errorf("%s, %s: %q, %q, %v", c.id, name, words, got, err)
			}
		}
	}
}

// scripted is a connection to a client that sends a text.
type scripted struct {
	net.Conn
	io.Reader
}

func (s *scripted) Read(p []byte) (int, error) { return s.Reader.Read(p) }

// TestSmuggledCall: a line with two URLs in the body of a request is no call, also if the
// answer does not wait for the body.
func TestSmuggledCall(t *testing.T) {
	testkit.Long(t)
	t.Parallel() // it waits most of the time
	receiver, address := start(t, Options{})
	const inner = "LINK http://a.example/ http://b.example/doc HTTP/1.1\r\n\r\n"
	for _, line := range []string{"POST /pingback HTTP/1.1", "POST / HTTP/1.1", "GET / HTTP/1.1", "PUT /webmention HTTP/1.1"} {
		for _, size := range []int{len(inner), len(inner) + 100<<10, len(inner) + 1<<20} {
			con := dial(t, address)
			go func() { // the server may stop reading
				body := strings.Repeat("x", size-len(inner)) + inner
				_, _ = io.WriteString(con.c, line+"\r\nHost: x\r\nContent-Length: "+strconv.Itoa(size)+"\r\n\r\n"+body+"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			}()
			rest, _ := io.ReadAll(con.in)
			if answers := strings.Count(string(rest), "HTTP/1.1 "); answers == 0 || answers > 2 {
				t.Errorf("%s with %d bytes: %d answers", line, size, answers)
			}
		}
	}
	if n := receiver.taken(); len(n) != 0 {
		t.Errorf("%+v", n)
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
		c := parseCall(line)
		if c == nil {
			return
		}
		if strings.ContainsAny(line, "\n\x00") || !isLinkMethod(c.method) || len(c.urls) < 2 || len(c.urls) > 3 {
			t.Fatalf("%q became %+v", line, c)
		}
		words := append([]string{c.method}, c.urls...)
		again := strings.FieldsFunc(strings.TrimSuffix(line, "\r"), func(r rune) bool { return r == ' ' || r == '\t' })
		if !reflect.DeepEqual(words, again[:len(words)]) ||
			len(again) > len(words)+1 || len(again) == len(words)+1 && !strings.HasPrefix(again[len(words)], "HTTP/1.") {
			t.Fatalf("%q became %q", line, words)
		}
	})
}
