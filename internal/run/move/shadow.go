package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/build"
	"github.com/sitelink/sitelink/internal/system"
)

// shadow is a copy of the project, in which the move is tried: it is built before and
// after, and the user's files change only if both builds succeed. It is below
// .sitelink/cache of the project.
type shadow struct {
	original *project.Project
	root     string // the copy of the project's root
	dir      string // the copy of the project's Dir
	project  *project.Project
	unlock   func()
	made     bool // the state directory is ours
}

// openShadow copies the project. Close removes the copy.
func openShadow(ctx context.Context, p *project.Project) (*shadow, error) {
	state := filepath.Join(p.Root, system.StateName)
	_, err := os.Lstat(state)
	s := &shadow{original: p, made: errors.Is(err, fs.ErrNotExist)}
	if err := system.CheckState(p.Root, p.Root); err != nil {
		return nil, err
	}
	if err := system.MakeState(state); err != nil {
		return nil, err
	}
	cache := filepath.Join(state, "cache")
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return nil, fmt.Errorf("make %s: %w", cache, system.Cause(err))
	}
	if s.unlock, err = destination.Lock(filepath.Join(cache, "mv.lock"), "another sitelink mv or inject works on this project"); err != nil {
		return nil, err
	}
	// The example site of a theme finds the theme by the name of its directory.
	s.root = filepath.Join(cache, "mv", filepath.Base(p.Root))
	rel, _ := filepath.Rel(p.Root, p.Dir) // both are absolute
	s.dir = filepath.Join(s.root, rel)
	os.RemoveAll(filepath.Dir(s.root)) // left by a run that was killed
	if err := s.copy(ctx); err != nil {
		s.Close()
		return nil, err
	}
	cfg := *p.Config
	cfg.Docroot = ""
	if p.OfMarkdown() { // its forge shows files under any name, also those that git has under their old ones
		cfg.Profile = p.Profile
	}
	docroot := "" // of a project without generator
	if p.Generator == nil {
		docroot = p.Show(p.Abs(p.Docroot))
	}
	if s.project, err = project.Find(ctx, s.dir, project.Options{Config: &cfg, Env: p.Env(), Docroot: docroot}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close removes the copy.
func (s *shadow) Close() {
	if s.project != nil && s.project.Generator != nil { // node_modules is not a copy, and the way there goes with the copy
		state := s.project.Generator.StateDir()
		for _, name := range []string{"before", "renamed", "after", "tried"} {
			os.RemoveAll(filepath.Join(state, name))
		}
		os.Remove(state) // if nothing else is there
	}
	os.RemoveAll(filepath.Dir(s.root))
	if s.made { // the next lock makes a new file
		state := filepath.Join(s.original.Root, system.StateName)
		os.Remove(filepath.Join(state, "cache", "mv.lock"))
		os.Remove(filepath.Join(state, "cache"))
		if entries, _ := os.ReadDir(state); len(entries) == 1 && entries[0].Name() == system.StateIgnoreName {
			os.RemoveAll(state)
		}
	}
	s.unlock()
}

// copy copies the files of the project, without what builds wrote.
func (s *shadow) copy(ctx context.Context) error {
	root := s.original.Root
	var docroot string
	if g := s.original.Generator; g != nil {
		docroot = g.Docroot
	}
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, _ := filepath.Rel(root, name) // both are clean
		to := filepath.Join(s.root, rel)
		switch {
		case err != nil:
		case rel == ".git":
			err = copyGit(name, to)
			if d.IsDir() && err == nil {
				return fs.SkipDir
			}
		case d.IsDir() && (d.Name() == system.StateName || d.Name() == ".git" || name == docroot):
			return fs.SkipDir
		case d.IsDir() && d.Name() == "node_modules":
			if err = os.Symlink(name, to); err == nil {
				return fs.SkipDir
			}
		case d.IsDir():
			err = os.MkdirAll(to, 0o777)
		case d.Type()&fs.ModeSymlink != 0:
			var target string
			if target, err = os.Readlink(name); err == nil {
				err = os.Symlink(target, to)
			}
		case d.Type().IsRegular():
			err = copyFile(name, to, d)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, system.Cause(err))
		}
		return nil
	})
}

// copyGit makes a repository of the copy, in which generators can ask git for the dates of files. HEAD, index, refs and
// configuration are copies, and only the objects are those of the original: a build that runs git changes nothing there.
func copyGit(name, to string) error {
	own := name // of this work tree
	if text, err := system.Read(name, 1<<16); err == nil {
		line, _ := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
		if own = filepath.FromSlash(line); !filepath.IsAbs(own) {
			own = filepath.Join(filepath.Dir(name), own)
		}
	}
	common := own // of all work trees
	if text, err := system.Read(filepath.Join(own, "commondir"), 1<<16); err == nil {
		if common = filepath.FromSlash(strings.TrimRight(string(text), "\r\n")); !filepath.IsAbs(common) {
			common = filepath.Join(own, common)
		}
	}
	if err := os.MkdirAll(filepath.Join(to, "objects", "info"), 0o777); err != nil {
		return err
	}
	alternates := filepath.ToSlash(filepath.Join(common, "objects")) + "\n"
	if err := os.WriteFile(filepath.Join(to, "objects", "info", "alternates"), []byte(alternates), 0o666); err != nil {
		return err
	}
	for _, from := range []string{filepath.Join(own, "HEAD"), filepath.Join(own, "index"), filepath.Join(own, "config.worktree"),
		filepath.Join(common, "config"), filepath.Join(common, "packed-refs"), filepath.Join(common, "shallow"),
		filepath.Join(common, "refs"), filepath.Join(common, "reftable")} {
		err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(filepath.Dir(from), name) // both are clean
			at := filepath.Join(to, rel)
			if d.IsDir() {
				return os.MkdirAll(at, 0o777)
			}
			if from != name || !strings.HasPrefix(d.Name(), "config") {
				return copyFile(name, at, d)
			}
			text, err := system.Read(name, 1<<20)
			// A submodule's work tree is relative to its own place. The last value counts.
			return errors.Join(err, os.WriteFile(at, append(text, "\n[core]\n\tworktree = ..\n"...), 0o666))
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func copyFile(name, to string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	in, err := system.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err == nil { // Linux shares the blocks where the file system can
		err = out.Close()
	}
	if err == nil { // generators compare times
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// at returns the path of a file of the copy, given by its slash path below the root.
func (s *shadow) at(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// version is the site of the copy at one time, with its findings.
type version struct {
	audit    *audit.Audit
	findings []check.Finding
}

// publish builds the copy into a directory of this name, with drafts where the
// generator can, and checks it.
func (s *shadow) publish(ctx context.Context, name string) (*version, error) {
	p, docroot := s.project, s.project.Docroot
	if g := p.Generator; g != nil {
		docroot = filepath.Join(g.StateDir(), name)
		if err := s.generate(ctx, g, docroot); err != nil {
			return nil, err
		}
		docroot = p.Show(docroot)
	}
	a, err := audit.Open(ctx, p, audit.Options{
		Docroot: docroot, // its project is found again: it may have a new rule file
		// A reader in the background would meet the files of the copy while they have
		// other names.
		Sources: true, LateSources: true,
	})
	if err != nil {
		return nil, err
	}
	v := &version{audit: a}
	r, err := check.Run(ctx, audit.Handle(a.Site), v.options())
	if err != nil {
		a.Close()
		return nil, err
	}
	v.findings = r.Findings
	return v, nil
}

// options are the user's, about the whole site.
func (v *version) options() check.Options {
	opt := audit.CheckOptions(v.audit.Project)
	opt.From, opt.Skip, opt.Limit, opt.Orphans, opt.More = nil, nil, 0, false, nil
	return opt
}

// generate runs the generator.
func (s *shadow) generate(ctx context.Context, g *project.Generator, docroot string) error {
	for _, dir := range []string{docroot, g.Docroot} { // some write into their own, and leave what an earlier build made
		if rel, err := filepath.Rel(s.root, dir); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove %s: %w", dir, system.Cause(err))
		}
	}
	command := g.Command(docroot, false, g.Generator.Traits().AllPages) // links of drafts are rewritten too
	err := build.Start(ctx, g, command, s.original.Env(), nil, "install it: a build of a copy of the site proves the change")
	if failed := (*system.CommandError)(nil); errors.As(err, &failed) {
		lines := make([]string, len(failed.Output))
		for i, line := range failed.Output {
			lines[i] = strings.ReplaceAll(line, s.root+string(filepath.Separator), "")
		}
		return &BuildError{fmt.Errorf("%s: %w", g.UsualCommand(), failed.Cause), lines}
	}
	return err
}

// BuildError means that the generator failed. Output are the last lines that it printed,
// with the names of the user's files.
type BuildError struct {
	error
	Output []string
}

func (e *BuildError) Unwrap() error { return e.error }

// Copy is a copy of a project, in which other packages try a change.
type Copy struct {
	// Project is the copy.
	Project *project.Project

	shadow *shadow
}

// OpenCopy copies the project of p. Close removes the copy.
func OpenCopy(ctx context.Context, p *project.Project) (*Copy, error) {
	s, err := openShadow(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Copy{s.project, s}, nil
}

// Close removes the copy.
func (c *Copy) Close() { c.shadow.Close() }

// Build runs the generator in the copy, and loads what it built. The project must have a
// generator.
func (c *Copy) Build(ctx context.Context) (*audit.Audit, error) {
	docroot := filepath.Join(c.Project.Generator.StateDir(), "tried")
	if err := c.shadow.generate(ctx, c.Project.Generator, docroot); err != nil {
		return nil, err
	}
	return audit.Open(ctx, c.Project, audit.Options{Docroot: c.Project.Show(docroot)})
}
