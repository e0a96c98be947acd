package templates

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/sitelink/sitelink/internal/scan/html"
)

// ErrNoHead means that the text written through a [Writer] had no place for the
// elements: it is not a page, or its encoding is UTF-16. The Writer passed it on
// unchanged.
var ErrNoHead = errors.New("the page has no head for the elements")

// A Writer adds the elements to one page while a program writes it, for example
// with goldmark or a template. They go right after the charset declaration, or at
// the start of the head when the declaration is missing or comes too late. The
// Writer buffers the page up to the declaration, at most 16 KiB. It passes on a
// page unchanged that already has the elements there. Create a Writer with
// [NewWriter]. It is not safe for concurrent use.
type Writer struct {
	w         io.Writer
	endpoints Endpoints
	held      []byte
	searched  int // how much of held has been searched for the place
	passing   bool
	noHead    bool
	err       error
}

// maxHeld is how much of a page a Writer buffers.
const maxHeld = 16 << 10

// NewWriter returns a Writer that writes the page to w. Call [Writer.Close] at
// the end of the page.
func NewWriter(w io.Writer, e Endpoints) *Writer {
	return &Writer{w: w, endpoints: e, passing: e.IsZero()}
}

// Write implements [io.Writer]. Errors come from the underlying writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.passing {
		n, err := w.w.Write(p)
		w.err = err
		return n, err
	}
	w.held = append(w.held, p...)
	// Search again only when the text has doubled: renderers write single words.
	if len(w.held) >= 2*w.searched || len(w.held) >= maxHeld {
		w.search(len(w.held) >= maxHeld)
	}
	return len(p), w.err
}

// Close writes what is still buffered. It does not close the underlying writer.
// The error is [ErrNoHead] when the page has no place for the elements.
func (w *Writer) Close() error {
	if !w.passing && w.err == nil {
		w.search(true)
	}
	if w.err == nil && w.noHead {
		return ErrNoHead
	}
	return w.err
}

// search looks for the place in the buffered text. With last, it decides with
// what it has instead of waiting for more.
func (w *Writer) search(last bool) {
	w.searched = max(len(w.held), 256)
	if bytes.HasPrefix(w.held, []byte("\xff\xfe")) || bytes.HasPrefix(w.held, []byte("\xfe\xff")) {
		w.noHead = true
		w.pass(w.held)
		return
	}
	h := html.ReadHead(w.held, false, len(w.held))
	html := w.endpoints.HTML(h.XHTML)
	// The end of an incomplete page may mean something else when more text arrives,
	// but a charset declaration stays one. The elements may follow it.
	if !last && (h.Charset == 0 || len(w.held) < h.Charset+len(html)) {
		return
	}
	switch {
	case strings.Contains(string(w.held), html):
		w.pass(w.held)
	case !h.Markup:
		w.noHead = true
		w.pass(w.held)
	default:
		at := place(&h, len(html))
		w.pass(append(append(bytes.Clone(w.held[:at]), html...), w.held[at:]...))
	}
}

func (w *Writer) pass(text []byte) {
	w.passing, w.held = true, nil
	if len(text) > 0 {
		_, w.err = w.w.Write(text)
	}
}
