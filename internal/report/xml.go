package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/sitelink/sitelink/check"
)

// JUnit writes test results in the XML that Jenkins, GitLab, Azure and most CI
// servers read: a testsuite for each file with findings, and a testcase for
// each finding. Errors are failures. Warnings are skipped tests, which viewers
// show without failing the run; with opt.WarningsFail they are failures too.
//
// GitLab and Jenkins identify a test by its classname and name: the file, and
// the code with the link as written. So a line that moves is the same failure,
// and no two findings are the same test. The property cause of a testcase joins
// the findings of one cause. The first suite, named sitelink, is
// the check itself and passes if nothing failed, because most readers reject a
// report without tests.
func JUnit(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	causes := check.Causes(r.Findings)
	ids := causeIDs(r.Findings, causes)
	parts := byFile(r.Findings, &opt)
	failures := func(g *group) int {
		if opt.WarningsFail {
			return g.errors + g.warnings
		}
		return g.errors
	}
	failed := 0
	for _, g := range parts {
		failed += failures(g)
	}
	s.buf = append(s.buf, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<testsuites name="sitelink"`...)
	s.buf = appendSuiteCounts(s.buf, len(r.Findings)+1, failed, len(r.Findings)-failed)
	s.buf = append(s.buf, ">\n"+`<testsuite name="sitelink"`...)
	s.buf = appendSuiteCounts(s.buf, 1, 0, 0)
	s.buf = append(s.buf, ">\n"+`<testcase classname="sitelink" name="check" time="0"><system-out>`...)
	s.buf = appendXML(s.buf, appendTextSummary(nil, r, len(causes), TextOptions{}))
	s.buf = append(s.buf, "</system-out></testcase>\n</testsuite>\n"...)
	for _, g := range parts {
		s.buf = append(s.buf, "<testsuite"...)
		s.buf = appendAttribute(s.buf, "name", g.label)
		s.buf = appendSuiteCounts(s.buf, len(g.findings), failures(g), len(g.findings)-failures(g))
		s.buf = append(s.buf, ">\n"...)
		seen := map[string]int{}
		for _, i := range g.findings {
			s.buf = appendTestcase(s.buf, &r.Findings[i], ids[i], &opt, seen)
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, "</testsuite>\n"...)
	}
	s.buf = append(s.buf, "</testsuites>\n"...)
	return s.flush()
}

func appendSuiteCounts(dst []byte, tests, failures, skipped int) []byte {
	return fmt.Appendf(dst, ` tests="%d" failures="%d" errors="0" skipped="%d" time="0"`, tests, failures, skipped)
}

// appendTestcase appends one finding. cause is the ID of its cause, seen counts
// the names in its suite.
func appendTestcase(dst []byte, f *check.Finding, cause string, opt *Options, seen map[string]int) []byte {
	file, line, _ := opt.filePosition(f)
	name := []byte(f.Code)
	if f.Element != "" || f.Raw != "" {
		name = append(name, ' ')
		name = appendWritten(name, f)
	}
	key := string(name)
	if seen[key]++; seen[key] > 1 {
		name = fmt.Appendf(name, " (%d)", seen[key])
	}
	dst = append(dst, "<testcase"...)
	dst = appendAttribute(dst, "classname", file)
	dst = appendAttributeBytes(dst, "name", name)
	dst = appendAttribute(dst, "file", file)
	if line > 0 {
		dst = fmt.Appendf(dst, ` line="%d"`, line)
	}
	dst = fmt.Appendf(dst, ` time="0"><properties><property name="cause" value="%s"/></properties>`, cause)
	if f.Verdict != check.Error && !opt.WarningsFail {
		dst = appendAttributeBytes(append(dst, "<skipped"...), "message", append([]byte("warning: "), appendSentence(nil, f)...))
		return append(dst, "/></testcase>\n"...)
	}
	dst = appendAttribute(append(dst, "<failure"...), "type", string(f.Code))
	dst = append(appendAttributeBytes(dst, "message", appendSentence(nil, f)), '>')
	dst = appendXML(dst, AppendText(nil, f, TextOptions{Prefix: opt.Base}))
	return append(dst, "</failure></testcase>\n"...)
}

// Checkstyle writes the XML of Checkstyle 8, which Jenkins, reviewdog and many
// editors read: a file element for each file with findings, and in it an error
// element for each finding. The source attribute is "sitelink." and the code; the
// attribute cause is ours and joins the findings of one cause. A finding without
// a line is at line 1.
func Checkstyle(w io.Writer, r *check.Result, opt Options) error {
	s := sink{w: w}
	s.buf = append(s.buf, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+`<checkstyle version="8.0">`+"\n"...)
	ids := CauseIDs(r.Findings)
	for _, part := range byFile(r.Findings, &opt) {
		s.buf = append(s.buf, "<file"...)
		s.buf = appendAttribute(s.buf, "name", part.label)
		s.buf = append(s.buf, ">\n"...)
		for _, i := range part.findings {
			f := &r.Findings[i]
			_, line, column := opt.filePosition(f)
			s.buf = fmt.Appendf(s.buf, `<error line="%d"`, max(line, 1))
			if line > 0 && column > 0 {
				s.buf = fmt.Appendf(s.buf, ` column="%d"`, column)
			}
			s.buf = appendAttributeBytes(fmt.Appendf(s.buf, ` severity="%s"`, f.Verdict), "message", appendSentence(nil, f))
			s.buf = appendAttribute(s.buf, "source", "sitelink."+string(f.Code))
			s.buf = fmt.Appendf(s.buf, ` cause="%s"/>`+"\n", ids[i])
			if err := s.drain(); err != nil {
				return err
			}
		}
		s.buf = append(s.buf, "</file>\n"...)
	}
	s.buf = append(s.buf, "</checkstyle>\n"...)
	return s.flush()
}

// byFile groups the findings by the file in which a server shows them, in the
// order of the first finding. Two pages can come from one source file.
func byFile(findings []check.Finding, opt *Options) []*group {
	files := map[string]*group{}
	var parts []*group
	for i := range findings {
		f := &findings[i]
		file, _, _ := opt.filePosition(f)
		g := files[file]
		if g == nil {
			g = &group{label: file}
			files[file] = g
			parts = append(parts, g)
		}
		g.add(int32(i), f)
	}
	return parts
}

// appendXML appends s as XML text or attribute value. s is the result of
// appendQuoted, which escapes what XML 1.0 cannot represent.
func appendXML(dst []byte, s []byte) []byte {
	return append(dst, xmlEscapes.Replace(string(s))...)
}

var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// appendAttribute appends name="value" after a space. The value is quoted as in
// text.
func appendAttribute(dst []byte, name, value string) []byte {
	return appendAttributeBytes(dst, name, appendQuoted(nil, value))
}

// appendAttributeBytes is appendAttribute for a value that is already quoted.
func appendAttributeBytes(dst []byte, name string, value []byte) []byte {
	return append(appendXML(append(dst, " "+name+`="`...), value), '"')
}
