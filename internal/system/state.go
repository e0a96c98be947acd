package system

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/text"
)

// StateName is the name of the directory in a project that holds all that sitelink keeps there: builds, caches, the
// ledger, the status cache. git ignores it as a whole.
const StateName = ".sitelink"

// StateIgnoreName is the file in it that tells git what to ignore.
const StateIgnoreName = ".gitignore"

// StateIgnore is the text of that file.
const StateIgnore = "# made by sitelink: nothing here is meant to be committed\n*\n"

// CheckState refuses a directory .sitelink of the directory dir that leads out of the
// repository root, or in which a symbolic link does: what sitelink writes there
// would be written elsewhere.
func CheckState(root, dir string) error {
	own := filepath.Join(dir, StateName)
	names := []string{own}
	for _, below := range []string{own, filepath.Join(own, "cache")} {
		entries, _ := os.ReadDir(below) // what does not exist leads nowhere
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 {
				names = append(names, filepath.Join(below, e.Name()))
			}
		}
	}
	for _, name := range names {
		if path, where := Outside(root, name); where != "" {
			return text.Usage(fmt.Sprintf("%s leads to %s, %s", name, path, where),
				"remove the link; --ledger and other flags can name files elsewhere")
		}
	}
	return nil
}

// PrivateState returns the directory of the state that decides what sitelink writes into a
// project: in the directory of git, where no commit can put a file. root is the root of
// the repository. Without a repository, it is .sitelink. The directory need not exist.
func PrivateState(root string) (string, error) {
	dir := filepath.Join(root, ".git")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		if dir = linkedGit(root); dir == "" {
			return filepath.Join(root, StateName), CheckState(root, root)
		}
	}
	dir = filepath.Join(dir, "sitelink", "state")
	for _, part := range []string{filepath.Dir(dir), dir} {
		if info, err := os.Lstat(part); err == nil && !info.IsDir() {
			return "", text.WithHint(fmt.Errorf("%s is not a directory", part), "remove it")
		}
	}
	return dir, nil
}

// linkedGit returns the directory of git that the file .git of a linked working tree or
// of a submodule names. It returns "" if that directory does not name the working tree
// in turn, because it could belong to another repository.
func linkedGit(root string) string {
	const most = 1 << 20
	value := func(file, key, separator string) string {
		text, _ := Read(file, most)
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, separator); ok && strings.TrimSpace(name) == key {
				return filepath.FromSlash(strings.TrimSpace(value))
			}
		}
		return ""
	}
	at := func(dir, name string) string {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name
	}
	same := func(a, b string) bool {
		there, err := os.Stat(a)
		here, hereErr := os.Stat(b)
		return err == nil && hereErr == nil && os.SameFile(there, here)
	}
	link := filepath.Join(root, ".git")
	to := value(link, "gitdir", ":")
	if to == "" {
		return ""
	}
	dir := at(root, to)
	back, _ := Read(filepath.Join(dir, "gitdir"), most)
	tree := value(filepath.Join(dir, "config"), "worktree", "=")
	if back := strings.TrimSpace(string(back)); back != "" && same(at(dir, filepath.FromSlash(back)), link) || tree != "" && same(at(dir, tree), root) {
		return dir
	}
	return ""
}

// MakeState makes the directory dir, and in a directory .sitelink the file for git if it does
// not exist. The error is that of the file system.
func MakeState(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make %s: %w", dir, Cause(err))
	}
	name := filepath.Join(dir, StateIgnoreName)
	if filepath.Base(dir) != StateName {
		return nil
	}
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(name, []byte(StateIgnore), 0o666); err != nil {
		return fmt.Errorf("write %s: %w", name, Cause(err))
	}
	return nil
}
