//go:build integration && linux

package main_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// answerTables hold what the servers answer to the path edge cases, without
// and with listings of directories.
var answerTables = map[bool]string{
	false: "../../internal/host/testdata/servers/plain.txt",
	true:  "../../internal/host/testdata/servers/listing.txt",
}

// TestServerAnswers: the recorded answers of the four servers to the path edge
// cases are those of the servers. -update records them.
//
// Among the cases are LL-70 (dot segments), LL-73 (percent escapes are decoded
// once), LL-84 (absent directories) and LL-110 (letter case).
func TestServerAnswers(t *testing.T) {
	t.Parallel()
	for list, name := range answerTables {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			cases := testkit.HostCases()
			docroot := makePathDocroot(t, cases)
			table := measure(t, docroot, list, cases)
			table.About = slices.Concat([]string{
				"What web servers answer to each request on the docroot of internal/testkit, in the plainest configuration",
				"of their manuals, " + pick(list, "with", "without") + " listings of directories. 0: no answer. Written by TestServerAnswers -update:",
			}, table.About)
			if flag.Lookup("update").Value.String() == "true" {
				testkit.Check(t, os.WriteFile(name, table.Format(), 0o644))
			}
			compareTables(t, name, table)
			for _, profile := range append([]string{"generic"}, table.Servers...) {
				comparePredictions(t, docroot, profile, list, cases, table)
			}
		})
	}
}

// TestServerRandom: random links get the answers of the servers too.
func TestServerRandom(t *testing.T) {
	t.Parallel()
	const seed = 1
	n := testkit.Longer(2000, 6000)
	for name, list := range map[string]bool{"plain": false, "listing": true} {
		t.Run(name, func(t *testing.T) {
			cases := testkit.RandomHostCases(seed, n)
			docroot := makePathDocroot(t, cases)
			table := measure(t, docroot, list, cases)
			for _, profile := range append([]string{"generic"}, table.Servers...) {
				comparePredictions(t, docroot, profile, list, cases, table)
			}
		})
	}
}

// measure asks each server for each case, once for each request.
func measure(t *testing.T, docroot string, list bool, cases []testkit.HostCase) *testkit.HostTable {
	t.Helper()
	seen := map[string]bool{}
	cases = slices.DeleteFunc(slices.Clone(cases), func(c testkit.HostCase) bool {
		key := testkit.HostKey(c.Target)
		again := seen[key]
		seen[key] = true
		return again
	})
	table := &testkit.HostTable{Rows: make([]testkit.HostRow, len(cases))}
	for i, c := range cases {
		table.Rows[i] = testkit.HostRow{Key: testkit.HostKey(c.Target), Answers: make([]testkit.HostAnswer, len(servers))}
	}
	for _, software := range servers {
		table.Servers = append(table.Servers, software.profile)
		table.About = append(table.About, software.about(t))
	}
	t.Run("servers", func(t *testing.T) {
		for n, software := range servers {
			t.Run(software.profile, func(t *testing.T) {
				t.Parallel()
				server := software.start(t, site{docroot: docroot, list: list})
				for i, c := range cases {
					wait := patience
					if c.Hangs {
						wait = fifoPatience
					}
					a := server.ask(t, c.Target, wait)
					a.Final = strings.ReplaceAll(testkit.HostKey(a.Final), server.addr, "127.0.0.1:80")
					table.Rows[i].Answers[n] = a
				}
			})
		}
	})
	t.Logf("%d requests to each of %d servers", len(table.Rows), len(servers))
	return table
}

// compareTables reports where the recorded answers are no longer true.
func compareTables(t *testing.T, name string, now *testkit.HostTable) {
	t.Helper()
	text := testkit.Read(t, name)
	then, err := testkit.ParseHostTable(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, server := range now.Servers {
		recorded := then.Of(server)
		for _, row := range now.Rows {
			if old, ok := recorded[row.Key]; !ok || old != row.Answers[i] {
				t.Errorf("%s: %s now answers %v, recorded is %v", row.Key, server, row.Answers[i], old)
			}
		}
	}
}

// comparePredictions reports where `sitelink check` says another thing about a
// link of the docroot than the profile's server: status, path after redirects,
// and a verdict that fits them. Generic is measured by nginx.
func comparePredictions(t *testing.T, docroot, profile string, list bool, cases []testkit.HostCase, table *testkit.HostTable) {
	t.Helper()
	server := profile
	if profile == "generic" {
		server = "nginx"
	}
	answers := table.Of(server)
	n, differ := 0, 0
	args := []string{"--profile", profile, "--script-fragments", "error", "--autoindex", pick(list, "list", "error")}
	eachLink(t, docroot, args, func(r *row) {
		if r.Page != testkit.HostPage || r.isFault() || n == len(cases) {
			return
		}
		c := cases[n]
		n++
		want := answers[testkit.HostKey(c.Target)]
		got := testkit.HostAnswer{Status: r.Status, Final: testkit.HostKey(r.answeringPath())}
		good := r.Status >= 200 && r.Status < 400
		fits := testkit.HostAgrees(server, c.Target, got, want) && r.Target == c.Target &&
			(good == (r.Verdict != "error") || r.Fragment != "") && r.Verdict != "unchecked" // TestChromiumFragments is about fragments
		if !fits {
			differ++
			t.Errorf("%s: got %d %s %s %s, %s says %v", testkit.HostKey(c.Href), r.Status, r.Verdict, r.Code, clip(r.Final), profile, want)
		}
	})
	t.Logf("%s: %d links compared, %d differ", profile, n, differ)
	if n != len(cases) {
		t.Errorf("%s holds %d links, sitelink shows %d", testkit.HostPage, len(cases), n)
	}
}

// makePathDocroot makes the docroot of path edge cases, with cases as links on
// one page, and returns its path.
func makePathDocroot(t *testing.T, cases []testkit.HostCase) string {
	t.Helper()
	dir := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	openToAll(t, dir)
	docroot := testkit.Must(testkit.MakeHostRoot(dir))(t)
	t.Cleanup(func() { testkit.UnlockHostRoot(docroot) }) // else t.TempDir cannot remove it
	var page bytes.Buffer
	page.WriteString("<!doctype html><meta charset=utf-8><title>links</title>\n")
	for _, c := range cases {
		fmt.Fprintf(&page, "<a href=\"%s\">x</a>\n", html.EscapeString(c.Href))
	}
	testkit.Check(t, os.WriteFile(filepath.Join(docroot, testkit.HostPage), page.Bytes(), 0o644))
	return docroot
}
