package redirect

import (
	"math"
	"strings"
	"testing"
)

// fuzzRead tests a format: no input causes a panic; every fault has a message and a
// line of the file; Match and MayMatch agree, and the index finds the same rule as a
// linear search; Check returns.
func fuzzRead(f *testing.F, read func(data []byte) *File, seeds ...string) {
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, seed := range seeds {
		f.Add(seed, "/a/b", "id=1")
	}
	f.Fuzz(func(t *testing.T, text, path, query string) {
		if len(text) > 1<<14 || len(path) > 1<<10 {
			t.Skip()
		}
		file := read([]byte(text))
		lines := strings.Count(text, "\n") + 1
		for _, fault := range file.Faults {
			if fault.Message == "" || fault.Line < 0 || fault.Line > lines || fault.Code == "" {
				t.Errorf("fault %+v in a file of %d lines", fault, lines)
			}
		}
		for i := range file.Rules {
			if line := file.Rules[i].Source.Line; line < 1 || line > lines {
				t.Errorf("rule %+v in a file of %d lines", file.Rules[i], lines)
			}
		}
		for i := range file.Headers {
			file.Headers[i].Applies(path)
		}
		set := New(Options{Scheme: "https", Host: "h.example"}, file)
		path = "/" + path
		req := Request{Scheme: "https", Host: "h.example", Path: path, Query: query}
		if hit, ok := set.Match(req); ok {
			if hit.Rule.Stage == AfterFiles || hit.Rule.Kind == Pass {
				t.Errorf("before the files: %+v", hit.Rule)
			}
			if !set.MayMatch(path) {
				t.Errorf("%q matches %+v, but MayMatch returns false", path, hit.Rule)
			}
		}
		// The index must find the same rule as a linear search.
		var slow *setRule
		for i := range set.rules {
			r := &set.rules[i]
			p := path
			if r.match.decoded {
				p = set.decode(path)
			}
			if _, ok := r.applies(&req, p); ok && r.match.form != never {
				slow = r
				break
			}
		}
		if fast, _ := (&search{Set: set}).first(&req, set.decode(path), 0, -1, -1); fast != slow {
			t.Errorf("%q: the index finds %+v, the search %+v", path, fast, slow)
		}
		// The cost is what package code counts itself: rules that are looked at, and 64
		// steps of an expression (see work). A file of 16 KiB has at most 8,192 rules, and
		// each leads to 20 others at most. Addresses and expressions are bounded in any
		// file.
		set.work.granted.Store(math.MaxInt64 / 2)
		if hit, ok := set.Match(req); ok && len(hit.To) > MaxAddress+1+len(query) {
			t.Errorf("an address of %d bytes", len(hit.To))
		}
		instructions := 0
		for i := range set.rules {
			instructions += int(set.rules[i].cost)
		}
		if instructions > maxRuleInstructions {
			t.Errorf("%d instructions", instructions)
		}
		if spent, most := set.work.spent.Load(), int64(maxRewrites*(len(set.rules)+instructions*(MaxAddress+1)/64+fewRules)); spent > 2*most {
			t.Errorf("a request costs %d, more than %d", spent, most)
		}
		set.Check(func(path string) bool { return len(path)%2 == 0 })
	})
}

func FuzzNetlify(f *testing.F) {
	fuzzRead(f, readers["netlify"], "/a/* /b/:splat 301!\n/x id=:id /y/:id 302 Country=us\n", "https://h.example/a/:b/* /c/:b # x\n/a*/b /c 404\n")
}

func FuzzCloudflare(f *testing.F) {
	fuzzRead(f, readers["cloudflare"], "/a/* /b/:splat 301\n/x-:y/*z /w#:y\n/a /b 200\n", "/ü /../y?z\n")
}

func FuzzNetlifyTOML(f *testing.F) {
	fuzzRead(f, readers["netlifytoml"], "[[redirects]]\nfrom = \"/a/*\"\nto = \"/b\"\nquery = {id = \":x\"}\n", "redirects = [{from=\"/a\", to=\"/b\"}]\n")
}

func FuzzVercel(f *testing.F) {
	fuzzRead(f, readers["vercel"], `{"redirects":[{"source":"/a/:b*","destination":"/c/:b*"}],"rewrites":[{"source":"/((?!x).*)","destination":"/$1"}]}`, `{"routes":[{"src":"/(.*)","dest":"/a/$1"},{"handle":"filesystem"}]}`)
}

func FuzzFirebase(f *testing.F) {
	fuzzRead(f, readers["firebase"], `{"hosting":{"redirects":[{"source":"/a/:b*","destination":"/c/:b"}],"rewrites":[{"source":"!/@(x|y)/**","destination":"/i"}]}}`, `{"hosting":[{"redirects":[{"regex":"/a(.*)","destination":"/:1"}]}]}//`)
}

func FuzzHtaccess(f *testing.F) {
	fuzzRead(f, readers["htaccess"], "RewriteEngine on\nRewriteCond %{HTTP_HOST} ^(.*)$ [NC,OR]\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule ^(.*)$ /x/$1/%1 [R=301,L,QSA]\n", "Redirect 301 /a /b\nRedirectMatch ^/(.*)$ /$1\n<IfModule x>\n")
}

func FuzzHeaders(f *testing.F) {
	fuzzRead(f, readers["headers"], "/a/*\n  Link: x\n! Y\n/b/:c\n Z: 1\n", "https://h.example/x\n a:b\n")
}
