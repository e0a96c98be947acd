package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGrowChecksTheChecker runs grow with a stand-in for sitelink that reports
// a fixed number of errors: right, wrong, and a failure.
func TestGrowChecksTheChecker(t *testing.T) {
	site := newGenerated(400, 1) // breaks 5 links and fragments
	for _, c := range []struct {
		name, script, wrong string
	}{
		{"right", "echo checked 400 pages, 20,000 links: 5 errors; exit 1", ""},
		{"wrong", "echo checked 400 pages, 20,000 links: 4 errors; exit 1", "found 4 errors on 400 pages, the generator made 5"},
		{"silent", "exit 0", "found - errors"},
		{"failed", "exit 3", "exit status 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := t.TempDir()
			fake := filepath.Join(t.TempDir(), "sitelink")
			if err := os.WriteFile(fake, []byte("#!/bin/sh\n"+c.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			reader := filepath.Join(t.TempDir(), "reader")
			if err := os.WriteFile(reader, []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			s := settings{runs: 2, limit: time.Minute}
			var progress bytes.Buffer
			g, err := s.grow(context.Background(), site, work, map[string]string{"bench": reader, "sitelink": fake}, &progress)
			if err != nil {
				t.Fatal(err)
			}
			if c.wrong == "" && g.wrong != "" || !strings.Contains(g.wrong, c.wrong) {
				t.Errorf("wrong is %q, want %q", g.wrong, c.wrong)
			}
			if got := g.row(); len(got) != 12 || got[0] != "400" || got[1] != "20,000" {
				t.Errorf("row %q", got)
			}
			if left, err := os.ReadDir(work); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, error %v", left, err)
			}
		})
	}
}
