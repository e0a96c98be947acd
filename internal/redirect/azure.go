package redirect

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// azureRule is an element of routes, a value of responseOverrides or
// navigationFallback.
type azureRule struct {
	Route        string            `json:"route"`
	Methods      []string          `json:"methods"`
	Rewrite      string            `json:"rewrite"`
	Redirect     string            `json:"redirect"`
	StatusCode   json.Number       `json:"statusCode"`
	AllowedRoles []string          `json:"allowedRoles"`
	Headers      map[string]string `json:"headers"`
	Exclude      []string          `json:"exclude"`
}

// Azure parses staticwebapp.config.json of Azure Static Web Apps. The first route
// that matches decides, before the files. After them come the navigation fallback
// and the response for status 404.
func Azure(name string, data []byte) *File {
	f := &File{Name: name, Settings: Settings{Dir: "/"}}
	data = bytes.TrimPrefix(data, []byte(bom))
	var in struct {
		Routes        []json.RawMessage    `json:"routes"`
		Fallback      azureRule            `json:"navigationFallback"`
		Overrides     map[string]azureRule `json:"responseOverrides"`
		GlobalHeaders map[string]string    `json:"globalHeaders"`
		TrailingSlash string               `json:"trailingSlash"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		f.jsonFault(data, err)
		return f
	}
	switch in.TrailingSlash {
	case "":
	case "auto", "always", "never":
		f.Settings.CleanURLs = true
		if in.TrailingSlash != "auto" {
			f.Settings.TrailingSlash = new(in.TrailingSlash == "always")
		}
	default:
		f.fault(CodeSyntax, Error, 1, "", "trailingSlash must be always, never or auto, not "+quote(in.TrailingSlash))
	}
	lines := jsonLines(data)
	for i, raw := range in.Routes {
		line := lines.of("routes", i, raw)
		if rule, ok := decode[azureRule](f, raw, line, "route"); ok {
			f.azureRule(&rule, BeforeFiles, line, oneLine(raw))
		}
	}
	f.addHeaders("/*", in.GlobalHeaders, lines.of("globalHeaders", 0, nil))
	// Sign-in is the host's own, and functions answer below /api.
	f.azureRule(&azureRule{Route: "/.auth/*", Rewrite: "/.auth/"}, BeforeFiles, 1, "/.auth/*")
	f.azureRule(&azureRule{Route: "/api/*", Rewrite: "/api/"}, AfterFiles, 1, "/api/*")
	if rule := in.Fallback; rule.Rewrite != "" {
		rule.Route = "/*"
		f.azureRule(&rule, AfterFiles, 1, "navigationFallback "+rule.Rewrite)
	}
	if rule := in.Overrides["404"]; rule.Redirect != "" || rule.StatusCode == "200" && rule.Rewrite != "" {
		rule.Route = "/*"
		f.azureRule(&rule, AfterFiles, 1, "responseOverrides 404")
	}
	return f
}

func (f *File) azureRule(in *azureRule, stage Stage, line int, text string) {
	if len(in.Methods) > 0 && !containsFold(in.Methods, "GET") {
		return // links are followed with GET
	}
	bad := func(message string) { f.fault(CodeSyntax, Error, line, text, message) }
	r := Rule{Pattern: in.Route, To: in.Rewrite, Status: 200, Kind: Rewrite, Stage: stage, Source: Source{f.Name, line}, Text: clip(text)}
	status, _ := in.StatusCode.Int64()
	switch {
	case !strings.HasPrefix(in.Route, "/"):
		bad("the route must start with /")
		return
	case in.Redirect != "" && in.Rewrite != "":
		bad("the route has both redirect and rewrite")
		return
	case in.Redirect != "":
		r.To, r.Kind, r.Status = in.Redirect, Redirect, 302
		if status == 301 {
			r.Status = 301
		}
	case status >= 400 && status < 600:
		r.Kind, r.Status = Status, int(status)
	case in.Rewrite == "":
		r.Kind = Pass // it sets headers or demands a role, and ends the search
	case strings.HasPrefix(in.Rewrite, "/api/"), strings.HasPrefix(in.Rewrite, "/.auth/"):
		r.Kind = Proxy
	case !strings.HasPrefix(in.Rewrite, "/"):
		r.To = "/" + in.Rewrite // index.html
	}
	if len(in.AllowedRoles) > 0 && !slices.Contains(in.AllowedRoles, "anonymous") {
		if r.Kind == Pass {
			r.Kind, r.Status = Status, 401
		}
		r.Conditional, r.Conditions = true, []string{"a visitor with the role " + strings.Join(in.AllowedRoles, " or ")}
	}
	expr, ok := azureExpression(in.Route)
	if !ok {
		bad("* is allowed only at the end of a route, or before a suffix such as *.png or *.{png,jpg}")
		return
	}
	r.match = expressionPattern(&expression{source: expr}, "", false)
	if r.Kind == Redirect && r.match.form == expressed {
		// The host goes on to the next route where this one leads to itself.
		r.match.not = append(r.match.not, &expression{source: "^" + regexp.QuoteMeta(r.To) + "$"})
	}
	for _, exclude := range in.Exclude {
		if expr, ok := azureExpression(exclude); ok {
			r.match.not = append(r.match.not, &expression{source: expr})
		} else {
			bad("the host ignores " + quote(exclude) + " in exclude: * is allowed only at its end, or before a suffix such as *.png or *.{png,jpg}")
		}
	}
	r.to = literalTemplate(r.To)
	f.Rules = append(f.Rules, r)
	f.addHeaders(in.Route, in.Headers, line)
}

// azureSuffix matches what may follow the * of a route.
var azureSuffix = text.Regexp(`^(?:\.(\w+|\{\w+(?:,\w+)*\}))?$`)

// azureExpression translates a route into a regular expression. A directory matches
// if its index file does.
func azureExpression(route string) (expr string, ok bool) {
	before, after, star := strings.Cut(route, "*")
	suffix := azureSuffix().FindStringSubmatch(after)
	index := strings.TrimSuffix(before, "/index.html")
	switch {
	case !star && index != before:
		return "^" + regexp.QuoteMeta(index) + `(?:/|/index\.html)?$`, true
	case !star:
		return "^" + regexp.QuoteMeta(route) + "$", true
	case suffix == nil:
		return "", false
	}
	dir, below := strings.CutSuffix(before, "/")
	names := strings.Split(strings.Trim(suffix[1], "{}"), ",")
	switch {
	case after == "" && below:
		return "^" + regexp.QuoteMeta(dir) + "(?:/.*)?$", true
	case after == "":
		return "^" + regexp.QuoteMeta(before) + ".*$", true
	case slices.Contains(names, "html") && below:
		return "^" + regexp.QuoteMeta(dir) + `(?:/.*\.(?:` + strings.Join(names, "|") + `)|(?:/[^.]*)?)$`, true
	}
	return "^" + regexp.QuoteMeta(before) + `.*\.(?:` + strings.Join(names, "|") + ")$", true
}

// addHeaders adds the headers that a rule sets, sorted by name.
func (f *File) addHeaders(route string, headers map[string]string, line int) {
	expr, ok := azureExpression(route)
	names := make([]string, 0, len(headers))
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if value := strings.TrimSpace(headers[name]); ok {
			f.Headers = append(f.Headers, HeaderRule{Path: route, Name: name, Value: value, Unset: value == "", Source: Source{f.Name, line},
				match: expressionPattern(&expression{source: expr}, "", false)})
		}
	}
}
