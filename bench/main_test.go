package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
)

// TestMain lets the test binary stand in for a measured program.
func TestMain(m *testing.M) {
	if os.Getenv("BENCH_TEST_HOLD") != "" {
		hold := bytes.Repeat([]byte{1}, heldBytes)
		os.Exit(int(hold[len(hold)-1]) - 1)
	}
	os.Exit(m.Run())
}

func TestExitCodes(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		args []string
		want int
		says string
	}{
		{"no command", context.Background(), nil, 2, "usage:"},
		{"unknown command", context.Background(), []string{"fly"}, 2, `unknown command "fly"`},
		{"unknown flag", context.Background(), []string{"corpora", "-fly"}, 2, "wrong usage"},
		{"stray argument", context.Background(), []string{"corpora", "rust-doc"}, 2, "unexpected argument"},
		{"unknown corpus", context.Background(), []string{"compare", "-corpus", "go-doc"}, 2, `no corpus "go-doc"`},
		{"unknown tool", context.Background(), []string{"compare", "-tools", "muffet"}, 2, `no tool "muffet"`},
		{"no rounds", context.Background(), []string{"compare", "-runs", "0"}, 2, "-runs"},
		{"missing docroot", context.Background(), []string{"read", t.TempDir() + "/none"}, 3, "no such file"},
		{"interrupted", cancelled, []string{"compare", "-corpus", "rust-doc", "-tools", "bench", "-cache", t.TempDir()}, 130, "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if got := run(c.ctx, c.args, &stdout, &stderr); got != c.want {
				t.Errorf("exit %d, want %d; stderr: %s", got, c.want, &stderr)
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("stderr %q does not say %q", stderr.String(), c.says)
			}
		})
	}
}

func TestCorpusVersion(t *testing.T) {
	cache := t.TempDir()
	c := corpus{pkg: "rust-doc"}
	if got := c.version(cache); got != "unknown" {
		t.Errorf("version without package file %q, want unknown", got)
	}
	if err := os.WriteFile(cache+"/rust-doc_1%3a1.63.0+dfsg1-2_all.deb", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, want := c.version(cache), "1:1.63.0+dfsg1-2"; got != want {
		t.Errorf("version %q, want %q", got, want)
	}
}
