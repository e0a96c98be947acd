package redirect

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/internal/weburl"
)

// vercelFile has the parts of vercel.json that affect paths.
type vercelFile struct {
	CleanURLs     bool              `json:"cleanUrls"`
	TrailingSlash *bool             `json:"trailingSlash"`
	Redirects     []json.RawMessage `json:"redirects"`
	Rewrites      []json.RawMessage `json:"rewrites"`
	Routes        []json.RawMessage `json:"routes"`
	Headers       []json.RawMessage `json:"headers"`
}

// vercelRule is an element of redirects or rewrites.
type vercelRule struct {
	Source      *string           `json:"source"`
	Destination json.RawMessage   `json:"destination"`
	Permanent   *bool             `json:"permanent"`
	StatusCode  int               `json:"statusCode"`
	Has         []vercelCondition `json:"has"`
	Missing     []vercelCondition `json:"missing"`
}

type vercelCondition struct {
	Type  string          `json:"type"`
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// Vercel parses vercel.json. Redirects apply before the files, rewrites after them.
// The older routes apply in their order, before the files up to {"handle":
// "filesystem"}, then after them. Sources are path-to-regexp patterns as in
// @vercel/routing-utils, with which TestVercelOracle compares them; see
// docs/reference/redirects.md.
func Vercel(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	data = bytes.TrimPrefix(data, []byte(bom))
	var in vercelFile
	if err := json.Unmarshal(data, &in); err != nil {
		f.jsonFault(data, err)
		return f
	}
	f.Settings.CleanURLs, f.Settings.TrailingSlash = in.CleanURLs, in.TrailingSlash
	lines := jsonLines(data)
	if len(in.Routes) > 0 && len(in.Redirects)+len(in.Rewrites) > 0 {
		f.fault(CodeSyntax, Error, lines.of("routes", 0, in.Routes[0]), "", "Vercel rejects a file with routes and redirects, rewrites or headers")
	}
	for i, raw := range in.Redirects {
		f.vercelRule(raw, lines.of("redirects", i, raw), true)
	}
	for i, raw := range in.Rewrites {
		f.vercelRule(raw, lines.of("rewrites", i, raw), false)
	}
	f.vercelRoutes(in.Routes, lines)
	for i, raw := range in.Headers {
		f.vercelHeaders(raw, lines.of("headers", i, raw))
	}
	return f
}

func (f *File) vercelRule(raw json.RawMessage, line int, redirect bool) {
	text := oneLine(raw)
	bad := func(code, message string) { f.fault(code, Error, line, text, message) }
	in, ok := decode[vercelRule](f, raw, line, "rule")
	if !ok {
		return
	}
	var to string
	service := json.Unmarshal(in.Destination, &to) != nil && len(in.Destination) > 0
	switch {
	case in.Source == nil || !strings.HasPrefix(*in.Source, "/"):
		bad(CodeSyntax, "the rule needs a source that starts with /")
		return
	case to == "" && !service:
		bad(CodeSyntax, "the rule has no destination")
		return
	case len(*in.Source) > 4096 || len(to) > 4096:
		bad(CodeLimit, "the source or destination is too long: Vercel accepts up to 4,096 characters")
		return
	}
	r := Rule{Pattern: *in.Source, To: to, Status: 200, Stage: AfterFiles, Source: Source{f.Name, line}, Text: text}
	if redirect {
		r.Stage, r.Status = BeforeFiles, 308
		switch {
		case in.Permanent != nil && !*in.Permanent:
			r.Status = 307
		case in.Permanent == nil && in.StatusCode != 0:
			r.Status = in.StatusCode
		}
		r.flags |= keepsQuery
	}
	r.Kind = kindOf(r.Status, to)
	switch {
	case redirect && r.Kind != Redirect:
		bad(CodeSyntax, "the status "+strconv.Itoa(r.Status)+" is not a redirect status (300 to 399)")
		return
	case service, !redirect && (weburl.IsWeb(to) || strings.HasPrefix(to, "/api/") || to == "/api"):
		r.Kind = Proxy // paths below /api are functions
	}
	expr, names, err := vercelPath.expressionOf(*in.Source)
	if err != nil {
		bad(CodeSyntax, "the source cannot be read: "+err.Error())
		return
	}
	if !f.setExpression(&r, expr, "", false) {
		return
	}
	r.match.names = names
	r.vercelConditions(in.Has, in.Missing)
	if name := unknownPlaceholder(to, r.match.names); name != "" && len(in.Has) == 0 {
		bad(CodeSyntax, "Vercel rejects the rule: the destination uses "+quote(name)+", which the source does not define")
		return
	}
	r.to = placeholderTemplate(to, r.match.names, true, verbatim)
	f.Rules = append(f.Rules, r)
}

var vercelPlaceholder = text.Regexp(`:[A-Za-z_]\w*`)

// unknownPlaceholder returns a :name of the destination that the source does not
// define, or "".
func unknownPlaceholder(to string, names []string) string {
	if _, rest, ok := strings.Cut(to, "://"); ok {
		to = rest
	}
	for _, place := range vercelPlaceholder().FindAllString(to, -1) {
		if !slices.Contains(names, place[1:]) {
			return place
		}
	}
	return ""
}

// setExpression sets the pattern of the rule. If Go cannot express it completely,
// it adds a fault and makes the rule conditional. It returns false if it cannot use
// the pattern at all; it has then added the rule to the file.
func (f *File) setExpression(r *Rule, source, dir string, decoded bool) bool {
	main, not, complete, err := translate(source)
	if err != nil {
		r.Conditional = true
		r.Conditions = append(r.Conditions, "the pattern is not supported")
		f.fault(CodeUnjudged, Warning, r.Source.Line, r.Text, "sitelink does not support the pattern, so it may report links that this rule answers: "+err.Error())
		r.match, r.to = pattern{}, literalTemplate(r.To)
		f.Rules = append(f.Rules, *r)
		return false
	}
	r.match = expressionPattern(main, dir, decoded)
	if len(not) > 0 {
		if r.match.form == exact {
			r.match = pattern{form: expressed, expr: main, dir: dir, prefix: r.match.prefix, key: keyOf(r.match.prefix), decoded: decoded}
		}
		r.match.not = not
	}
	if !complete {
		r.Conditional = true
		r.Conditions = append(r.Conditions, "a part of the pattern is not supported")
		f.fault(CodeUnjudged, Warning, r.Source.Line, r.Text, "sitelink does not support a look-around in the pattern, so it does not know whether the rule applies")
	}
	return true
}

// vercelConditions adds has and missing to the rule. Only a host and a required
// query parameter are known for a link; all others make the rule conditional.
func (r *Rule) vercelConditions(has, missing []vercelCondition) {
	for _, c := range has {
		var value string
		plain := json.Unmarshal(c.Value, &value) == nil && regexp.QuoteMeta(value) == strings.ReplaceAll(value, ".", `\.`)
		switch {
		case c.Type == "host" && plain && value != "":
			r.host = value
		case c.Type == "query" && plain && value != "":
			r.query = append(r.query, queryCondition{key: c.Key, value: value})
		case c.Type == "query" && len(c.Value) == 0:
			r.query = append(r.query, queryCondition{key: c.Key, capture: true})
			r.match.names = append(r.match.names[:len(r.match.names):len(r.match.names)], c.Key)
		default:
			r.Conditional = true
			r.Conditions = append(r.Conditions, strings.TrimSpace("has "+c.Type+" "+c.Key))
		}
	}
	for _, c := range missing {
		r.Conditional = true
		r.Conditions = append(r.Conditions, strings.TrimSpace("missing "+c.Type+" "+c.Key))
	}
}

func (f *File) vercelHeaders(raw json.RawMessage, line int) {
	in, ok := decode[struct {
		Source       string
		Headers      []struct{ Key, Value string }
		Has, Missing []vercelCondition
	}](f, raw, line, "headers")
	if !ok {
		return
	}
	expr, _, err := vercelPath.expressionOf(in.Source)
	if err != nil {
		f.fault(CodeSyntax, Error, line, oneLine(raw), "the source cannot be read: "+err.Error())
		return
	}
	compiled, not, _, err := translate(expr)
	if err != nil {
		f.fault(CodeUnjudged, Warning, line, oneLine(raw), "sitelink does not support the source: "+err.Error())
		return
	}
	match := expressionPattern(compiled, "", false)
	match.not = not
	if len(in.Has)+len(in.Missing) > 0 {
		match = pattern{} // no link is known to meet the conditions
	}
	for _, h := range in.Headers {
		f.Headers = append(f.Headers, HeaderRule{Path: in.Source, Name: h.Key, Value: h.Value, Source: Source{f.Name, line}, match: match})
	}
}

// vercelRoute is an element of the older routes.
type vercelRoute struct {
	Src      string            `json:"src"`
	Dest     string            `json:"dest"`
	Status   int               `json:"status"`
	Handle   string            `json:"handle"`
	Continue bool              `json:"continue"`
	Headers  map[string]string `json:"headers"`
	Methods  []string          `json:"methods"`
	Has      []vercelCondition `json:"has"`
	Missing  []vercelCondition `json:"missing"`
}

// vercelRoutes reads routes. Their expressions must match the whole path.
func (f *File) vercelRoutes(routes []json.RawMessage, lines *elementLines) {
	stage := BeforeFiles
	for i, raw := range routes {
		line, text := lines.of("routes", i, raw), oneLine(raw)
		in, ok := decode[vercelRoute](f, raw, line, "route")
		if !ok {
			continue
		}
		switch in.Handle {
		case "":
		case "filesystem", "miss", "error":
			stage = AfterFiles
			continue
		default:
			f.fault(CodeUnjudged, Warning, line, text, "sitelink does not support the phase "+quote(in.Handle)+" and does not use the routes after it")
			return
		}
		if in.Src == "" {
			f.fault(CodeSyntax, Error, line, text, "the route needs src or handle")
			continue
		}
		f.vercelRoute(&in, stage, line, text)
	}
}

func (f *File) vercelRoute(in *vercelRoute, stage Stage, line int, text string) {
	r := Rule{Pattern: in.Src, To: in.Dest, Status: in.Status, Stage: stage, Source: Source{f.Name, line}, Text: text}
	for name, value := range in.Headers {
		if strings.EqualFold(name, "location") && in.Status >= 300 && in.Status < 400 {
			r.To = value
		}
	}
	switch {
	case r.To == "" && in.Status == 0:
		return // only sets headers
	case r.Status == 0:
		r.Status = 200
	}
	r.Kind = kindOf(r.Status, r.To)
	switch {
	case r.Kind == Rewrite && r.To == "":
		r.Kind = Pass
	case r.Kind == Rewrite && !strings.HasPrefix(r.To, "/"):
		r.To = "/" + r.To
	}
	if r.Kind == Rewrite && strings.HasPrefix(r.To, "/api/") {
		r.Kind = Proxy
	}
	if in.Continue {
		r.flags |= continues
	}
	if len(in.Methods) > 0 && !containsFold(in.Methods, "GET") {
		return // links are followed with GET
	}
	source := in.Src
	if !strings.HasPrefix(source, "^") {
		source = "^" + source
	}
	if !strings.HasSuffix(source, "$") || strings.HasSuffix(source, `\$`) {
		source += "$"
	}
	if !f.setExpression(&r, source, "", false) {
		return
	}
	if r.match.expr != nil {
		r.match.names = r.match.expr.names
	}
	r.vercelConditions(in.Has, in.Missing)
	r.to = placeholderTemplate(r.To, r.match.names, true, verbatim)
	f.Rules = append(f.Rules, r)
}

func containsFold(list []string, want string) bool {
	for _, s := range list {
		if strings.EqualFold(s, want) {
			return true
		}
	}
	return false
}
