package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
)

// This file reads requests from a connection. net/http refuses a request line
// with two URLs (LK-55), so the line and the message framing are read here, and
// http.ReadRequest reads everything else.
//
// The framing is stricter than HTTP asks for. Whatever another server or a proxy
// could read in two ways is refused, and the connection is closed: a line that
// does not end in CR LF, a control character, a folded header field, more than one
// Content-Length, Content-Length with Transfer-Encoding, any transfer coding but
// chunked. So there is one way to read what remains, and it is that of net/http:
// FuzzMessages compares both.

// Limits of one request.
const (
	maxRequestLine = 8 << 10
	maxHead        = 16 << 10 // the request line and all header fields
	maxFields      = 100
	maxChunkLine   = 256 // the line of a chunk's size, with extensions
	maxTrailer     = 4 << 10
)

// wireError is a request that is refused before a handler sees it. The connection
// is closed after the answer.
type wireError struct {
	status int
	text   string
}

func (e *wireError) Error() string { return e.text }

func refuse(status int, format string, args ...any) error {
	return &wireError{status, fmt.Sprintf(format, args...)}
}

// errTooLarge is the error of a request body that is larger than the limit.
var errTooLarge = errors.New("the body of the request is too large")

// message is one request. Its body was read as a whole, or not at all.
type message struct {
	request *http.Request
	// call is set if the request line is that of the LINK draft. Then method and
	// header fields of request are right, and its URL is "/".
	call *call
	host bool // there is a Host field
	// framing of the body
	length  int64
	chunked bool
	// expects is true if the client waits for the status 100 before it sends the
	// body.
	expects bool
}

// call is a request line of the LINK draft (LK-14 to LK-20).
type call struct {
	method string
	urls   []string // source, target and further words
}

// isLinkMethod reports whether a method is one of the draft. Method names are
// case-sensitive (LK-25).
func isLinkMethod(method string) bool {
	switch method {
	case "LINK", "UNLINK", "UNLINKR", "LINKMOD":
		return true
	}
	return false
}

var headReaders = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

// wire reads requests from a connection.
type wire struct {
	in   *bufio.Reader
	head []byte // of the current request
}

// line reads a line that ends in CR LF, which is not part of the result. The line
// is valid until the next call of [wire.readHead].
func (w *wire) line(limit int, status int) ([]byte, error) {
	start := len(w.head)
	for {
		part, err := w.in.ReadSlice('\n')
		w.head = append(w.head, part...)
		if len(w.head)-start > limit+2 {
			return nil, refuse(status, "the request has a line of more than %d bytes", limit)
		}
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	line := w.head[start:]
	if !bytes.HasSuffix(line, []byte("\r\n")) {
		return nil, refuse(http.StatusBadRequest, "a line of the request does not end in CR LF")
	}
	line = line[:len(line)-2]
	for _, b := range line {
		if b < ' ' && b != '\t' || b == 0x7F {
			return nil, refuse(http.StatusBadRequest, "the request contains the control character %#02x", b)
		}
	}
	return line, nil
}

// readHead reads the request line and the header fields.
func (w *wire) readHead() (*message, error) {
	if cap(w.head) > maxRequestLine/2 {
		w.head = nil // a large one is rare; do not keep it while the connection is idle
	}
	w.head = w.head[:0]
	first, err := w.line(maxRequestLine, http.StatusRequestURITooLong)
	if err == nil && len(first) == 0 {
		// Old clients send an empty line after a body (RFC 9112, section 2.2).
		w.head = w.head[:0]
		first, err = w.line(maxRequestLine, http.StatusRequestURITooLong)
	}
	if err != nil {
		return nil, err
	}
	m := &message{}
	var version string
	if m.call, version, err = parseCall(string(first)); err != nil {
		return nil, err
	}
	fields := len(w.head)
	for n := 0; ; n++ {
		line, err := w.line(maxHead, http.StatusRequestHeaderFieldsTooLarge)
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			break
		}
		if n == maxFields || len(w.head) > maxHead {
			return nil, refuse(http.StatusRequestHeaderFieldsTooLarge, "the request has more than %d header fields or %d bytes of them", maxFields, maxHead)
		}
		if err := m.field(line); err != nil {
			return nil, err
		}
	}
	head := io.Reader(bytes.NewReader(w.head))
	if m.call != nil {
		head = io.MultiReader(strings.NewReader(m.call.method+" / "+version+"\r\n"), bytes.NewReader(w.head[fields:]))
	}
	reader := headReaders.Get().(*bufio.Reader)
	defer headReaders.Put(reader)
	reader.Reset(head)
	if m.request, err = http.ReadRequest(reader); err != nil {
		return nil, refuse(http.StatusBadRequest, "the request is malformed: %v", err)
	}
	m.request.Body = nil // it reads from the reader; readBody reads the body
	return m, m.checkHead()
}

// parseCall reads a request line of the LINK draft: a method and two or three
// further words, then the version, which may be missing (LK-53, LK-54). It returns
// nil for other lines, which are for net/http.
func parseCall(line string) (*call, string, error) {
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 || !isLinkMethod(words[0]) || !strings.HasPrefix(line, words[0]) {
		return nil, "", nil
	}
	// Without a version, the client may not know that connections can be kept.
	version := "HTTP/1.0"
	urls := words[1:]
	if last := len(urls) - 1; last >= 0 && strings.HasPrefix(urls[last], "HTTP/") {
		version, urls = urls[last], urls[:last]
		if len(urls) == 1 {
			return nil, "", nil // the form with Link fields
		}
	}
	switch {
	case version != "HTTP/1.0" && version != "HTTP/1.1":
		return nil, "", refuse(http.StatusHTTPVersionNotSupported, "only HTTP/1.0 and HTTP/1.1 are supported")
	case len(urls) < 2 || len(urls) > 3:
		return nil, "", refuse(http.StatusBadRequest, "%s needs a source URL, a target URL and at most one further word", words[0])
	}
	return &call{words[0], urls}, version, nil
}

// field checks one header field, and reads it if it is about the framing.
func (m *message) field(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !httpguts.ValidHeaderFieldName(string(name)) {
		// A folded field begins with white space, so it ends here too.
		return refuse(http.StatusBadRequest, "the request has a malformed header field")
	}
	value = bytes.Trim(value, " \t")
	switch strings.ReplaceAll(strings.ToLower(string(name)), "_", "-") {
	case "host":
		m.host = true
	case "content-length":
		n, err := strconv.ParseUint(string(value), 10, 62)
		if err != nil || m.length != 0 || m.chunked || bytes.Contains(name, []byte("_")) {
			return refuse(http.StatusBadRequest, "the length of the request's body is malformed or ambiguous")
		}
		// One more than the length, until the head was read, so that a second
		// field is found even if the first is 0.
		m.length = int64(n) + 1
	case "transfer-encoding":
		if m.length != 0 || m.chunked || !strings.EqualFold(string(value), "chunked") || bytes.Contains(name, []byte("_")) {
			return refuse(http.StatusBadRequest, "the transfer coding of the request is ambiguous or not supported")
		}
		m.chunked = true
	}
	return nil
}

// checkHead checks what http.ReadRequest leaves to the server.
func (m *message) checkHead() error {
	r := m.request
	m.length = max(m.length-1, 0)
	switch {
	case r.ProtoMajor != 1 || r.ProtoMinor > 1:
		return refuse(http.StatusHTTPVersionNotSupported, "only HTTP/1.0 and HTTP/1.1 are supported")
	case r.Method == http.MethodConnect:
		return refuse(http.StatusNotImplemented, "this server is not a proxy")
	case m.chunked && r.ProtoMinor == 0:
		return refuse(http.StatusBadRequest, "HTTP/1.0 has no transfer coding")
	case (r.Host == "" || !m.host) && r.ProtoMinor == 1 && m.call == nil: // also with a URL that names one
		return refuse(http.StatusBadRequest, "the request has no Host header")
	case !httpguts.ValidHostHeader(r.Host):
		return refuse(http.StatusBadRequest, "the Host header is malformed")
	}
	if expect := r.Header.Get("Expect"); expect != "" && r.ProtoMinor == 1 {
		if !strings.EqualFold(expect, "100-continue") {
			return refuse(http.StatusExpectationFailed, "the only supported expectation is 100-continue")
		}
		m.expects = m.chunked || m.length > 0
	}
	return nil
}

// readBody reads the body, of at most limit bytes. It returns errTooLarge for a
// larger one, of which it reads no more than that.
func (w *wire) readBody(m *message, limit int64) ([]byte, error) {
	if m.chunked {
		return w.readChunks(limit)
	}
	if m.length > limit {
		return nil, errTooLarge
	}
	if m.length == 0 {
		return nil, nil
	}
	// The buffer grows with what arrives, not with what was announced.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, w.in, m.length); err != nil {
		return nil, unexpected(err)
	}
	return body.Bytes(), nil
}

// readChunks reads a chunked body and drops its trailer.
func (w *wire) readChunks(limit int64) ([]byte, error) {
	var body bytes.Buffer
	var excess int64
	for {
		w.head = w.head[:0]
		line, err := w.line(maxChunkLine, http.StatusBadRequest)
		if err != nil {
			return nil, err
		}
		size, err := chunkSize(line)
		if err != nil {
			return nil, err
		}
		// As net/http: 16 bytes for each chunk, and twice its data.
		if excess = max(excess+int64(len(line))+2-16-2*size, 0); excess > 16<<10 {
			return nil, refuse(http.StatusBadRequest, "the chunks of the body contain too little data")
		}
		if size == 0 {
			return body.Bytes(), w.skipTrailer()
		}
		if size > limit-int64(body.Len()) {
			return nil, errTooLarge
		}
		if _, err := io.CopyN(&body, w.in, size); err != nil {
			return nil, unexpected(err)
		}
		if end, err := w.line(0, http.StatusBadRequest); err != nil {
			return nil, err
		} else if len(end) != 0 {
			return nil, refuse(http.StatusBadRequest, "a chunk of the body is longer than it says")
		}
	}
}

// chunkSize reads the first line of a chunk. Extensions are ignored.
func chunkSize(line []byte) (int64, error) {
	digits, _, _ := bytes.Cut(bytes.TrimRight(line, " \t"), []byte(";"))
	if len(digits) == 0 || len(digits) > 15 {
		return 0, refuse(http.StatusBadRequest, "the size of a chunk is malformed")
	}
	size, err := strconv.ParseUint(string(digits), 16, 62)
	if err != nil {
		return 0, refuse(http.StatusBadRequest, "the size of a chunk is malformed")
	}
	return int64(size), nil
}

func (w *wire) skipTrailer() error {
	w.head = w.head[:0]
	for {
		line, err := w.line(maxTrailer, http.StatusRequestHeaderFieldsTooLarge)
		if err != nil {
			return err
		}
		if len(line) == 0 {
			return nil
		}
		if name, _, ok := bytes.Cut(line, []byte(":")); !ok || !httpguts.ValidHeaderFieldName(string(name)) {
			return refuse(http.StatusBadRequest, "the request has a malformed trailer")
		}
		if len(w.head) > maxTrailer {
			return refuse(http.StatusRequestHeaderFieldsTooLarge, "the trailer of the request is too large")
		}
	}
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
