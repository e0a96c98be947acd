package hook

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
	"github.com/sitelink/sitelink/internal/scan/markdown"
)

// Relative is an extension of goldmark that reports relative links and images
// without a target while they are rendered. It checks destinations as they are
// written, before other extensions replace them. It works only for texts that
// [Recorder.Convert] renders, because it needs the name of the file.
//
// A destination is relative if it has no scheme and no host, does not start with
// a slash or a question mark, and is more than a fragment. HTML in Markdown is
// not checked.
type Relative struct {
	// Resolve reports whether target exists. target is the path of the
	// destination, percent-decoded and joined to the directory of file: a clean
	// slash path in the project, which starts with ../ if it is outside. dir
	// reports that the destination ends with a slash. Resolve is called from the
	// goroutines that render.
	Resolve func(file, target string, dir bool) bool
	// Report is called for each destination that does not exist, with its
	// position; Line is 0 if that is not known.
	Report func(l Link)
}

// InFiles returns a [Relative.Resolve] for links that name files of the project,
// such as ../notes/b.md. fsys is the root of the project.
func InFiles(fsys fs.FS) func(file, target string, dir bool) bool {
	return func(_, target string, dir bool) bool {
		info, err := fs.Stat(fsys, target)
		return err == nil && (info.IsDir() || !dir)
	}
}

// Extend adds the extension to md. [goldmark.WithExtensions] calls it.
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
	l := markdown.Locator{Source: source, Doc: doc}
	var lines *lineCounter
	markdown.EachLink(doc, func(n ast.Node) {
		switch n.(type) {
		case *ast.Link, *ast.Image:
		default:
			return
		}
		written := destination(n, source)
		target, dir, ok := relativeTarget(rec.file, written)
		if !ok || r.Resolve(rec.file, target, dir) {
			return
		}
		if lines == nil {
			lines = newLineCounter(source, rec.line)
		}
		p := check.Position{File: rec.file}
		if offset := l.Offset(n); offset >= 0 {
			p.Line, p.Column = lines.position(offset)
		}
		r.Report(Link{Destination: written, Position: p})
	})
}

// relativeTarget returns the path in the project that a relative destination
// means; ok is false for all others. A destination that cannot be decoded is
// taken as it is written, and will not exist.
func relativeTarget(file, destination string) (target string, dir, ok bool) {
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

// hasScheme reports whether a URL starts with a scheme (RFC 3986, section 3.1).
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
