package templates

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/sitelink/sitelink/internal/scan"
)

// ErrNoHead means that what was written through a [Writer] had no place for the
// elements: it is no page, or one in UTF-16. It was passed on as it is.
var ErrNoHead = errors.New("no head for the elements")

// A Writer puts the elements into one page while it is written, such as by
// goldmark or a template: right after the charset declaration, or, when there is
// none in the head or it comes too late, at the start of the head. It holds the
// page back up to the declaration, and at most 16 KiB. A page that has the
// elements there already is passed on unchanged. Its zero value is of no use, see
// [NewWriter]. It is not safe for concurrent use.
type Writer struct {
	w         io.Writer
	endpoints Endpoints
	held      []byte
	looked    int // how much of held the last look saw
	passing   bool
	noHead    bool
	err       error
}

// maxHeld is how much of a page a Writer holds back.
const maxHeld = 16 << 10

// NewWriter returns a Writer that passes the page on to w.
func NewWriter(w io.Writer, e Endpoints) *Writer {
	return &Writer{w: w, endpoints: e, passing: e.IsZero()}
}

// Write implements [io.Writer]. An error is that of the writer below.
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
	// Looked at as it doubles: renderers write single words.
	if len(w.held) >= 2*w.looked || len(w.held) >= maxHeld {
		w.look(len(w.held) >= maxHeld)
	}
	return len(p), w.err
}

// Close passes on what is held back. It does not close the writer below. The
// error is [ErrNoHead] when the page has no place for the elements.
func (w *Writer) Close() error {
	if !w.passing && w.err == nil {
		w.look(true)
	}
	if w.err == nil && w.noHead {
		return ErrNoHead
	}
	return w.err
}

// look looks for the place in what is held back; last tells that no more will
// be waited for.
func (w *Writer) look(last bool) {
	w.looked = max(len(w.held), 256)
	if bytes.HasPrefix(w.held, []byte("\xff\xfe")) || bytes.HasPrefix(w.held, []byte("\xfe\xff")) {
		w.noHead = true
		w.pass(w.held)
		return
	}
	h := scan.ReadHead(w.held, false, len(w.held))
	html := w.endpoints.HTML(h.XHTML)
	// What a page means that breaks off in a tag is not what it will mean; but a
	// declaration that has been read stays one. Behind it, the elements may
	// already come.
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
