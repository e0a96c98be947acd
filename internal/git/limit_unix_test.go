//go:build unix

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestLimit: a git that does not end is ended, if the command only reads.
func TestLimit(t *testing.T) {
	if quick != 5*time.Second || slow != 20*time.Second {
		t.Errorf("the limits are %v and %v", quick, slow)
	}
	f := newFixture(t)
	sleeping := testkit.Must(exec.LookPath("sleep"))(t)
	testkit.Check(t, errors.Join(os.MkdirAll(filepath.Join(f.base(), "bin"), 0o755), os.WriteFile(filepath.Join(f.base(), "bin", "git"), []byte("#!/bin/sh\n"+sleeping+" 60\n"), 0o755)))
	t.Setenv("PATH", filepath.Join(f.base(), "bin"))
	before := []time.Duration{quick, slow}
	defer func() { quick, slow = before[0], before[1] }()
	for _, c := range []struct {
		name        string
		quick, slow time.Duration
		stuck       bool
	}{
		{"rev-parse", 50 * time.Millisecond, time.Minute, true}, {"config", 50 * time.Millisecond, time.Minute, true}, {"version", 50 * time.Millisecond, time.Minute, true},
		{"ls-files", time.Minute, 50 * time.Millisecond, true}, {"log", time.Minute, 50 * time.Millisecond, true}, {"cat-file", time.Minute, 50 * time.Millisecond, true},
		{"push", time.Millisecond, time.Millisecond, false},
	} {
		quick, slow = c.quick, c.slow
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if !c.stuck { // what writes is not ended by sitelink
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		_, err := Command{Dir: f.root, Env: f.env}.Run(ctx, c.name)
		stuck, ok := errors.AsType[*StuckError](err)
		if ok != c.stuck || ok && stuck.Error() != "git "+c.name+" did not end within 50ms in "+f.root {
			t.Errorf("git %s: %v", c.name, err)
		}
		cancel()
	}
}

// TestIncludes: configurations that include each other cost as much as they are, and a pipe
// among them is found.
func TestIncludes(t *testing.T) {
	f := newFixture(t)
	for i := range 9 {
		f.write(fmt.Sprintf("repo/.git/c%d", i), strings.Repeat(fmt.Sprintf("[include]\n\tpath = c%d\n", i+1), 60))
	}
	f.write("repo/.git/config", "[include]\n\tpath = c0\n\tpath = config\n")
	began := time.Now()
	if name := waits(f.root); name != "" || time.Since(began) > time.Second {
		t.Errorf("%q after %v", name, time.Since(began))
	}
	testkit.Check(t, os.Mkdir(filepath.Join(f.root, ".git", "c9"), 0o755)) // it is none
	f.write("repo/.git/c8", "[include]\n\tpath = "+os.DevNull+"\n\tpath = c9\n\tpath = pipe\n")
	pipe := filepath.Join(f.root, ".git", "pipe")
	testkit.Check(t, syscall.Mkfifo(pipe, 0o644))
	if name := waits(f.root); name != pipe {
		t.Errorf("waits for %q", name)
	}
	// Names by symbolic links have no end.
	for i := range 30 {
		testkit.Check(t, os.Symlink(".", filepath.Join(f.root, ".git", fmt.Sprintf("l%d", i))))
	}
	var links strings.Builder
	for i := range 30 {
		fmt.Fprintf(&links, "[include]\n\tpath = l%d/c0\n", i)
	}
	f.write("repo/.git/c0", links.String())
	began = time.Now()
	if name := waits(f.root); name != "" || time.Since(began) > time.Second {
		t.Errorf("%q after %v", name, time.Since(began))
	}
}
