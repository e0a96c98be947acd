package report

import (
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// AppendLink appends l to dst as one line of `check --format jsonl --show all`
// and returns the longer slice. The thirteen fields of the row are a contract
// (docs/reference/formats.md): all are always present, in this order. Bytes that are not
// UTF-8 become U+FFFD, as JSON demands.
//
// Measured by BenchmarkAppendLink on a row of 301 bytes: 120 ns at best, 157 ns
// in the median of 60 runs on a busy machine, where encoding/json takes 557 ns
// at best. 2.5 million rows are a third of a second.
//
// It allocates nothing while dst has room, keeps no reference to l, and is
// safe for concurrent use.
func AppendLink(dst []byte, l *check.Link) []byte {
	return append(appendRow(dst, l), "}\n"...)
}

// AppendSourcedLink is [AppendLink] with the place in the sources after the
// thirteen fields, if source is not nil.
func AppendSourcedLink(dst []byte, l *check.Link, source *check.Position) []byte {
	return append(appendSource(appendRow(dst, l), source), "}\n"...)
}

// appendRow appends the fields of the row, with the brace that opens the
// object and without the one that closes it.
func appendRow(dst []byte, l *check.Link) []byte {
	dst = append(dst, `{"page":`...)
	dst = appendString(dst, l.Page)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(l.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(l.Column), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, l.Offset, 10)
	dst = append(dst, `,"element":`...)
	dst = appendString(dst, l.Element)
	dst = append(dst, `,"attribute":`...)
	dst = appendString(dst, l.Attribute)
	dst = append(dst, `,"raw":`...)
	dst = appendString(dst, l.Raw)
	dst = append(dst, `,"target":`...)
	dst = appendString(dst, l.Target)
	dst = append(dst, `,"fragment":`...)
	dst = appendString(dst, l.Fragment)
	dst = append(dst, `,"verdict":"`...)
	dst = append(dst, l.Verdict.String()...) // a word of ours: nothing to escape
	dst = append(dst, `","code":`...)
	dst = appendString(dst, string(l.Code))
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(l.Status), 10)
	dst = append(dst, `,"final":`...)
	return appendString(dst, l.Final)
}
