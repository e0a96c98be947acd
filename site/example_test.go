package site_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/site"
)

// docroot makes a small site and returns its directory.
func docroot(files map[string]string) string {
	dir, err := os.MkdirTemp("", "docroot")
	if err != nil {
		log.Fatal(err)
	}
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

func ExampleLoad() {
	dir := docroot(map[string]string{"index.html": `<a href="about/">About</a>`, "about/index.html": `<h1>About</h1>`, "logo.svg": `<svg/>`})
	defer os.RemoveAll(dir)

	s, err := site.Load(context.Background(), dir, site.Options{
		BaseURLs: []string{"https://example.org/blog/"},
		Profile:  "netlify",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.BaseURL(), s.Profile(), s.Files())
	fmt.Println(s.Pages())
	// Output:
	// https://example.org/blog/ netlify 3
	// [about/index.html index.html logo.svg]
}

func ExampleSite_Update() {
	dir := docroot(map[string]string{"index.html": `<p>Hello</p>`})
	defer os.RemoveAll(dir)
	ctx := context.Background()

	s, err := site.Load(ctx, dir, site.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new.html"), []byte(`<p>New</p>`), 0o644); err != nil {
		log.Fatal(err)
	}
	next, err := s.Update(ctx, "new.html")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Pages(), next.Pages())
	// Output:
	// [index.html] [index.html new.html]
}
