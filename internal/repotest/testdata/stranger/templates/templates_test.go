// Package templates_test uses package templates as a program outside of this
// repository would.
package templates_test

import (
	"bytes"
	"context"
	"html/template"
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/templates"
)

const page = "<!doctype html><html><head><meta charset=utf-8><title>x</title></head><body>x</body></html>"

func endpoints(t *testing.T) templates.Endpoints {
	t.Helper()
	e, err := templates.NewEndpoints("https://blog.example/pingback", "https://blog.example/webmention")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTemplate(t *testing.T) {
	e := endpoints(t)
	tmpl := template.Must(template.New("page").Parse(page))
	if err := templates.Insert(tmpl, e); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, nil); err != nil {
		t.Fatal(err)
	}
	if err := templates.Verify(out.Bytes(), e); err != nil {
		t.Errorf("%v in %s", err, out.String())
	}
	if err := templates.Verify([]byte(page), e); err == nil {
		t.Error("a page without elements passes")
	}
}

func TestWriter(t *testing.T) {
	e := endpoints(t)
	var out bytes.Buffer
	w := templates.NewWriter(&out, e)
	if _, err := w.Write([]byte(page)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := templates.Verify(out.Bytes(), e); err != nil {
		t.Error(err)
	}
}

func TestDocroot(t *testing.T) {
	e := endpoints(t)
	docroot := t.TempDir()
	name := filepath.Join(docroot, "index.html")
	if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := templates.Docroot(context.Background(), docroot, templates.DocrootOptions{Endpoints: e})
	if err != nil || len(result.Changed) != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := templates.Verify(text, e); err != nil {
		t.Error(err)
	}
	if _, err := templates.Docroot(context.Background(), docroot, templates.DocrootOptions{Undo: true}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != page {
		t.Errorf("after undo: %q, %v", text, err)
	}
}

func TestHeaderRules(t *testing.T) {
	rules := templates.HeaderRules("netlify", endpoints(t))
	if len(rules) == 0 {
		t.Fatal("no rules for netlify")
	}
	values, err := templates.ReadHeaders(rules[0].File, []byte(rules[0].Text))
	if err != nil || len(values) != 2 || !values[0].All {
		t.Errorf("%+v, %v", values, err)
	}
}
