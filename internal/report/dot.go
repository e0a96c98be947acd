package report

import (
	"strings"

	"github.com/sitelink/sitelink/check"
)

// DotBegin and DotEnd stand around the edges of [AppendDot]. A strict graph
// draws several links between the same two nodes as one edge.
const (
	DotBegin = "strict digraph links {\n\trankdir=LR\n\tnode [shape=box]\n"
	DotEnd   = "}\n"
)

// AppendDot appends the edge of a link in the DOT language of Graphviz, from
// its page to file, the docroot path of what answers, or to its target where
// nothing of the docroot does. Links that lead nowhere by themselves (mailto,
// data, javascript, actions, hints) have no edge. Broken links are red,
// warnings orange; where links between the same two nodes differ, the last colour
// counts.
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

// appendDotName appends a name in quotes. Inside them only \" means something
// to the parser; as a label the name is read again, where a backslash begins an
// escape, so it is doubled. Long names are cut: a data: URL is no label.
func appendDotName(dst []byte, name string) []byte {
	plain := string(appendCut(nil, name, maxMessageBytes))
	dst = append(dst, '"')
	dst = append(dst, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(plain)...)
	return append(dst, '"')
}
