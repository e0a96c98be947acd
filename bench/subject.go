package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// buildSitelink returns the sitelink binary to measure and what to call it in
// the results: the given one, or a fresh build of the checkout.
func (s *settings) buildSitelink(ctx context.Context) (path, version string, err error) {
	path = s.sitelink
	if path == "" {
		path = filepath.Join(s.cache, "bin", "sitelink")
		if err := quiet(ctx, s.repo, "go", "build", "-trimpath", "-o", path, "./cmd/sitelink"); err != nil {
			return "", "", fmt.Errorf("build sitelink: %w", err)
		}
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", fmt.Errorf("find sitelink: %w", err)
	}
	out, err := exec.CommandContext(ctx, path, "version").Output()
	if err != nil {
		return "", "", fmt.Errorf("ask version of sitelink: %w", err)
	}
	version, _, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	version = strings.TrimSpace(strings.TrimPrefix(version, "sitelink"))
	if s.sitelink == "" {
		version += ", commit " + s.commit(ctx)
	}
	return path, version, nil
}

// commit names the checkout's commit, with "and changes" when the tree has
// some.
func (s *settings) commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "-C", s.repo, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "none"
	}
	id := strings.TrimSpace(string(out))
	out, err = exec.CommandContext(ctx, "git", "-C", s.repo, "status", "--porcelain").Output()
	if err == nil && len(out) > 0 {
		id += " and changes"
	}
	return id
}

// scratch makes a directory for outputs and hands back how to remove it.
func scratch() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "sitelink-bench-"); err != nil {
		return "", nil, fmt.Errorf("make scratch directory: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}
