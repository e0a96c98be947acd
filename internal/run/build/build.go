// Package build runs the generator of a project for commands that check what it writes: the
// site goes to a directory of sitelink's own, or to the usual docroot before a deploy.
package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Build is the right to build a project: no other build of it runs until Close.
type Build struct {
	// Project has the generator.
	Project *project.Project
	// Docroot is the directory that [Build.Generate] writes. Install is the line of the shell
	// that installs the generator, for a hint.
	Docroot, Install string
	// Note prints how the site is built.
	Note func(text string)

	strict bool
	args   []string
	lock   io.Closer
}

// Open waits until no other build of the project is running. The project must have a
// generator, which gets args. strict means that a warning of it is an error.
func Open(ctx context.Context, p *project.Project, strict bool, args []string, note func(text string)) (*Build, error) {
	g := p.Generator
	// The directory holds what sitelink builds.
	own, err := filepath.Abs(g.StateDir())
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", g.Dir, system.Cause(err))
	}
	if err := system.MakeState(own); err != nil {
		return nil, text.WithHint(err, "the build goes there: make the project's directory writable")
	}
	// Its contents are removed, so it must not lead to another directory.
	if info, err := os.Lstat(own); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, text.WithHint(fmt.Errorf("%s is a symbolic link, which a build does not follow", own), "remove the link")
	}
	name := filepath.Join(own, "build.lock")
	lock, err := system.Lock(ctx, name, nil)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("lock %s: %w", name, err)
		}
		return nil, err
	}
	return &Build{Project: p, Docroot: filepath.Join(own, project.BuiltDocroot), Note: note, strict: strict, args: args, lock: lock}, nil
}

// Close lets other builds run.
func (b *Build) Close() { b.lock.Close() }

// Run runs the generator and returns the project with the new docroot. The output of the
// generator goes to output.
func (b *Build) Run(ctx context.Context, output io.Writer) (*project.Project, error) {
	if err := b.Generate(ctx, output); err != nil {
		return nil, err
	}
	return b.Project.WithDocroot(ctx, b.Project.Show(b.Docroot))
}

// Generate runs the generator. Docroot does not exist before it has succeeded.
func (b *Build) Generate(ctx context.Context, output io.Writer) error {
	// An incomplete build has another name, so that nothing takes it for the site.
	fresh := b.Docroot + ".new"
	for _, dir := range []string{fresh, b.Docroot} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the last build %s: %w", dir, system.Cause(err))
		}
	}
	defer os.RemoveAll(fresh)
	if err := b.Into(ctx, fresh, output); err != nil {
		return err
	}
	if err := os.Rename(fresh, b.Docroot); err != nil {
		return fmt.Errorf("rename %s to %s: %w", fresh, b.Docroot, system.Cause(err))
	}
	return nil
}

// Into runs the generator, which writes the site to the directory out.
func (b *Build) Into(ctx context.Context, out string, output io.Writer) error {
	g := b.Project.Generator
	if lock := g.Lock(); lock != "" {
		if _, err := os.Lstat(lock); errors.Is(err, fs.ErrNotExist) {
			defer os.Remove(lock)
		}
	}
	command := g.Command(out, b.strict, b.args)
	// The generator does not read its docroot, but this build has another.
	_, missing := os.Stat(g.Docroot)
	usual, err := filepath.Rel(g.Dir, g.Docroot)
	inside := err == nil && filepath.IsLocal(usual) && usual != "." && missing == nil
	if inside {
		file, config, flag := g.LeaveOut(filepath.ToSlash(usual))
		namesConfig := func(arg string) bool { return strings.HasPrefix(arg, "--config") }
		if file = filepath.Join(filepath.Dir(out), file); config != "" && !slices.ContainsFunc(b.args, namesConfig) {
			if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
				return fmt.Errorf("write %s: %w", file, system.Cause(err))
			}
			command.Args = append(slices.DeleteFunc(command.Args, namesConfig), flag+file) // it has the project's own
		}
	}
	b.Note("building with " + command.String())
	counted := &warningCounter{to: output, warning: command.Warning}
	err = Start(ctx, g, command, os.Environ(), counted, "install it ("+b.Install+"), or build elsewhere and name the result: sitelink check DIR")
	hint := "fix what " + g.Title() + " reports above"
	switch failed := (*system.CommandError)(nil); {
	case errors.As(err, &failed):
		if own := b.Project.Answers[project.AskBuild].Value; own != g.UsualCommand() {
			hint += "; or build it as the project does (" + own + "), and name the directory that it writes"
		}
		return text.WithHint(fmt.Errorf("the build failed: %w", failed), hint)
	case err != nil:
		return err
	case counted.warnings > 0:
		return text.WithHint(fmt.Errorf("the build failed: %s: %s, and --strict allows none", command, text.Count(counted.warnings, "warning")), hint)
	}
	if copied := g.Copied(usual); inside && copied != "" {
		if err := os.RemoveAll(filepath.Join(out, copied)); err != nil {
			return fmt.Errorf("remove what %s made of the last build: %w", g.Title(), system.Cause(err))
		}
	}
	if _, err := os.Stat(out); err != nil {
		return text.WithHint(fmt.Errorf("%s reported no error, but wrote no site to %s", g.Title(), out), "")
	}
	return nil
}

// Start runs a command of the generator in its directory. The error is the cause of ctx, a
// [system.CommandError], or has the hint where the generator is not installed.
func Start(ctx context.Context, g *project.Generator, command generator.Command, env []string, output io.Writer, hint string) error {
	err := system.Command{
		Args: command.Args, Name: command.String(), Dir: g.Dir, Env: append(slices.Clone(env), command.Env...), Stdout: output, Stderr: output,
	}.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return text.WithHint(fmt.Errorf("%s is not installed: %s", g.Title(), command.Args[0]), hint)
	}
	return err
}

// StaleNote names the pages that an earlier build left in the project's usual docroot, and that
// this one does not make. It returns "" if this build makes them all.
func (b *Build) StaleNote() string {
	usual := b.Project.Generator.Docroot
	if usual == b.Docroot {
		return ""
	}
	var stale []string
	filepath.WalkDir(usual, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return nil
		}
		rel, err := filepath.Rel(usual, name)
		if err != nil {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(b.Docroot, rel)); errors.Is(err, fs.ErrNotExist) {
			stale = append(stale, filepath.ToSlash(rel))
		}
		return nil
	})
	if len(stale) == 0 {
		return ""
	}
	slices.Sort(stale)
	return audit.StaleNote(b.Project.Show(usual), stale, "a fresh build does not make")
}

// warningCounter passes on the output of a generator, and counts the lines that begin with
// warning; if that is empty, it counts none.
type warningCounter struct {
	to       io.Writer
	warning  string
	warnings int
	start    []byte // the beginning of the current line, up to len(warning)
}

func (w *warningCounter) Write(p []byte) (int, error) {
	for rest := p; w.warning != "" && len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if short := len(w.warning) - len(w.start); short > 0 {
			w.start = append(w.start, line[:min(short, len(line))]...)
			if len(line) >= short && string(w.start) == w.warning {
				w.warnings++
			}
		}
		if ended {
			w.start = w.start[:0]
		}
		rest = after
	}
	return w.to.Write(p)
}
