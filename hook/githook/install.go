package githook

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// InstallOptions say what the hook runs.
type InstallOptions struct {
	// Program is the absolute path of sitelink. Programs that start git without
	// the user's PATH need it.
	Program string
	// Path is the PATH of the user's terminal. The hook looks there last, for programs
	// that start git with a short PATH. Directories in the working tree are left out:
	// a checkout must not name programs.
	Path string
	// Site is the directory of the site relative to the root of the working
	// tree; "" or "." for the root. It is added to those that the hook already
	// checks.
	Site string
}

// ManagedError means that another program manages the hooks and replaces what it
// finds in the hooks directory. Add [Snippet] to its configuration instead.
type ManagedError struct {
	Manager string   // see [Status.Manager]
	File    string   // its configuration, relative to the root
	Sites   []string // all sites that it should check
}

func (e *ManagedError) Error() string {
	if e.Manager == inWorkTree {
		return "core.hooksPath keeps the hooks of this repository among its files, and this machine's paths do not belong there"
	}
	return fmt.Sprintf("%s manages the hooks of this repository", e.Manager)
}

// SharedHooksError means that several repositories share the hooks directory.
type SharedHooksError struct {
	Scope string // of the configuration that sets core.hooksPath
	Dir   string
}

func (e *SharedHooksError) Error() string {
	return fmt.Sprintf("core.hooksPath in the %s configuration makes all repositories share the hooks in %s", e.Scope, e.Dir)
}

// Install makes git run sitelink before a push and returns the status
// afterwards. An existing hook keeps running. You can call Install again to
// change the program or to add another site. When it fails, nothing has changed.
//
// For git 2.54 and newer, Install adds an entry to the repository's configuration; for
// older versions it writes a hook file. If another program manages the hooks, or the hooks
// are files of the working tree, it returns a [*ManagedError] when git is older or when
// sitelink runs there for other sites only. It returns a [*SharedHooksError] if git is
// older and several repositories share the hooks directory.
func (r *Repo) Install(ctx context.Context, opt InstallOptions) (Status, error) {
	s, err := r.Status(ctx)
	if err != nil {
		return s, err
	}
	sites := slices.Clone(s.Sites)
	if site := filepath.ToSlash(filepath.Clean(opt.Site)); !slices.Contains(sites, site) {
		sites = append(sites, site)
		slices.Sort(sites)
	}
	switch {
	case s.Method == ByManager && len(sites) == len(s.Sites):
		return s, nil
	case s.Method == ByManager:
		return s, &ManagedError{s.Manager, s.ManagerFile, sites}
	case s.ConfigHooks:
		err = r.installConfig(ctx, opt, sites)
		if err == nil && (s.Method == ByFile || s.Method == ByChain) { // from an older git
			err = removeHookFile(s)
		}
	case s.Manager != "":
		return s, &ManagedError{s.Manager, s.ManagerFile, sites}
	case s.HooksScope != "" && s.HooksScope != "local" && s.HooksScope != "worktree":
		return s, &SharedHooksError{s.HooksScope, filepath.Dir(s.File)}
	default:
		err = installFile(s, hookFile(opt.Program, r.keptPath(opt.Path), sites, s.Method == ByChain || s.Foreign))
	}
	if err != nil {
		return s, err
	}
	return r.Status(ctx)
}

// Uninstall removes sites from those that the hook checks, and returns the status
// before. With the last one, or without sites, it removes what [Repo.Install]
// added; a hook file that was there before is restored byte for byte.
func (r *Repo) Uninstall(ctx context.Context, sites ...string) (Status, error) {
	s, err := r.Status(ctx)
	if err != nil {
		return s, err
	}
	left := slices.DeleteFunc(slices.Clone(s.Sites), func(site string) bool { return slices.Contains(sites, site) })
	if len(sites) > 0 && len(left) > 0 {
		change := func(text string) string { return strings.Replace(text, runs(s.Sites), runs(left), 1) }
		switch s.Method {
		case ByConfig:
			_, command, err := r.config(ctx, configSection+".command")
			if err == nil {
				_, err = r.git.run(ctx, "config", "--local", configSection+".command", change(command))
			}
			return s, err
		case ByFile, ByChain:
			text, err := readHook(s.File)
			if err == nil {
				err = system.WriteFile(s.File, []byte(change(text)), 0o755)
			}
			return s, err
		}
		return s, nil // a manager's file belongs to the user
	}
	if _, command, err := r.config(ctx, configSection+".command"); err != nil || command != "" {
		if err == nil {
			_, err = r.git.run(ctx, "config", "--local", "--remove-section", configSection)
		}
		if err != nil {
			return s, err
		}
	}
	if text, err := readHook(s.File); err != nil || !strings.Contains(text, hookMark) {
		return s, err
	}
	return s, removeHookFile(s)
}

// RemoveData removes what sitelink keeps in the repository: what was found in
// which trees, and the temporary working trees of killed runs.
func (r *Repo) RemoveData(ctx context.Context) error {
	if err := r.RemoveStaleTrees(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(r.dataPath(foundDir)); err != nil {
		return fmt.Errorf("remove %s: %w", r.dataPath(foundDir), system.Cause(err))
	}
	_ = os.Remove(r.dataPath(treesDir)) // fails while another run uses it
	_ = os.Remove(r.dataPath(""))
	return nil
}

// installConfig sets the command first: git refuses every push if a hook has an
// event without a command, and ignores a command without an event.
func (r *Repo) installConfig(ctx context.Context, opt InstallOptions, sites []string) error {
	command := shellQuote(filepath.ToSlash(opt.Program)) + runs(sites) + fromGit
	if kept := r.keptPath(opt.Path); kept != "" {
		command = `PATH="$PATH":` + shellQuote(kept) + " " + command
	}
	if _, err := r.git.run(ctx, "config", "--local", configSection+".command", command); err != nil {
		return err
	}
	_, err := r.git.run(ctx, "config", "--local", configSection+".event", "pre-push")
	return err
}

// keptPath returns the directories of a PATH that the hook looks at, "" for none: absolute
// ones outside of the working tree.
func (r *Repo) keptPath(list string) string {
	if filepath.ListSeparator != ':' { // the shell of git for Windows has other paths
		return ""
	}
	var kept []string
	for _, dir := range filepath.SplitList(list) {
		real, err := filepath.EvalSymlinks(dir)
		if _, inside := r.relative(real); filepath.IsAbs(dir) && err == nil && !inside {
			if _, inside := r.relative(filepath.Clean(dir)); !inside && !slices.Contains(kept, dir) {
				kept = append(kept, dir)
			}
		}
	}
	return strings.Join(kept, ":")
}

// installFile writes the hook file. A foreign hook is kept beside it, and the
// new file runs it. At any time the file is either the old one or the new one.
func installFile(s Status, hook string) error {
	original := filepath.Join(filepath.Dir(s.File), originalHook)
	if s.Foreign {
		if _, err := os.Lstat(original); err == nil {
			return fmt.Errorf("%s exists, and %s was not written by sitelink: keep one of them", original, s.File)
		}
		if err := os.Link(s.File, original); err != nil {
			if err := os.Rename(s.File, original); err != nil {
				return fmt.Errorf("keep %s: %w", s.File, system.Cause(err))
			}
		}
	}
	err := system.WriteFile(s.File, []byte(hook), 0o755)
	if err != nil && s.Foreign {
		_ = os.Rename(original, s.File) // report the first error
	}
	return err
}

// removeHookFile removes the hook file that sitelink wrote and restores the one
// before.
func removeHookFile(s Status) error {
	original := filepath.Join(filepath.Dir(s.File), originalHook)
	if _, err := os.Lstat(original); err == nil {
		if err := os.Rename(original, s.File); err != nil {
			return fmt.Errorf("restore %s: %w", s.File, system.Cause(err))
		}
		return nil
	}
	if err := os.Remove(s.File); err != nil {
		return fmt.Errorf("remove %s: %w", s.File, system.Cause(err))
	}
	return nil
}

// hookFile returns the text of the hook file, for any POSIX shell. kept is added to its
// PATH. The hook prefers the sitelink on PATH to the path at installation, so that an update
// takes effect.
//
// A chained hook runs after sitelink has found nothing. Its exit code is then
// that of the whole hook, and git-lfs uploads nothing for a push that is
// blocked. Both get what git writes to standard input.
func hookFile(program, kept string, sites []string, chain bool) string {
	lines := []string{
		"#!/bin/sh",
		hookMark + "; to remove it, run sitelink hook uninstall.",
	}
	if kept != "" {
		lines = append(lines,
			"# The PATH of that terminal comes last: desktop programs start git with a short one.",
			`PATH="$PATH":`+shellQuote(kept),
			"export PATH")
	}
	lines = append(lines,
		"sitelink=$(command -v sitelink) || sitelink="+shellQuote(filepath.ToSlash(program)),
		`if ! [ -x "$sitelink" ]; then`,
		`  echo >&2 "sitelink: error: sitelink is neither on PATH nor at $sitelink"`,
		`  echo >&2 "sitelink: hint: install it, or delete $0; git push --no-verify skips all hooks"`,
		"  exit 3",
		"fi")
	run := `"$sitelink"` + runs(sites) + fromGit + ` "$@"`
	if !chain {
		return strings.Join(append(lines, "exec "+run), "\n") + "\n"
	}
	return strings.Join(append(lines,
		"# The dot keeps the newlines at the end, which $(...) would remove.",
		"refs=$(cat; echo .)",
		"refs=${refs%.}",
		`printf %s "$refs" | `+run+" || exit $?",
		`before=$(git rev-parse --git-path hooks)/`+originalHook,
		"# Like git, ignore a hook that is not executable.",
		`[ -x "$before" ] || exit 0`,
		`printf %s "$refs" | "$before" "$@"`,
	), "\n") + "\n"
}

// runs returns the arguments with which a hook runs sitelink for these sites, after a
// space. They are the list of sites as well: [sitesOf] reads it back.
func runs(sites []string) string {
	return strings.Join(append([]string{" hook run pre-push"}, named(sites)...), " ")
}

// fromGit is the argument that follows where standard input is what git wrote: if that is
// empty, nothing is pushed.
const fromGit = " --stdin"

// named returns the flags that name sites, none for the root alone.
func named(sites []string) (flags []string) {
	if len(sites) == 1 && sites[0] == "." {
		return nil
	}
	for _, site := range sites {
		flags = append(flags, "--dir", shellQuote(site))
	}
	return flags
}

// A call of sitelink in a hook file, in git's configuration or in the file of a
// manager, and the sites that it names, in the shell or in YAML.
var (
	oneRun  = text.Regexp(`\bhook run\b.*|(?s:\bid:\s*['"]?sitelink\b.*?(?:-\s+(?:id|repo):|$))`)
	oneSite = text.Regexp(`--dir['"]?[\s,=]+(?:-\s+)?(?:((?:'[^']*'|\\')+)|"([^"]*)"|([^\s,\]'"]+))`)
)

// sitesOf returns the sites that a text makes sitelink check, sorted.
func sitesOf(text string) (sites []string) {
	for _, run := range oneRun().FindAllString(text, -1) {
		named := oneSite().FindAllStringSubmatch(run, -1)
		if named == nil {
			sites = append(sites, ".")
		}
		for _, m := range named {
			quoted := strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(m[1], `'\''`, "\x00"), "'"), "'")
			sites = append(sites, path.Clean(strings.ReplaceAll(quoted, "\x00", "'")+m[2]+m[3]))
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites)
}

// shellQuote quotes any text as one word of the shell.
func shellQuote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
