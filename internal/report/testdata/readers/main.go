// Readers holds reports to what their readers are built on: the official JSON
// schema of SARIF 2.1.0, a parser of GitHub Flavored Markdown, a reader of JUnit
// files. It is a module of its own, so that sitelink depends on none of them.
//
//	readers sarif FILE...      each file is valid against the schema
//	readers markdown FILE...   each file holds no link, image, HTML or mention
//	readers junit FILE...      each file holds tests with different names
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: readers sarif|markdown|junit FILE...")
		os.Exit(2)
	}
	check := map[string]func(text []byte) error{"sarif": sarif, "markdown": markdown, "junit": junitReport}[os.Args[1]]
	if check == nil {
		fmt.Fprintf(os.Stderr, "no reader %q\n", os.Args[1])
		os.Exit(2)
	}
	failed := false
	for _, name := range os.Args[2:] {
		text, err := os.ReadFile(name)
		if err == nil {
			err = check(text)
		}
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			continue
		}
		fmt.Println("ok", name)
	}
	if failed {
		os.Exit(1)
	}
}
