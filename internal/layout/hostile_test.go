package layout

import (
	"strings"
	"testing"
	"time"
)

// What repeats itself is read in bounded time.
func TestHostile(t *testing.T) {
	const n = 30_000
	for name, text := range map[string]string{
		"open_actions":    strings.Repeat("{{", n),
		"open_tags":       strings.Repeat("{% ", n),
		"quotes":          "{% " + strings.Repeat("'", n),
		"ifs":             strings.Repeat("{{if}}", n),
		"liquid_ifs":      strings.Repeat("{%if%}", n),
		"elses":           "{{if}}" + strings.Repeat("{{else}}", n),
		"defines":         strings.Repeat(`{{define "a"}}`, n),
		"calls":           strings.Repeat(`{{template "a" .}}`, n),
		"define_and_call": `{{define "a"}}` + strings.Repeat(`{{template "a" .}}`, 1000) + `{{end}}{{template "a" .}}`,
		"comments":        strings.Repeat("{% comment %}", n),
		"less":            strings.Repeat("<", n),
		"attributes":      "<meta " + strings.Repeat("a=b ", n) + ">",
		"heads":           strings.Repeat("<head>", n),
		"templates":       strings.Repeat("<template>", n),
		"braces":          strings.Repeat("{", n),
		"words":           strings.Repeat("{{ x }}y", n),
	} {
		for lang := HTML; lang <= Astro; lang++ {
			src := Source{"x", []byte(text), lang}
			began := time.Now()
			Walk(src, func(string, string) (Source, bool) { return src, true })
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("%s as %d: %v", name, lang, took)
			} else if took > time.Second {
				t.Logf("%s as %d: %v", name, lang, took)
			}
		}
	}
}
