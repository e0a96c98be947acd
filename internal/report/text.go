package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// TextOptions say how text looks. The zero value is plain text with paths
// relative to the docroot.
type TextOptions struct {
	// Color turns on ANSI colours. The caller knows whether w is a terminal.
	Color bool
	// Prefix is put in front of the path of each page, such as public/, so that
	// an editor or terminal can open it. A slash at its end is added; "." means
	// no prefix. It may be the address of a running site.
	Prefix string
	// Within is the directory of the reader below the docroot, a slash path, from which pages
	// are named then; "" if the reader is not below it.
	Within string
	// Here is the directory of the reader, a slash path relative to the root of the
	// project, from which source files are named; "" is the root.
	Here string
	// All lists every cause, however many there are.
	All bool
}

// Source names a source file as the reader would write it.
func (o *TextOptions) Source(file string) string {
	if o.Here == "" || o.Here == "." || absolute(file) || absolute(o.Here) {
		return file
	}
	rel, err := filepath.Rel(filepath.FromSlash(o.Here), filepath.FromSlash(file))
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

const (
	sgrReset  = "\x1b[0m"
	sgrBold   = "\x1b[1m"
	sgrDim    = "\x1b[2m"
	sgrRed    = "\x1b[31m"
	sgrYellow = "\x1b[33m"
)

// AppendLinkText appends a link as `check --show all` lists it in text: several
// lines for a finding, one for any other link. source is its position in the
// sources, nil if that is not known. It is safe for concurrent use.
func AppendLinkText(dst []byte, l *check.Link, source *check.Position, opt TextOptions) []byte {
	f := l.Finding()
	f.Source = source
	dst = AppendText(dst, &f, opt)
	if l.Evidence != "" {
		dst = append(dst[:len(dst)-1], map[bool]string{true: ", because: ", false: ", left to "}[l.Code == check.Exempted]...)
		dst = appendCut(dst, l.Evidence, maxMessageBytes)
		dst = append(dst, '\n')
	}
	return dst
}

// AppendText appends f as [Text] shows it: a finding with its indented lines, a
// link that is fine or unchecked as one line. It is safe for concurrent use.
func AppendText(dst []byte, f *check.Finding, opt TextOptions) []byte {
	p := painter(opt.Color)
	dst = appendFirstLine(dst, f, opt)
	if f.Verdict != check.Error && f.Verdict != check.Warning {
		return dst
	}
	dst = appendDetails(dst, f, opt)
	if f.Source != nil {
		dst = append(dst, indent+p.paint(sgrDim, from(f)+"in "+built(f, &opt))+"\n"...)
	}
	return dst
}

// appendFirstLine appends the position, the verdict and the message, or for a
// link that is not a finding, how it is written.
func appendFirstLine(dst []byte, f *check.Finding, opt TextOptions) []byte {
	p := painter(opt.Color)
	dst = p.on(dst, sgrBold)
	dst = append(appendPlace(dst, f, opt), ':')
	dst = p.off(dst)
	dst = append(dst, ' ')
	isFinding := f.Verdict == check.Error || f.Verdict == check.Warning
	dst = p.on(dst, verdictColors[f.Verdict])
	dst = append(dst, f.Verdict.String()...)
	dst = append(dst, ':')
	dst = p.off(dst)
	if !isFinding {
		dst = append(dst, ' ')
		dst = appendWritten(dst, f)
		dst = appendArrow(dst, f)
		dst = appendCode(dst, f.Code, p)
		if f.Source != nil {
			dst = append(dst, " in "...)
			dst = appendPath(dst, f.Page, &opt)
		}
		return append(dst, '\n')
	}
	if f.Message != "" {
		dst = append(dst, ' ')
		dst = appendCut(dst, f.Message, maxMessageBytes)
	}
	dst = appendCode(dst, f.Code, p)
	return append(dst, '\n')
}

// appendDetails appends the indented lines: the link as written, where it leads
// unless the message says so, the suggestion, and the related position.
func appendDetails(dst []byte, f *check.Finding, opt TextOptions) []byte {
	p := painter(opt.Color)
	if f.Element != "" || f.Raw != "" {
		dst = append(dst, indent...)
		dst = p.on(dst, sgrDim)
		dst = appendWritten(dst, f)
		dst = appendAnswer(dst, f)
		if f.Count > 1 {
			dst = append(dst, ", one of "+text.Count(f.Count, "link")...)
		}
		dst = p.off(dst)
		dst = append(dst, '\n')
	}
	if words := suggested(indent, f); words != "" {
		dst = append(dst, words+"\n"...)
	}
	if f.Related != nil {
		dst = append(appendRelated(append(dst, indent...), f.Related, opt), '\n')
	}
	return dst
}

var verdictColors = map[check.Verdict]string{check.OK: sgrDim, check.Error: sgrRed, check.Warning: sgrYellow, check.Unchecked: sgrDim}

const indent = "    "

// appendWritten appends the link as an author knows it: <a href="x">, or
// <style> x if it is in the text of the element.
func appendWritten(dst []byte, f *check.Finding) []byte {
	if f.Element == "" {
		return appendCut(dst, f.Raw, maxValueBytes)
	}
	dst = append(dst, '<')
	dst = appendCut(dst, f.Element, maxValueBytes)
	if f.Attribute == "" {
		dst = append(dst, "> "...)
		return appendCut(dst, f.Raw, maxValueBytes)
	}
	dst = append(dst, ' ')
	dst = appendCut(dst, f.Attribute, maxValueBytes)
	dst = append(dst, `="`...)
	dst = appendCut(dst, f.Raw, maxValueBytes)
	return append(dst, `">`...)
}

// appendArrow appends where the link leads, unless that is what is written, and
// the path that finally answers.
func appendArrow(dst []byte, f *check.Finding) []byte {
	rest, same := strings.CutPrefix(f.Raw, f.Target)
	if f.Target != "" && !(same && (rest == "" || rest == "#"+f.Fragment)) {
		dst = append(dst, " -> "...)
		dst = appendCut(dst, f.Target, maxValueBytes)
		if f.Fragment != "" {
			dst = append(dst, '#')
			dst = appendCut(dst, f.Fragment, maxValueBytes)
		}
	}
	return appendFinal(dst, f)
}

// appendAnswer appends what the message does not say: where the link leads, and what answers.
func appendAnswer(dst []byte, f *check.Finding) []byte {
	where := *f
	if strings.Contains(f.Message, f.File) {
		where.File = ""
	}
	if f.Target == "" || !strings.Contains(f.Message, f.Target) {
		return appendArrow(dst, &where)
	}
	return appendFinal(dst, &where)
}

// appendFinal appends where a redirect leads, and the file that answers for a
// directory.
func appendFinal(dst []byte, f *check.Finding) []byte {
	if f.Final != "" {
		dst = append(dst, ", redirected to "...)
		dst = appendCut(dst, f.Final, maxValueBytes)
	}
	if f.File != "" {
		dst = append(dst, ", answered by "...)
		dst = appendCut(dst, f.File, maxValueBytes)
	}
	return dst
}

func appendCode(dst []byte, code check.Code, p painter) []byte {
	if code == "" {
		return dst
	}
	dst = append(dst, ' ')
	dst = p.on(dst, sgrDim)
	dst = append(dst, '[')
	dst = appendCut(dst, string(code), maxValueBytes)
	dst = append(dst, ']')
	return p.off(dst)
}

// appendPlace appends the position of a finding: in the sources if it is known.
func appendPlace(dst []byte, f *check.Finding, opt TextOptions) []byte {
	if f.Source != nil {
		return appendLineColumn(appendQuoted(dst, opt.Source(f.Source.File)), f.Source.Line, f.Source.Column)
	}
	return appendLineColumn(appendPath(dst, f.Page, &opt), f.Line, f.Column)
}

// appendLineColumn appends :line:column, as far as they are known.
func appendLineColumn(dst []byte, line, column int) []byte {
	if line <= 0 {
		return dst
	}
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, int64(line), 10)
	if column <= 0 {
		return dst
	}
	dst = append(dst, ':')
	return strconv.AppendInt(dst, int64(column), 10)
}

// Page names a page as the reader would write it.
func (o *TextOptions) Page(page string) string { return string(appendPath(nil, page, o)) }

func appendPath(dst []byte, page string, opt *TextOptions) []byte {
	if rel, err := filepath.Rel(filepath.FromSlash(opt.Within), filepath.FromSlash(page)); opt.Within != "" && err == nil {
		return appendQuoted(dst, filepath.ToSlash(rel))
	}
	return appendQuoted(dst, pageFile(opt.Prefix, page))
}

// painter turns colours on and off, or does nothing.
type painter bool

func (p painter) on(dst []byte, sgr string) []byte {
	if p {
		dst = append(dst, sgr...)
	}
	return dst
}

func (p painter) off(dst []byte) []byte { return p.on(dst, sgrReset) }

// paint returns a text in a colour.
func (p painter) paint(sgr, s string) string {
	if !p || sgr == "" {
		return s
	}
	return sgr + s + sgrReset
}

// TextGroups is [Text] with headings, as opt.GroupBy selects, and an empty line
// between two groups.
//
// With GroupTarget, a heading is the target with what is wrong with it and the
// number of links and pages, followed by an indented line for each link. Other
// headings count their findings, which follow as in [Text].
func TextGroups(w io.Writer, r *check.Result, opt Options) error {
	s, p := sink{w: w}, painter(opt.Color)
	for _, g := range groupFindings(r.Findings, &opt) {
		first := &r.Findings[g.findings[0]]
		byTarget := opt.GroupBy == GroupTarget && g.label != ""
		if byTarget {
			// "/old/: error: file not found: /old/ [missing-file], 16 links on 8 pages"
			dst := s.buf
			dst = fmt.Appendf(dst, "%s %s", p.paint(sgrBold, value(g.label)+":"), p.paint(verdictColors[first.Verdict], first.Verdict.String()+":"))
			if first.Message != "" {
				dst = append(dst, " "+sentence(first.Message)...)
			}
			dst = appendCode(dst, first.Code, p)
			s.buf = fmt.Appendf(dst, ", %s on %s\n", text.Count(g.links, "link"), text.Count(g.pages, "page"))
		} else {
			// "@docs-team: 12 errors, 1 warning on 5 pages"
			dst := s.buf
			dst = fmt.Appendf(dst, "%s %s", p.paint(sgrBold, value(headingOf(g, opt.GroupBy))+":"), verdictCounts(g.errors, g.warnings, " "))
			if opt.GroupBy != GroupPage {
				dst = append(dst, " on "+text.Count(g.pages, "page")...)
			}
			s.buf = append(dst, '\n')
		}
		for _, i := range g.findings {
			f := &r.Findings[i]
			if byTarget {
				s.buf = appendReferrer(s.buf, f, opt.TextOptions)
			} else {
				s.buf = AppendText(s.buf, f, opt.TextOptions)
			}
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, '\n')
	}
	s.buf = appendTextSummary(s.buf, r, len(check.Causes(r.Findings)), opt.TextOptions)
	return s.flush()
}

// headingOf returns the label of a group, or a text for groups without one.
func headingOf(g *group, by GroupBy) string {
	switch {
	case g.label != "":
		return g.label
	case by == GroupOwner:
		return "no owner"
	}
	return string(g.code)
}

// appendReferrer appends one link to a target: first its position, so that
// editors find it, then how it is written.
func appendReferrer(dst []byte, f *check.Finding, opt TextOptions) []byte {
	dst = appendPlace(append(dst, indent...), f, opt)
	dst = append(dst, ": "+painter(opt.Color).paint(sgrDim, string(appendWritten(nil, f)))...)
	if f.Count > 1 {
		dst = append(dst, ", one of "+text.Count(f.Count, "link")...)
	}
	dst = append(dst, suggested(", ", f)...)
	if f.Related != nil {
		dst = appendRelated(append(dst, ", "...), f.Related, opt)
	}
	return append(dst, '\n')
}
