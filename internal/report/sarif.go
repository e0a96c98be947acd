package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// Limits of GitHub code scanning ("SARIF results exceed one or more limits"):
// it rejects a file with more results, and shows the 5,000 most severe.
const (
	sarifMaxResults = 25_000
	sarifShown      = 5_000
)

// homepage is the address of the project, for servers that link to it.
const homepage = "https://github.com/sitelink/sitelink"

// SARIF writes r as a log of version 2.1.0 with one run (OASIS, Static Analysis
// Results Interchange Format). The run has a rule for each code, found or not,
// and a result for each cause, the worst first, with the number of its links as
// occurrenceCount.
//
// Paths are relative to %SRCROOT%, the root of the project, unless the docroot
// is outside of it. A result has its fingerprint ([check.Fingerprints]) under
// two names: our own, and primaryLocationLineHash, the only one that GitHub
// compares. Of more than 25,000 causes the worst are written, and a notification
// of the run says how many are missing.
func SARIF(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{`+"\n"+
		`"tool":{"driver":{"name":"sitelink","informationUri":"`+homepage+`"`...)
	if opt.Version != "" {
		s.buf = append(s.buf, `,"version":`...)
		s.buf = AppendString(s.buf, opt.Version)
	}
	s.buf = append(s.buf, `,"rules":[`...)
	for i := range rules {
		s.buf = appendNext(s.buf, i)
		s.buf = appendRule(s.buf, &rules[i])
	}
	s.buf = append(s.buf, "\n]}},\n"+
		`"columnKind":"unicodeCodePoints",`+"\n"+
		`"originalUriBaseIds":{"%SRCROOT%":{"description":{"text":"The root of the project."}}},`+"\n"+
		`"results":[`...)
	causes := check.Causes(r.Findings)
	written := causes[:min(len(causes), sarifMaxResults)]
	fingerprints := check.Fingerprints(r.Findings)
	for i := range written {
		c := &written[i]
		s.buf = appendNext(s.buf, i)
		s.buf = appendSARIFResult(s.buf, r.Findings, c, fingerprints[c.First], &opt)
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = append(s.buf, "\n]"...)
	s.buf = appendInvocation(s.buf, len(causes), len(written), capped(&r.Summary))
	s.buf = append(s.buf, "}]}\n"...)
	return s.flush()
}

// appendNext starts the line of element i of an array.
func appendNext(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return append(dst, '\n')
}

func appendRule(dst []byte, r *rule) []byte {
	dst = append(dst, `{"id":`...)
	dst = AppendString(dst, string(r.code))
	dst = append(dst, `,"name":`...)
	dst = AppendString(dst, r.title)
	dst = append(dst, `,"shortDescription":{"text":`...)
	dst = AppendString(dst, r.title)
	dst = append(dst, `},"fullDescription":{"text":`...)
	dst = AppendString(dst, r.short)
	dst = append(dst, `},"help":{"text":`...)
	dst = AppendString(dst, r.short+" "+r.help)
	dst = append(dst, `},"helpUri":"`+homepage+`/blob/main/docs/reference/codes.md","defaultConfiguration":{"level":"`...)
	dst = append(dst, r.level.String()...)
	dst = append(dst, `"},"properties":{"problem.severity":"`...)
	dst = append(dst, r.level.String()...)
	return append(dst, `","tags":["links"]}}`...)
}

func appendSARIFResult(dst []byte, findings []check.Finding, c *check.Cause, fingerprint string, opt *Options) []byte {
	f := &findings[c.First]
	dst = append(dst, `{"ruleId":`...)
	dst = AppendString(dst, string(f.Code))
	if i := ruleIndex(f.Code); i >= 0 {
		dst = appendIntField(dst, `,"ruleIndex":`, i)
	}
	dst = append(dst, `,"level":"`...)
	dst = append(dst, f.Verdict.String()...)
	dst = append(dst, `","message":{"text":`...)
	dst = AppendString(dst, sarifText(string(appendCauseSentence(nil, f, c))))
	dst = append(dst, `},"locations":[`...)
	file, line, column := opt.filePosition(f)
	words, related := "", []byte(nil)
	switch p := f.Source; {
	case p == nil:
	case absolute(p.File):
		related = appendLocation(related, p.File, p.Line, p.Column, DescribeSource(p))
	default:
		words = DescribeSource(p)
		related = appendLocation(related, opt.page(f.Page), f.Line, f.Column, "the built page")
	}
	if r := f.Related; r != nil {
		if len(related) > 0 {
			related = append(related, ',')
		}
		related = appendLocation(related, r.File, r.Line, r.Column, r.Text)
	}
	dst = appendLocation(dst, file, line, column, words)
	dst = append(dst, ']')
	if len(related) > 0 {
		dst = append(dst, `,"relatedLocations":[`...)
		dst = append(append(dst, related...), ']')
	}
	dst = append(dst, `,"partialFingerprints":{"primaryLocationLineHash":"`...)
	dst = append(dst, fingerprint...)
	dst = append(dst, `","sitelink/v1":"`...)
	dst = append(dst, fingerprint...)
	dst = append(dst, `"}`...)
	dst = appendIntField(dst, `,"occurrenceCount":`, c.Links)
	dst = append(dst, `,"properties":{"cause":"`+c.ID+`"`...)
	if f.Element != "" || f.Raw != "" {
		dst = append(dst, `,"link":`...)
		dst = AppendString(dst, string(appendWritten(nil, f)))
		if f.Target != "" {
			dst = append(dst, `,"target":`...)
			dst = AppendString(dst, string(appendCut(nil, targetOf(f), maxMessageBytes)))
		}
	}
	return append(appendTargetsJSON(dst, findings, c), "}}"...)
}

// appendLocation appends a SARIF location. A finding about a whole file gets
// the first line, because GitHub does not show results without one. message
// describes the location, "" for none.
func appendLocation(dst []byte, file string, line, column int, message string) []byte {
	dst = append(dst, `{"physicalLocation":{"artifactLocation":{"uri":`...)
	dst = AppendString(dst, string(appendURI(nil, file)))
	if !absolute(file) {
		dst = append(dst, `,"uriBaseId":"%SRCROOT%"`...)
	}
	dst = appendIntField(dst, `},"region":{"startLine":`, max(line, 1))
	if line > 0 && column > 0 {
		dst = appendIntField(dst, `,"startColumn":`, column)
	}
	dst = append(dst, `}}`...)
	if message != "" {
		dst = append(dst, `,"message":{"text":`...)
		dst = AppendString(dst, sarifText(string(appendCut(nil, message, maxMessageBytes))))
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// appendInvocation appends the run's notification about causes that are missing
// or not shown.
func appendInvocation(dst []byte, all, written int, capped bool) []byte {
	text := ""
	switch {
	case capped:
		text = fmt.Sprintf("%d causes are in this file; the format jsonl has all findings.", written)
	case all > written:
		text = fmt.Sprintf("%d of %d causes are in this file, the most that GitHub takes; the formats text and json have all.", written, all)
	case all > sarifShown:
		text = fmt.Sprintf("GitHub shows %d of these %d causes.", sarifShown, all)
	}
	dst = append(dst, ",\n"+`"invocations":[{"executionSuccessful":true`...)
	if text != "" {
		dst = append(dst, `,"toolExecutionNotifications":[{"level":"warning","message":{"text":`...)
		dst = AppendString(dst, text)
		dst = append(dst, `}}]`...)
	}
	return append(dst, "}]"...)
}

// sarifText escapes text so that a page cannot write links and placeholders
// into messages (sections 3.11.5 and 3.11.6). The specification doubles every
// {. Existing readers only look for a number in braces, and show doubled braces
// as they are, so that only placeholders are escaped.
func sarifText(s string) string {
	if !strings.ContainsAny(s, "[{") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '[' && strings.Contains(s[i:], "]("):
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '{' && placeholder(s[i+1:]):
			b.WriteString("{{")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// placeholder reports whether s, which follows a {, makes it a placeholder.
func placeholder(s string) bool {
	digits := 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	return digits > 0 && strings.HasPrefix(s[digits:], "}")
}
