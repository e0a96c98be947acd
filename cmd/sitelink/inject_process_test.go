//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// tree returns names, modes and contents of all files below dir, without sitelink's own.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if rel == ".sitelink" {
			return filepath.SkipDir
		}
		fmt.Fprintln(&b, rel, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		return nil
	})
	testkit.Check(t, err)
	return b.String()
}

// TestInjectKilled: wherever inject or its undo is killed, the next run finishes
// it, and the undo leaves the project as it was. A killed run may leave files in the cache.
func TestInjectKilled(t *testing.T) {
	testkit.Long(t)
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		".git/HEAD": "", "hugo.toml": "", "sitelink.toml": "[templates]\nwebmention = 'https://h.example/'\n", ".sitelink/cache/x": "",
	}
	pages := ""
	for i := range 8 {
		files[fmt.Sprintf("layouts/p%d/baseof.html", i)] = "<!doctype html>\n<html>\n<head>\n<meta charset=utf-8>\n</head>\n"
		pages += fmt.Sprintf(" p%d", i)
	}
	bin := t.TempDir()
	fake := "#!/bin/sh\n[ \"$1\" = --destination ] || exit 1\nmkdir -p \"$2\"\nfor p in" + pages + `; do
sed -e '/partial "sitelink.head.html"/{' -e 'r layouts/partials/sitelink/head.html' -e d -e '}' layouts/$p/baseof.html | sed -e 's/{{[^}]*}}//g' >"$2/$p.html"
done
`
	testkit.Check(t, os.WriteFile(filepath.Join(bin, "hugo"), []byte(fake), 0o755))
	env := append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	testkit.AddFiles(t, dir, files)
	before := tree(t, dir)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("sitelink", append([]string{"inject"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		testkit.Run(t, cmd)
	}
	killed := 0
	rnd := rand.New(rand.NewPCG(6, 6))
	kill := func(after time.Duration, args ...string) {
		cmd := exec.Command("sitelink", append([]string{"inject"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		testkit.Check(t, cmd.Start())
		time.Sleep(after)
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
	}
	// A run was killed between the removal of its partial and of the folders.
	testkit.Check(t, os.MkdirAll(filepath.Join(dir, "layouts", "partials", "sitelink"), 0o755))
	run("--undo")
	if after := tree(t, dir); after != before {
		t.Errorf("undo left\n%s\nwas\n%s", after, before)
	}
	whole := time.Hour
	for range 2 { // the first run is slower
		began := time.Now()
		run()
		whole = min(whole, time.Since(began))
		run("--undo")
	}
	const rounds, kills = 16, 3
	for i := 0; i < rounds || killed < kills && i < 200; i++ {
		kill(time.Duration(rnd.Int64N(int64(whole))))
		if i%2 == 0 {
			run()
			run("--check")
			kill(time.Duration(rnd.Int64N(int64(whole))), "--undo")
		}
		run("--undo")
		if after := tree(t, dir); after != before {
			t.Fatalf("after %d runs that were killed the project is\n%s\nwas\n%s", killed, after, before)
		}
	}
	if killed < kills {
		t.Errorf("only %d runs were killed", killed)
	}
}
