package server

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxBuffered is the size up to which a response is sent with its length. A
// larger one is sent in parts.
const maxBuffered = 32 << 10

// response is the http.ResponseWriter of a connection. Unlike that of net/http, it
// can have its own reason phrase, which the LINK draft prescribes (LK-56).
type response struct {
	conn    *conn
	request *http.Request
	header  http.Header
	status  int    // 0 until WriteHeader
	reason  string // "" for the usual one
	sent    bool   // the head was written
	buffer  []byte // of the body, until sent
	chunked bool
	length  int64 // that the handler declared, or -1
	written int64 // of the body
	close   bool  // the connection ends after this response
}

// Header returns the header fields that WriteHeader will send.
func (w *response) Header() http.Header { return w.header }

// WriteHeader sets the status. Informational statuses are not sent.
func (w *response) WriteHeader(status int) {
	if w.status != 0 || status < 200 || status > 999 {
		return
	}
	w.status = status
	w.length = -1
	if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		w.length = n
	} else {
		w.header.Del("Content-Length")
	}
}

// hasBody reports whether a response with this status has a body.
func (w *response) hasBody() bool {
	return w.status != http.StatusNoContent && w.status != http.StatusNotModified
}

// Write adds to the body.
func (w *response) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if !w.hasBody() {
		return 0, http.ErrBodyNotAllowed
	}
	if w.length >= 0 && w.written+int64(len(p)) > w.length {
		return 0, http.ErrContentLength
	}
	w.written += int64(len(p))
	if w.request.Method == http.MethodHead {
		return len(p), nil
	}
	if !w.sent {
		if len(w.buffer)+len(p) <= maxBuffered {
			w.buffer = append(w.buffer, p...)
			return len(p), nil
		}
		if err := w.sendHead(); err != nil {
			return 0, err
		}
	}
	if err := w.part(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// part writes a part of the body after the head.
func (w *response) part(p []byte) error {
	out := w.conn.out
	if len(p) == 0 {
		return nil
	}
	if w.chunked {
		fmt.Fprintf(out, "%x\r\n", len(p))
	}
	_, err := out.Write(p)
	if w.chunked {
		_, err = out.WriteString("\r\n")
	}
	return err
}

// FlushError sends what was written so far.
func (w *response) FlushError() error {
	w.WriteHeader(http.StatusOK)
	if !w.sent {
		if err := w.sendHead(); err != nil {
			return err
		}
	}
	return w.conn.out.Flush()
}

// Flush is FlushError for [http.Flusher].
func (w *response) Flush() { _ = w.FlushError() }

// sendHead writes the status line and the header fields, and what was buffered.
func (w *response) sendHead() error {
	w.sent = true
	old := !w.request.ProtoAtLeast(1, 1)
	if strings.EqualFold(w.header.Get("Connection"), "close") || w.conn.run.isStopping() {
		w.close = true
	}
	if w.hasBody() && w.length < 0 && w.request.Method != http.MethodHead {
		w.chunked = !old
		w.close = w.close || old
	}
	w.header.Del("Connection")
	w.header.Del("Transfer-Encoding")
	if w.length < 0 {
		w.header.Del("Content-Length")
	} else {
		w.header.Set("Content-Length", strconv.FormatInt(w.length, 10))
	}
	if w.header.Get("Date") == "" {
		w.header.Set("Date", w.conn.run.now().UTC().Format(http.TimeFormat))
	}
	out := w.conn.out
	statusLine(out, w.status, w.reason)
	switch {
	case w.close:
		out.WriteString("Connection: close\r\n")
	case old:
		out.WriteString("Connection: keep-alive\r\n")
	}
	if w.chunked {
		out.WriteString("Transfer-Encoding: chunked\r\n")
	}
	// Write replaces line breaks in values by spaces, and drops invalid names.
	if err := w.header.Write(out); err != nil {
		return err
	}
	if _, err := out.WriteString("\r\n"); err != nil {
		return err
	}
	buffered := w.buffer
	w.buffer = nil
	return w.part(buffered)
}

func statusLine(out *bufio.Writer, status int, reason string) {
	if reason == "" {
		reason = http.StatusText(status)
	}
	fmt.Fprintf(out, "HTTP/1.1 %03d %s\r\n", status, reason)
}

// finish sends what is left, and reports whether the connection can be kept.
func (w *response) finish() bool {
	w.WriteHeader(http.StatusOK)
	if !w.sent {
		if w.hasBody() && w.length < 0 && (w.request.Method != http.MethodHead || w.written > 0) {
			w.length = w.written
		}
		if w.sendHead() != nil {
			return false
		}
	}
	if w.chunked {
		w.conn.out.WriteString("0\r\n\r\n")
	}
	if w.length >= 0 && w.written != w.length && w.request.Method != http.MethodHead && w.hasBody() {
		w.conn.out.Flush()
		return false // the handler wrote less than it declared
	}
	return w.conn.out.Flush() == nil && !w.close
}

// serve calls the handler, and reports whether the connection can be kept.
func (w *response) serve(handler http.Handler, log *slog.Logger) (keep bool) {
	defer func() {
		err := recover()
		if err == nil {
			return
		}
		keep = false
		if err == http.ErrAbortHandler {
			return
		}
		log.Error("a handler panicked", "method", w.request.Method, "path", w.request.URL.Path, "error", fmt.Sprint(err))
		if !w.sent {
			refusal(w.conn.out, http.StatusInternalServerError, "the server has an internal error", w.conn.run.now())
		}
	}()
	handler.ServeHTTP(w, w.request)
	return w.finish()
}

// refusal writes a whole response that ends the connection.
func refusal(out *bufio.Writer, status int, text string, now time.Time) {
	statusLine(out, status, "")
	fmt.Fprintf(out, "Connection: close\r\nContent-Length: %d\r\nContent-Type: text/plain; charset=utf-8\r\nDate: %s\r\n",
		len(text)+1, now.UTC().Format(http.TimeFormat))
	if status == http.StatusServiceUnavailable {
		out.WriteString("Retry-After: 10\r\n")
	}
	fmt.Fprintf(out, "\r\n%s\n", text)
	out.Flush()
}

// deadlineWriter gives each write to a connection some time, so that a client
// that does not read cannot keep it.
type deadlineWriter struct {
	net     net.Conn
	timeout time.Duration
}

func (w deadlineWriter) Write(p []byte) (int, error) {
	if err := w.net.SetWriteDeadline(time.Now().Add(w.timeout)); err != nil {
		return 0, err
	}
	return w.net.Write(p)
}

var _ io.Writer = deadlineWriter{}
