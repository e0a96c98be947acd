// Command blog is a site generator of the kind that people write for
// themselves: Markdown rendered by goldmark, html/template, an Atom feed. After
// the build it calls [hook.Check] and prints broken links with their line in
// the Markdown. The folder mentions has what package export wrote for it.
//
//	go run ./examples/blog          builds into a temporary directory
//	go run ./examples/blog public   builds into the directory public
//
// The exit code is 0 if every link works, 1 if one does not, and 3 if the
// program could not do its work. Some links of the example are broken on
// purpose.
package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"

	"github.com/sitelink/sitelink/hook"
)

// baseURL is the address at which the blog would be published.
const baseURL = "https://hedge.example/"

//go:embed content templates static all:mentions
var project embed.FS

func main() {
	code, err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "blog:", err)
	}
	os.Exit(code)
}

// run builds and checks the blog and returns the exit code.
func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	const failed = 3
	if len(args) > 1 {
		return 2, fmt.Errorf("want at most one directory, got %d", len(args))
	}
	docroot, label := "", "public"
	if len(args) == 1 {
		docroot, label = args[0], args[0]
	} else {
		dir, err := os.MkdirTemp("", "blog-")
		if err != nil {
			return failed, err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		docroot = dir
	}

	b, err := newBlog(project, out)
	if err != nil {
		return failed, err
	}
	if err := b.build(docroot); err != nil {
		return failed, err
	}
	fmt.Fprintf(out, "built %d pages from %d Markdown files\n\n", b.written, len(b.pages))

	result, err := hook.Check(ctx, hook.Site{Docroot: docroot, BaseURL: baseURL, Sources: b.links.Sources})
	if err != nil {
		return failed, err
	}
	result.Summary.Docroot = label // the temporary directory has a new name each time
	if err := result.Write(out, "text"); err != nil {
		return failed, err
	}
	if result.HasErrors() {
		return 1, nil
	}
	return 0, nil
}
