//go:build integration && linux

// The integration tests hold sitelink's predictions against the programs that
// decide: nginx for paths, headless Chromium for fragments and links. They see
// sitelink from outside, through `check --format jsonl --show all`.
package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// rowFields are the fields of a row: a contract, no more and no fewer.
var rowFields = []string{
	"attribute", "code", "column", "element", "final", "fragment", "line", "offset",
	"page", "raw", "status", "target", "verdict",
}

// row is one line of `check --format jsonl --show all`.
type row struct {
	Page      string `json:"page"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	Offset    int64  `json:"offset"`
	Element   string `json:"element"`
	Attribute string `json:"attribute"`
	Raw       string `json:"raw"`
	Target    string `json:"target"`
	Fragment  string `json:"fragment"`
	Verdict   string `json:"verdict"`
	Code      string `json:"code"`
	Status    int    `json:"status"`
	Final     string `json:"final"`
}

// isInternal reports whether the row's target is a path of the site.
func (r *row) isInternal() bool { return strings.HasPrefix(r.Target, "/") }

// isFault reports whether the row reports a fault of a file, not a link.
func (r *row) isFault() bool { return r.Element == "" }

// answeringPath is the path that answers the link in the end.
func (r *row) answeringPath() string {
	if r.Final != "" {
		return r.Final
	}
	return r.Target
}

// sitelinkProgram returns the path of the command, which TestMain has put on PATH.
func sitelinkProgram(t *testing.T) string {
	t.Helper()
	bin := testkit.Must(exec.LookPath("sitelink"))(t)
	return bin
}

// eachLink runs the check of docroot and calls visit for every row, in order.
func eachLink(t *testing.T, docroot string, args []string, visit func(*row)) {
	t.Helper()
	bin := sitelinkProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args = append([]string{"check", docroot, "--format", "jsonl", "--show", "all"}, args...)
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = t.TempDir() // no sitelink.toml above it
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SITELINK_") })
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	testkit.Check(t, err)
	testkit.Check(t, cmd.Start())
	rowErr := readRows(stdout, visit)
	io.Copy(io.Discard, stdout)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // findings are what the test is about
	}
	if err != nil {
		t.Fatalf("sitelink %q: %v\n%s", args, err, stderr.Bytes())
	}
	if rowErr != nil {
		t.Fatalf("sitelink %q: %v", args, rowErr)
	}
}

// readRows decodes JSON Lines; the first row must have the contract's fields.
func readRows(r io.Reader, visit func(*row)) error {
	br := bufio.NewReaderSize(r, 1<<20)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("row %d does not end in a newline: %w", n, err)
		}
		if n == 1 {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(line, &fields); err != nil {
				return fmt.Errorf("row 1: %w", err)
			}
			delete(fields, "cause") // of a finding
			if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, rowFields) {
				return fmt.Errorf("fields of a row: got %q, want %q", got, rowFields)
			}
		}
		var l row
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		visit(&l)
	}
}

// clip shortens s for a message.
func clip(s string) string {
	if len(s) > 100 {
		return fmt.Sprintf("%s… (%d bytes)", s[:80], len(s))
	}
	return s
}
