package report

import (
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// AppendLink appends f to dst as one line of `check --format jsonl --show all`
// and returns the longer slice. The thirteen fields of the row are a contract
// (docs/reference/formats.md): all are always present, in this order. Bytes that are not
// UTF-8 become U+FFFD, as JSON demands.
//
// Measured by BenchmarkAppendLink on a row of 301 bytes: 120 ns at best, 157 ns
// in the median of 60 runs on a busy machine, where encoding/json takes 557 ns
// at best. 2.5 million rows are a third of a second.
//
// It allocates nothing while dst has room, keeps no reference to f, and is
// safe for concurrent use.
func AppendLink(dst []byte, f *check.Finding) []byte {
	return append(appendRow(dst, f), "}\n"...)
}

// AppendSourcedLink is [AppendLink] with the place in the sources behind the
// thirteen fields, where f has one.
func AppendSourcedLink(dst []byte, f *check.Finding) []byte {
	return append(appendSource(appendRow(dst, f), f), "}\n"...)
}

// appendRow appends the fields of the row, with the brace that opens the
// object and without the one that closes it.
func appendRow(dst []byte, f *check.Finding) []byte {
	dst = append(dst, `{"page":`...)
	dst = appendString(dst, f.Page)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(f.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(f.Column), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, f.Offset, 10)
	dst = append(dst, `,"element":`...)
	dst = appendString(dst, f.Element)
	dst = append(dst, `,"attribute":`...)
	dst = appendString(dst, f.Attribute)
	dst = append(dst, `,"raw":`...)
	dst = appendString(dst, f.Raw)
	dst = append(dst, `,"target":`...)
	dst = appendString(dst, f.Target)
	dst = append(dst, `,"fragment":`...)
	dst = appendString(dst, f.Fragment)
	dst = append(dst, `,"verdict":"`...)
	dst = append(dst, f.Verdict.String()...) // a word of ours: nothing to escape
	dst = append(dst, `","code":`...)
	dst = appendString(dst, string(f.Code))
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(f.Status), 10)
	dst = append(dst, `,"final":`...)
	return appendString(dst, f.Final)
}
