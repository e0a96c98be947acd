package templates

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// tree is the files of a directory with all that must survive.
type tree map[string]string

func readTree(t *testing.T, dir string) tree {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		text := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			text = string(data)
		}
		files[filepath.ToSlash(rel)] = fmt.Sprintf("%v %v %s", info.Mode(), info.ModTime().UnixNano(), text)
		return nil
	})
	testkit.Check(t, err)
	return files
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		testkit.Write(t, name, text)
		old := time.Date(2020, 1, 2, 3, 4, 5, 678901234, time.UTC)
		testkit.Check(t, os.Chtimes(name, old, old))
	}
}

func TestDocroot(t *testing.T) {
	dir := t.TempDir()
	page := "<!doctype html><head><meta charset=utf-8><title>x</title></head><body>"
	writeTree(t, dir, map[string]string{
		"index.html": page, "post/index.html": page, "post/a/index.html": page, "post/a/index.html.gz": "zip", "404.html": page,
		"old/index.html": `<head><meta charset=utf-8><meta http-equiv=refresh content="0; url=/post/a/"></head>`,
		"style.css":      "a{}", "piece.html": "<p>x", "x.XHTML": `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head></html>`,
		"own.html":                        "<head><link rel=pingback href=/other></head>",
		"post/.sitelink-1-1.sitelink-tmp": "left by a crash", ".git/x.html": page,
	})
	testkit.Check(t, os.Chmod(filepath.Join(dir, "post/a/index.html"), 0o444))
	testkit.Check(t, os.Symlink("post/a/index.html", filepath.Join(dir, "link.html")))
	before := readTree(t, dir)
	ctx := context.Background()
	opt := DocrootOptions{Endpoints: both, Jobs: 3}

	opt.DryRun = true
	plan := testkit.Must(Docroot(ctx, dir, opt))(t)
	if !maps.Equal(readTree(t, dir), before) {
		t.Error("a dry run changed something")
	}
	opt.DryRun = false
	got := testkit.Must(Docroot(ctx, dir, opt))(t)
	changed := []string{"index.html", "own.html", "post/a/index.html", "x.XHTML"}
	if !slices.Equal(got.Changed, changed) || !slices.Equal(plan.Changed, changed) {
		t.Errorf("changed %q, planned %q, want %q", got.Changed, plan.Changed, changed)
	}
	if got.Pages != 8 || got.Chosen != 4 || got.Right != 0 || len(got.Notes) != 1 || got.Notes[0].Page != "own.html" ||
		!slices.Equal(got.Compressed, []string{"post/a/index.html.gz"}) {
		t.Errorf("%+v", got)
	}
	delete(before, "post/.sitelink-1-1.sitelink-tmp")
	after := readTree(t, dir)
	for name, was := range before {
		is := after[name]
		if i := slices.Index(changed, name); i < 0 {
			if is != was {
				t.Errorf("%s was changed: %q", name, is)
			}
			continue
		}
		for _, s := range []string{linkPB, linkWM, linkPBx, linkWMx, mark} {
			is = strings.Replace(is, s, "", 1)
		}
		if is != was || after[name] == was {
			t.Errorf("%s is %q, was %q", name, after[name], was)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files, were %d", len(after), len(before))
	}

	again, err := Docroot(ctx, dir, opt)
	if err != nil || len(again.Changed) > 0 || again.Right != 3 || !maps.Equal(readTree(t, dir), after) {
		t.Errorf("second run: %+v, %v", again, err)
	}
	undone, err := Docroot(ctx, dir, DocrootOptions{Undo: true})
	if err != nil || !slices.Equal(undone.Changed, changed) || !maps.Equal(readTree(t, dir), before) {
		t.Errorf("undo: %+v, %v", undone, err)
	}
}

func TestDocrootRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for want, f := range map[string]func() (*DocrootResult, error){
		"no endpoint":      func() (*DocrootResult, error) { return Docroot(ctx, dir, DocrootOptions{}) },
		"contains no page": func() (*DocrootResult, error) { return Docroot(ctx, dir, DocrootOptions{Endpoints: both}) },
		"no such file":     func() (*DocrootResult, error) { return Docroot(ctx, dir+"/x", DocrootOptions{Endpoints: both}) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	writeTree(t, dir, map[string]string{"index.html": "<head>" + strings.Repeat(" ", 20<<10)})
	got, err := Docroot(ctx, dir, DocrootOptions{Endpoints: both, MaxPageBytes: 10})
	if err != nil || len(got.Changed) > 0 || len(got.Notes) != 1 || got.Notes[0].Text != "the page is larger than 10 bytes" {
		t.Errorf("%+v, %v", got, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Docroot(stopped, dir, DocrootOptions{Endpoints: both}); err == nil {
		t.Error("a cancelled run says nothing")
	}
}

// A run that is killed at any point leaves whole pages; the next finishes it,
// and undoing it gives every byte back.
func TestDocrootKilled(t *testing.T) {
	if dir := os.Getenv("SITELINK_TEST_DOCROOT"); dir != "" {
		for { // the parent ends it
			for _, undo := range []bool{false, true} {
				if _, err := Docroot(context.Background(), dir, DocrootOptions{Endpoints: both, Undo: undo}); err != nil {
					fmt.Println(err)
					os.Exit(1)
				}
			}
		}
	}
	self := testkit.Must(os.Executable())(t)
	dir := t.TempDir()
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/p%d.html", i%7, i)] = fmt.Sprintf("<head><meta charset=utf-8><title>%d</title></head>%s", i, strings.Repeat("x", i*97))
	}
	writeTree(t, dir, files)
	before := readTree(t, dir)
	opt := DocrootOptions{Endpoints: both}
	testkit.Must(Docroot(context.Background(), dir, opt))(t)
	after := readTree(t, dir)
	left := 0
	for i := range 8 {
		cmd := exec.Command(self, "-test.run=^TestDocrootKilled$")
		cmd.Env = append(os.Environ(), "SITELINK_TEST_DOCROOT="+dir)
		testkit.Check(t, cmd.Start())
		time.Sleep(time.Duration(20+i*9) * time.Millisecond)
		testkit.Check(t, cmd.Process.Kill())
		cmd.Wait()
		for name, is := range readTree(t, dir) {
			if isTemporary(filepath.Base(name)) {
				left++
			} else if is != before[name] && is != after[name] {
				t.Fatalf("%s is neither as it was nor as it becomes", name)
			}
		}
		want := after
		opt.Undo = i%2 == 1
		if opt.Undo {
			want = before
		}
		testkit.Must(Docroot(context.Background(), dir, opt))(t)
		if !maps.Equal(readTree(t, dir), want) {
			t.Fatalf("after kill %d, the tree is not what one run makes of it", i)
		}
	}
	t.Logf("%d temporary files were left by 8 kills", left)
}
