package report

import "github.com/sitelink/sitelink/check"

// AppendFinding appends f as the object that [JSONL] writes on a line, without
// the line end. It is safe for concurrent use.
func AppendFinding(dst []byte, f *check.Finding) []byte { return appendFinding(dst, f) }

// AppendString appends s as a JSON string: what is not UTF-8 is replaced.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s) }

// AppendFixed appends one line that says of f, which was found before, that it
// is found no more.
func AppendFixed(dst []byte, f *check.Finding, opt TextOptions) []byte {
	p := painter(opt.Color)
	if f.Source != nil {
		dst = appendQuoted(dst, f.Source.File)
		dst = appendPlace(dst, f.Source.Line, f.Source.Column)
	} else {
		dst = appendPath(dst, f.Page, opt.Prefix)
		dst = appendPlace(dst, f.Line, f.Column)
	}
	dst = append(dst, ": "...)
	dst = p.on(dst, sgrDim)
	dst = append(dst, "fixed: "...)
	dst = p.off(dst)
	dst = appendCut(dst, f.Message, maxMessageBytes)
	dst = appendCode(dst, f.Code, p)
	return append(dst, '\n')
}
