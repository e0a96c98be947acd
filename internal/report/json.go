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
)

// schema is the version of the JSON document. It changes when a field changes
// its meaning or is removed, not when a field is added.
const schema = 1

// JSON writes r as one object: schema, findings (an empty array if there are
// none) and summary. Each finding is on its own line, so that diff can compare
// two reports.
//
// The only errors are those of w, wrapped.
func JSON(w io.Writer, r *check.Result) error {
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
		s.buf = AppendFinding(s.buf, &r.Findings[i], ids[i])
		if err := s.drain(); err != nil {
			return err
		}
	}
	if len(r.Findings) > 0 {
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(s.buf, `],"summary":`...)
	s.buf = appendSummary(s.buf, &r.Summary, len(causes))
	s.buf = append(s.buf, "}\n"...)
	return s.flush()
}

// JSONL writes the findings of r, one object per line, and nothing else. A
// clean site gives no output. The fields are those of [AppendLink], in the same
// order, then those that only a finding has.
//
// The only errors are those of w, wrapped.
func JSONL(w io.Writer, r *check.Result) error {
	s := sink{w: w}
	ids := CauseIDs(r.Findings)
	for i := range r.Findings {
		s.buf = AppendFinding(s.buf, &r.Findings[i], ids[i])
		s.buf = append(s.buf, '\n')
		if err := s.drain(); err != nil {
			return err
		}
	}
	return s.flush()
}

// AppendFinding appends f as the object that [JSONL] writes on a line, without
// the line end. cause is the ID of its cause. It is safe for concurrent use.
func AppendFinding(dst []byte, f *check.Finding, cause string) []byte {
	l := f.Link()
	dst = appendRow(dst, &l)
	dst = appendSource(dst, f.Source)
	if f.Suggestion != "" {
		dst = append(dst, `,"suggestion":`...)
		dst = AppendString(dst, f.Suggestion)
	}
	dst = appendRelatedObject(dst, f.Related)
	dst = appendConcerns(dst, f.Concerns)
	dst = append(dst, `,"message":`...)
	dst = AppendString(dst, f.Message)
	if f.Count > 1 {
		dst = appendIntField(dst, `,"count":`, f.Count)
	}
	return append(appendCauseID(dst, cause), '}')
}

// appendCauseID appends the field cause, unless it is "".
func appendCauseID(dst []byte, cause string) []byte {
	if cause == "" {
		return dst
	}
	return append(append(append(dst, `,"cause":"`...), cause...), '"') // hexadecimal digits
}

// appendSummary appends s as an object. Lists are never null. causes counts those of the
// listed findings; the field unlisted says that there are more.
func appendSummary(dst []byte, s *check.Summary, causes int) []byte {
	dst = append(dst, `{"docroot":`...)
	dst = AppendString(dst, s.Docroot)
	dst = append(dst, `,"profile":`...)
	dst = AppendString(dst, s.Profile)
	dst = append(dst, `,"profile_from":`...)
	dst = AppendString(dst, s.ProfileFrom)
	dst = appendIntField(dst, `,"files":`, s.Files)
	dst = appendIntField(dst, `,"pages":`, s.Pages)
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, s.Bytes, 10)
	dst = appendIntField(dst, `,"links":`, s.Links)
	dst = appendIntField(dst, `,"anchors":`, s.Anchors)
	dst = appendIntField(dst, `,"ok":`, s.OK)
	dst = appendIntField(dst, `,"errors":`, s.Errors)
	dst = appendIntField(dst, `,"warnings":`, s.Warnings)
	dst = appendIntField(dst, `,"unchecked":`, s.Unchecked)
	dst = appendIntField(dst, `,"ignored":`, s.Ignored)
	dst = appendIntField(dst, `,"file_errors":`, s.FileErrors)
	dst = appendIntField(dst, `,"file_warnings":`, s.FileWarnings)
	dst = appendIntField(dst, `,"causes":`, causes)
	if capped(s) {
		dst = appendIntField(dst, `,"unlisted":`, s.UnlistedErrors+s.UnlistedWarnings)
	}
	dst = appendIntField(dst, `,"redirected":`, s.Redirected)
	dst = append(dst, `,"reasons":[`...)
	for i, r := range s.Reasons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"code":`...)
		dst = AppendString(dst, string(r.Code))
		dst = appendIntField(dst, `,"count":`, r.Count)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"unused_ignores":[`...)
	dst = appendStrings(dst, s.UnusedIgnores)
	dst = append(dst, `],"skipped":[`...)
	dst = appendStrings(dst, s.Skipped)
	dst = append(dst, ']')
	dst = appendReadJSON(dst, s)
	dst = appendExternalJSON(dst, s.External)
	return append(appendBaselineObject(dst, s.Baseline), '}')
}

// appendExternalJSON appends the field external of the summary if e is not nil.
func appendExternalJSON(dst []byte, e *check.ExternalSummary) []byte {
	if e == nil {
		return dst
	}
	dst = appendIntField(dst, `,"external":{"urls":`, e.URLs)
	dst = appendIntField(dst, `,"requests":`, e.Requests)
	dst = appendIntField(dst, `,"remembered":`, e.Remembered)
	dst = appendIntField(dst, `,"unasked":`, e.Unasked)
	dst = appendIntField(dst, `,"unchanged":`, e.Unchanged)
	dst = appendStrings(append(dst, `,"died":[`...), e.Died)
	dst = appendStrings(append(dst, `],"recovered":[`...), e.Recovered)
	dst = appendHosts(append(dst, `],"failing":[`...), e.Failing)
	dst = appendHosts(append(dst, `],"blocked":[`...), e.Blocked)
	return append(dst, "]}"...)
}

func appendHosts(dst []byte, hosts []check.HostCount) []byte {
	for i, h := range hosts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"host":`...)
		dst = AppendString(dst, h.Host)
		dst = append(appendIntField(dst, `,"count":`, h.Count), '}')
	}
	return dst
}

func appendStrings(dst []byte, all []string) []byte {
	for i, text := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, text)
	}
	return dst
}

func appendIntField(dst []byte, key string, n int) []byte {
	dst = append(dst, key...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// AppendLink appends l to dst as one line of `check --format jsonl --show all`
// and returns the longer slice. The thirteen fields of the line are a contract
// (docs/reference/formats.md): all are always present, in this order. A link whose
// fragment is left to a script also has the field evidence, and one to another site that
// was asked for the field remote. What is known of a finding follows: the position in the
// sources, unless source is nil, and the ID of its cause, unless that is "". Bytes that are not
// UTF-8 become U+FFFD, as JSON requires.
//
// BenchmarkAppendLink, a row of 301 bytes: 120 ns at best and 157 ns in the
// median of 60 runs on a busy machine; encoding/json takes 557 ns at best. 2.5
// million rows take a third of a second.
//
// It does not allocate while dst has room, does not keep l, and is safe for
// concurrent use.
func AppendLink(dst []byte, l *check.Link, source *check.Position, cause string) []byte {
	return append(appendCauseID(appendSource(appendRow(dst, l), source), cause), "}\n"...)
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
	if l.Remote != nil {
		dst = appendRemote(dst, l.Remote)
	}
	return dst
}

// appendRemote appends the field remote of a row.
func appendRemote(dst []byte, r *check.Remote) []byte {
	dst = append(dst, `,"remote":{"reason":`...)
	dst = AppendString(dst, r.Reason)
	dst = appendIntField(dst, `,"strikes":`, r.Strikes)
	dst = append(dst, `,"since":"`...)
	if !r.Since.IsZero() {
		dst = r.Since.UTC().AppendFormat(dst, time.RFC3339)
	}
	dst = append(dst, `","change":`...)
	dst = AppendString(dst, r.Change)
	return append(dst, '}')
}

// AppendFixed appends a line that says that the findings of a family, which an
// earlier check found, are fixed.
func (m Family) AppendFixed(dst []byte, findings []check.Finding, opt TextOptions) []byte {
	p, f := painter(opt.Color), &findings[m.causes[0].First]
	if f.Source != nil {
		dst = appendQuoted(dst, f.Source.File)
		dst = appendLineColumn(dst, f.Source.Line, f.Source.Column)
	} else {
		dst = appendPath(dst, f.Page, opt.Prefix)
		dst = appendLineColumn(dst, f.Line, f.Column)
	}
	dst = append(dst, ": "...)
	dst = p.on(dst, sgrDim)
	dst = append(dst, "fixed: "...)
	dst = p.off(dst)
	dst = appendCut(dst, f.Message, maxMessageBytes)
	dst = appendCode(dst, f.Code, p)
	if len(m.causes) > 1 {
		dst = append(dst, " and "...)
		dst = appendCount(dst, len(m.causes)-1, "more cause")
	}
	if _, _, links := counts(m.causes); links > 1 {
		dst = append(dst, ", "...)
		dst = appendCount(dst, links, "link")
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
// SetEscapeHTML(false), but escapes hidden characters too, see [isHidden]: a report
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
	case isHidden(r):
		return appendHex(append(dst, `\u`...), r, 4), n
	}
	return append(dst, s[:n]...), n
}

// isHidden reports whether a character above U+007E controls a terminal, changes the
// direction of a text or cannot be seen.
func isHidden(r rune) bool {
	return 0x7f <= r && r <= 0x9f || r == 0x61c || 0x200b <= r && r <= 0x200f || 0x2028 <= r && r <= 0x202e ||
		0x2060 <= r && r <= 0x206f || r == 0xfeff
}

// escapeHidden escapes the hidden characters of a JSON text from another encoder. They
// can only be in strings.
func escapeHidden(text []byte) []byte {
	if !bytes.ContainsFunc(text, isHidden) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if isHidden(r) {
			out = appendHex(append(out, `\u`...), r, 4)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// JSONDocument writes a document, such as that of a plan, indented and without
// escapes for HTML. Hidden characters are escaped, as in every format.
func JSONDocument(w io.Writer, document any) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	if err == nil {
		_, err = w.Write(escapeHidden(text.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
