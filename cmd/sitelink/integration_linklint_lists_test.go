//go:build integration && linux

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
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

// crossReferences are the lists that are compared with their referrers, too.
var crossReferences = map[string]string{"found": "fileX.txt", "missing": "errorX.txt", "missing anchors": "errorAX.txt", "remote": "remoteX.txt"}

// referrers is the name of a list with entries "target < page".
func referrers(list string) string { return list + ", with referrers" }

// runLinklint checks a docroot with the real program, by its files alone, and
// returns its lists.
func runLinklint(t *testing.T, docroot string, args ...string) lists {
	t.Helper()
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args = append([]string{"-root", docroot, "-host", "www.example.com", "-doc", out, "-textonly", "-orphan"}, args...)
	cmd := exec.CommandContext(ctx, "linklint", args...)
	cmd.Env = append(os.Environ(), "PERL_HASH_SEED=0") // what it finds depends on the order of its hashes
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("linklint %q: %v\n%s", args, err, text)
	}
	l := lists{}
	for list, file := range linklintFiles {
		text, err := os.ReadFile(filepath.Join(out, file))
		if errors.Is(err, os.ErrNotExist) {
			continue // an empty list has no file
		}
		testkit.Check(t, err)
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
	for list, file := range crossReferences {
		text, err := os.ReadFile(filepath.Join(out, file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		testkit.Check(t, err)
		target := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			switch page, indented := strings.CutPrefix(line, "    "); {
			case line != "" && !strings.ContainsAny(line[:1], "#-[( "):
				target = line
			case !indented || strings.HasPrefix(page, "used in "):
			case strings.HasSuffix(page, "/"):
				if index := indexFile(docroot, page, linklintIndex); index != "" { // a listing has no rows
					l.add(referrers(list), target+" < "+index)
				}
			default:
				l.add(referrers(list), target+" < "+page)
			}
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
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
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
	testkit.Check(t, err)
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
			entries := testkit.Must(os.ReadDir(filepath.Join(docroot, path)))(t)
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
	testkit.Check(t, json.Unmarshal(stdout, &report))
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

// sortRow puts a row into the lists of docs/reference/formats.md.
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
	add := func(list, target string) {
		l.add(list, target)
		if crossReferences[list] != "" {
			l.add(referrers(list), target+" < /"+r.Page)
		}
	}
	switch {
	case r.Code == "action":
		add("actions", target)
	case r.Code == "ignored":
		add("ignored", target)
	case r.Target == "":
		add("broken", r.Raw)
	case !r.isInternal():
		add("remote", target)
	case r.Code == "missing-fragment":
		add("found", target)
		add("missing anchors", target+"#"+r.Fragment)
	case r.Code == "missing-map":
		add("missing maps", target+"#"+r.Fragment)
	case r.Attribute == "usemap":
	case r.Status == 200:
		add("found", target)
	default:
		add("missing", target)
	}
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
