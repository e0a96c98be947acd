package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check/baseline"
)

// baselineAt reads a baseline file as it is in a commit of git. A commit that
// has no such file accepts nothing, and missing is true.
//
// It asks for the contents of the blob and for nothing else, so that no filter
// or textconv that a repository configures is run.
func baselineAt(ctx context.Context, ref, file string) (b *baseline.Baseline, missing bool, err error) {
	name := file + " at " + ref
	fail := func(err error, hint string) (*baseline.Baseline, bool, error) {
		return nil, false, &failure{fmt.Errorf("read baseline %s: %w", name, err), hint}
	}
	dir, base := filepath.Split(file)
	if strings.HasPrefix(ref, "-") { // git would take it for an option
		return nil, false, &usageError{fmt.Sprintf("--baseline-ref: want a commit, branch or tag, got %q", ref), ""}
	}
	commit, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	var said *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fail(errors.New("git is not installed"), "--baseline FILE needs no git")
	case errors.As(err, &said) && said.ExitCode() == 1:
		return fail(errors.New("no such commit"), "fetch it first: a clone in CI often has one commit only")
	case err != nil:
		return fail(err, "")
	}
	entry, err := git(ctx, dir, "ls-tree", "-z", strings.TrimSpace(string(commit)), "--", "./"+base)
	if err != nil {
		return fail(err, "")
	}
	if len(entry) == 0 {
		return &baseline.Baseline{}, true, nil
	}
	// "100644 blob HASH<tab>NAME<nul>"
	fields := strings.Fields(string(entry))
	if len(fields) < 3 || fields[1] != "blob" || fields[0] == "120000" {
		return fail(errors.New("not a file"), "")
	}
	text, err := git(ctx, dir, "cat-file", "blob", fields[2])
	if err != nil {
		return fail(err, "")
	}
	b, err = readBaseline(name, bytes.NewReader(text))
	return b, false, err
}

// git runs git in a directory, "" for the working directory, and returns what
// it prints.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	// A hook of git runs with variables that name another directory's
	// repository than the one that dir is in.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"}, name)
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	var stdout, stderr bounded
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if text, _, _ := strings.Cut(strings.TrimSpace(stderr.text.String()), "\n"); err != nil && text != "" {
		return nil, errors.New("git: " + strings.TrimPrefix(text, "fatal: "))
	}
	return stdout.text.Bytes(), err
}

// bounded takes up to a little more than a baseline may have, and then refuses.
type bounded struct{ text bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > baseline.MaxBytes+1 {
		return 0, fmt.Errorf("larger than %d MiB", baseline.MaxBytes>>20)
	}
	return b.text.Write(p)
}
