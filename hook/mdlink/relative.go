package mdlink

import (
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
)

// Relative is an extension of goldmark that reports relative links and images
// which lead nowhere, at the moment they are rendered. It looks at destinations
// as they are written, before other extensions replace them. The text must be
// rendered by [Recorder.Convert], which knows its file; texts rendered otherwise
// are left alone.
//
// A destination is relative when it has neither scheme nor host and begins
// neither with a slash nor with a question mark, and is more than a fragment.
// HTML in Markdown is left alone.
type Relative struct {
	// Resolve tells whether something answers target: the path of the
	// destination, percent-decoded, joined to the directory of file. It is a
	// clean slash path in the project, which begins with ../ where it leads out
	// of it; dir tells that the destination ends in a slash. It is called from
	// the goroutines that render.
	Resolve func(file, target string, dir bool) bool
	// Report is called for each destination that nothing answers, with its
	// place; Line is 0 when that is not known.
	Report func(l hook.Link)
}

// InFiles is a [Relative.Resolve] for links that name files of the project, such
// as ../notes/b.md: fsys is the project's root.
func InFiles(fsys fs.FS) func(file, target string, dir bool) bool {
	return func(_, target string, dir bool) bool {
		info, err := fs.Stat(fsys, target)
		return err == nil && (info.IsDir() || !dir)
	}
}

// Extend adds the extension to md, for [goldmark.WithExtensions].
func (r Relative) Extend(md goldmark.Markdown) {
	md.Parser().AddOptions(parser.WithASTTransformers(util.Prioritized(r, firstPriority)))
}

// Transform is called by goldmark for each document.
func (r Relative) Transform(doc *ast.Document, reader text.Reader, pc parser.Context) {
	rec, ok := pc.Get(recordKey).(*record)
	if !ok || r.Resolve == nil || r.Report == nil {
		return
	}
	source := reader.Source()
	l := locator{source: source, doc: doc}
	var at *placer
	eachLink(doc, func(n ast.Node) {
		switch n.(type) {
		case *ast.Link, *ast.Image:
		default:
			return
		}
		destination := rendering(n, source)
		target, dir, ok := relative(rec.file, destination)
		if !ok || r.Resolve(rec.file, target, dir) {
			return
		}
		if at == nil {
			at = newPlacer(source, rec.line)
		}
		p := check.Position{File: rec.file}
		if offset := l.offset(n); offset >= 0 {
			p.Line, p.Column = at.place(offset)
		}
		r.Report(hook.Link{Destination: destination, Position: p})
	})
}

// relative returns the path in the project that a relative destination means;
// ok is false for every other destination. One that is no URL is relative as it
// stands: nothing answers it.
func relative(file, destination string) (target string, dir, ok bool) {
	plain := destination
	if i := strings.IndexAny(plain, "?#"); i >= 0 {
		plain = plain[:i]
	}
	if plain == "" || strings.HasPrefix(plain, "/") || hasScheme(plain) {
		return "", false, false
	}
	if decoded, err := url.PathUnescape(plain); err == nil {
		plain = decoded
	}
	return path.Join(path.Dir(file), plain), strings.HasSuffix(plain, "/"), true
}

// hasScheme tells whether a URL begins with a scheme (RFC 3986, section 3.1).
func hasScheme(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		case i > 0 && (c == ':'):
			return true
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return false
}
