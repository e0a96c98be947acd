//go:build integration && linux

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// lists are sets of site paths, decoded, by the name of their list.
type lists map[string]map[string]bool

func (l lists) add(list, path string) {
	if l[list] == nil {
		l[list] = map[string]bool{}
	}
	l[list][path] = true
}

// linklintFiles are the files of `linklint -doc`, by the list they hold.
var linklintFiles = map[string]string{
	"found": "file.txt", "missing": "error.txt", "missing anchors": "errorA.txt", "missing maps": "errorM.txt", "anchors": "anchor.txt",
	"actions": "action.txt", "remote": "remote.txt", "skipped": "skipped.txt", "orphans": "orphan.txt", "ignored": "ignore.txt",
}

// runLinklint checks a docroot with the real program, by its files alone, and
// returns its lists.
func runLinklint(t *testing.T, docroot string, args ...string) lists {
	t.Helper()
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"-root", docroot, "-host", "www.example.com", "-doc", out, "-textonly", "-orphan"}, args...)
	if text, err := exec.CommandContext(ctx, "linklint", args...).CombinedOutput(); err != nil {
		t.Fatalf("linklint %q: %v\n%s", args, err, text)
	}
	l := lists{}
	for list, file := range linklintFiles {
		text, err := os.ReadFile(filepath.Join(out, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // an empty list has no file
		}
		if err != nil {
			t.Fatal(err)
		}
		_, body, ok := strings.Cut(string(text), "\n#---")
		if !ok {
			t.Fatalf("%s has no head:\n%s", file, text)
		}
		for line := range strings.Lines(body) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" || strings.ContainsAny(line[:1], "#-[( ") {
				continue
			}
			l.add(list, line)
		}
	}
	return l
}

// runLinklintProfile checks a docroot with sitelink and returns the same lists.
func runLinklintProfile(t *testing.T, bin, docroot string, args ...string) lists {
	t.Helper()
	index := linklintIndex
	if slices.Contains(args, "--index") {
		index = []string{"main.html", "index.html"}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"check", docroot, "--profile", "linklint", "--base-url", "http://www.example.com/", "--script-fragments", "error"}, args...)
	run := func(more ...string) (stdout, stderr []byte) {
		cmd := exec.CommandContext(ctx, bin, slices.Concat(args, more)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SITELINK_") }), "SITELINK_DEBUG=walk")
		var outBuf, errBuf bytes.Buffer
		cmd.Stdout, cmd.Stderr = &outBuf, &errBuf
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("sitelink %q: %v\n%s", cmd.Args, err, errBuf.Bytes())
		}
		return outBuf.Bytes(), errBuf.Bytes()
	}
	l := lists{}
	stdout, stderr := run("--format", "jsonl", "--show", "all")
	err := readRows(bytes.NewReader(stdout), func(r *row) { sortRow(l, docroot, r) })
	if err != nil {
		t.Fatal(err)
	}
	// The rows have no seeds and no entries of listings: the walk has them.
	for line := range strings.Lines(string(stderr)) {
		step, ok := strings.CutPrefix(strings.TrimSpace(line), "sitelink: walk: ")
		if !ok {
			continue
		}
		what, path, _ := strings.Cut(step, " ")
		path = strings.TrimSpace(path)
		l.add("found", path)
		if what == "skip" || what == "limit" {
			l.add("skipped", path)
		}
		if what == "check" && strings.HasSuffix(path, "/") && indexFile(docroot, path, index) == "" {
			entries, err := os.ReadDir(filepath.Join(docroot, path))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") { // LL-79
					l.add("found", path+e.Name())
				}
			}
		}
	}
	stdout, _ = run("--format", "json", "--orphans")
	var report struct {
		Findings []struct{ Page, Code, Target string }
	}
	if err := json.Unmarshal(stdout, &report); err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Findings {
		switch f.Code {
		case "orphan", "unreachable":
			l.add("orphans", "/"+f.Page)
		case "unmatched-linkset":
			if _, err := os.Stat(filepath.Join(docroot, f.Target)); err != nil {
				l.add("missing", f.Target)
			}
		}
	}
	return l
}

// sortRow puts a row into the lists of docs/formats.md.
func sortRow(l lists, docroot string, r *row) {
	target, _, _ := strings.Cut(r.answeringPath(), "?")
	if decoded, err := url.PathUnescape(target); err == nil {
		target = decoded
	}
	if r.Code == "double-slash" {
		target = strings.ReplaceAll(target, "//", "/") // LL-72
	}
	info, err := os.Stat(filepath.Join(docroot, target))
	switch {
	case r.isInternal() && err == nil && info.IsDir() && !strings.HasSuffix(target, "/"):
		target += "/" // LL-83
	case r.Status == 200 && r.isInternal() && errors.Is(err, os.ErrNotExist):
		return // behind --map: the walk has the path that it became (LL-91)
	}
	switch {
	case r.Code == "action":
		l.add("actions", target)
	case r.Code == "ignored":
		l.add("ignored", target)
	case r.Target == "":
		l.add("broken", r.Raw)
	case !r.isInternal():
		l.add("remote", target)
	case r.Code == "missing-fragment":
		l.add("found", target)
		l.add("missing anchors", target+"#"+r.Fragment)
	case r.Code == "missing-map":
		l.add("missing maps", target+"#"+r.Fragment)
	case r.Attribute == "usemap":
	case r.Status == 200:
		l.add("found", target)
	default:
		l.add("missing", target)
	}
}

// TestLinklint: `sitelink check --profile linklint` finds, misses, skips and
// leaves over the same as the program itself, but for what linklintExceptions
// names. Every exception must be one in the run of the whole site.
func TestLinklint(t *testing.T) {
	bin := buildSitelink(t)
	docroot := writeFixtures(t, linklintDocroot())
	for _, dir := range []string{"index/isdir/index.html", "empty"} {
		if err := os.MkdirAll(filepath.Join(docroot, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name     string
		linklint []string
		sitelink []string
		whole    bool
	}{
		{"LL-8_site", []string{"/@"}, []string{"--from", "/@"}, true},
		{"LL-8_home", []string{"/"}, []string{"--from", "/"}, false},
		{"LL-10_default", nil, []string{"--from", "/"}, false},
		{"LL-8_root", []string{"/#"}, []string{"--from", "/#"}, false},
		{"LL-6_one_down", []string{"/#/#"}, []string{"--from", "/#/#"}, false},
		{"LL-8_directory", []string{"/sets/sub/#"}, []string{"--from", "/sets/sub/#"}, false},
		{"LL-8_below", []string{"/sets/sub/@"}, []string{"--from", "/sets/sub/@"}, false},
		{"LL-1_two_sets", []string{"/tags/@", "/sets/sub/@"}, []string{"--from", "/tags/@", "--from", "/sets/sub/@"}, false},
		{"LL-2_pages", []string{"/tags/media.html", "/sets/a.html", "/nosuch.html"},
			[]string{"--from", "/tags/media.html", "--from", "/sets/a.html", "--from", "/nosuch.html"}, false},
		{"LL-9_address", []string{"/sets/@", "-skip", "/sets/sub/index.html"}, []string{"--from", "/sets/@", "--skip", "/sets/sub/index.html"}, false},
		{"LL-13_command_file", []string{"@" + commandFile(t)}, []string{"@" + commandFile(t)}, false},
		{"LL-22_skip", []string{"/@", "-skip", "/sets/@", "-skip", "/index/#/#"}, []string{"--from", "/@", "--skip", "/sets/@", "--skip", "/index/#/#"}, false},
		{"LL-24_listing_skipped", []string{"/@", "-skip", "/listing/@"}, []string{"--from", "/@", "--skip", "/listing/@"}, false},
		{"LL-25_ignore", []string{"/@", "-ignore", "/sets/gone.html"}, []string{"--from", "/@", "--ignore", "/sets/gone.html"}, false},
		{"LL-80_index", []string{"/@", "-index", "main.html", "-index", "index.html"}, []string{"--from", "/@", "--index", "main.html", "--index", "index.html"}, false},
		{"LL-90_map", []string{"/@", "-map", "/cgi-bin/imagemap", "-map", "/old=/maps"}, []string{"--from", "/@", "--map", "/cgi-bin/imagemap", "--map", "/old=/maps"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := runLinklint(t, docroot, tc.linklint...)
			got := runLinklintProfile(t, bin, docroot, tc.sitelink...)
			if tc.whole && len(want["found"]) < 50 || len(want["found"]) == 0 {
				t.Fatalf("linklint found %d files", len(want["found"]))
			}
			used := map[string]bool{}
			compared := 0
			for _, list := range slices.Sorted(maps.Keys(linklintFiles)) {
				switch {
				case list == "anchors":
					continue // sitelink keeps them as hashes
				case list == "orphans" && !tc.whole:
					continue // sitelink asks all pages, Linklint those that it came to
				case list == "orphans":
					want[list] = orphanFiles(docroot, want)
					got[list] = withoutDirectories(got[list], want["found"])
				}
				compared += len(want[list])
				for _, d := range differences(list, got[list], want[list]) {
					if id := linklintExceptions[d]; id != "" {
						used[d] = true
						continue
					}
					t.Errorf("%s", d)
				}
			}
			t.Logf("compared %d entries of %d lists, %d exceptions", compared, len(want), len(used))
			if tc.whole {
				for d, id := range linklintExceptions {
					if !used[d] {
						t.Errorf("the exception %s is none: %s", id, d)
					}
				}
			}
		})
	}
}

// differences says what only one of two sets holds.
func differences(list string, got, want map[string]bool) []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(got)) {
		if !want[p] {
			out = append(out, fmt.Sprintf("%s: sitelink alone has %s", list, p))
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if !got[p] {
			out = append(out, fmt.Sprintf("%s: linklint alone has %s", list, p))
		}
	}
	return out
}

// commandFile writes a list of pages, nested once (LL-13).
func commandFile(t *testing.T) string {
	dir := t.TempDir()
	inner, outer := filepath.Join(dir, "inner"), filepath.Join(dir, "outer")
	for name, text := range map[string]string{inner: "# pages\n/sets/a.html\n\n", outer: "@" + inner + "\n/tags/media.html\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return outer
}

// orphanFiles returns Linklint's orphans as sitelink counts them: without the
// index files of directories that links lead to, which Linklint looks for under
// their own name only (LL-109), and without directories.
func orphanFiles(docroot string, l lists) map[string]bool {
	files := map[string]bool{}
	for path := range l["orphans"] {
		dir := path[:strings.LastIndexByte(path, '/')+1]
		answers := l["found"][dir] && indexFile(docroot, dir, linklintIndex) == path
		if !answers && !strings.HasSuffix(path, "/") {
			files[path] = true
		}
	}
	return files
}

var linklintIndex = []string{"home.html", "index.html", "index.shtml", "index.htm", "index.cgi", "wwwhome.html", "welcome.html"}

// indexFile returns the file that answers a directory, "" if none does (LL-77,
// LL-81).
func indexFile(docroot, dir string, index []string) string {
	entries, _ := os.ReadDir(filepath.Join(docroot, dir))
	for _, name := range index {
		for _, e := range entries {
			if strings.EqualFold(e.Name(), name) && !e.IsDir() {
				return dir + e.Name()
			}
		}
	}
	return ""
}

// withoutDirectories leaves out files of directories in which nothing was
// found: Linklint does not look into them.
func withoutDirectories(paths, found map[string]bool) map[string]bool {
	used := map[string]bool{}
	for path := range found {
		used[path[:strings.LastIndexByte(path, '/')+1]] = true
	}
	kept := map[string]bool{}
	for path := range paths {
		if used[path[:strings.LastIndexByte(path, '/')+1]] {
			kept[path] = true
		}
	}
	return kept
}
