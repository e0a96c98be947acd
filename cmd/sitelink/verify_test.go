package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// liveSite is a docroot, and its host on loopback. The host answers as nginx does, except
// paths in special, which have their own handlers.
func liveSite(t *testing.T) (dir, address string, special *sync.Map) {
	t.Helper()
	dir, special = t.TempDir(), new(sync.Map)
	for name, text := range map[string]string{
		"index.html": "<!doctype html><title>Home</title>", "about/index.html": "<!doctype html><title>About</title>",
		"new.html": "<!doctype html><title>New</title>", "style.css": "body {}",
	} {
		testkit.Write(t, filepath.Join(dir, "public", name), text)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f, ok := special.Load(r.URL.Path); ok {
			f.(http.HandlerFunc)(w, r)
			return
		}
		name := filepath.Join(dir, "public", filepath.FromSlash(r.URL.Path))
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			if !strings.HasSuffix(r.URL.Path, "/") {
				http.Redirect(w, r, r.URL.Path+"/", http.StatusMovedPermanently)
				return
			}
			name = filepath.Join(name, "index.html")
		}
		text, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(r.URL.Path, "/") && !strings.HasSuffix(name, "index.html") {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(name, ".css") {
			w.Header().Set("Content-Type", "text/css")
		}
		w.Write(text)
	}))
	t.Cleanup(server.Close)
	return dir, server.URL + "/", special
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("lacks %q:\n%s", part, text)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestVerify(t *testing.T) {
	dir, address, special := liveSite(t)
	out, _ := sitelink(t, dir, 0, "verify", address, "public", "--profile", "nginx")
	contains(t, out, "verified 15 addresses of "+address+": all as predicted\n")

	// Each explanation, once.
	for _, c := range []struct {
		path, text string
		answer     http.HandlerFunc
	}{
		{"/new.html", "the host lacks files of this build", status(404)},
		{"/new.html", "the host refused or failed to answer", status(500)},
		{"/new.html", "adds something to the files, such as a script", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "<!doctype html><script src=x></script><title>New</title>")
		}},
		{"/new.html", "a cache sends older files", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Age", "300")
			io.WriteString(w, "<!doctype html><title>Older</title>")
		}},
		{"/new.html", "these files are not those of this build", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "<!doctype html><title>Older</title>")
		}},
		{"/style.css", "with a type that browsers do not take for what they are", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			io.WriteString(w, "body {}")
		}},
		{"/new.html-sitelink-absent", "answers addresses that have no file", status(200)},
		{"/about", "/about: predicted 200 at /about/, answered a redirect to https://other.example/", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/", http.StatusFound)
		}},
		{"/about/", "other differences", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/about", http.StatusFound) }},
	} {
		special.Store(c.path, c.answer)
		out, _ := sitelink(t, dir, 1, "verify", address, "public", "--profile", "nginx", "--all")
		contains(t, out, c.text)
		special.Delete(c.path)
	}

	// The form of addresses names the host.
	out, _ = sitelink(t, dir, 1, "verify", address, "public", "--profile", "cloudflare-pages")
	contains(t, out, "the host answers like the profile ")
	contains(t, out, "    in sitelink.toml: profile = ")

	// An address that leads elsewhere is not that of the site.
	special.Store("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://www.other.example/", http.StatusMovedPermanently)
	}))
	_, said := sitelink(t, dir, 3, "verify", address, "public")
	contains(t, said, "redirects to https://www.other.example/")
	contains(t, said, "sitelink verify https://www.other.example/")
	special.Delete("/")

	// A host that goes away says how to go on.
	special.Store("/new.html", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	_, said = sitelink(t, dir, 3, "verify", address, "public", "--profile", "nginx")
	contains(t, said, "sitelink verify --after /new\n")
	special.Delete("/new.html")
	out, _ = sitelink(t, dir, 0, "verify", address, "public", "--profile", "nginx", "--after", "/new")
	contains(t, out, "verified 5 addresses")

	// The address in a configuration that was found may be an internal one.
	testkit.Write(t, filepath.Join(dir, "sitelink.toml"), "base-url = \""+address+"\"\ndocroot = \"public\"\n")
	_, said = sitelink(t, dir, 3, "verify")
	contains(t, said, "127.0.0.1")
	sitelink(t, dir, 2, "verify", "example.org", "public")
}

func TestDeployVerify(t *testing.T) {
	dir, address, special := liveSite(t)
	deploy := []string{"deploy", "public", "--verify", "--base-url", address, "--profile", "nginx", "--", "true"}
	_, said := sitelink(t, dir, 0, deploy...)
	contains(t, said, "all as predicted")
	special.Store("/new.html", status(404))
	_, said = sitelink(t, dir, 1, deploy...)
	contains(t, said, "deployed, but the host lacks files; no notices were sent")
	deploy[4] = "http://127.0.0.1:1/" // no server
	_, said = sitelink(t, dir, 3, deploy...)
	contains(t, said, "deployed, but not verified")
}
