package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// corpus is a real site that comes as a Debian package.
type corpus struct {
	pkg     string
	docroot string // inside the unpacked package
	note    string
}

// corpora are five sites of different makers: rustdoc with mdBook, javadoc,
// two of Sphinx, DocBook. All have symbolic links out of the docroot except
// the last two: Debian replaces bundled scripts by links to its own copies.
var corpora = []corpus{
	{"rust-doc", "usr/share/doc/rust-doc/html", "rustdoc and mdBook; scripts, styles and fonts of the books are links out of the docroot"},
	{"openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless", "javadoc; usr/share/doc/openjdk-17-doc holds only links to it; three scripts and styles are links out of the docroot"},
	{"python3.11-doc", "usr/share/doc/python3.11/html", "Sphinx; jquery.js and underscore.js are links out of the docroot"},
	{"linux-doc-6.1", "usr/share/doc/linux-doc-6.1/html", "Sphinx"},
	{"postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html", "DocBook"},
}

func corpusByName(name string) (corpus, bool) {
	for _, c := range corpora {
		if c.pkg == name {
			return c, true
		}
	}
	return corpus{}, false
}

// dir is the docroot below the cache.
func (c corpus) dir(cache string) string {
	return filepath.Join(cache, c.pkg, filepath.FromSlash(c.docroot))
}

// version reads the package version from the name of the fetched file, or
// returns "unknown" where only the unpacked tree is there.
func (c corpus) version(cache string) string {
	debs, _ := filepath.Glob(filepath.Join(cache, c.pkg+"_*.deb")) // the pattern is constant
	if len(debs) == 0 {
		return "unknown"
	}
	parts := strings.Split(filepath.Base(debs[len(debs)-1]), "_")
	v, err := url.PathUnescape(parts[1]) // an epoch's colon is written %3a
	if err != nil {
		return parts[1]
	}
	return v
}

// fetch downloads and unpacks the package unless its docroot is there.
// It unpacks beside the final place and renames, so that an interrupted run
// leaves no half corpus behind.
func (c corpus) fetch(ctx context.Context, cache string) error {
	_, err := os.Stat(c.dir(cache))
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for corpus %s: %w", c.pkg, err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("make cache directory: %w", err)
	}
	if c.version(cache) == "unknown" {
		if err := quiet(ctx, cache, "apt-get", "download", c.pkg); err != nil {
			return fmt.Errorf("fetch corpus %s: %w (try apt-get update)", c.pkg, err)
		}
	}
	debs, _ := filepath.Glob(filepath.Join(cache, c.pkg+"_*.deb"))
	if len(debs) == 0 {
		return fmt.Errorf("fetch corpus %s: apt-get download left no package file", c.pkg)
	}
	part := filepath.Join(cache, c.pkg+".part")
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("clear %s: %w", part, err)
	}
	if err := quiet(ctx, cache, "dpkg", "-x", debs[len(debs)-1], part); err != nil {
		return fmt.Errorf("unpack corpus %s: %w", c.pkg, err)
	}
	if err := os.Rename(part, filepath.Join(cache, c.pkg)); err != nil {
		return fmt.Errorf("unpack corpus %s: %w", c.pkg, err)
	}
	return nil
}

// quiet runs a program and shows its output only when it goes wrong.
func quiet(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, lastLines(string(text), 5))
	}
	return nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

func runCorpora(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	if err := s.parse("corpora", args, nil); err != nil {
		return err
	}
	rows := [][]string{}
	for _, c := range corpora {
		if err := c.fetch(ctx, s.cache); err != nil {
			return err
		}
		v, err := surveyDocroot(c.dir(s.cache))
		if err != nil {
			return err
		}
		rows = append(rows, []string{
			c.pkg, c.version(s.cache), c.docroot, thousands(v.Files), thousands(v.Pages),
			megabytes(v.PageBytes), thousands(v.Links), thousands(v.Leaving),
		})
	}
	fmt.Fprint(out, table([]string{"package", "version", "docroot", "files", "pages", "MB", "symlinks", "leave"}, rows))
	for _, c := range corpora {
		fmt.Fprintf(out, "%s: %s\n", c.pkg, c.note)
	}
	return nil
}
