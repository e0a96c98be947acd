package redirect

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxYAML is the size above which a file of YAML is not read.
const maxYAML = 256 << 10

// readYAML parses a file of a host; ok is false after a fault.
func readYAML(name string, data []byte, into any) (f *File, ok bool) {
	f = &File{Name: name, Settings: Settings{Dir: "/"}}
	if len(data) > maxYAML {
		f.fault(CodeLimit, Error, 1, "", "the file has more than 256 KiB and is not read")
		return f, false
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		f.fault(CodeSyntax, Error, 1, "", "the file cannot be read: "+strings.TrimPrefix(err.Error(), "yaml: "))
		return f, false
	}
	return f, true
}

// Render parses render.yaml: the routes and headers of the static site, if there is one
// (https://render.com/docs/redirects-rewrites).
func Render(name string, data []byte) *File {
	type site struct {
		Publish         string `yaml:"staticPublishPath"`
		Routes, Headers []yaml.Node
	}
	var in struct{ Services []site }
	f, ok := readYAML(name, data, &in)
	var sites []site
	for _, s := range in.Services {
		if s.Publish != "" {
			sites = append(sites, s)
		}
	}
	if !ok || len(sites) != 1 {
		return f
	}
	for _, n := range sites[0].Routes {
		var in struct{ Type, Source, Destination string }
		err := n.Decode(&in)
		r := Rule{Pattern: in.Source, To: in.Destination, Status: map[string]int{"redirect": 301, "rewrite": 200}[in.Type], Stage: AfterFiles, Source: Source{name, n.Line}, Text: clip(in.Type + " " + in.Source + " " + in.Destination)}
		if err != nil || r.Status == 0 || !strings.HasPrefix(in.Source, "/") || in.Destination == "" {
			f.fault(CodeSyntax, Error, n.Line, r.Text, "a route has a type, redirect or rewrite, a source that is a path, and a destination")
			continue
		}
		var problem string
		if r.match, problem = cloudflarePattern(in.Source); problem != "" {
			f.fault(CodeUnjudged, Warning, n.Line, r.Text, "sitelink does not know what this source matches, and leaves the route out")
			continue
		}
		r.to = colonTemplate(strings.Replace(in.Destination, "*", ":splat", 1), r.match.names, func(int) escaping { return verbatim })
		r.Kind = kindOf(r.Status, in.Destination)
		f.Rules = append(f.Rules, r)
	}
	for _, n := range sites[0].Headers {
		var in struct{ Path, Name, Value string }
		_ = n.Decode(&in) // what it cannot read is empty
		f.yamlHeader(n.Line, in.Path, in.Path, in.Name, in.Value)
	}
	return f
}

// Amplify parses customHttp.yml, the headers of AWS Amplify
// (https://docs.aws.amazon.com/amplify/latest/userguide/custom-header-YAML-format.html).
func Amplify(name string, data []byte) *File {
	var in struct {
		Headers []struct {
			Pattern string
			Headers []yaml.Node
		} `yaml:"customHeaders"`
	}
	f, _ := readYAML(name, data, &in)
	for _, of := range in.Headers {
		for _, n := range of.Headers {
			var h struct{ Key, Value string }
			_ = n.Decode(&h) // what it cannot read is empty
			path := "/" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(of.Pattern, "/"), "**/"), "**", "*")
			f.yamlHeader(n.Line, of.Pattern, path, h.Key, h.Value)
		}
	}
	return f
}

// yamlHeader adds a header for the paths that match a pattern.
func (f *File) yamlHeader(line int, shown, path, name, value string) {
	match, problem := headerPattern(path)
	if name == "" || problem != "" {
		f.fault(CodeSyntax, Error, line, clip(shown), "a header has a path, a name and a value")
		return
	}
	f.Headers = append(f.Headers, HeaderRule{Path: shown, Source: Source{f.Name, line}, Name: name, Value: value, match: match})
}
