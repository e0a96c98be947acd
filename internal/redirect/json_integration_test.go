//go:build integration

package redirect

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// jsonRules returns a configuration with random redirects and rewrites.
func jsonRules(r *rand.Rand, wrap string, source, to func(redirect bool) string, more func(rule map[string]any)) string {
	list := func(n int, redirect bool) []map[string]any {
		out := []map[string]any{}
		for range n {
			rule := map[string]any{"source": source(redirect), "destination": to(redirect)}
			if redirect && more != nil {
				more(rule)
			}
			out = append(out, rule)
		}
		return out
	}
	config := map[string]any{"redirects": list(r.IntN(3), true), "rewrites": list(r.IntN(3), false)}
	var document any = config
	if wrap != "" {
		document = map[string]any{wrap: config}
	}
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var jsonSegments = []string{"a", "a", "b", "b", "c.html", "ab", "x", "a.js", "12", ".a", "b-c"}

// TestVercelOracle compares the sources of vercel.json with
// @vercel/routing-utils.
func TestVercelOracle(t *testing.T) {
	line := func(r *rand.Rand) string {
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		source := func(bool) string {
			out := ""
			for range r.IntN(4) {
				out += "/" + pick("a", "b", ":x", ":y?", ":x*", ":y+", "(.*)", ":n(\\d+)", "c.:x", "(a|b)", ":x(a|b)", "{a}?", "((?!a).*)", "x{-:y}?", "[", "a\\(b")
			}
			return out + pick("", "", "/")
		}
		to := func(redirect bool) string {
			out := pick("/z", "/q/:x", "/q/:y/:n", "/$1/:x", "https://o.example/:x", "/q/:x*", "/:x-:y/z")
			if !redirect {
				// What is not used is added to a rewrite's query, which does
				// not change the file.
				out = pick("/z", "/z/$1", "/index.html")
			}
			return out
		}
		return jsonRules(r, "", source, to, func(rule map[string]any) {
			if r.IntN(2) == 0 {
				rule["permanent"] = r.IntN(2) == 0
			}
		})
	}
	compareOracle(t, "vercel.cjs", withoutQueries(randomCases(1500, 3, line, jsonSegments)), func(rules string) func(string) string {
		f := Vercel("vercel.json", []byte(rules))
		return answersOf(f, AfterFiles)
	})
}

// TestFirebaseOracle compares globs and captures of firebase.json with
// superstatic.
func TestFirebaseOracle(t *testing.T) {
	line := func(r *rand.Rand) string {
		pick := func(list ...string) string { return list[r.IntN(len(list))] }
		source := func(bool) string {
			out := ""
			for range 1 + r.IntN(3) {
				out += "/" + pick("a", "b", "*", "**", "a*", "*.js", "?", "{a,b}", "@(a|b)", "!(a)", "+(a|b)", "[ab]", "c.html", "*b", "x?(y)", "a{,b}")
			}
			if r.IntN(6) == 0 {
				out = "!" + strings.ReplaceAll(out, "!(", "@(")
			}
			return out
		}
		to := func(bool) string { return pick("/z", "/index.html", "https://o.example/") }
		return jsonRules(r, "hosting", source, to, func(rule map[string]any) {
			if r.IntN(2) == 0 {
				rule["type"] = 302
			}
			if r.IntN(3) == 0 {
				rule["source"] = "/" + pick("a/:x", ":x/b", ":x/:y", ":x(\\d+)", ":x.html")
				rule["destination"] = pick("/q/:x", "/:x", "/q/:x/z")
			}
		})
	}
	compareOracle(t, "firebase.cjs", withoutQueries(randomCases(1500, 4, line, jsonSegments)), func(rules string) func(string) string {
		f := Firebase("firebase.json", []byte(rules))
		if len(f.Faults) > 0 {
			// Two !( ), or one together with braces, are reported as not supported.
			return func(string) string { return undecided }
		}
		return answersOf(f, AfterFiles)
	})
}

// withoutQueries keeps one rule file a case, and drops queries: these hosts pass
// them on later.
func withoutQueries(cases []oracleCase) []oracleCase {
	for i, c := range cases {
		first := json.NewDecoder(strings.NewReader(c.Rules))
		var raw json.RawMessage
		if err := first.Decode(&raw); err != nil {
			panic(err)
		}
		cases[i].Rules = string(raw)
		for k, target := range c.Targets {
			cases[i].Targets[k], _, _ = strings.Cut(target, "?")
		}
	}
	return cases
}
