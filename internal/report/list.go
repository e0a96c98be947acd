package report

import (
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// Row is one row of `sitelink links`: a line of JSON Lines or of CSV.
// Rows of one kind have the same names in the same order.
type Row []Field

// Field is one value of a row: Number if IsNumber is set, otherwise Text.
type Field struct {
	Name     string
	Text     string
	Number   int64
	IsNumber bool
}

func textField(name, value string) Field { return Field{Name: name, Text: value} }

func numberField(name string, n int64) Field { return Field{Name: name, Number: n, IsNumber: true} }

// LinkRow returns the row of a link with the thirteen fields of
// [AppendLink].
func LinkRow(l *check.Link) Row {
	return Row{
		textField("page", l.Page), numberField("line", int64(l.Line)), numberField("column", int64(l.Column)), numberField("offset", l.Offset),
		textField("element", l.Element), textField("attribute", l.Attribute), textField("raw", l.Raw),
		textField("target", l.Target), textField("fragment", l.Fragment), textField("verdict", l.Verdict.String()), textField("code", string(l.Code)),
		numberField("status", int64(l.Status)), textField("final", l.Final),
	}
}

// PlacedLinkRow returns the row of a link with its position in the sources:
// file, line and column, empty and 0 where it is not known.
func PlacedLinkRow(l *check.Link, source *check.Position) Row {
	if source == nil {
		source = &check.Position{}
	}
	return append(LinkRow(l), textField("source", source.File), numberField("source-line", int64(source.Line)), numberField("source-column", int64(source.Column)))
}

// ExternalRow returns the row of an external URL. site is the base URL of
// the site that links to it.
func ExternalRow(site string, x *check.ExternalTarget) Row {
	return Row{
		textField("site", site), textField("target", x.Target), textField("fragment", x.Fragment),
		textField("host", x.Host), textField("path", x.Path), textField("anchor", x.Anchor),
		numberField("links", int64(x.Links)), numberField("pages", int64(x.Pages)),
		textField("page", x.Page), numberField("line", int64(x.Line)), numberField("column", int64(x.Column)),
	}
}

// AnchorRow returns the row of an anchor. site is the base URL of its site.
func AnchorRow(site string, a check.Anchor) Row {
	return Row{textField("site", site), textField("file", a.Page), textField("anchor", a.Name), textField("kind", a.Kind)}
}

// AddressRow returns the row of a path that a site answers. site is the base
// URL of the site, host its host, and base its base path with a slash at the
// end.
func AddressRow(site, host, base string, a check.Address) Row {
	return Row{
		textField("site", site), textField("host", host), textField("base", base),
		textField("path", a.Path), textField("file", a.File), textField("kind", a.Kind), textField("final", a.Final),
	}
}

// AppendJSON appends r as one line of JSON Lines in the style of [AppendLink].
// It does not allocate while dst has room.
func (r Row) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, f := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, f.Name)
		dst = append(dst, ':')
		if f.IsNumber {
			dst = strconv.AppendInt(dst, f.Number, 10)
		} else {
			dst = AppendString(dst, f.Text)
		}
	}
	return append(dst, "}\n"...)
}

// AppendCSVHeader appends the names of the fields as a line of CSV.
func (r Row) AppendCSVHeader(dst []byte) []byte {
	for i, f := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCSV(dst, f.Name)
	}
	return append(dst, "\r\n"...)
}

// AppendCSV appends r as one line of CSV (RFC 4180, section 2): lines end with
// CR LF, and a value with a comma or a quote is quoted. People open such files with
// spreadsheets, so a value that one would take for a formula gets an apostrophe in
// front, and control characters and hidden ones are escaped as in a text report.
// JSON Lines has the exact values.
func (r Row) AppendCSV(dst []byte) []byte {
	for i, f := range r {
		if i > 0 {
			dst = append(dst, ',')
		}
		if f.IsNumber {
			dst = strconv.AppendInt(dst, f.Number, 10)
		} else {
			dst = appendCSV(dst, f.Text)
		}
	}
	return append(dst, "\r\n"...)
}

func appendCSV(dst []byte, s string) []byte {
	quote := strings.ContainsAny(s, `,"`)
	if quote {
		dst = append(dst, '"')
		s = strings.ReplaceAll(s, `"`, `""`)
	}
	if s != "" && strings.IndexByte("=+-@", s[0]) >= 0 {
		dst = append(dst, '\'')
	}
	dst = appendQuoted(dst, s)
	if quote {
		dst = append(dst, '"')
	}
	return dst
}

// DotBegin and DotEnd enclose the edges of [AppendDot]. A strict graph draws
// several links between the same two nodes as one edge.
const (
	DotBegin = "strict digraph links {\n\trankdir=LR\n\tnode [shape=box]\n"
	DotEnd   = "}\n"
)

// AppendDot appends the edge of a link in the DOT language of Graphviz: from
// its page to file, the docroot path of what answers, or to its target if no
// file answers. Links without a target page (mailto, data, javascript, actions,
// hints) have no edge. Broken links are red, warnings orange. If several links
// between two nodes differ, the last colour counts.
func AppendDot(dst []byte, l *check.Link, file string) []byte {
	switch l.Code {
	case check.Mailto, check.Tel, check.Data, check.JavaScript, check.OtherScheme, check.Inert, check.Action, check.Hint, check.Ping:
		return dst
	}
	to := file
	if to == "" {
		to = l.Target
	}
	if to == "" {
		to = l.Raw
	}
	dst = append(dst, '\t')
	dst = appendDotName(dst, l.Page)
	dst = append(dst, " -> "...)
	dst = appendDotName(dst, to)
	switch l.Verdict {
	case check.Error:
		dst = append(dst, " [color=red]"...)
	case check.Warning:
		dst = append(dst, " [color=orange]"...)
	}
	return append(dst, '\n')
}

// appendDotName appends a quoted name. Between quotes the parser only knows \".
// The name is also the label, in which a backslash starts an escape, so it is
// doubled. Long names, such as data: URLs, are cut.
func appendDotName(dst []byte, name string) []byte {
	plain := string(appendCut(nil, name, maxMessageBytes))
	dst = append(dst, '"')
	dst = append(dst, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain)...)
	return append(dst, '"')
}
