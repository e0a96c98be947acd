package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/text"
)

// schema is the version of the JSON document. It changes when a field changes
// its meaning or is removed, not when a field is added.
const schema = 1

// JSON writes r as one object: schema, findings (an empty array if there are
// none) and summary. Each finding is on its own line, so that diff can compare
// two reports.
//
// The only errors are those of w, wrapped.
func JSON(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, `{"schema":`...)
	s.buf = strconv.AppendInt(s.buf, schema, 10)
	s.buf = append(s.buf, `,"findings":[`...)
	causes := check.Causes(r.Findings)
	ids := causeIDs(r.Findings, causes)
	for i := range r.Findings {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = append(s.buf, '\n')
		s.buf = AppendFinding(s.buf, &r.Findings[i], opt.Base, ids[i])
		if err := s.drain(); err != nil {
			return err
		}
	}
	if len(r.Findings) > 0 {
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(s.buf, `],"summary":`...)
	s.buf = append(s.buf, jsonOf(summaryOf(r.Summary, len(causes)))...)
	s.buf = append(s.buf, "}\n"...)
	return s.flush()
}

// JSONL writes the findings of r, one object per line, and nothing else. A
// clean site gives no output. The fields are those of [AppendLink], in the same
// order, then those that only a finding has.
//
// The only errors are those of w, wrapped.
func JSONL(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	ids := CauseIDs(r.Findings)
	for i := range r.Findings {
		s.buf = AppendFinding(s.buf, &r.Findings[i], opt.Base, ids[i])
		s.buf = append(s.buf, '\n')
		if err := s.drain(); err != nil {
			return err
		}
	}
	return s.flush()
}

// AppendFinding appends f as the object that [JSONL] writes on a line, without
// the line end. base is [Options.Base], and cause the ID of its cause. It is safe for
// concurrent use.
func AppendFinding(dst []byte, f *check.Finding, base, cause string) []byte {
	l := f.Link()
	fields := struct {
		File       string           `json:"file"`
		Source     *check.Position  `json:"source,omitempty"`
		Suggestion string           `json:"suggestion,omitempty"`
		Related    []*check.Related `json:"related,omitempty"`
		Concerns   *check.Concerns  `json:"concerns,omitempty"`
		Message    string           `json:"message"`
		Count      int              `json:"count,omitempty"`
		Cause      string           `json:"cause,omitempty"`
	}{File: pageFile(base, f.Page), Source: f.Source, Suggestion: f.Suggestion, Message: f.Message, Cause: cause}
	if f.Related != nil {
		fields.Related = append(fields.Related, f.Related)
	}
	if f.Concerns != nil {
		c := *f.Concerns
		c.Pages, c.Sources, c.Referrers = list(c.Pages), list(c.Sources), list(c.Referrers)
		fields.Concerns = &c
	}
	if f.Count > 1 {
		fields.Count = f.Count
	}
	return appendFields(appendRow(dst, &l), fields)
}

// appendFields appends the fields of a struct that has some, and ends the object.
func appendFields(dst []byte, fields any) []byte {
	return append(append(dst, ','), jsonOf(fields)[1:]...)
}

// jsonOf returns a value as JSON on one line, in the style of [AppendString].
func jsonOf(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts and numbers
	return text.EscapeHidden(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// list returns a list that is not null in JSON.
func list[T any](all []T) []T { return append([]T{}, all...) }

// jsonSummary is the summary with what the findings say. Causes counts those of the
// listed findings; Unlisted says that there are more.
type jsonSummary struct {
	check.Summary
	Causes   int `json:"causes"`
	Unlisted int `json:"unlisted,omitempty"`
}

func summaryOf(s check.Summary, causes int) jsonSummary {
	s.Reasons, s.UnusedIgnores, s.Skipped, s.Notes = list(s.Reasons), list(s.UnusedIgnores), list(s.Skipped), list(s.Notes)
	s.Read, s.NotRead, s.ScriptFragments = list(s.Read), list(s.NotRead), list(s.ScriptFragments)
	if s.External != nil {
		e := *s.External
		e.Died, e.Recovered, e.Failing, e.Blocked = list(e.Died), list(e.Recovered), list(e.Failing), list(e.Blocked)
		s.External = &e
	}
	if s.Baseline != nil {
		b := *s.Baseline
		b.Unneeded = list(b.Unneeded)
		s.Baseline = &b
	}
	return jsonSummary{s, causes, s.UnlistedErrors + s.UnlistedWarnings}
}

// AppendLink appends l to dst as one line of `check --format jsonl --show all` and returns
// the longer slice. The thirteen fields of the line are a contract
// (docs/reference/formats.md): all are always present, in this order. A link with a
// fragment that is left to a script also has the field evidence. A link to another site
// that was asked for has the field remote. Two fields of a finding follow: the position in
// the sources, unless source is nil, and the ID of its cause, unless cause is "". Bytes
// that are not UTF-8 become U+FFFD, as JSON requires.
//
// BenchmarkAppendLink, a row of 301 bytes: 120 ns at best and 157 ns in the
// median of 60 runs on a busy machine; encoding/json takes 557 ns at best. 2.5
// million rows take a third of a second.
//
// It does not allocate while dst has room, does not keep l, and is safe for
// concurrent use.
func AppendLink(dst []byte, l *check.Link, source *check.Position, cause string) []byte {
	dst = appendRow(dst, l)
	if source == nil && cause == "" {
		return append(dst, "}\n"...)
	}
	return append(appendFields(dst, struct {
		Source *check.Position `json:"source,omitempty"`
		Cause  string          `json:"cause,omitempty"`
	}{source, cause}), '\n')
}

// appendRow appends the fields of the row, with the opening brace of the object
// and without the closing one.
func appendRow(dst []byte, l *check.Link) []byte {
	dst = append(dst, `{"page":`...)
	dst = AppendString(dst, l.Page)
	dst = append(dst, `,"line":`...)
	dst = strconv.AppendInt(dst, int64(l.Line), 10)
	dst = append(dst, `,"column":`...)
	dst = strconv.AppendInt(dst, int64(l.Column), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, l.Offset, 10)
	dst = append(dst, `,"element":`...)
	dst = AppendString(dst, l.Element)
	dst = append(dst, `,"attribute":`...)
	dst = AppendString(dst, l.Attribute)
	dst = append(dst, `,"raw":`...)
	dst = AppendString(dst, l.Raw)
	dst = append(dst, `,"target":`...)
	dst = AppendString(dst, l.Target)
	dst = append(dst, `,"fragment":`...)
	dst = AppendString(dst, l.Fragment)
	dst = append(dst, `,"verdict":"`...)
	dst = append(dst, l.Verdict.String()...) // nothing to escape in our own words
	dst = append(dst, `","code":`...)
	dst = AppendString(dst, string(l.Code))
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(l.Status), 10)
	dst = append(dst, `,"final":`...)
	dst = AppendString(dst, l.Final)
	if l.Evidence != "" {
		dst = append(dst, `,"evidence":`...)
		dst = AppendString(dst, l.Evidence)
	}
	if r := l.Remote; r != nil {
		since := ""
		if !r.Since.IsZero() {
			since = r.Since.UTC().Format(time.RFC3339)
		}
		dst = fmt.Appendf(dst, `,"remote":{"reason":%s,"strikes":%d,"since":"%s","change":%s`, jsonOf(r.Reason), r.Strikes, since, jsonOf(r.Change))
		dst = append(dst, '}')
	}
	return dst
}

// AppendFixed appends a line that says that the findings of a family, which an
// earlier check found, are fixed.
func (m Family) AppendFixed(dst []byte, findings []check.Finding, opt TextOptions) []byte {
	p, f := painter(opt.Color), &findings[m.causes[0].First]
	dst = append(appendPlace(dst, f, opt), ": "...)
	dst = fmt.Appendf(dst, "%s%s", p.paint(sgrDim, "fixed: "), sentence(f.Message))
	dst = appendCode(dst, f.Code, p)
	if len(m.causes) > 1 {
		dst = append(dst, " and "+text.Count(len(m.causes)-1, "more cause")...)
	}
	if _, _, links := counts(m.causes); links > 1 {
		dst = append(dst, ", "+text.Count(links, "link")...)
	}
	return append(dst, '\n')
}

const hexDigits = "0123456789abcdef"

// plainByte says which bytes a JSON string contains without escapes. < > and &
// are among them: reports are not pasted into pages unescaped, and users of jq
// read them.
var plainByte = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\' && c != 0x7f
	}
	return t
}()

// AppendString appends s as a JSON string. It writes what encoding/json writes with
// SetEscapeHTML(false), but escapes hidden characters too, see [text.Hidden]: a report
// may be printed to a terminal. Bytes that are not UTF-8 are replaced.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	i := plainPrefix(s)
	for i < len(s) {
		dst = append(dst, s[:i]...)
		var n int
		dst, n = appendEscape(dst, s[i:])
		s = s[i+n:]
		i = plainPrefix(s)
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

// plainPrefix returns the length of the longest prefix of s that needs no
// escapes. It tests eight bytes at once, because nearly all of a row is plain
// ASCII.
func plainPrefix(s string) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if !plainWord(s[i : i+8]) {
			break
		}
	}
	if n := len(s); i+8 > n && n >= 8 && plainWord(s[n-8:]) {
		return n // the tail overlaps bytes that were already tested
	}
	for i < len(s) && plainByte[s[i]] {
		i++
	}
	return i
}

// plainWord reports whether the first eight bytes of s need no escapes.
func plainWord(s string) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	_ = s[7]
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	// A byte's high bit is set if the byte is >= 0x7f, < 0x20, " or \. A borrow
	// can set another one, but only above a byte that has its own.
	return (w|(w-ones*0x20)|((w^ones*'"')-ones)|((w^ones*'\\')-ones)|((w^ones*0x7f)-ones))&highs == 0
}

// appendEscape appends the escape of the first rune of s, which needs one, and
// returns the number of bytes of s that it replaces.
func appendEscape(dst []byte, s string) ([]byte, int) {
	c := s[0]
	switch c {
	case '"', '\\':
		return append(dst, '\\', c), 1
	case '\b':
		return append(dst, `\b`...), 1
	case '\f':
		return append(dst, `\f`...), 1
	case '\n':
		return append(dst, `\n`...), 1
	case '\r':
		return append(dst, `\r`...), 1
	case '\t':
		return append(dst, `\t`...), 1
	}
	if c < utf8.RuneSelf {
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return append(dst, `\ufffd`...), 1
	case text.Hidden(r):
		return text.AppendEscaped(dst, r), n
	}
	return append(dst, s[:n]...), n
}

// JSONDocument writes a document, such as that of a plan, indented and without
// escapes for HTML. Hidden characters are escaped, as in every format.
func JSONDocument(w io.Writer, document any) error {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	if err == nil {
		_, err = w.Write(text.EscapeHidden(out.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
