package fetch

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// conn times out when no byte arrives for too long, starting with the handshake.
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

// Write also resets the deadline of a Read that is waiting.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

var errTooSlow = errors.New("the response is too slow")

// metered reads a body that must arrive at a minimum rate, counted before
// decompression, and no faster than at a maximum rate.
type metered struct {
	r     io.Reader
	min   int64 // bytes per second; negative for no minimum
	max   int64 // bytes per second; 0 for no maximum
	grace time.Duration
	begin time.Time
	n     int64
}

func (m *metered) Read(b []byte) (int, error) {
	if m.max > 0 && int64(len(b)) > m.max/8 {
		b = b[:max(m.max/8, 1)]
	}
	n, err := m.r.Read(b)
	m.n += int64(n)
	if m.max > 0 {
		// At most an eighth of a second: the time limit of the request holds.
		time.Sleep(min(time.Duration(float64(m.n)/float64(m.max)*float64(time.Second))-time.Since(m.begin), time.Second/8))
	}
	if took := time.Since(m.begin); err == nil && took > m.grace && float64(m.n) < float64(m.min)*took.Seconds() {
		return n, fmt.Errorf("%w: %d bytes in %.0f s", errTooSlow, m.n, took.Seconds())
	}
	return n, err
}

// compressions are parts of the names of encodings that browsers know.
var compressions = []string{"gzip", "deflate", "br", "zstd", "compress", "dcb", "dcz"}

var errEncoding = errors.New("the body has an encoding that was not requested")

// readBody reads up to limit bytes after decompression. cut is set if there were
// more. With an error, it returns what was read before.
func readBody(body io.Reader, from *http.Response, limit int64) (b []byte, cut bool, err error) {
	switch encoding := strings.ToLower(strings.Join(from.Header.Values("Content-Encoding"), ", ")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body = &gunzip{from: body}
	default:
		// Browsers ignore names that they do not know, such as UTF-8.
		if slices.ContainsFunc(compressions, func(name string) bool { return strings.Contains(encoding, name) }) {
			return nil, false, fmt.Errorf("%w: %q", errEncoding, shorten(encoding, 40))
		}
	}
	var buf bytes.Buffer
	switch {
	case from.Body == http.NoBody: // after HEAD, Content-Length describes the response to GET
	case from.ContentLength > 0: // what the host says: it may be wrong
		buf.Grow(int(min(from.ContentLength, limit, 64<<10)) + bytes.MinRead)
	case from.ContentLength < 0: // most pages are about as large
		buf.Grow(int(min(limit, 32<<10)) + bytes.MinRead)
	}
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

// gunzip decompresses a body. A body without any byte is empty, even if its
// header says otherwise, as in responses to HEAD and with status 204.
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
