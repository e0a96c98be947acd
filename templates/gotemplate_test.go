package templates

import (
	"bytes"
	"errors"
	"html/template"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

var twoEndpoints = Endpoints{Pingback: "https://h.example/x?a=1&b=2", Webmention: "https://h.example/wm"}

// TestInsert: the page that the templates make is right, as Verify sees it, and
// all else is as before.
func TestInsert(t *testing.T) {
	for _, c := range []struct{ name, page, more, fails string }{
		{"PB-35/charset", `<!doctype html><head><meta charset="utf-8"><title>{{.T}}</title></head>`, "", ""},
		{"no_charset", `<!doctype html><head><title>{{.T}}</title></head>`, "", ""},
		{"head_in_another", `<!doctype html>{{template "head" .}}<body>`, `{{define "head"}}<head>{{template "meta"}}</head>{{end}}{{define "meta"}}<meta charset=utf-8>{{end}}`, ""},
		{"block", `<!doctype html><head>{{block "title" .}}<title>x</title>{{end}}</head>`, "", ""},
		{"script_string", `<!doctype html><head><script>var a = "</head>"</script></head>`, "", ""},
		{"condition", `<!doctype html><head>{{if .T}}<meta charset=utf-8>{{else}}<meta charset=x>{{end}}</head>`, "", ""},
		{"range", `<!doctype html><head>{{range .L}}<meta name=x>{{end}}{{with .T}}<title>{{.}}</title>{{end}}</head>`, "", ""},
		{"braces_in_text", "<!doctype html><head>{{`{{`}}<meta charset=utf-8></head>", "", ""}, // what it writes is text and ends the head
		{"PB-20/xhtml", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8" /></head></html>`, "", ""},
		{"head_under_a_condition", `{{if .T}}<head></head>{{end}}`, "", `template "page": the page has no head, or only under a condition`},
		{"no_head", `<p>{{.T}}`, "", "the page has no head"},
	} {
		t.Run(c.name, func(t *testing.T) {
			parse := func() *template.Template {
				return template.Must(template.Must(template.New("page").Parse(c.page)).Parse(c.more))
			}
			page := parse().Lookup("page")
			err := Insert(page, twoEndpoints)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, want %q", err, c.fails)
				}
				return
			}
			if err == nil {
				err = Insert(page, twoEndpoints) // a second time changes nothing
			}
			testkit.Check(t, err)
			data := map[string]any{"T": "x", "L": []int{1, 2}}
			var got, plain bytes.Buffer
			testkit.Check(t, errors.Join(page.Execute(&got, data), parse().Lookup("page").Execute(&plain, data)))
			if c.name != "braces_in_text" {
				if err := Verify(got.Bytes(), twoEndpoints); err != nil {
					t.Errorf("%v\n%s", err, got.Bytes())
				}
			}
			html := twoEndpoints.HTML(c.name == "PB-20/xhtml")
			if strings.Replace(got.String(), html, "", 1) != plain.String() || strings.Count(got.String(), html) != 1 {
				t.Errorf("more than the elements has changed:\n%s\nwas\n%s", got.Bytes(), plain.Bytes())
			}
		})
	}
}

// Templates that share a head get the elements once, and one that has been
// executed is refused.
func TestInsertShared(t *testing.T) {
	set := template.Must(template.New("").Parse(`{{define "head"}}<head><meta charset=utf-8></head>{{end}}{{define "a"}}<html>{{template "head"}}{{end}}{{define "b"}}<html>{{template "head"}}{{end}}`))
	for _, name := range []string{"a", "b"} {
		testkit.Check(t, Insert(set.Lookup(name), twoEndpoints))
	}
	var out bytes.Buffer
	if err := set.ExecuteTemplate(&out, "b", nil); err != nil || strings.Count(out.String(), "pingback") != 1 {
		t.Errorf("%v %s", err, out.String())
	}
	if err := Insert(set.Lookup("a"), Endpoints{Pingback: "https://h.example/"}); err == nil || !strings.Contains(err.Error(), "already been executed") {
		t.Errorf("%v", err)
	}
	if err := Insert(template.New("x"), twoEndpoints); err == nil {
		t.Error("an empty template is taken")
	}
	if err := Insert(set, Endpoints{}); err == nil {
		t.Error("no endpoints are taken")
	}
}

const long = "<!doctype html>\n<html><head>\n<meta charset=\"utf-8\">\n<title>x</title></head><body>"

// TestWriter: in whatever pieces a page is written, it leaves the same.
func TestWriter(t *testing.T) {
	for _, c := range []struct{ name, page, want string }{
		{"PB-35/charset", long + "<p>", strings.Replace(long, "\"utf-8\">", "\"utf-8\">EL", 1) + "<p>"},
		{"no_charset", "<!doctype html><head><title>x</title></head><p>", "<!doctype html><head>EL<title>x</title></head><p>"},
		{"implied_head", "<!doctype html><title>x</title><p>", "<!doctype html>EL<title>x</title><p>"},
		{"late_charset", "<head><style>" + strings.Repeat("x", 5000) + "</style><meta charset=utf-8></head>", "<head>EL<style>" + strings.Repeat("x", 5000) + "</style><meta charset=utf-8></head>"},
		{"comment", "<!-- <head><meta charset=x> --><head><meta charset=utf-8></head>", "<!-- <head><meta charset=x> --><head><meta charset=utf-8>EL</head>"},
		{"endless_head", "<head><script>" + strings.Repeat("x", 2*maxHeld), "<head>EL<script>" + strings.Repeat("x", 2*maxHeld)},
		{"has_it", "<head><meta charset=utf-8>EL<title>x</title></head><p>", "<head><meta charset=utf-8>EL<title>x</title></head><p>"},
		{"xhtml", `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><head></head><body>`, `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html><head>EX</head><body>`},
		{"fragment", "<p>text", "no head"},
		{"text", "text", "no head"},
		{"empty", "", "no head"},
		{"utf-16", "\xff\xfe<\x00h\x00t\x00m\x00l\x00>\x00", "no head"},
	} {
		t.Run(c.name, func(t *testing.T) {
			elements := strings.NewReplacer("EL", twoEndpoints.HTML(false), "EX", twoEndpoints.HTML(true))
			page, want := elements.Replace(c.page), elements.Replace(c.want)
			if c.want == "no head" {
				want = page
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for try := range 20 {
				var out bytes.Buffer
				w := NewWriter(&out, twoEndpoints)
				for rest := page; rest != ""; {
					n := len(rest)
					if try > 0 {
						n = min(n, 1+rnd.IntN(1+len(page)/try))
					}
					if k, err := io.WriteString(w, rest[:n]); k != n || err != nil {
						t.Fatalf("%d of %d, %v", k, n, err)
					}
					rest = rest[n:]
				}
				if err := w.Close(); errors.Is(err, ErrNoHead) != (c.want == "no head") {
					t.Fatalf("Close: %v", err)
				}
				if out.String() != want {
					t.Fatalf("got\n%.300q\nwant\n%.300q", out.String(), want)
				}
			}
		})
	}
}

// The underlying writer returns an error, and nothing is written after it.
func TestWriterError(t *testing.T) {
	w := NewWriter(errWriter{}, twoEndpoints)
	io.WriteString(w, long+strings.Repeat("x", 1000))
	if _, err := io.WriteString(w, "more"); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
	var out bytes.Buffer
	if w := NewWriter(&out, Endpoints{}); w.Close() != nil || out.Len() > 0 {
		t.Error("without endpoints")
	}
}

type errWriter struct{}

func (errWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestVerify(t *testing.T) {
	good := "<!doctype html><head><meta charset=utf-8>" + twoEndpoints.HTML(false) + "<title>x</title></head><p>"
	for page, want := range map[string]string{
		good:                  "",
		"<!doctype html><p>x": "the pingback element is missing\nthe webmention element is missing",
		strings.Replace(good, "<p>", "<p><!--"+twoEndpoints.PingbackHTML(false)+"-->", 1):                  "the pingback element is matched by text that is not an element", // PB-21
		strings.Replace(good, "</head>", twoEndpoints.PingbackHTML(false)+"</head>", 1):                    "the pingback element occurs twice",                              // PB-21
		strings.Replace(good, "https://h.example/wm", "/wm", 1):                                            "the webmention element has an address that is not absolute",     // PB-22
		strings.Replace(good, "<title>", "<p>", 1) + "<head>":                                              "",
		"<!doctype html><p>" + twoEndpoints.HTML(false):                                                    "is in the body",
		"<!doctype html><head><style>" + strings.Repeat("x", 5000) + "</style>" + twoEndpoints.HTML(false): "ends after the first 5,000 bytes", // PB-35
	} {
		err := Verify([]byte(page), twoEndpoints)
		if want == "" && err != nil && !strings.Contains(err.Error(), "two heads") || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.120q: %v, want %q", page, err, want)
		}
	}
}
