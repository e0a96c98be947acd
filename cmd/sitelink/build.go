package main

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

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// runBuild does the work of `sitelink check --build`: it runs the generator, and then the
// check. It returns [errFindings] when there are findings that fail the run.
func runBuild(ctx context.Context, c *cli, cfg *config.Config, strict bool, args []string) error {
	b, err := openBuild(ctx, c, cfg, strict, args)
	if err != nil {
		return err
	}
	defer b.unlock()
	p, err := b.run(ctx, c.env.Stderr)
	if err != nil {
		return err
	}
	noteStalePages(c, b.project, b.docroot)
	c.printNotes(p)
	return checkProject(ctx, c, p, nil)
}

// build builds a project into a directory of its own.
type build struct {
	project *project.Project
	docroot string
	command func(out string) generator.Command
	unlock  func()
	note    func(text string)
}

var (
	errNoGenerator  = text.WithHint(errors.New("no known generator in this directory"), "build the site as usual, and name its directory instead of --build")
	errBuildDocroot = text.Usage("--build and --docroot contradict each other: the build chooses the docroot", "leave one of them out")
)

// refuseBuildArgs refuses a directory where build is set, and arguments of the generator where
// it is not.
func refuseBuildArgs(command string, build bool, own, forGenerator []string) error {
	switch {
	case build && len(own) > 0:
		return text.Usage(fmt.Sprintf("--build takes no directory, got %q", own[0]),
			"arguments of the generator follow --: sitelink "+command+" --build -- "+strings.Join(own, " "))
	case !build && len(forGenerator) > 0:
		return text.Usage("only --build runs a generator, with --strict or arguments after --", "add --build")
	}
	return nil
}

// openBuild finds the generator of the working directory and returns its build.
func openBuild(ctx context.Context, c *cli, cfg *config.Config, strict bool, args []string) (*build, error) {
	unnamed := *cfg
	unnamed.Docroot = ""
	p, err := c.findRoot(ctx, &unnamed)
	if err != nil {
		return nil, err
	}
	g := p.Generator
	if g == nil {
		return nil, errNoGenerator
	}
	if flag := g.OutputFlag(args); flag != "" {
		return nil, text.Usage(fmt.Sprintf("%s: --build chooses the output directory itself", flag),
			"to check another: "+g.UsualCommand()+" "+strings.Join(args, " ")+", then sitelink check DIR")
	}
	if flag := g.QuietFlag(args); flag != "" && strict {
		return nil, text.Usage(fmt.Sprintf("%s hides the warnings that --strict needs", flag), "remove one of them")
	}
	if len(args) > 0 { // they may name another address, or another configuration
		g.Configure(args...)
	}
	if warning := g.Title() + ": "; g.Err != nil && ctx.Err() == nil && !c.printed[warning] {
		c.printed[warning] = true // a watch builds often
		c.ui.warning(warning + g.Err.Error())
	}
	return lockedBuild(ctx, c, p, strict, args)
}

// lockedBuild waits until no other build of the project is running.
func lockedBuild(ctx context.Context, c *cli, p *project.Project, strict bool, args []string) (*build, error) {
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
	b := &build{note: c.ui.note, project: p, docroot: filepath.Join(own, project.BuiltDocroot)}
	b.command = func(out string) generator.Command { return g.Command(out, strict, args) }
	name := filepath.Join(own, "build.lock")
	lock, err := system.Lock(ctx, name, nil)
	if err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("lock %s: %w", name, err)
		}
		return nil, err
	}
	b.unlock = func() { lock.Close() }
	return b, nil
}

// run runs the generator and returns the project with the new docroot. The output
// of the generator goes to output.
func (b *build) run(ctx context.Context, output io.Writer) (*project.Project, error) {
	if err := b.generate(ctx, output); err != nil {
		return nil, err
	}
	return b.project.WithDocroot(ctx, b.project.Show(b.docroot))
}

// generate runs the generator. The docroot does not exist before it has succeeded.
func (b *build) generate(ctx context.Context, to io.Writer) error {
	docroot := b.docroot
	// An incomplete build has another name, so that nothing takes it for the site.
	fresh := docroot + ".new"
	for _, dir := range []string{fresh, docroot} {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove the last build %s: %w", dir, system.Cause(err))
		}
	}
	defer os.RemoveAll(fresh)
	if err := b.generateInto(ctx, fresh, to); err != nil {
		return err
	}
	if err := os.Rename(fresh, docroot); err != nil {
		return fmt.Errorf("rename %s to %s: %w", fresh, docroot, system.Cause(err))
	}
	return nil
}

// generateInto runs the generator, which writes the site to the directory out.
func (b *build) generateInto(ctx context.Context, out string, to io.Writer) error {
	g := b.project.Generator
	if lock := g.Lock(); lock != "" {
		if _, err := os.Lstat(lock); errors.Is(err, fs.ErrNotExist) {
			defer os.Remove(lock)
		}
	}
	command := b.command(out)
	// The generator does not read its docroot, but this build has another.
	_, missing := os.Stat(g.Docroot)
	usual, err := filepath.Rel(g.Dir, g.Docroot)
	inside := err == nil && filepath.IsLocal(usual) && usual != "." && missing == nil
	if inside {
		file, config, flag := g.LeaveOut(filepath.ToSlash(usual))
		if file = filepath.Join(filepath.Dir(out), file); config != "" && !slices.ContainsFunc(command.Args, func(arg string) bool { return strings.HasPrefix(arg, "--config") }) {
			if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
				return fmt.Errorf("write %s: %w", file, system.Cause(err))
			}
			command.Args = append(command.Args, flag+file)
		}
	}
	b.note("building with " + command.String())
	output := &warningCounter{to: to, warning: command.Warning}
	err = system.Command{
		Args: command.Args, Name: command.String(), Dir: g.Dir, Env: append(os.Environ(), command.Env...),
		Stdout: output, Stderr: output,
	}.Run(ctx)
	var failed *system.CommandError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		_, _, install, _ := g.Generator.Install("")
		return text.WithHint(fmt.Errorf("%s is not installed: %s", g.Title(), command.Args[0]), "install it ("+install+"), or build elsewhere and name the result: sitelink check DIR")
	case errors.As(err, &failed):
		return text.WithHint(fmt.Errorf("the build failed: %w", failed), "fix what "+g.Title()+" reports above")
	case err != nil:
		return err
	case output.count > 0:
		return text.WithHint(fmt.Errorf("the build failed: %s: %s, and --strict allows none", command, count(output.count, "warning")), "fix what "+g.Title()+" reports above")
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

// noteStalePages names the pages in the project's own docroot that the fresh build
// does not have: an earlier build left them.
func noteStalePages(c *cli, p *project.Project, fresh string) {
	g := p.Generator
	if g.Docroot == fresh {
		return
	}
	var stale []string
	filepath.WalkDir(g.Docroot, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".html" {
			return nil
		}
		rel, err := filepath.Rel(g.Docroot, name)
		if err != nil {
			return nil
		}
		if _, err := os.Lstat(filepath.Join(fresh, rel)); errors.Is(err, fs.ErrNotExist) {
			stale = append(stale, filepath.ToSlash(rel))
		}
		return nil
	})
	if len(stale) == 0 {
		return
	}
	slices.Sort(stale)
	c.ui.note(audit.StaleNote(p.Show(g.Docroot), stale, "a fresh build does not make"))
}

// warningCounter passes on the output of a generator, and counts the lines that
// begin with warning; if that is empty, it counts none.
type warningCounter struct {
	to      io.Writer
	warning string
	count   int
	start   []byte // the beginning of the current line, up to len(warning)
}

func (w *warningCounter) Write(p []byte) (int, error) {
	for rest := p; w.warning != "" && len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if short := len(w.warning) - len(w.start); short > 0 {
			w.start = append(w.start, line[:min(short, len(line))]...)
			if len(line) >= short && string(w.start) == w.warning {
				w.count++
			}
		}
		if ended {
			w.start = w.start[:0]
		}
		rest = after
	}
	return w.to.Write(p)
}
