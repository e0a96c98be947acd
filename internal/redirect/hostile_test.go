package redirect

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// readers are all formats, by name.
var readers = map[string]func(data []byte) *File{
	"netlify":     func(data []byte) *File { return Netlify("f", data) },
	"cloudflare":  func(data []byte) *File { return Cloudflare("f", data) },
	"netlifytoml": func(data []byte) *File { return NetlifyTOML("f", data) },
	"vercel":      func(data []byte) *File { return Vercel("f", data) },
	"firebase":    func(data []byte) *File { return Firebase("f", data) },
	"htaccess":    func(data []byte) *File { return Htaccess("/d/", "f", data) },
	"headers":     func(data []byte) *File { return Headers("f", data, true) },
}

func TestHostile(t *testing.T) {
	testkit.Long(t)
	const n = 100_000
	var many, apache strings.Builder
	apache.WriteString("RewriteEngine on\n")
	for i := range n {
		fmt.Fprintf(&many, "/p%d/* /q/:splat\n", i)
		fmt.Fprintf(&apache, "RewriteRule ^p%d/(.*)$ /q/$1 [R]\n", i)
	}
	last := fmt.Sprintf("/p%d/z", n-1)
	inputs := map[string]string{
		"one_line_of_1MB":       "/" + strings.Repeat("a", 1<<20) + " /b\n/x /y\n",
		"1MB_of_splats":         strings.Repeat("/*", 1<<19) + " /b\n/x /y\n",
		"1MB_of_placeholders":   strings.Repeat("/:a", 1<<18) + " /b\n/x /y\n",
		"many_rules":            many.String(),
		"many_rewrite_rules":    apache.String(),
		"many_bad_lines":        strings.Repeat("bad\n", n),
		"nested_json":           strings.Repeat(`{"redirects":[`, 100_000),
		"nested_parentheses":    `{"redirects":[{"source":"/` + strings.Repeat("(", 50_000) + `","destination":"/b"}]}`,
		"nested_groups":         `{"redirects":[{"source":"/` + strings.Repeat("(a", 2000) + strings.Repeat(")", 2000) + `","destination":"/b"}]}`,
		"braces":                `{"hosting":{"redirects":[{"source":"` + strings.Repeat("{a,b}", 1000) + `","destination":"/b"}]}}`,
		"repeated_repetition":   "RewriteEngine on\nRewriteRule ((((a{1,100}){1,100}){1,100}){1,100}) /b\n",
		"open_sections":         strings.Repeat("<IfModule x>\n", 100_000),
		"lookaheads":            "RewriteEngine on\nRewriteRule ^" + strings.Repeat("(?!a)", 10000) + "b$ /c\n",
		"zeroes":                strings.Repeat("\x00", 1<<20),
		"continued_lines":       strings.Repeat("RewriteRule \\\n", n),
		"toml_of_many_brackets": strings.Repeat("[[redirects]]\n", n/2),
	}
	for name, text := range inputs {
		for format, read := range readers {
			t.Run(name+"/"+format, func(t *testing.T) {
				start := time.Now()
				f := read([]byte(text))
				set := New(Options{}, f)
				for _, path := range []string{"/", "/x", last, "/" + strings.Repeat("a/", 4000)} {
					set.Match(Request{Path: path, Stage: AfterFiles})
					set.MayMatch(path)
				}
				if len(f.Faults) > maxFaults {
					t.Errorf("%d faults", len(f.Faults))
				}
				for _, fault := range f.Faults {
					if len(fault.Message) > 2000 || len(fault.Text) > maxText+3 || fault.Message == "" {
						t.Fatalf("a fault that does not fit a report: %.300q", fault.Message)
					}
				}
				if took := time.Since(start); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			})
		}
	}
	set := New(Options{}, Netlify("f", []byte(many.String())))
	if hit, _ := set.Match(Request{Path: last, Stage: AfterFiles}); hit.To != "/q/z" {
		t.Errorf("the last of %d rules: got %q", n, hit.To)
	}
}

// Rules that can match any address may cost as much as their site grants, and no more.
func TestTooCostly(t *testing.T) {
	var text strings.Builder
	text.WriteString("RewriteEngine on\n")
	for i := range 5000 {
		fmt.Fprintf(&text, "RewriteRule (b|c){%d}x%d$ /x\n", i%50+1, i)
	}
	set := New(Options{}, Htaccess("/", ".htaccess", []byte(text.String())))
	ask := func(n int) {
		for i := range n {
			set.Match(Request{Path: fmt.Sprintf("/%d/aaaaaaaaaaaaaaaaaaaaaaaa", i)})
		}
	}
	set.work.spent.Store(allowedAtFirst * 9 / 10)
	ask(1)
	if err := set.TooCostly(); err != nil {
		t.Fatalf("one request: %v", err)
	}
	ask(20)
	err := set.TooCostly()
	if err == nil || !strings.HasPrefix(err.Error(), ".htaccess:1051: the redirect rules take too long for a site of this size: 5000 rules of the site can match any address") {
		t.Fatalf("20 requests: %v", err)
	}
	set.Allow(1 << 30)
	if err := set.TooCostly(); err != nil {
		t.Errorf("on a large site: %v", err)
	}
}

// What requests cost does not depend on their order, nor on who asks how often.
func TestCostIsCertain(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, "/*/x%d /:splat%d 301\n/x /y Country=us\n", i, i)
	}
	cost := func(jobs int) int64 {
		set := New(Options{}, Netlify("f", []byte(text.String())))
		var wg sync.WaitGroup
		for job := range jobs {
			wg.Go(func() {
				for i := range 1000 {
					set.Match(Request{Path: fmt.Sprintf("/%d", (i+job*100)%200), Stage: AfterFiles})
				}
			})
		}
		wg.Wait()
		return set.work.spent.Load()
	}
	if one, many := cost(1), cost(8); one != many || one < 200*500 {
		t.Errorf("200 requests cost %d, when 8 ask %d", one, many)
	}
}

// Conditions count, and so does a destination of many parts; an expression that no request
// meets is not compiled.
func TestCostOfOneRule(t *testing.T) {
	for name, text := range map[string]string{
		"conditions":  strings.Repeat("RewriteCond %{REQUEST_FILENAME} !-f\n", 1000) + "RewriteRule . /x\n",
		"names":       "DirectoryIndex " + strings.Repeat("a ", 2*maxIndexNames) + "\nRewriteCond %{QUERY_STRING} !b\nRewriteRule . /x\n",
		"parts":       "RewriteRule . /x" + strings.Repeat("$9", 8000) + "\n",
		"directories": "RewriteRule . /x\n",
	} {
		files := []*File{Htaccess("/", ".htaccess", []byte("RewriteEngine on\n"+text))}
		for i := range 100 {
			files = append(files, Htaccess(fmt.Sprintf("/%d/", i), ".htaccess", []byte("RewriteEngine on\n")))
		}
		set := New(Options{}, files...)
		if n := len(files[0].Settings.Index); n > maxIndexNames {
			t.Errorf("%s: %d names of index files", name, n)
		}
		set.Match(Request{Path: "/" + strings.Repeat("a", 63)})
		if set.work.spent.Load() < 100 {
			t.Errorf("%s: a request costs %d", name, set.work.spent.Load())
		}
	}
	routes := Vercel("vercel.json", []byte(`{"routes":[{"src":"/(a{1,900})(?<n>x?){900}","dest":"/$n"}]}`))
	if e := routes.Rules[0].match.expr; e.re != nil || !slices.Equal(e.names, []string{"", "n"}) {
		t.Errorf("compiled: %v, groups %q", e.re != nil, e.names)
	}
}

// A request looks at few of the rules without fixed text to see whether any may match.
func TestMayMatchIsShort(t *testing.T) {
	set := New(Options{}, Netlify("f", []byte(strings.Repeat("/*/x /y\n", fewRules)+"/q* /y 301!\n")))
	if !set.MayMatch("/z") {
		t.Error("MayMatch looks at more rules than that")
	}
}

// A check lists so many faults, and says how many it leaves out.
func TestCheckListsSoMany(t *testing.T) {
	faults := New(Options{}, Netlify("f", []byte(strings.Repeat("/x /y\n", maxCheckFaults+4)))).Check(func(path string) bool { return path == "/y" })
	if last := faults[len(faults)-1]; len(faults) != maxCheckFaults || last.Line != maxCheckFaults+1 || !strings.HasSuffix(last.Message, "matches; not listed: 3 more faults") {
		t.Errorf("%d faults, the last %+v", len(faults), last)
	}
}

// The directives for a path and all below are compared as texts: 40,000 expressions take
// 200 MB.
func TestBelowHasNoExpression(t *testing.T) {
	set := New(Options{}, Htaccess("/", ".htaccess", []byte("Redirect /a.b /c\nRedirect /x/ /y/\n")))
	for from, to := range map[string]string{"/a.b": "/c", "/a.b/d": "/c/d", "/a.bc": "", "/aXb": "", "/x/": "/y/", "/x/z": "/y/z", "/x": ""} {
		if hit, _ := set.Match(Request{Path: from}); hit.To != to {
			t.Errorf("%s: to %q, not %q", from, hit.To, to)
		}
	}
	if set.rules[0].match.expr != nil {
		t.Error("the first rule has an expression")
	}
}

// Reading a class of all letters that ignores their case takes 8 ms, so it is refused
// before it is read. A deep key of TOML is, too.
func TestCostlyToRead(t *testing.T) {
	for _, source := range []string{"(?i)[b-\U0001e942]", `(?si)\pL`, `(?:(?i)[\x{100}-\x{1e942}])`} {
		if _, err := newExpression(source); err == nil || !strings.Contains(err.Error(), "ignores letter case") {
			t.Errorf("%s: %v", source, err)
		}
	}
	for _, source := range []string{"(?i)^/[a-z]+ä$", `[\pL]`, "[ä-ü]"} {
		if _, err := newExpression(source); err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	if f := Wrangler("wrangler.toml", []byte("a"+strings.Repeat(".a", 5000)+"=1\n")); len(f.Faults) != 1 {
		t.Errorf("faults %+v", f.Faults)
	}
}
