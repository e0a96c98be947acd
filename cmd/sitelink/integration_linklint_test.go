//go:build integration && linux

package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLinklint: `sitelink check --profile linklint` finds, misses, skips and
// leaves over the same as the program itself, except what linklintExceptions
// names. Every exception must be one in the run of the whole site.
func TestLinklint(t *testing.T) {
	t.Parallel()
	bin := sitelinkProgram(t)
	docroot := writeFixtures(t, linklintDocroot())
	for _, dir := range []string{"index/isdir/index.html", "empty"} {
		testkit.Check(t, os.MkdirAll(filepath.Join(docroot, dir), 0o755))
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
				if tc.whole && crossReferences[list] != "" {
					compared += len(want[referrers(list)])
					for _, d := range differences(list, got[referrers(list)], want[referrers(list)]) {
						target, _, _ := strings.Cut(d, " < ")
						switch {
						case linklintExceptions[d] != "":
							used[d] = true
						case linklintExceptions[target] == "":
							t.Errorf("%s", d)
						}
					}
				}
				for _, d := range differences(list, got[list], want[list]) {
					if id := linklintExceptions[d]; id != "" {
						used[d] = true
						continue
					}
					if linklintSometimes[d] != "" {
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
		testkit.Check(t, os.WriteFile(name, []byte(text), 0o644))
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
