package redirect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// maxIgnored is the largest number of patterns of files that are not deployed. Each is
// compared with each name of a path.
const maxIgnored = 1000

// firebaseSite is one element of hosting in firebase.json.
type firebaseSite struct {
	Site          string            `json:"site"`
	Target        string            `json:"target"`
	Public        string            `json:"public"`
	Ignore        []string          `json:"ignore"`
	CleanURLs     bool              `json:"cleanUrls"`
	TrailingSlash *bool             `json:"trailingSlash"`
	Redirects     []json.RawMessage `json:"redirects"`
	Rewrites      []json.RawMessage `json:"rewrites"`
	Headers       []json.RawMessage `json:"headers"`
}

type firebaseRule struct {
	Source      string          `json:"source"`
	Glob        string          `json:"glob"`
	Regex       string          `json:"regex"`
	Destination *string         `json:"destination"`
	Type        int             `json:"type"`
	Function    json.RawMessage `json:"function"`
	Run         json.RawMessage `json:"run"`
	DynamicLink json.RawMessage `json:"dynamicLinks"`
}

// firebasePlaceholder matches a destination with placeholders.
var firebasePlaceholder = text.Regexp(`(?:^|/):`)

// Firebase parses firebase.json. If hosting is a list, its only element counts. Redirects
// apply before the files, rewrites after them. TestFirebaseOracle compares globs and captures with
// superstatic; see docs/reference/redirects.md.
func Firebase(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}, reserved: true}
	data = text.BlankComments(bytes.TrimPrefix(data, []byte(bom)))
	var document struct {
		Hosting json.RawMessage `json:"hosting"`
	}
	if err := json.Unmarshal(data, &document); err != nil {
		f.jsonFault(data, err)
		return f
	}
	if len(document.Hosting) == 0 || string(document.Hosting) == "null" {
		return f
	}
	list := []firebaseSite{{}}
	var err error
	if document.Hosting[0] == '[' {
		list = nil
		err = json.Unmarshal(document.Hosting, &list)
	} else {
		err = json.Unmarshal(document.Hosting, &list[0])
	}
	if err != nil {
		f.fault(CodeSyntax, Error, 1, "", "hosting cannot be read: "+err.Error())
		return f
	}
	if len(list) != 1 {
		var names []string
		for _, s := range list {
			names = append(names, cmp.Or(s.Target, s.Site, "without name"))
		}
		f.fault(CodeUnjudged, Warning, 1, "", "hosting has "+count(len(list), "site")+" ("+clip(strings.Join(names, ", "))+"), and sitelink does not know which of them is in the docroot; it uses none of their rules")
		return f
	}
	in, lines := list[0], jsonLines(data)
	f.Settings.CleanURLs, f.Settings.TrailingSlash = in.CleanURLs, in.TrailingSlash
	f.Settings.Public, f.Settings.Ignore = in.Public, in.Ignore
	if len(in.Ignore) > maxIgnored {
		f.fault(CodeSyntax, Warning, 1, "", "ignore has more than 1,000 patterns; sitelink reads the first 1,000")
		f.Settings.Ignore = in.Ignore[:maxIgnored]
	}
	for i, raw := range in.Redirects {
		f.firebaseRule(raw, lines.of("redirects", i, raw), true)
	}
	for i, raw := range in.Rewrites {
		f.firebaseRule(raw, lines.of("rewrites", i, raw), false)
	}
	for i, raw := range in.Headers {
		f.firebaseHeaders(raw, lines.of("headers", i, raw))
	}
	return f
}

func (f *File) firebaseRule(raw json.RawMessage, line int, redirect bool) {
	text := oneLine(raw)
	bad := func(code string, severity Severity, message string) { f.fault(code, severity, line, text, message) }
	in, ok := decode[firebaseRule](f, raw, line, "rule")
	if !ok {
		return
	}
	glob := cmp.Or(in.Glob, in.Source)
	if (glob == "") == (in.Regex == "") {
		bad(CodeSyntax, Error, "the rule needs either source or regex")
		return
	}
	r := Rule{Pattern: glob + in.Regex, Status: 200, Kind: Proxy, Stage: AfterFiles, Source: Source{f.Name, line}, Text: text}
	if in.Destination != nil {
		r.To = *in.Destination
	}
	dynamic := len(in.Function)+len(in.Run)+len(in.DynamicLink) > 0
	switch {
	case r.To == "" && (redirect || !dynamic):
		bad(CodeSyntax, Error, "the rule has no destination")
		return
	case redirect:
		r.Stage, r.Status, r.Kind = BeforeFiles, 301, Redirect
		if in.Type != 0 {
			r.Status = in.Type
		}
		if r.Status < 300 || r.Status > 399 {
			bad(CodeSyntax, Error, "the type "+strconv.Itoa(r.Status)+" is not a redirect status (300 to 399)")
			return
		}
		r.flags |= joinsQuery
	case r.To != "":
		r.Kind = kindOf(200, r.To)
	}
	if !f.firebasePattern(&r, glob, in.Regex, redirect) {
		return
	}
	f.Rules = append(f.Rules, r)
}

// firebasePattern compiles source or regex. If the destination of a redirect has
// placeholders, Firebase matches the source with path-to-regexp instead of as a
// glob.
func (f *File) firebasePattern(r *Rule, glob, regex string, redirect bool) bool {
	places := redirect && firebasePlaceholder().MatchString(r.To)
	r.to = literalTemplate(r.To)
	switch {
	case regex != "":
		if !f.setExpression(r, strings.ReplaceAll(regex, "(?<", "(?P<"), "", true) {
			return false
		}
		if places && r.match.expr != nil {
			names := r.match.expr.names
			for i, name := range names {
				names[i] = cmp.Or(name, strconv.Itoa(i+1))
			}
			r.match.names = names
			r.to = placeholderTemplate(r.To, names, false, pathEscape)
		}
	case places:
		if !strings.HasPrefix(glob, "/") {
			glob = "/" + glob
		}
		expr, names, err := firebasePath.expressionOf(glob)
		if err != nil {
			f.fault(CodeSyntax, Error, r.Source.Line, r.Text, "the source cannot be read: "+err.Error())
			return false
		}
		if !f.setExpression(r, expr, "", true) {
			return false
		}
		r.match.names = names
		r.to = placeholderTemplate(r.To, names, false, pathEscape)
	default:
		p, err := globPattern(glob)
		if err != nil {
			r.Conditional, r.Conditions = true, []string{"the source is not supported"}
			f.fault(CodeUnjudged, Warning, r.Source.Line, r.Text, "sitelink does not support the source, so it does not know whether the rule applies: "+err.Error())
		}
		r.match = p
	}
	return true
}

func (f *File) firebaseHeaders(raw json.RawMessage, line int) {
	in, ok := decode[struct {
		Source, Glob, Regex string
		Headers             []struct{ Key, Value string }
	}](f, raw, line, "headers")
	if !ok {
		return
	}
	var match pattern
	var err error
	if in.Regex != "" {
		var expr *expression
		if expr, err = newExpression(strings.ReplaceAll(in.Regex, "(?<", "(?P<")); err == nil {
			match = expressionPattern(expr, "", true)
		}
	} else {
		match, err = globPattern(cmp.Or(in.Glob, in.Source))
	}
	if err != nil {
		f.fault(CodeUnjudged, Warning, line, oneLine(raw), "sitelink does not support the source: "+err.Error())
		return
	}
	for _, h := range in.Headers {
		f.Headers = append(f.Headers, HeaderRule{Path: cmp.Or(in.Glob, in.Source, in.Regex), Name: h.Key, Value: h.Value, Source: Source{f.Name, line}, match: match})
	}
}
