package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
)

// lenient makes a transport read the headers of responses as Chromium does. It makes a
// connection for each request, because only the first header on it is repaired.
func lenient(t *http.Transport) *http.Transport {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	t.Protocols, t.DisableKeepAlives = &protocols, true
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &repaired{Conn: c, in: bufio.NewReader(c), bare: strings.HasSuffix(addr, ":80")}, nil
	}
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		config := t.TLSClientConfig.Clone()
		config.ServerName, _, _ = net.SplitHostPort(addr)
		secure := tls.Client(c, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		return &repaired{Conn: secure, in: bufio.NewReader(secure)}, nil
	}
	return t
}

// repaired is a connection that repairs the header of its first response: net/http can
// then read it if a browser could.
type repaired struct {
	net.Conn
	in   *bufio.Reader
	bare bool // a response without any header counts, as on port 80 (HTTP/0.9)
	head io.Reader
}

func (m *repaired) Read(b []byte) (int, error) {
	if m.head == nil {
		m.head = bytes.NewReader(repair(m.in, m.bare))
	}
	if n, err := m.head.Read(b); err == nil {
		return n, nil
	}
	return m.in.Read(b)
}

// maxRepaired limits the header that is repaired, as Chromium does.
const maxRepaired = 256 << 10

// repair reads the header of a response and of informational responses before it, and
// returns it without its faults: junk of up to four bytes before the status line, lines
// without a valid name, spaces before the colon, control characters, and invalid lengths
// and transfer encodings. Text that is not HTTP stays as it is, so that net/http refuses
// it. If bare is set, it becomes the body of a response.
func repair(in *bufio.Reader, bare bool) []byte {
	var out []byte
	for {
		start, _ := in.Peek(8)
		lower := bytes.ToLower(start)
		junk := bytes.Index(lower, []byte("http"))
		switch {
		case junk >= 0, bytes.HasPrefix(lower, []byte("icy ")):
		case bare && len(start) > 0 && out == nil:
			return []byte("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n")
		default:
			return out
		}
		in.Discard(max(junk, 0))
		line, ok := repairLine(in)
		version, status, _ := strings.Cut(line, " ")
		status = strings.TrimLeft(status, " ")
		if version = strings.ToUpper(version); version != "HTTP/1.0" {
			version = "HTTP/1.1"
		}
		out = append(out, version+" "+status+"\r\n"...)
		kept, chunked := false, false
		for ok && len(out) < maxRepaired {
			if line, ok = repairLine(in); line == "" {
				break
			}
			if line[0] == ' ' || line[0] == '\t' { // it continues the last field
				if kept {
					out = append(out[:len(out)-2], line+"\r\n"...)
				}
				continue
			}
			name, value, colon := strings.Cut(line, ":")
			name, value = strings.TrimRight(name, " \t"), strings.TrimSpace(value)
			kept = colon && name != "" && !strings.ContainsAny(name, " \t\"(),/;<=>?@[]{}\\") && isPrintable(name)
			switch strings.ToLower(name) {
			case "content-length":
				kept = kept && value != "" && strings.Trim(value, "0123456789") == ""
			case "transfer-encoding":
				kept = kept && !chunked && strings.Contains(strings.ToLower(value), "chunked")
				chunked, value = chunked || kept, "chunked"
			}
			if kept {
				out = append(out, name+": "+value+"\r\n"...)
			}
		}
		out = append(out, "\r\n"...)
		switch {
		case len(out) >= maxRepaired:
			return nil
		case !strings.HasPrefix(status, "1"), strings.HasPrefix(status, "101"):
			return out
		}
	}
}

// repairLine reads a line without its end and with spaces for control characters, except
// for NUL, which no browser accepts. ok means that more may follow.
func repairLine(in *bufio.Reader) (line string, ok bool) {
	var all []byte
	for {
		part, more, err := in.ReadLine()
		all = append(all, part...)
		if err != nil || !more || len(all) > maxRepaired {
			ok = err == nil && len(all) <= maxRepaired
			break
		}
	}
	for i, c := range all {
		if c < ' ' && c != 0 || c == 0x7F {
			all[i] = ' '
		}
	}
	return string(all), ok
}

// isPrintable reports whether a name has only visible ASCII characters.
func isPrintable(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7F })
}
