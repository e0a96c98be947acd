package templates

import (
	"maps"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
)

var headerEndpoints = Endpoints{Pingback: `https://h.example/x?a=1&b="2"&c=%C3%A9`, Webmention: "https://h.example/wm?a=$1&b=2"}

// Each rule, pasted where its text belongs, is read there by the host (PB-16): each header
// once for all paths (PB-14), with the endpoint's value (PB-13), and no Link header for
// pingbacks (PB-19).
func TestHeaderRules(t *testing.T) {
	around := map[string][2]string{"_headers": {"/a\n  C: d\n", ""}, ".htaccess": {"Options -Indexes\n", ""}, "netlify.toml": {"[build]\npublish = 'public'\n", ""},
		"vercel.json": {`{"headers": [`, "]}"}, "firebase.json": {`{"hosting": {"headers": [`, "]}}"}, "staticwebapp.config.json": {`{"globalHeaders": {`, "}}"},
		"customHttp.yml": {"customHeaders:\n", ""}, "render.yaml": {"services:\n- staticPublishPath: public\n  headers:\n", ""}}
	for _, k := range host.Kinds() {
		for _, rule := range HeaderRules(k.Name, headerEndpoints) {
			if rule.File == "" {
				continue // TestHeaderSnippets
			}
			i := slices.IndexFunc(k.Files, func(f host.RuleFile) bool { return f.Name == rule.File })
			text := around[rule.File][0] + rule.Text + around[rule.File][1]
			file := k.Files[i].Read("/", rule.File, []byte(text))
			got := map[string]string{}
			for _, h := range file.Headers {
				if h.Name != "C" && (got[h.Name] != "" || !h.Applies("/") || !h.Applies("/a/b/") || !h.Applies("/a/b.html")) {
					t.Errorf("%s: %+v in\n%s", rule.File, h, text)
				}
				got[h.Name] = h.Value
			}
			delete(got, "C")
			want := map[string]string{"X-Pingback": headerEndpoints.Pingback, "Link": "<" + headerEndpoints.Webmention + `>; rel="webmention"`}
			if !maps.Equal(got, want) || len(file.Faults) > 0 {
				t.Errorf("%s: %v, %v in\n%s", rule.File, got, file.Faults, text)
			}
		}
	}
}

// What a person pastes into a server's own configuration.
func TestHeaderSnippets(t *testing.T) {
	for profile, want := range map[string]string{
		"nginx": "# in the http block: geo $sitelink_dollar { default \"$\"; }\n" +
			"add_header X-Pingback \"https://h.example/x?a=1&b=\\\"2\\\"&c=%C3%A9\";\n" +
			"add_header Link \"<https://h.example/wm?a=${sitelink_dollar}1&b=2>; rel=\\\"webmention\\\"\";\n",
		"caddy": "header X-Pingback `https://h.example/x?a=1&b=\"2\"&c=%C3%A9`\n" +
			"header +Link `<https://h.example/wm?a=$1&b=2>; rel=\"webmention\"`\n",
		"lighttpd": "setenv.add-response-header += (\n  \"X-Pingback\" => \"https://h.example/x?a=1&b=\\\"2\\\"&c=%C3%A9\",\n" +
			"  \"Link\" => \"<https://h.example/wm?a=$1&b=2>; rel=\\\"webmention\\\"\"\n)\n",
	} {
		rules := HeaderRules(profile, headerEndpoints)
		if len(rules) != 1 || rules[0].File != "" || rules[0].Text != want {
			t.Errorf("%s:\n%+v\nwant\n%s", profile, rules, want)
		}
	}
	for _, profile := range []string{"generic", "github-pages", "s3", "hugo-server", "linklint"} {
		if rules := HeaderRules(profile, headerEndpoints); rules != nil {
			t.Errorf("%s: %v", profile, rules)
		}
	}
	if rules := HeaderRules("nginx", Endpoints{}); rules != nil {
		t.Errorf("without endpoints: %v", rules)
	}
}
