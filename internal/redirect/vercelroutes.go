package redirect

import (
	"encoding/json"
	"strings"
)

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

// vercelRoutes reads routes: expressions that must match the whole path.
func (f *File) vercelRoutes(routes []json.RawMessage, lines elementLines) {
	stage := BeforeFiles
	for i, raw := range routes {
		line, text := lines.of("routes", i), oneLine(raw)
		var in vercelRoute
		if err := json.Unmarshal(raw, &in); err != nil {
			f.fault(CodeSyntax, Error, line, text, "the route cannot be read: "+err.Error())
			continue
		}
		switch in.Handle {
		case "":
		case "filesystem", "miss", "error":
			stage = AfterFiles
			continue
		default:
			f.fault(CodeUnjudged, Warning, line, text, "the phase "+quote(in.Handle)+" is not understood, the routes behind it are not used")
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
		return // sets headers, and says nothing about the path
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
	if !f.setExpression(&r, anchored(in.Src), "", false) {
		return
	}
	if r.match.expr != nil {
		r.match.names = r.match.expr.groupNames()
	}
	r.vercelConditions(in.Has, in.Missing)
	r.to = placeTemplate(r.To, r.match.names, true, verbatim)
	f.Rules = append(f.Rules, r)
}

// anchored binds an expression to both ends, unless it is already.
func anchored(source string) string {
	if !strings.HasPrefix(source, "^") {
		source = "^" + source
	}
	if !strings.HasSuffix(source, "$") || strings.HasSuffix(source, `\$`) {
		source += "$"
	}
	return source
}

func containsFold(list []string, want string) bool {
	for _, s := range list {
		if strings.EqualFold(s, want) {
			return true
		}
	}
	return false
}
