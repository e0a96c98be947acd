package hook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/templates"
)

// positions lists the findings as "page:line:column file:line:column raw".
func positions(fs []check.Finding) string {
	var out []string
	for _, f := range fs {
		source := "-"
		if f.Source != nil {
			source = fmt.Sprintf("%s:%d:%d", f.Source.File, f.Source.Line, f.Source.Column)
		}
		out = append(out, fmt.Sprintf("%s:%d:%d %s %s", f.Page, f.Line, f.Column, source, f.Raw))
	}
	return strings.Join(out, "\n")
}

func written(destination string, line int) hook.Link {
	return hook.Link{Destination: destination, Position: check.Position{File: "a.md", Line: line, Column: 1}}
}

func TestPositions(t *testing.T) {
	const body = "<p><a href=gone>1</a> <a href=other>2</a> <a href=gone>3</a></p>"
	links := []hook.Link{written("gone", 1), written("other", 2), written("gone", 3)}
	for name, c := range map[string]struct {
		page  string
		parts []hook.Source
		want  string
	}{
		"a menu has the same link; the text is on the page": {
			"<a href=gone>menu</a>" + body + "<a href=gone>foot</a>",
			[]hook.Source{{Links: links, HTML: hook.DigestOf([]byte(body))}},
			"1:9 - gone\n1:33 a.md:1:1 gone\n1:52 a.md:2:1 other\n1:72 a.md:3:1 gone\n1:94 - gone",
		},
		"a menu has the same link; the text was changed": {
			"<a href=gone>menu</a>" + strings.Replace(body, "2", "two", 1) + "<a href=gone>foot</a>",
			[]hook.Source{{Links: links, HTML: hook.DigestOf([]byte(body))}},
			// Before and after "other", either of two links could be the one in
			// the source.
			"1:9 - gone\n1:33 - gone\n1:52 a.md:2:1 other\n1:74 - gone\n1:96 - gone",
		},
		"no digest, and nothing else on the page": {
			"<a href=/>home</a>" + body,
			[]hook.Source{{Links: links}},
			"1:30 a.md:1:1 gone\n1:49 a.md:2:1 other\n1:69 a.md:3:1 gone",
		},
		"the page contains the text twice": {
			body + "\n" + body,
			[]hook.Source{{Links: links, HTML: hook.DigestOf([]byte(body))}},
			"1:12 a.md:1:1 gone\n1:31 a.md:2:1 other\n1:51 a.md:3:1 gone\n2:12 a.md:1:1 gone\n2:31 a.md:2:1 other\n2:51 a.md:3:1 gone",
		},
		"two texts, one of them changed": {
			body + "\n<a href=gone>excerpt</a>",
			[]hook.Source{{Links: links, HTML: hook.DigestOf([]byte(body))}, {Links: []hook.Link{written("gone", 9)}, HTML: hook.DigestOf([]byte("elsewhere"))}},
			"1:12 a.md:1:1 gone\n1:31 a.md:2:1 other\n1:51 a.md:3:1 gone\n2:9 a.md:9:1 gone",
		},
		"a link whose position is not known": {
			body,
			[]hook.Source{{Links: []hook.Link{{Destination: "gone"}, written("other", 2), written("gone", 3)}, HTML: hook.DigestOf([]byte(body))}},
			"1:12 - gone\n1:31 a.md:2:1 other\n1:51 a.md:3:1 gone",
		},
		"links that the renderer left out": {
			body,
			[]hook.Source{{Links: []hook.Link{written("x", 7), written("gone", 1), written("y", 8), written("other", 2), written("gone", 3)}, HTML: hook.DigestOf([]byte(body))}},
			"1:12 a.md:1:1 gone\n1:31 a.md:2:1 other\n1:51 a.md:3:1 gone",
		},
		"nothing is known of the page": {body, nil, "1:12 - gone\n1:31 - other\n1:51 - gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.MakeDocroot(t, map[string]string{"index.html": c.page})
			r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, Sources: func(page string) []hook.Source {
				if page != "index.html" {
					t.Errorf("asked for %q", page)
				}
				return c.parts
			}})
			testkit.Check(t, err)
			if got, want := positions(r.Findings), "index.html:"+strings.ReplaceAll(c.want, "\n", "\nindex.html:"); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// TestPositionsOfOtherEncodings: offsets are bytes of the file, in any
// encoding.
func TestPositionsOfOtherEncodings(t *testing.T) {
	const body = "<p>\xe9 <a href='caf\xe9.html'>x</a>"
	dir := testkit.MakeDocroot(t, map[string]string{"index.html": "<meta charset=iso-8859-1>\xe9\xe9" + body})
	r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, Sources: func(string) []hook.Source {
		return []hook.Source{{Links: []hook.Link{written("café.html", 4)}, HTML: hook.DigestOf([]byte(body))}}
	}})
	testkit.Check(t, err)
	if got, want := positions(r.Findings), "index.html:1:42 a.md:4:1 café.html"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestFaultsHaveNoPosition: a fault of a file is not a link, and Sources is
// called only for pages with broken links.
func TestFaultsHaveNoPosition(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"index.html": "<a href=>x</a><!-- open"})
	r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, Sources: func(page string) []hook.Source {
		t.Errorf("asked for %s", page)
		return nil
	}})
	testkit.Check(t, err)
	if len(r.Findings) != 1 || r.Findings[0].Code != check.UnclosedComment || r.Findings[0].Source != nil {
		t.Errorf("got %+v", r.Findings)
	}
}

func TestSite(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{
		"index.html": "<a href=https://a.example/sub/gone>x</a><a href=/sub/dir>y</a><a href=/sub/ignored>", "dir/index.html": "x"})
	r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, BaseURL: "https://a.example/sub/", Profile: "nginx",
		Options: check.Options{Ignore: []check.Ignore{{URL: "/sub/ignored"}}}})
	testkit.Check(t, err)
	if got, want := positions(r.Findings), "index.html:1:9 - https://a.example/sub/gone"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if r.Summary.Profile != "nginx" || r.Summary.Ignored != 1 || !r.HasErrors() {
		t.Errorf("summary %+v", r.Summary)
	}
}

// TestEndpoints: the check knows what templates.Docroot inserted.
func TestEndpoints(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"index.html": "<!doctype html><meta charset=utf-8><title>t</title>"})
	e := testkit.Must(templates.NewEndpoints("https://a.example/xmlrpc", "https://a.example/mentions/"))(t)
	testkit.Must(templates.Docroot(t.Context(), dir, templates.DocrootOptions{Endpoints: e}))(t)
	for _, tt := range []struct {
		endpoints templates.Endpoints
		want      int
	}{{templates.Endpoints{}, 2}, {e, 0}} {
		r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, BaseURL: "https://a.example/", Endpoints: tt.endpoints})
		if err != nil || len(r.Findings) != tt.want {
			t.Errorf("%v: got %v, %v, want %d findings", tt.endpoints, r.Findings, err, tt.want)
		}
	}
}

func TestSiteErrors(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"index.html": "x", "file": "x", "empty/file": "x"})
	for name, c := range map[string]struct {
		site hook.Site
		want string
	}{
		"no docroot":    {hook.Site{}, "no docroot"},
		"missing":       {hook.Site{Docroot: filepath.Join(dir, "no")}, "no such file"},
		"a file":        {hook.Site{Docroot: filepath.Join(dir, "file")}, "not a directory"},
		"profile":       {hook.Site{Docroot: dir, Profile: "ngnix"}, `"ngnix"`},
		"base URL":      {hook.Site{Docroot: dir, BaseURL: "a.example"}, "a.example"},
		"ignore":        {hook.Site{Docroot: dir, Options: check.Options{Ignore: []check.Ignore{{URL: "[", Origin: "rule 1"}}}}, "rule 1"},
		"without pages": {hook.Site{Docroot: filepath.Join(dir, "empty")}, "no page"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := hook.Check(t.Context(), c.site)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v, want an error with %q", r, err, c.want)
			}
		})
	}
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := hook.Check(ctx, hook.Site{Docroot: dir}); !errors.Is(err, cause) {
		t.Errorf("cancelled: got %v, want %v", err, cause)
	}
}

func TestWrite(t *testing.T) {
	dir := testkit.MakeDocroot(t, map[string]string{"index.html": "<a href=gone>x</a>"})
	r, err := hook.Check(t.Context(), hook.Site{Docroot: dir, Sources: func(string) []hook.Source { return []hook.Source{{Links: []hook.Link{written("gone", 5)}}} }})
	testkit.Check(t, err)
	r.Summary.Docroot = "public"
	for format, want := range map[string]string{
		"text":   "a.md:5:1: error: file not found: /gone [missing-file]\n    <a href=\"gone\">\n    in public/index.html, line 1, column 9\n",
		"jsonl":  `"source":{"file":"a.md","line":5,"column":1}`,
		"github": "::error file=a.md,line=5,col=1",
	} {
		var out bytes.Buffer
		if err := r.Write(&out, format); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v\n%s\nwant %s", format, err, out.String(), want)
		}
	}
	if err := r.Write(&bytes.Buffer{}, "txt"); err == nil || !strings.Contains(err.Error(), `"txt"`) {
		t.Errorf("unknown format: %v", err)
	}
}
