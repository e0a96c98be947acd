//go:build integration && linux

package main_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/weburl"
)

// server is a running server and one keep-alive connection to it. Not safe for
// concurrent use.
type server struct {
	software
	addr string
	conn net.Conn
	br   *bufio.Reader
}

// patience is how long a request may take. A server that never answers
// waits for data from a pipe.
const (
	patience     = time.Minute
	fifoPatience = 2 * time.Second
)

// maxHops is where browsers stop following redirects.
const maxHops = 20

// ask requests target and follows redirects as a browser does.
func (n *server) ask(t *testing.T, target string, wait time.Duration) testkit.HostAnswer {
	t.Helper()
	a := testkit.HostAnswer{Final: target}
	for hop := 0; ; hop++ {
		status, location, err := n.get(a.Final, wait)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			// A server closes an idle or worn-out connection: try again on a new one.
			n.hangUp()
			status, location, err = n.get(a.Final, wait)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			n.hangUp()
			status, location, err = 0, "", nil // no answer
		}
		if err != nil {
			t.Fatalf("ask %s for %s: %v", n.profile, testkit.HostKey(a.Final), err)
		}
		a.Status = status
		if hop == 0 {
			a.First = status
		}
		if status < 300 || status >= 400 || location == "" {
			return a
		}
		next, within := n.follow(t, a.Final, location)
		a.Final = next
		if !within || hop == maxHops {
			return a
		}
	}
}

// follow resolves the Location of an answer as browsers do. within reports
// whether it stays on the server; next is then its path and query.
func (n *server) follow(t *testing.T, from, location string) (next string, within bool) {
	t.Helper()
	base, err := weburl.Parse("http://" + n.addr + from)
	if err != nil {
		t.Fatalf("ask %s for %s: %v", n.profile, testkit.HostKey(from), err)
	}
	u, err := base.Resolve(location)
	if err != nil {
		return location, false
	}
	if u.Scheme() != "http" || u.Host()+":"+u.Port() != n.addr {
		return u.WithoutFragment(), false
	}
	next = u.Path()
	if u.HasQuery() {
		next += "?" + u.Query()
	}
	return next, true
}

// get sends target byte for byte: net/http's client would normalise it.
func (n *server) get(target string, wait time.Duration) (status int, location string, err error) {
	if n.conn == nil {
		if n.conn, err = net.Dial("tcp", n.addr); err != nil {
			return 0, "", err
		}
		n.br = bufio.NewReaderSize(n.conn, 64<<10)
	}
	n.conn.SetDeadline(time.Now().Add(wait))
	// A server that refuses the request line may close before it has read all
	// of it; its answer counts, not the broken pipe.
	_, sendErr := io.WriteString(n.conn, "GET "+target+" HTTP/1.1\r\nHost: "+n.addr+"\r\n\r\n")
	status, location, keep, err := readAnswer(n.br)
	if err != nil && sendErr != nil {
		err = fmt.Errorf("%w (%w)", err, sendErr)
	}
	if !keep || err != nil {
		n.hangUp()
	}
	return status, location, err
}

// readAnswer reads one answer to a GET, with the interim ones before it. keep
// reports whether the connection can be used again. net/http would refuse the
// control characters that Caddy leaves in a Location and browsers take.
func readAnswer(br *bufio.Reader) (status int, location string, keep bool, err error) {
	line := func() (string, error) {
		text, err := br.ReadString('\n')
		return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
	}
	for status < 200 {
		var minor int
		first, err := line()
		if err != nil {
			return 0, "", false, err
		}
		if _, err := fmt.Sscanf(first, "HTTP/1.%1d %3d", &minor, &status); err != nil {
			return 0, "", false, fmt.Errorf("status line %q: %w", first, err)
		}
		keep, location = minor == 1, ""
		var length int64 = -1
		chunked := false
		for {
			header, err := line()
			if err != nil {
				return 0, "", false, err
			}
			if header == "" {
				break
			}
			name, value, _ := strings.Cut(header, ":")
			value = strings.Trim(value, " \t")
			switch strings.ToLower(name) {
			case "location":
				location = value
			case "connection":
				keep = !strings.EqualFold(value, "close")
			case "transfer-encoding":
				chunked = strings.EqualFold(value, "chunked")
			case "content-length":
				if length, err = strconv.ParseInt(value, 10, 64); err != nil {
					return 0, "", false, err
				}
			}
		}
		if status < 200 {
			continue
		}
		switch {
		case chunked:
			if _, err = io.Copy(io.Discard, httputil.NewChunkedReader(br)); err == nil {
				_, err = line() // no trailers
			}
		case length >= 0:
			_, err = io.CopyN(io.Discard, br, length)
		case status != 204 && status != 304:
			_, err = io.Copy(io.Discard, br)
			keep = false
		}
		if err != nil {
			return 0, "", false, err
		}
	}
	return status, location, keep, nil
}

func (n *server) hangUp() {
	if n.conn != nil {
		n.conn.Close()
		n.conn = nil
	}
}
