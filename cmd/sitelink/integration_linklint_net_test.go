//go:build integration && linux

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// LL-98, LL-103, LL-104: -netmod, -netset and -flush of Linklint 2.3.5, and external status
// after external --profile linklint, name the same URLs, ask for the same and keep the same, beside each
// other on one server.
func TestLinklintNet(t *testing.T) {
	n := newNeighbour(t, `<a href="SITE/a">1</a> <a href="SITE/b">2</a> <a href="SITE/gone">3</a> <a href="http://127.0.0.1:1/">4</a>`)
	modified := map[string]string{"/a": "Mon, 02 Nov 2026 09:00:00 GMT", "/b": "Mon, 02 Nov 2026 09:00:00 GMT"}
	n.answer = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if modified[r.URL.Path] == "" {
			w.WriteHeader(404)
			return
		}
		w.Header().Set("Last-Modified", modified[r.URL.Path])
		if r.Header.Get("If-Modified-Since") == modified[r.URL.Path] {
			w.WriteHeader(304)
			return
		}
		fmt.Fprint(w, "<p>"+modified[r.URL.Path])
	}
	theirs, cache := t.TempDir(), filepath.Join(n.dir, ".sitelink", "status.jsonl")
	addresses := func(text, pattern string) (all []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all = append(all, strings.TrimPrefix(m[1], n.URL))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	// Each returns the URLs that changed, that fail, that are in the cache, and that were
	// asked for.
	linklint := func(flag string) string {
		n.take()
		doc := filepath.Join(t.TempDir(), "doc")
		cmd := exec.Command("linklint", "-cache", theirs, "-root", filepath.Join(n.dir, "public"), "-doc", doc, "-net", flag, "/@")
		testkit.Run(t, cmd)
		const address = `(?m)^ +(http://\S+)`
		return fmt.Sprint("changed ", addresses(read(filepath.Join(doc, "urlmod.txt")), address), ", failed ", addresses(read(filepath.Join(doc, "urlfail.txt")), address),
			", kept ", addresses(read(filepath.Join(theirs, "linklint.url")), `(?m)^(http://\S+)`), ", asked ", paths(n.take()))
	}
	ours := func(flag string) string {
		n.take()
		n.sitelink(t, 0, "external", "public", "--profile", "linklint", "--fail-on", "never")
		out, _ := n.sitelink(t, 0, "external", "status")
		switch flag {
		case "-netset":
			n.sitelink(t, 0, "external", "status", "reset")
		case "-flush":
			n.sitelink(t, 0, "external", "status", "prune", "public")
		}
		rows := read(cache)
		failed := addresses(rows, `(?m)^\{"url":"([^"]+)".*"reason":`)
		return fmt.Sprint("changed ", addresses(strings.ReplaceAll(out, "SITE", n.URL), `(?m)^(http://\S+): .*changed by`), ", failed ", failed,
			", kept ", addresses(rows, `(?m)^\{"url":"([^"]+)"`), ", asked ", paths(n.take()))
	}
	for i, step := range []struct {
		flag   string
		before func()
	}{
		{"-netmod", func() {}},
		{"-netmod", func() { modified["/a"] = "Tue, 03 Nov 2026 09:00:00 GMT" }},
		{"-netmod", func() {}},
		{"-netset", func() {}},
		{"-netmod", func() {}},
		{"-flush", func() { n.write(t, "public/index.html", `<a href="`+n.URL+`/a">1</a>`) }},
	} {
		step.before()
		if want, got := linklint(step.flag), ours(step.flag); got != want {
			t.Errorf("step %d, %s:\nLinklint  %s\nsitelink  %s", i+1, step.flag, want, got)
		} else {
			t.Logf("step %d, %s: %s", i+1, step.flag, got)
		}
	}
}

// paths returns the paths of requests, each once.
func paths(requests []string) (all []string) {
	for _, r := range requests {
		_, path, _ := strings.Cut(r, " ")
		all = append(all, path)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
