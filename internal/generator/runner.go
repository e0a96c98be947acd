package generator

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Runner starts the programs that tell a configuration. Its zero value starts
// none: everything is read from files. It is safe for concurrent use.
type Runner struct {
	// Programs are the programs that may be started, by their names: what
	// exec.LookPath found, or another path.
	Programs map[string]string
	// Env is the environment that they get; the configuration of some is in it.
	Env []string
	// Timeout bounds each call; 0 means 20 seconds.
	Timeout time.Duration
}

// LookPath returns a Runner with those of all generators' programs that are on
// the path.
func LookPath(env []string) Runner {
	r := Runner{Programs: map[string]string{}, Env: env}
	for _, name := range []string{"hugo", "jekyll", "bundle", "npx", "zola", "mkdocs"} {
		if program, err := exec.LookPath(name); err == nil {
			r.Programs[name] = program
		}
	}
	return r
}

// With returns r with more variables in its environment.
func (r Runner) With(vars ...string) Runner {
	r.Env = append(slices.Clone(r.Env), vars...)
	return r
}

// getenv returns a variable of the programs' environment; as there, the last one
// counts.
func (r Runner) getenv(name string) string {
	for _, v := range slices.Backward(r.Env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

const (
	maxOutput      = 256 << 20
	maxErrorOutput = 64 << 10
	maxSaid        = 300
	defaultTimeout = 20 * time.Second
)

// Output runs a program of r.Programs in dir and returns what it wrote to its
// standard output. Its network is off, as far as generators have a switch for it:
// modules that are not there are not fetched for the sake of a report.
func (r Runner) Output(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	what := strings.Join(append([]string{name}, args...), " ")
	program := r.Programs[name]
	if program == "" {
		return nil, fmt.Errorf("%s: %w", what, exec.ErrNotFound)
	}
	timeout := r.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(r.Env), "HUGO_MODULE_PROXY=off", "GOPROXY=off", "GOFLAGS=-mod=mod")
	cmd.WaitDelay = time.Second
	stdout, stderr := limited{limit: maxOutput}, limited{limit: maxErrorOutput}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		return nil, fmt.Errorf("%s: no answer within %v", what, timeout)
	case err != nil:
		if said := firstLine(stderr.String(), stdout.String()); said != "" {
			return nil, fmt.Errorf("%s: %w: %s", what, err, said)
		}
		return nil, fmt.Errorf("%s: %w", what, err)
	case stdout.over:
		return nil, fmt.Errorf("%s: more than %d bytes", what, maxOutput)
	}
	return stdout.Bytes(), nil
}

// firstLine returns the first line of what a program said, of bounded length. A
// warning is passed over where something follows.
func firstLine(texts ...string) string {
	said := ""
	for _, text := range texts {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if said == "" || strings.HasPrefix(said, "WARN") {
				said = line
			}
		}
	}
	if len(said) > maxSaid {
		said = strings.ToValidUTF8(said[:maxSaid], "") + "..."
	}
	return said
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer
	limit int
	over  bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.limit - l.Len(); len(p) > room {
		l.over = true
		l.Buffer.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}
