package send

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/outgoing"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

const (
	precheckSource = "https://alice.example/post/"
	precheckTarget = "https://bob.example/?a=1&b=2"
	link           = `<a href="https://bob.example/?a=1&amp;b=2">text</a>`
	head           = "<!DOCTYPE html><title>Post</title>"
)

// testPage is a source and the response for it.
type testPage struct {
	URL, Final string // Final is set after a redirect
	Status     int
	Body       []byte
}

func check(p testPage, target string) []Problem {
	resp := &outgoing.Response{URL: p.URL, Status: p.Status, Body: p.Body}
	if p.Final != "" {
		resp.URL, resp.Redirected = p.Final, true
	}
	return CheckSource(p.URL, resp, target)
}

// TestCheck has the rules of WordPress 6.1 one by one. The integration test of
// TestWordPress sends the same pages to WordPress.
func TestCheck(t *testing.T) {
	late := strings.Repeat("<p>filler</p>\n", 11000)
	for _, test := range []struct {
		name string
		page testPage // 200 and source if not set
		want []ProblemCode
	}{
		{"good", testPage{Body: []byte(head + "<p>" + link)}, nil},
		{"in capitals", testPage{Body: []byte("<TITLE>Post</TITLE><p>" + link)}, nil},
		{"link text with elements", testPage{Body: []byte(head + strings.Replace(link, "text", "<b>te</b>xt", 1))}, nil},
		{"one good link of two", testPage{Body: []byte(head + strings.Replace(link, "text", "", 1) + link)}, nil},
		{"unquoted by a minifier", testPage{Body: []byte(head + `<a href=https://bob.example/?a=1&amp;b=2>text</a>`)}, nil},

		{"missing", testPage{Status: 404, Body: []byte(head + link)}, []ProblemCode{NotLive}},
		{"empty", testPage{Body: []byte(" \n")}, []ProblemCode{NotLive}},
		{"failing", testPage{Status: 500}, []ProblemCode{NotLive}},
		{"moved to https", testPage{URL: "http://alice.example/post/", Body: []byte(head + link),
			Final: "https://alice.example/post/"}, []ProblemCode{Redirected}},
		{"slash added", testPage{URL: "https://alice.example/post", Body: []byte(head + link),
			Final: precheckSource}, []ProblemCode{Redirected}},

		{"odd port", testPage{URL: "https://alice.example:8443/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"port 8080", testPage{URL: "http://alice.example:8080/", Body: []byte(head + link)}, nil},
		{"IPv6 number", testPage{URL: "http://[2001:db8::1]/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"private number", testPage{URL: "http://172.16.0.1/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"loopback", testPage{URL: "http://127.9.9.9/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"host 0", testPage{URL: "http://0.0.0.0/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"user", testPage{URL: "http://u@alice.example/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"other scheme", testPage{URL: "gemini://alice.example/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"no address", testPage{URL: "http://%zz/", Body: []byte(head + link)}, []ProblemCode{RefusedSource}},
		{"host of the target", testPage{URL: "https://bob.example:443/x", Body: []byte(head + link)}, nil},

		{"no title", testPage{Body: []byte(link)}, []ProblemCode{NoTitle}},
		{"empty title", testPage{Body: []byte("<title></title>" + link)}, []ProblemCode{NoTitle}},
		{"title 0", testPage{Body: []byte("<title>0</title>" + link)}, []ProblemCode{NoTitle}},
		{"title with an attribute", testPage{Body: []byte(`<title lang="en">Post</title>` + link)}, []ProblemCode{NoTitle}},
		{"late title", testPage{Body: []byte(link + late + "<title>Post</title>")}, []ProblemCode{NoTitle}},

		{"no link", testPage{Body: []byte(head + "https://bob.example/?a=1&amp;b=2")}, []ProblemCode{NoLink}},
		{"other link", testPage{Body: []byte(head + `<a href="https://bob.example/">text</a>`)}, []ProblemCode{NoLink}},
		{"link in a comment", testPage{Body: []byte(head + "<!--" + link + "-->")}, []ProblemCode{NoLink}},
		{"nothing", testPage{Body: []byte("<p>")}, []ProblemCode{NoTitle, NoLink}},

		{"late link", testPage{Body: []byte(head + late + link)}, []ProblemCode{LinkLate}},
		{"picture", testPage{Body: []byte(head + strings.Replace(link, "text", `<img alt="x">`, 1))}, []ProblemCode{LinkText}},
		{"heading", testPage{Body: []byte(head + strings.Replace(link, "text", "<h2>text</h2>", 1))}, []ProblemCode{LinkText}},
		{"greater than", testPage{Body: []byte(head + strings.Replace(link, "text", "a > b", 1))}, []ProblemCode{LinkText}},
		{"not closed", testPage{Body: []byte(head + strings.TrimSuffix(link, "</a>"))}, []ProblemCode{LinkText}},
		{"minified ampersand", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&", 1))}, []ProblemCode{LinkBytes}},
		{"numeric ampersand", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&#x26;", 1))}, []ProblemCode{LinkBytes}},
		{"without scheme", testPage{Body: []byte(head + strings.Replace(link, "https:", "", 1))}, []ProblemCode{LinkBytes}},
		{"capitals", testPage{Body: []byte(head + strings.Replace(link, "<a", "<A", 1))}, []ProblemCode{LinkBytes}},
		{"base elsewhere", testPage{Body: []byte(head + `<base target="x"><base href="https://bob.example/"><base href="/no"><a href="?a=1&amp;b=2">text</a>`)}, []ProblemCode{LinkBytes}},
		{"two problems", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&", 1) + strings.Replace(link, "text", "", 1))}, []ProblemCode{LinkText, LinkBytes}},
		{"hidden", testPage{Body: []byte(head + "<script>1</script ><p>" + link + "<script></script>")}, []ProblemCode{LinkHidden}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.page.URL == "" {
				test.page.URL = precheckSource
			}
			if test.page.Status == 0 {
				test.page.Status = 200
			}
			var got []ProblemCode
			for _, p := range check(test.page, precheckTarget) {
				got = append(got, p.Code)
				if p.Message == "" || p.Cure == "" || strings.HasSuffix(p.Message, ".") || strings.HasSuffix(p.Cure, ".") {
					t.Errorf("%+v", p)
				}
				if p.Offset >= len(test.page.Body) || p.Offset < -1 {
					t.Errorf("offset %d", p.Offset)
				}
				if p.Offset >= 0 && p.Line != 1+strings.Count(string(test.page.Body[:p.Offset]), "\n") || p.Offset < 0 && p.Line != 0 {
					t.Errorf("line %d", p.Line)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// TestFor: problems of WordPress do not matter for a webmention.
func TestFor(t *testing.T) {
	page := testPage{URL: precheckSource, Status: 200, Body: []byte(strings.Replace(link, "text", "", 1))}
	all := check(page, precheckTarget)
	if len(ProblemsFor(ledger.Pingback, all)) != 2 || len(ProblemsFor(ledger.Webmention, all)) != 0 {
		t.Errorf("%+v", all)
	}
	page.Body = []byte("<p>")
	if got := ProblemsFor(ledger.Webmention, check(page, precheckTarget)); len(got) != 1 || got[0].Code != NoLink {
		t.Errorf("%+v", got)
	}
}

// TestCure: the cure fits the cause.
func TestCure(t *testing.T) {
	for body, want := range map[string]string{
		strings.Replace(link, "&amp;", "&", 1):       "as &amp;",
		strings.Replace(link, "https:", "", 1):       "with its scheme",
		strings.Replace(link, "bob", "&#98;ob", 1):   "&amp;",
		strings.Replace(link, "bob.ex", "BOB.ex", 1): "in full",
	} {
		problems := check(testPage{URL: precheckSource, Status: 200, Body: []byte(head + body)}, precheckTarget)
		if len(problems) != 1 || problems[0].Code != LinkBytes || !strings.Contains(problems[0].Cure, want) {
			t.Errorf("%s: %+v", body, problems)
		}
	}
	moved := check(testPage{URL: "http://a.example/", Status: 200, Body: []byte(head + link), Final: "https://a.example/"}, precheckTarget)
	if len(moved) != 1 || moved[0].Cure != "set the base URL to https" {
		t.Errorf("%+v", moved)
	}
}

type answers struct {
	response *outgoing.Response
	err      error
}

func (a answers) Do(_ context.Context, r outgoing.Request) (*outgoing.Response, error) {
	if r.URL != precheckSource {
		return nil, errors.New("other address")
	}
	return a.response, a.err
}

// TestFetch: the response of a page is checked; a missing response is an error.
func TestFetch(t *testing.T) {
	problems, err := FetchProblems(t.Context(), answers{response: &outgoing.Response{Status: http.StatusGone}}, precheckSource, precheckTarget)
	if err != nil || len(problems) != 1 || !problems[0].Temporary() {
		t.Errorf("%+v, %v", problems, err)
	}
	if _, err := FetchProblems(t.Context(), answers{err: errors.New("no route")}, precheckSource, precheckTarget); err == nil {
		t.Error("no error")
	}
}

// FuzzCheck: every problem of any page has a known code, a message, a cure and a
// valid offset.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(head+link), precheckTarget)
	f.Add([]byte("<a href=x>"+link), "x")
	f.Add([]byte("<title>t</title><a"), "https://b.example/")
	f.Fuzz(func(t *testing.T, body []byte, target string) {
		for _, p := range check(testPage{URL: precheckSource, Status: 200, Body: body}, target) {
			if !slices.Contains(order, p.Code) || p.Message == "" || p.Cure == "" || p.Offset < -1 || p.Offset >= max(len(body), 1) {
				t.Errorf("%+v", p)
			}
		}
	})
}
