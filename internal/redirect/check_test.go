package redirect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// checkSite answers for a docroot of a few files.
func checkSite(files ...string) func(path string) bool {
	return func(path string) bool { return slices.Contains(files, path) }
}

func TestCheck(t *testing.T) {
	files := []string{"/", "/b", "/new/", "/index.html", "/file", "/404.html"}
	tests := []struct {
		name  string
		file  *File
		want  []string
		words string // in the message of the first fault
	}{
		{"fine", Netlify("r", []byte("/a /b\n/c https://o.example/x\n/old/* /new/:splat\n/api/* https://api.example/:splat 200\n")), nil, ""},
		{"target_missing", Netlify("r", []byte("/a /nowhere\n/c /b\n")), []string{"1 " + CodeTargetMissing}, "the destination /nowhere does not exist"},
		{"target_on_own_host", Netlify("r", []byte("/a https://h.example/nowhere#x\n/c https://h.example/b?x=1\n")), []string{"1 " + CodeTargetMissing}, "/nowhere"},
		{"rewrite_target_missing", Netlify("r", []byte("/a /nowhere 200\n/c /404.html 404\n/d /none.html 404\n")), []string{"1 " + CodeTargetMissing, "3 " + CodeTargetMissing}, "does not exist"},
		{"conditional_target_missing", Netlify("r", []byte("/a /nowhere 302 Country=us\n")), []string{"1 " + CodeTargetMissing}, "does not exist"},
		{"target_by_rewrite", Netlify("r", []byte("/a /app/x\n/app/* /index.html 200\n")), nil, ""},
		{"target_is_gone", Netlify("r", []byte("/a /g\n/g /404.html 410\n")), []string{"1 " + CodeTargetMissing}, "410"},
		{"chain", Netlify("r", []byte("/a /x\n/x /b\n")), []string{"1 " + CodeChain}, "by line 2 to /b"},
		{"loop_of_two", Netlify("r", []byte("/x /y\n/y /x\n")), []string{"1 " + CodeLoop, "2 " + CodeLoop}, "/x -> /y -> /x"},
		{"loop_onto_itself", Netlify("r", []byte("/x /x 301!\n")), []string{"1 " + CodeLoop}, "/x -> /x"},
		{"loop_of_patterns", Cloudflare("r", []byte("/x/* /y/:splat\n/y/* /x/:splat\n")), []string{"1 " + CodeLoop, "2 " + CodeLoop}, "in a loop"},
		{"loop_that_grows", Cloudflare("r", []byte("/x/* /x/y/:splat\n")), []string{"1 " + CodeLoop}, "endless"},
		{"loop_of_apache", Htaccess("/", "r", []byte("RewriteEngine on\nRewriteRule ^(.*)$ /x/$1 [R,L]\n")), []string{"2 " + CodeLoop}, "endless"},
		{"no_loop_of_apache", Htaccess("/", "r", []byte("RewriteEngine on\nRewriteRule ^(.*)$ /index.html [L]\n")), nil, ""},
		{"shadowed", Netlify("r", []byte("/file /b\n/file /b 301!\n")), []string{"1 " + CodeShadowed, "2 " + CodeUnreachable}, "/file"},
		{"forced_is_not_shadowed", Netlify("r", []byte("/file /b 301!\n")), nil, ""},
		{"unreachable_literal", Netlify("r", []byte("/a/* /b\n/a/x /b\n")), []string{"2 " + CodeUnreachable}, "line 1"},
		{"unreachable_pattern", Netlify("r", []byte("/a/* /b\n/a/x/* /b\n/a/:y /b\n")), []string{"2 " + CodeUnreachable, "3 " + CodeUnreachable}, "line 1"},
		{"unreachable_same_shape", Netlify("r", []byte("/a/:x /b\n/a/:y /b\n")), []string{"2 " + CodeUnreachable}, "line 1"},
		{"unreachable_slashes", Netlify("r", []byte("/a /b\n/a/ /b\n/c/ /b 302\n/c /b 302\n")), []string{"2 " + CodeUnreachable}, "2 rules, this one first, are not needed"},
		{"unreachable_slash", Netlify("r", []byte("/a/ /b\n/a /b\n")), []string{"2 " + CodeUnreachable}, "this rule is not needed"},
		{"unreachable_slash_elsewhere", Netlify("r", []byte("/a /b\n/a/ https://o.example/\n/c /b\n/c/ /b 302\n")), []string{"2 " + CodeUnreachable, "4 " + CodeUnreachable}, "the rule never applies: line 1"},
		{"reachable", Netlify("r", []byte("/a/:x /b\n/a/* /b\n/a id=1 /b\n/a /b\n/c /b 302 Country=us\n/c /b\n")), []string{"3 " + CodeUnreachable, "4 " + CodeUnreachable}, "line 2"},
		{"query_keeps_the_next_reachable", Netlify("r", []byte("/a id=:id /b\n/a /b\n/a id=1 /b\n")), []string{"3 " + CodeUnreachable}, "line 1"},
		{"unreachable_expression", Vercel("r", []byte(`{"redirects":[{"source":"/a/(.*)","destination":"/b"},`+"\n"+`{"source":"/a/:x","destination":"/b"}]}`)), []string{"2 " + CodeUnreachable}, "line 1"},
		{"apache_error_page", Htaccess("/", "r", []byte("ErrorDocument 404 /nowhere\nErrorDocument 403 /b\nErrorDocument 500 nowhere\nErrorDocument 410 https://h.example/nowhere\n")), []string{"1 " + CodeTargetMissing}, "does not exist"},
		{"apache_alias_below", Htaccess("/", "r", []byte("Redirect /a /b\nRedirect /a/x /b\n")), []string{"1 " + CodeTargetMissing, "2 " + CodeUnreachable}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set := New(Options{Scheme: "https", Host: "h.example"}, test.file)
			faults := set.Check(checkSite(files...))
			if test.name == "apache_alias_below" {
				// The rest after /a is appended to /b, so only a sample can be followed.
				faults = slices.DeleteFunc(faults, func(f Fault) bool { return f.Code == CodeTargetMissing })
				test.want = test.want[1:]
			}
			checkFaults(t, faults, test.want...)
			if len(faults) > 0 && !strings.Contains(faults[0].Message, test.words) {
				t.Errorf("message %q lacks %q", faults[0].Message, test.words)
			}
			for _, f := range faults {
				if f.File != "r" || f.Text == "" {
					t.Errorf("no file or text: %+v", f)
				}
				if strings.HasPrefix(test.name, "conditional") != (f.Severity == Warning) && f.Code == CodeTargetMissing {
					t.Errorf("severity %v of %+v", f.Severity, f)
				}
			}
		})
	}
}

// TestCheckIsLinear: the checks on 20,000 rules of the worst kind, all below one
// directory, end soon.
func TestCheckIsLinear(t *testing.T) {
	testkit.Long(t)
	var rules strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&rules, "/blog/:x/p%d /b\n/blog/%d /b\n", i, i)
	}
	set := New(Options{}, Netlify("r", []byte(rules.String())))
	start := time.Now()
	if faults := set.Check(checkSite("/b")); len(faults) != 0 {
		t.Errorf("%d faults, the first %+v", len(faults), faults[0])
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("20,000 rules took %v", took)
	}
}
