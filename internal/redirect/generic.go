package redirect

import (
	"strconv"
	"strings"
)

// GenericRule is one [[redirect]] table of a configuration, for [Generic].
type GenericRule struct {
	From, To string
	// Status 0 means 301.
	Status int
	Force  bool
	Line   int
}

// Generic makes rules from a configuration, for hosts whose own rules sitelink
// cannot read. From is a path; a final "*" takes the rest, which ":splat" puts
// into the destination, and ":name" takes a segment. Path and pattern are
// compared after percent-decoding, a final slash counts, the first match wins.
// Without Force files come first.
func Generic(name string, rules []GenericRule) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	for _, in := range rules {
		f.generic(in)
	}
	return f
}

func (f *File) generic(in GenericRule) {
	text := in.From + " -> " + in.To
	bad := func(message string) { f.fault(CodeSyntax, Error, in.Line, text, message) }
	if in.Status == 0 {
		in.Status = 301
	}
	switch {
	case !strings.HasPrefix(in.From, "/"):
		bad("from must begin with /")
		return
	case in.Status < 200 || in.Status > 599:
		bad("status " + strconv.Itoa(in.Status) + " is no status of HTTP")
		return
	case in.To == "" && in.Status < 400:
		bad("to is missing")
		return
	case in.To != "" && in.To[0] != '/' && !isURL(in.To):
		bad("to must begin with /, http:// or https://")
		return
	}
	r := Rule{Pattern: in.From, To: in.To, Status: in.Status, Kind: kindOf(in.Status, in.To), Force: in.Force, Stage: AfterFiles, Source: Source{f.Name, in.Line}, Text: clip(text)}
	if in.Force {
		r.Stage = BeforeFiles
	}
	path := unescapePath(in.From)
	if strings.Contains(strings.TrimSuffix(path, "*"), "*") {
		bad("a * may only stand at the end of from")
		return
	}
	if !strings.Contains(path, "*") && !strings.Contains(path, "/:") {
		r.match = exactPattern(path, false, true)
	} else {
		expr := "^" + quoteNames(path) + "$"
		compiled, err := newExpression(expr)
		if err != nil {
			bad("from is not understood: " + err.Error())
			return
		}
		r.match = expressionPattern(compiled, "", true)
		r.match.names = compiled.groupNames()
	}
	r.flags |= keepsQuery
	r.to = colonTemplate(in.To, r.match.names, func(int) escaping { return pathEscape })
	f.Rules = append(f.Rules, r)
}
