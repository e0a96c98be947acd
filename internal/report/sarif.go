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
	var all []object
	for _, c := range rules() {
		all = append(all, object{
			"id": c.Name, "name": ruleTitle(c.Name), "shortDescription": message(ruleTitle(c.Name)), "fullDescription": message(c.Cause), "help": message(c.Cause + " " + c.Cure),
			"helpUri": homepage + "/blob/main/docs/reference/codes.md#" + c.Name, "defaultConfiguration": object{"level": c.Level},
			"properties": object{"problem.severity": c.Level, "tags": []string{"links"}},
		})
	}
	driver := object{"name": "sitelink", "informationUri": homepage, "rules": all}
	if opt.Version != "" {
		driver["version"] = opt.Version
	}
	root := object{"%SRCROOT%": object{"description": message("The root of the project.")}}
	s.buf = fmt.Appendf(s.buf, `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{`+"\n"+
		`"tool":%s,`+"\n"+`"columnKind":"unicodeCodePoints",`+"\n"+`"originalUriBaseIds":%s,`+"\n"+`"results":[`,
		jsonOf(object{"driver": driver}), jsonOf(root))
	causes := check.Causes(r.Findings)
	written := causes[:min(len(causes), sarifMaxResults)]
	fingerprints := check.Fingerprints(r.Findings)
	for i := range written {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		c := &written[i]
		s.buf = append(append(s.buf, '\n'), jsonOf(resultOf(r.Findings, c, fingerprints[c.First], &opt))...)
		if err := s.drain(); err != nil {
			return err
		}
	}
	s.buf = fmt.Appendf(s.buf, "\n],\n"+`"invocations":[%s]}]}`+"\n", jsonOf(invocation(len(causes), len(written), capped(&r.Summary))))
	return s.flush()
}

// object is a JSON object.
type object = map[string]any

// message returns text as a SARIF message.
func message(text string) object { return object{"text": text} }

func resultOf(findings []check.Finding, c *check.Cause, fingerprint string, opt *Options) object {
	f := &findings[c.First]
	file, line, column := opt.filePosition(f)
	words, related := "", []object(nil)
	switch p := f.Source; {
	case p == nil:
	case absolute(p.File):
		related = append(related, location(p.File, p.Line, p.Column, DescribeSource(p)))
	default:
		words = DescribeSource(p)
		related = append(related, location(pageFile(opt.Base, f.Page), f.Line, f.Column, "the built page"))
	}
	if r := f.Related; r != nil {
		related = append(related, location(r.File, r.Line, r.Column, r.Text))
	}
	properties := object{"cause": c.ID}
	result := object{
		"ruleId": f.Code, "level": f.Verdict.String(), "message": message(sarifText(string(appendCauseSentence(nil, f, c)))),
		"locations":           []object{location(file, line, column, words)},
		"partialFingerprints": object{"primaryLocationLineHash": fingerprint, "sitelink/v1": fingerprint},
		"occurrenceCount":     c.Links, "properties": properties,
	}
	if i, ok := ruleIndexes()[f.Code]; ok {
		result["ruleIndex"] = i
	}
	if len(related) > 0 {
		result["relatedLocations"] = related
	}
	if f.Element != "" || f.Raw != "" {
		properties["link"] = string(appendWritten(nil, f))
		if f.Target != "" {
			properties["target"] = sentence(targetOf(f))
		}
	}
	if targets := targetsOf(findings, c); len(targets) > 0 {
		properties["targets"] = targets
	}
	return result
}

// location returns a SARIF location. A finding about a whole file gets
// the first line, because GitHub does not show results without one. words
// describe the location, "" for none.
func location(file string, line, column int, words string) object {
	artifact, region := object{"uri": string(appendURI(nil, file))}, object{"startLine": max(line, 1)}
	if !absolute(file) {
		artifact["uriBaseId"] = "%SRCROOT%"
	}
	if line > 0 && column > 0 {
		region["startColumn"] = column
	}
	at := object{"physicalLocation": object{"artifactLocation": artifact, "region": region}}
	if words != "" {
		at["message"] = message(sarifText(sentence(words)))
	}
	return at
}

// invocation returns the run's notification about causes that are missing
// or not shown.
func invocation(all, written int, capped bool) object {
	text := ""
	switch {
	case capped:
		text = fmt.Sprintf("%d causes are in this file; the format jsonl has all findings.", written)
	case all > written:
		text = fmt.Sprintf("%d of %d causes are in this file, the most that GitHub takes; the formats text and json have all.", written, all)
	case all > sarifShown:
		text = fmt.Sprintf("GitHub shows %d of these %d causes.", sarifShown, all)
	default:
		return object{"executionSuccessful": true}
	}
	return object{"executionSuccessful": true, "toolExecutionNotifications": []object{{"level": "warning", "message": message(text)}}}
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
