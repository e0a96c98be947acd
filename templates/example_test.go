package templates_test

import (
	"fmt"
	"html/template"
	"os"

	"github.com/yuin/goldmark"

	"github.com/sitelink/sitelink/templates"
)

// The elements go into parsed templates once, before the first page is made.
func ExampleInsert() {
	e, err := templates.NewEndpoints("", "https://example.org/webmention")
	if err != nil {
		panic(err)
	}
	t := template.Must(template.New("page").Parse(`{{define "head"}}<head>
<meta charset="utf-8">
<title>{{.}}</title>
</head>{{end}}<!doctype html>
<html>{{template "head" .Title}}
<body>{{.Text}}</body></html>
`))
	if err := templates.Insert(t, e); err != nil {
		panic(err)
	}
	t.Execute(os.Stdout, map[string]string{"Title": "Tides & <moons>", "Text": "..."})
	// Output:
	// <!doctype html>
	// <html><head>
	// <meta charset="utf-8"><link rel="webmention" href="https://example.org/webmention">
	// <title>Tides &amp; &lt;moons&gt;</title>
	// </head>
	// <body>...</body></html>
}

// A Writer puts them in while a page is written.
func ExampleWriter() {
	e, err := templates.NewEndpoints("https://example.org/xmlrpc", "")
	if err != nil {
		panic(err)
	}
	w := templates.NewWriter(os.Stdout, e)
	fmt.Fprint(w, "<!doctype html>\n<head>\n<meta charset=utf-8>\n<title>Tides</title>\n</head>\n")
	if err := goldmark.Convert([]byte("# Tides"), w); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	// Output:
	// <!doctype html>
	// <head>
	// <meta charset=utf-8><link rel="pingback" href="https://example.org/xmlrpc">
	// <title>Tides</title>
	// </head>
	// <h1>Tides</h1>
}

func ExampleVerify() {
	e := templates.Endpoints{Pingback: "https://example.org/xmlrpc"}
	page := []byte(`<!doctype html><title>x</title><link rel=pingback href=https://example.org/xmlrpc>`)
	fmt.Println(templates.Verify(page, e))
	// Output:
	// offset 31: the pingback element has lost its quotes
}
