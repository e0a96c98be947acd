package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// repository runs git.
type repository struct {
	dir string
	env []string
}

// run returns what git prints. The error has the last lines of what it says.
func (r *repository) run(ctx context.Context, input []byte, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	// No question on the terminal: a run may have none.
	cmd.Env = append(append([]string{}, r.env...), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.Stdin = bytes.NewReader(input)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if errors.Is(err, exec.ErrNotFound) {
			return "", err
		}
		text := strings.TrimSpace(said.String())
		if lines := strings.Split(text, "\n"); len(lines) > 3 {
			text = strings.Join(lines[len(lines)-3:], "\n")
		}
		return out.String(), fmt.Errorf("git %s: %s", args[0], strings.ReplaceAll(text, "\n", "; "))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// parseGitName takes git:REF and git:REMOTE:REF apart; the remote is origin when
// none is named.
func parseGitName(name string) (remote, ref string, err error) {
	rest, ok := strings.CutPrefix(name, "git:")
	if !ok {
		return "", "", fmt.Errorf("ledger %s: want git:REF", name)
	}
	remote, ref = "origin", rest
	if i := strings.LastIndex(rest, ":refs/"); i > 0 {
		remote, ref = rest[:i], rest[i+1:]
	}
	if !strings.HasPrefix(ref, "refs/") || strings.HasPrefix(ref, "refs/heads/") || strings.HasPrefix(ref, "refs/tags/") ||
		strings.ContainsAny(ref, " ~^:?*[\\\x7f") || strings.Contains(ref, "..") || strings.HasPrefix(remote, "-") {
		return "", "", fmt.Errorf("ledger %s: want git:REF or git:REMOTE:REF, with a REF such as refs/sitelink/ledger that is no branch or tag", name)
	}
	return remote, ref, nil
}
