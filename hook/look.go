package hook

import (
	"context"
	"path/filepath"
	"strings"
)

// Remotes returns the addresses of the remotes, one a line; empty when there are
// none.
func (r *Repo) Remotes(ctx context.Context) string {
	out, err := r.git.run(ctx, "config", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return "" // git says so when nothing matches
	}
	var urls strings.Builder
	for line := range strings.Lines(string(out)) {
		_, url, _ := strings.Cut(line, " ")
		urls.WriteString(url)
	}
	return urls.String()
}

// Holds tells whether a commit holds a file or directory of that name, an
// absolute path in the working tree.
func (r *Repo) Holds(ctx context.Context, commit, name string) bool {
	rel, err := filepath.Rel(r.Top, name)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	if rel == "." {
		rel = ""
	}
	id, err := r.resolve(ctx, commit+":"+filepath.ToSlash(rel))
	return err == nil && id != ""
}

// Tracks tells whether a file in a directory, an absolute path, is in the index.
func (r *Repo) Tracks(ctx context.Context, dir string) bool {
	rel, err := filepath.Rel(r.Top, dir)
	if err != nil || rel != "." && !filepath.IsLocal(rel) {
		return false
	}
	out, err := r.git.run(ctx, "ls-files", "-z", "--", ":(top,literal)"+filepath.ToSlash(rel))
	return err == nil && len(out) > 0
}
