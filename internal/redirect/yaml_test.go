package redirect

import (
	"strconv"
	"strings"
	"testing"
)

// TestHostDialects: what GitLab Pages ignores of Netlify's rules, and the routes and headers
// of Render and Amplify, with the lines of their faults.
func TestHostDialects(t *testing.T) {
	render := "services:\n- type: web\n  staticPublishPath: ./public\n  routes:\n  - type: redirect\n    source: /old/*\n    destination: /new/*\n" +
		"  - type: rewrite\n    source: /app/:id\n    destination: /app.html\n  - type: move\n    source: /x\n    destination: /y\n  - {type: redirect, source: '/*/*', destination: /z}\n" +
		"  headers:\n  - path: /a/*\n    name: X-A\n    value: b\n- type: web\n  startCommand: run\n"
	for _, tc := range []struct {
		name string
		file *File
		want string // path, kind and destination; or the line of a fault
	}{
		{"gitlab", GitLab("_redirects", []byte("/a /b\n/c /d 302\n/e/* /f/:splat 200\n/g /h 308\n/i /j 301!\n/k id=:id /l/:id\n/m /n 302 Country=au\n/o /404.html 404\n")),
			"/a redirect /b|/c redirect /d|/e/x rewrite /f/x|/g|/i|/k|/m|/o|4|5|6|7|8"},
		{"many", GitLab("_redirects", []byte(strings.Repeat("/a /b\n", gitLabRules)+"/z /b\n")), "/a redirect /b|/z|1001"},
		{"render", Render("render.yaml", []byte(render)), "/old/a/b redirect /new/a/b|/app/7 rewrite /app.html|/x|/p/q|11|14"},
		{"two sites", Render("render.yaml", []byte(render+"- staticPublishPath: other\n")), "/old/a"},
		{"no YAML", Render("render.yaml", []byte("services: [\n")), "1"},
		{"large", Amplify("customHttp.yml", make([]byte, maxYAML+1)), "1"},
		{"amplify", Amplify("customHttp.yml", []byte("customHeaders:\n- pattern: '**/*.html'\n  headers:\n  - key: X-A\n    value: b\n  - value: c\n")), "6"},
	} {
		set := New(Options{}, tc.file)
		var got []string
		faults := tc.file.Faults
		for part := range strings.SplitSeq(tc.want, "|") {
			path, _, _ := strings.Cut(part, " ")
			hit, ok := set.Match(Request{Scheme: "https", Host: "h.example", Path: path, Stage: AfterFiles})
			switch {
			case !strings.HasPrefix(path, "/"):
				if len(faults) > 0 {
					got, faults = append(got, strconv.Itoa(faults[0].Line)), faults[1:]
				}
			case ok:
				got = append(got, path+" "+hit.Rule.Kind.String()+" "+hit.To)
			default:
				got = append(got, path)
			}
		}
		if s := strings.Join(got, "|"); s != tc.want || len(faults) > 0 {
			t.Errorf("%s: %s, want %s; %+v", tc.name, s, tc.want, faults)
		}
		for _, h := range tc.file.Headers {
			if h.Name != "X-A" || !h.Applies("/a/b.html") || h.Applies("/b") {
				t.Errorf("%s: %+v", tc.name, h)
			}
		}
		if headers := map[string]int{"render": 1, "amplify": 1}[tc.name]; len(tc.file.Headers) != headers {
			t.Errorf("%s: %d headers", tc.name, len(tc.file.Headers))
		}
	}
}
