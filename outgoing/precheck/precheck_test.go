package precheck

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
	source = "https://alice.example/post/"
	target = "https://bob.example/?a=1&b=2"
	link   = `<a href="https://bob.example/?a=1&amp;b=2">text</a>`
	head   = "<!DOCTYPE html><title>Post</title>"
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
	return Check(p.URL, resp, target)
}

// TestCheck has the rules of WordPress 6.1 one by one. The integration test of
// package pingback sends the same pages to WordPress.
func TestCheck(t *testing.T) {
	late := strings.Repeat("<p>filler</p>\n", 11000)
	for _, test := range []struct {
		name string
		page testPage // 200 and source if not set
		want []Code
	}{
		{"good", testPage{Body: []byte(head + "<p>" + link)}, nil},
		{"in capitals", testPage{Body: []byte("<TITLE>Post</TITLE><p>" + link)}, nil},
		{"link text with elements", testPage{Body: []byte(head + strings.Replace(link, "text", "<b>te</b>xt", 1))}, nil},
		{"one good link of two", testPage{Body: []byte(head + strings.Replace(link, "text", "", 1) + link)}, nil},
		{"unquoted by a minifier", testPage{Body: []byte(head + `<a href=https://bob.example/?a=1&amp;b=2>text</a>`)}, nil},

		{"missing", testPage{Status: 404, Body: []byte(head + link)}, []Code{NotLive}},
		{"empty", testPage{Body: []byte(" \n")}, []Code{NotLive}},
		{"failing", testPage{Status: 500}, []Code{NotLive}},
		{"moved to https", testPage{URL: "http://alice.example/post/", Body: []byte(head + link),
			Final: "https://alice.example/post/"}, []Code{Redirected}},
		{"slash added", testPage{URL: "https://alice.example/post", Body: []byte(head + link),
			Final: source}, []Code{Redirected}},

		{"odd port", testPage{URL: "https://alice.example:8443/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"port 8080", testPage{URL: "http://alice.example:8080/", Body: []byte(head + link)}, nil},
		{"IPv6 number", testPage{URL: "http://[2001:db8::1]/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"private number", testPage{URL: "http://172.16.0.1/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"loopback", testPage{URL: "http://127.9.9.9/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"host 0", testPage{URL: "http://0.0.0.0/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"user", testPage{URL: "http://u@alice.example/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"other scheme", testPage{URL: "gemini://alice.example/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"no address", testPage{URL: "http://%zz/", Body: []byte(head + link)}, []Code{RefusedSource}},
		{"host of the target", testPage{URL: "https://bob.example:443/x", Body: []byte(head + link)}, nil},

		{"no title", testPage{Body: []byte(link)}, []Code{NoTitle}},
		{"empty title", testPage{Body: []byte("<title></title>" + link)}, []Code{NoTitle}},
		{"title 0", testPage{Body: []byte("<title>0</title>" + link)}, []Code{NoTitle}},
		{"title with an attribute", testPage{Body: []byte(`<title lang="en">Post</title>` + link)}, []Code{NoTitle}},
		{"late title", testPage{Body: []byte(link + late + "<title>Post</title>")}, []Code{NoTitle}},

		{"no link", testPage{Body: []byte(head + "https://bob.example/?a=1&amp;b=2")}, []Code{NoLink}},
		{"other link", testPage{Body: []byte(head + `<a href="https://bob.example/">text</a>`)}, []Code{NoLink}},
		{"link in a comment", testPage{Body: []byte(head + "<!--" + link + "-->")}, []Code{NoLink}},
		{"nothing", testPage{Body: []byte("<p>")}, []Code{NoTitle, NoLink}},

		{"late link", testPage{Body: []byte(head + late + link)}, []Code{LinkLate}},
		{"picture", testPage{Body: []byte(head + strings.Replace(link, "text", `<img alt="x">`, 1))}, []Code{LinkText}},
		{"heading", testPage{Body: []byte(head + strings.Replace(link, "text", "<h2>text</h2>", 1))}, []Code{LinkText}},
		{"greater than", testPage{Body: []byte(head + strings.Replace(link, "text", "a > b", 1))}, []Code{LinkText}},
		{"not closed", testPage{Body: []byte(head + strings.TrimSuffix(link, "</a>"))}, []Code{LinkText}},
		{"minified ampersand", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&", 1))}, []Code{LinkBytes}},
		{"numeric ampersand", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&#x26;", 1))}, []Code{LinkBytes}},
		{"without scheme", testPage{Body: []byte(head + strings.Replace(link, "https:", "", 1))}, []Code{LinkBytes}},
		{"capitals", testPage{Body: []byte(head + strings.Replace(link, "<a", "<A", 1))}, []Code{LinkBytes}},
		{"base elsewhere", testPage{Body: []byte(head + `<base target="x"><base href="https://bob.example/"><base href="/no"><a href="?a=1&amp;b=2">text</a>`)}, []Code{LinkBytes}},
		{"two problems", testPage{Body: []byte(head + strings.Replace(link, "&amp;", "&", 1) + strings.Replace(link, "text", "", 1))}, []Code{LinkText, LinkBytes}},
		{"hidden", testPage{Body: []byte(head + "<script>1</script ><p>" + link + "<script></script>")}, []Code{LinkHidden}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.page.URL == "" {
				test.page.URL = source
			}
			if test.page.Status == 0 {
				test.page.Status = 200
			}
			var got []Code
			for _, p := range check(test.page, target) {
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
	page := testPage{URL: source, Status: 200, Body: []byte(strings.Replace(link, "text", "", 1))}
	all := check(page, target)
	if len(For(ledger.Pingback, all)) != 2 || len(For(ledger.Webmention, all)) != 0 {
		t.Errorf("%+v", all)
	}
	page.Body = []byte("<p>")
	if got := For(ledger.Webmention, check(page, target)); len(got) != 1 || got[0].Code != NoLink {
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
		problems := check(testPage{URL: source, Status: 200, Body: []byte(head + body)}, target)
		if len(problems) != 1 || problems[0].Code != LinkBytes || !strings.Contains(problems[0].Cure, want) {
			t.Errorf("%s: %+v", body, problems)
		}
	}
	moved := check(testPage{URL: "http://a.example/", Status: 200, Body: []byte(head + link), Final: "https://a.example/"}, target)
	if len(moved) != 1 || moved[0].Cure != "set the base URL to https" {
		t.Errorf("%+v", moved)
	}
}

type answers struct {
	response *outgoing.Response
	err      error
}

func (a answers) Do(_ context.Context, r outgoing.Request) (*outgoing.Response, error) {
	if r.URL != source {
		return nil, errors.New("other address")
	}
	return a.response, a.err
}

// TestFetch: the response of a page is checked; a missing response is an error.
func TestFetch(t *testing.T) {
	problems, err := Fetch(t.Context(), answers{response: &outgoing.Response{Status: http.StatusGone}}, source, target)
	if err != nil || len(problems) != 1 || !problems[0].Temporary() {
		t.Errorf("%+v, %v", problems, err)
	}
	if _, err := Fetch(t.Context(), answers{err: errors.New("no route")}, source, target); err == nil {
		t.Error("no error")
	}
}

// FuzzCheck: every problem of any page has a known code, a message, a cure and a
// valid offset.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(head+link), target)
	f.Add([]byte("<a href=x>"+link), "x")
	f.Add([]byte("<title>t</title><a"), "https://b.example/")
	f.Fuzz(func(t *testing.T, body []byte, target string) {
		for _, p := range check(testPage{URL: source, Status: 200, Body: body}, target) {
			if !slices.Contains(order, p.Code) || p.Message == "" || p.Cure == "" || p.Offset < -1 || p.Offset >= max(len(body), 1) {
				t.Errorf("%+v", p)
			}
		}
	})
}
