package report

import (
	"io"
	"strconv"

	"github.com/sitelink/sitelink/check"
)

// schema is the version of the JSON document. It grows when a field changes
// its meaning or goes; a new field leaves it as it is.
const schema = 1

// JSON writes r as one object: schema, findings (an empty array when there are
// none) and summary. Each finding stands on a line of its own, so that two
// reports can be compared by diff.
//
// The only errors are those of w, wrapped.
func JSON(w io.Writer, r *check.Result) error {
	s := sink{w: w}
	s.buf = append(s.buf, `{"schema":`...)
	s.buf = strconv.AppendInt(s.buf, schema, 10)
	s.buf = append(s.buf, `,"findings":[`...)
	for i := range r.Findings {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = append(s.buf, '\n')
		s.buf = appendFinding(s.buf, &r.Findings[i])
		if err := s.drain(); err != nil {
			return err
		}
	}
	if len(r.Findings) > 0 {
		s.buf = append(s.buf, '\n')
	}
	s.buf = append(s.buf, `],"summary":`...)
	s.buf = appendSummary(s.buf, &r.Summary)
	s.buf = append(s.buf, "}\n"...)
	return s.flush()
}

// JSONL writes the findings of r, one object a line, and nothing else: no line
// when the site is clean. The fields are those of [AppendLink], in the same
// order, followed by those that only a finding has.
//
// The only errors are those of w, wrapped.
func JSONL(w io.Writer, r *check.Result) error {
	s := sink{w: w}
	for i := range r.Findings {
		s.buf = appendFinding(s.buf, &r.Findings[i])
		s.buf = append(s.buf, '\n')
		if err := s.drain(); err != nil {
			return err
		}
	}
	return s.flush()
}

// appendFinding appends f as an object without line end.
func appendFinding(dst []byte, f *check.Finding) []byte {
	l := f.Link()
	dst = appendRow(dst, &l)
	dst = appendSource(dst, f.Source)
	if f.Suggestion != "" {
		dst = append(dst, `,"suggestion":`...)
		dst = appendString(dst, f.Suggestion)
	}
	dst = appendRelatedObject(dst, f.Related)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, f.Message)
	if f.Count > 1 {
		dst = appendIntField(dst, `,"count":`, f.Count)
	}
	return append(dst, '}')
}

// appendSummary appends s as an object. Every field is always present, and
// lists are never null.
func appendSummary(dst []byte, s *check.Summary) []byte {
	dst = append(dst, `{"docroot":`...)
	dst = appendString(dst, s.Docroot)
	dst = append(dst, `,"profile":`...)
	dst = appendString(dst, s.Profile)
	dst = append(dst, `,"profile_from":`...)
	dst = appendString(dst, s.ProfileFrom)
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
	dst = appendIntField(dst, `,"redirected":`, s.Redirected)
	dst = append(dst, `,"reasons":[`...)
	for i, r := range s.Reasons {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"code":`...)
		dst = appendString(dst, string(r.Code))
		dst = appendIntField(dst, `,"count":`, r.Count)
		dst = append(dst, '}')
	}
	dst = append(dst, `],"unused_ignores":[`...)
	dst = appendStrings(dst, s.UnusedIgnores)
	dst = append(dst, `],"skipped":[`...)
	dst = appendStrings(dst, s.Skipped)
	dst = append(dst, ']')
	dst = appendReadJSON(dst, s)
	return append(appendBaselineObject(dst, s.Baseline), '}')
}

func appendStrings(dst []byte, all []string) []byte {
	for i, text := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, text)
	}
	return dst
}

func appendIntField(dst []byte, key string, n int) []byte {
	dst = append(dst, key...)
	return strconv.AppendInt(dst, int64(n), 10)
}
