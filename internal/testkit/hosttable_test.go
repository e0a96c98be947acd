package testkit_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestTable checks that a table can be written and read, and that errors name the line.
func TestTable(t *testing.T) {
	text := []byte("# measured\nrequest\ta\tb\n/x\t200\t404\n/d\t301>403 /d/\t0\n")
	table, err := testkit.ParseHostTable(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := table.Format(); !bytes.Equal(got, text) {
		t.Errorf("got %q, want %q", got, text)
	}
	if got, want := table.Of("a")["/d"], (testkit.HostAnswer{First: 301, Status: 403, Final: "/d/"}); got != want {
		t.Errorf("answer of a to /d: got %v, want %v", got, want)
	}
	if table.Of("c") != nil {
		t.Error("answers of a server that is not in the table")
	}
	for damaged, want := range map[string]string{
		"request\ta\n/x\t200\t200\n": "line 2: 3 cells, want 2",
		"request\ta\n/x\tyes\n":      `line 2: answer "yes"`,
		"request\ta\n/x\t200 /y\n":   `line 2: answer "200 /y"`,
		"request\ta\n/x\t1>2\n":      `line 2: answer "1>2"`,
		"request\ta\n/x\t1>z /y\n":   `line 2: answer "1>z /y"`,
		"request\ta\n":               "the table has no answers",
		"":                           "the table has no answers",
	} {
		if _, err := testkit.ParseHostTable([]byte(damaged)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want %q", damaged, err, want)
		}
	}
}

// TestCases checks that keys are unique and that a table can contain the requests.
func TestCases(t *testing.T) {
	byKey := map[string]string{}
	for _, c := range testkit.HostCases() {
		if strings.ContainsAny(c.Target, "\t\n ") || !strings.HasPrefix(c.Target, "/") {
			t.Errorf("%q: %q is not a request", c.Href, c.Target)
		}
		key := testkit.HostKey(c.Target)
		if old, ok := byKey[key]; ok && old != c.Target {
			t.Errorf("%s is the key of two requests", key)
		}
		byKey[key] = c.Target
	}
	for _, c := range testkit.RandomHostCases(1, 1000) {
		if strings.ContainsAny(c.Target, "\t\n ") || !strings.HasPrefix(c.Target, "/") {
			t.Errorf("%q: %q is not a request", c.Href, c.Target)
		}
	}
	if len(byKey) < 3000 {
		t.Errorf("%d requests, want 3,000 or more", len(byKey))
	}
}
