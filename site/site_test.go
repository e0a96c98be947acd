package site

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

// TestOptions: every option arrives in the internal one, and the zero value is
// the generic host.
func TestOptions(t *testing.T) {
	zero, err := (&Options{}).inner()
	if err != nil || zero.Profile.Name != host.Generic.Name {
		t.Fatalf("zero value: profile %q, %v", zero.Profile.Name, err)
	}
	opt := Options{
		BaseURLs: []string{"https://a.example/"}, BasePath: "/b/", Roots: []Root{{Dir: "fr", URL: "https://fr.example/"}},
		Profile: "netlify", Host: map[string][]string{"index-file": {"redirect"}, "deny": {"*.txt", "x"}},
		Index: []string{"home.html"}, Autoindex: AutoindexList, Base: BaseDocumentOrder, Maps: []Map{{From: "/a", To: "/b"}},
		Redirects: []Redirect{{From: "/old", To: "/new", Force: true}}, Project: ".", NoRuleFiles: true, RefNotFound: "#?",
		DefaultCharset: "utf-8", PageExtensions: []string{"html"}, MaxPageBytes: 5, Jobs: 3, Progress: func(int, int) {},
		Generator: "hugo", RelativeURLs: true,
	}
	for v, i := reflect.ValueOf(opt), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the test leaves %s out", v.Type().Field(i).Name)
		}
	}
	in := testkit.Must(opt.inner())(t)
	notPublic := []string{"ProfileFrom", "Tags", "Sums", "Inspect", "FirstBroken", "ServerPort", "HostUnknown", "Form", "Repository", "Branches", "Tracked", "Input", "InputText", "Crawled", "Show"}
	for v, i := reflect.ValueOf(in), 0; i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(notPublic, name) {
			t.Errorf("%s is %v", name, v.Field(i))
		}
	}
	if p := in.Profile; p.IndexFile != host.Redirect || !slices.Equal(p.Deny, []string{"*.txt", "x"}) || p.Name != "netlify, changed" {
		t.Errorf("profile %+v", p)
	}
	if len(in.Rules) != 1 || len(in.Rules[0].Rules) != 1 || len(in.Rules[0].Faults) != 0 {
		t.Errorf("rules %+v", in.Rules)
	}
}

// TestErrors: an error names the option, or the docroot, that is wrong.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	for want, opt := range map[string]Options{
		`no hosting profile is named "nginx2"`: {Profile: "nginx2"},
		`host key "index-fil": `:               {Host: map[string][]string{"index-fil": {"serve"}}},
		`host key "portable": `:                {Host: map[string][]string{"portable": {"maybe"}}},
		`Autoindex is "yes"`:                   {Autoindex: "yes"},
		`Base is "xml"`:                        {Base: "xml"},
	} {
		if _, err := Load(context.Background(), dir, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Load(context.Background(), dir, Options{}); !errors.Is(err, ErrNoPages) {
		t.Errorf("empty docroot: %v", err)
	}
	if _, err := Load(context.Background(), filepath.Join(dir, "none"), Options{}); err == nil {
		t.Error("a docroot that does not exist is loaded")
	}
}

// TestHandle: the two functions of the internal package lead from one site to
// the other and back.
func TestHandle(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "index.html", "x")
	s := testkit.Must(Load(context.Background(), dir, Options{}))(t)
	if in := isite.Unwrap(s); in != s.inner || isite.Wrap(in).(*Site).inner != in || s.Docroot() != dir {
		t.Errorf("docroot %s", s.Docroot())
	}
}

// TestUpdate: without paths anything may have changed, and the old site stays.
func TestUpdate(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	write(t, dir, "index.html", "x")
	s := testkit.Must(Load(ctx, dir, Options{}))(t)
	write(t, dir, "new.html", "x")
	for _, changed := range [][]string{nil, {"new.html"}} {
		next, err := s.Update(ctx, changed...)
		if err != nil || len(next.Pages()) != 2 || len(s.Pages()) != 1 {
			t.Errorf("%q: %v", changed, err)
		}
	}
	testkit.Check(t, os.Remove(filepath.Join(dir, "index.html")))
	testkit.Check(t, os.Remove(filepath.Join(dir, "new.html")))
	if _, err := s.Update(ctx, "index.html"); !errors.Is(err, ErrNoPages) {
		t.Errorf("all pages removed: %v", err)
	}
}
