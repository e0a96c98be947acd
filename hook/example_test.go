package hook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/hook"
)

// Without sources, findings have their position in the docroot.
func ExampleCheck() {
	docroot, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(docroot)
	page := []byte("<!doctype html><title>Home</title>\n<a href=/about/>About</a>\n")
	if err := os.WriteFile(filepath.Join(docroot, "index.html"), page, 0o644); err != nil {
		fmt.Println(err)
		return
	}

	result, err := hook.Check(context.Background(), hook.Site{Docroot: docroot, BaseURL: "https://example.org/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	result.Summary.Docroot = "public" // for this example: the directory has a new name each time
	if err := result.Write(os.Stdout, "text"); err != nil {
		fmt.Println(err)
	}
	// Output:
	// public/index.html:2:9: error: directory not found: /about/ [missing-directory]
	//     <a href="/about/">
	//
	// checked 1 page, 1 link, 0 anchors in public (profile generic): 1 error
}
