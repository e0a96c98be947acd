package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// idleKey is that of the context's value which holds a request's own
// [Request.Idle].
type idleKey struct{}

// conn ends when no byte comes for too long, from the handshake on.
type conn struct {
	net.Conn
	idle time.Duration
}

func (c *conn) Read(b []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

// Write gives the reader, who waits already, its time anew.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

var errTooSlow = errors.New("too slow")

// metered reads a body that has to come at a least rate, counted before it is
// decompressed.
type metered struct {
	r     io.Reader
	min   int64 // bytes a second; negative for none
	grace time.Duration
	begin time.Time
	n     int64
}

func (m *metered) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	m.n += int64(n)
	if took := time.Since(m.begin); err == nil && took > m.grace && float64(m.n) < float64(m.min)*took.Seconds() {
		return n, fmt.Errorf("%w: %d bytes in %.0f s", errTooSlow, m.n, took.Seconds())
	}
	return n, err
}

// readBody reads up to limit bytes after decompression; cut tells that there
// were more. What was read before an error is returned with it.
func readBody(body io.Reader, h http.Header, limit int64) (b []byte, cut bool, err error) {
	switch encoding := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ", ")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body = &gunzip{from: body}
	default:
		return nil, false, fmt.Errorf("the body comes as %q, which was not asked for", shorten(encoding, 40))
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(body, limit))
	if err != nil || n < limit {
		return buf.Bytes(), false, err
	}
	var more [1]byte
	switch n, err := io.ReadFull(body, more[:]); {
	case n > 0:
		return buf.Bytes(), true, nil
	case err != io.EOF:
		return buf.Bytes(), false, err
	}
	return buf.Bytes(), false, nil
}

// gunzip decompresses. A body without a byte is empty, whatever its header
// says: answers to HEAD, and 204.
type gunzip struct {
	from io.Reader
	to   *gzip.Reader
}

func (g *gunzip) Read(b []byte) (int, error) {
	if g.to == nil {
		to, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, err
		}
		g.to = to
	}
	return g.to.Read(b)
}
