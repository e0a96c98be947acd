package endpoint

import (
	"reflect"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	link := func(target, rel string) HeaderLink { return HeaderLink{Target: target, Rel: rel} }
	for _, c := range []struct {
		field string
		want  []HeaderLink
		whole bool
	}{
		{"", nil, true},
		{"<a>", []HeaderLink{link("a", "")}, true},
		{"<a>; rel=x, <b> ; REL=\"y z\";other", []HeaderLink{link("a", "x"), link("b", "y z")}, true},
		{" , <a,b;c>;rel=x;rel=y,", []HeaderLink{link("a,b;c", "x")}, true},
		{`<a>; anchor="#f"; rel="\"q\\"`, []HeaderLink{{"a", `"q\`, "#f", true}}, true},
		{"<a>, b", []HeaderLink{link("a", "")}, false},
		{"<a", nil, false},
		{"<a> junk, <b>", []HeaderLink{link("a", ""), link("b", "")}, false},
		{"a", nil, false},
	} {
		if got, whole := Links(c.field); !reflect.DeepEqual(got, c.want) || whole != c.whole {
			t.Errorf("%q: %+v, %v", c.field, got, whole)
		}
	}
}

// FuzzLinks: what was parsed, written and parsed again is the same.
func FuzzLinks(f *testing.F) {
	for _, seed := range []string{
		`<https://a/x>; rel=webmention`, `</a>; rel="a webmention"; anchor="#x", <b>;rel=c`, `<a>;x;rel="\"\\", <b`, `<>;;rel =x ,, <c> ; rel`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		links, whole := Links(field)
		var b strings.Builder
		quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace
		for i, link := range links {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("<" + link.Target + `>; rel="` + quote(link.Rel) + `"`)
			if link.Anchored {
				b.WriteString(`; anchor="` + quote(link.Anchor) + `"`)
			}
		}
		if again, all := Links(b.String()); !reflect.DeepEqual(again, links) || !all {
			t.Errorf("%q (%v)\n%+v\n%q\n%+v", field, whole, links, b.String(), again)
		}
	})
}
