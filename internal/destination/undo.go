package destination

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// ErrNothing means that there is nothing to undo.
var ErrNothing = errors.New("there is nothing to undo")

// journal is what Undo needs. It is a file of JSON lines: this, a line for each
// change, and complete once all files are changed.
type journal struct {
	Command string          `json:"command"`
	Made    []string        `json:"made,omitempty"` // directories that did not exist
	Changes []journalChange `json:"-"`
	// Complete is false until all files are changed.
	Complete bool `json:"-"`
}

// journalChange is the change of one file.
type journalChange struct {
	Old    string      `json:"old,omitempty"` // "" for a new file
	New    string      `json:"new"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Edited bool        `json:"edited,omitempty"`
	Text   []byte      `json:"text,omitempty"`  // before, if edited
	After  string      `json:"after,omitempty"` // hash of the text after the edits
}

const complete = "complete\n"

// maxJournalBytes bounds the journal that is read: it holds the texts of all files.
const maxJournalBytes = 4 << 30

// journalName returns the path of the journal, which must decide nothing if it comes
// with a checkout. [lock] has made sure that there is such a path.
func journalName(root string) string {
	dir, err := system.PrivateState(root)
	if err != nil {
		dir = filepath.Join(root, system.StateName)
	}
	return filepath.Join(dir, "edit.journal")
}

func (j *journal) write(root string) error {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	err := out.Encode(j)
	for _, r := range j.Changes {
		err = errors.Join(err, out.Encode(r))
	}
	if j.Complete {
		text.WriteString(complete)
	}
	return errors.Join(err, system.WriteFile(journalName(root), text.Bytes(), 0o600))
}

// complete notes that all files are changed.
func (j *journal) complete(root string) error {
	f, err := os.OpenFile(journalName(root), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(complete)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", journalName(root), system.Cause(err))
	}
	j.Complete = true
	return nil
}

func removeJournal(root string) error {
	if err := os.Remove(journalName(root)); err != nil {
		return fmt.Errorf("remove %s: %w", journalName(root), system.Cause(err))
	}
	return nil
}

// readJournal returns nil without a journal.
func readJournal(root string) (*journal, error) {
	data, err := system.Read(journalName(root), maxJournalBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j := &journal{}
	if err == nil {
		end := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
		switch last := string(bytes.Trim(data[end:], "\x00")); {
		case last == complete:
			data, j.Complete = data[:end], true
		case strings.HasPrefix(complete, last): // the power failed before all of it was on disk
			data = data[:end]
		}
		in := json.NewDecoder(bytes.NewReader(data))
		err = in.Decode(j)
		for err == nil && in.More() {
			var r journalChange
			err = in.Decode(&r)
			j.Changes = append(j.Changes, r)
		}
	}
	if err != nil {
		return nil, text.WithHint(fmt.Errorf("read %s: %w", journalName(root), system.Cause(err)), "remove the file, if the change that it describes need not be undone")
	}
	for _, r := range j.Changes { // only files below the root are written
		if !filepath.IsLocal(filepath.FromSlash(r.New)) || r.Old != "" && !filepath.IsLocal(filepath.FromSlash(r.Old)) {
			return nil, text.WithHint(fmt.Errorf("read %s: it names a file outside the project", journalName(root)), "remove the file")
		}
	}
	return j, nil
}

// Last returns the command that Undo would take back, and the names that its
// files have now. command is "" if there is nothing to undo.
func Last(root string) (command string, files []string, err error) {
	j, err := readJournal(root)
	if err != nil || j == nil {
		return "", nil, err
	}
	for _, r := range j.Changes {
		files = append(files, r.New)
	}
	return j.Command, files, nil
}

// Undone is what Undo did.
type Undone struct {
	// Command made the changes.
	Command string
	// Files are the names of the restored files, sorted.
	Files []string
	// Kept are the files that were not restored, because another program changed them.
	Kept []*Error
	kept []journalChange
}

// Err names the files that were not restored. It is nil if there are none.
func (u *Undone) Err() error {
	var err error
	for _, kept := range u.Kept {
		err = errors.Join(err, kept)
	}
	if err != nil {
		err = text.WithHint(err, "the other files are restored; compare this one with git diff")
	}
	return err
}

// Undo takes the last applied set back, complete or interrupted: names, texts, and
// git's index. It first makes sure that the files are still as they were left; if one
// is not, it changes nothing and the errors name it. If the set was interrupted, or if
// the file changes later, the others are restored and [Undone.Kept] names it. Without a
// journal, the error is [ErrNothing].
func Undo(ctx context.Context, root string, env []string) (*Undone, error) {
	unlock, err := lock(root)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := readJournal(root)
	if err != nil {
		return nil, err
	}
	if j == nil {
		return nil, ErrNothing
	}
	u, err := j.undo(ctx, root, env, j.Changes)
	if err != nil {
		return nil, err
	}
	if !j.Complete { // what was kept may never have been changed
		u.kept = nil
	}
	return u, j.keep(root, u.kept)
}

// keep leaves a journal of these records only.
func (j *journal) keep(root string, records []journalChange) error {
	if len(records) == 0 {
		return removeJournal(root)
	}
	j.Changes = records
	return j.write(root)
}

// TakeBack undoes the changes of some files of the last applied set. The names are
// those before or after. The files must not be renamed.
func TakeBack(ctx context.Context, root string, env []string, files []string) error {
	unlock, err := lock(root)
	if err != nil {
		return err
	}
	defer unlock()
	j, err := readJournal(root)
	if err != nil {
		return err
	}
	if j == nil {
		return ErrNothing
	}
	var back, rest []journalChange
	for _, r := range j.Changes {
		if slices.Contains(files, r.New) {
			if r.Old != "" && r.Old != r.New {
				return &Error{r.New, errors.New("was renamed: only everything can be undone")}
			}
			back = append(back, r)
		} else {
			rest = append(rest, r)
		}
	}
	u, err := j.undo(ctx, root, env, back)
	if err != nil {
		return err
	}
	return errors.Join(j.keep(root, append(rest, u.kept...)), u.Err())
}

// undo restores the files of some records, and git's index.
func (j *journal) undo(ctx context.Context, root string, env []string, records []journalChange) (*Undone, error) {
	s := NewSet(root, env)
	if j.Complete {
		var errs []error
		for _, r := range records {
			errs = append(errs, r.undo(s, false))
		}
		if err := errors.Join(errs...); err != nil {
			return nil, err
		}
	}
	u := &Undone{Command: j.Command}
	for _, r := range slices.Backward(records) {
		var changed *Error
		switch err := r.undo(s, true); {
		case errors.As(err, &changed) && (errors.Is(err, ErrStale) || errors.Is(err, ErrExists)):
			u.Kept, u.kept = append(u.Kept, changed), append(u.kept, r)
		case err != nil:
			return nil, err
		default:
			u.Files = append(u.Files, cmp.Or(r.Old, r.New))
		}
	}
	slices.Sort(u.Files)
	// A killed run leaves temporary files beside the files.
	for _, r := range records {
		dir, base := filepath.Split(s.at(r.New))
		entries, _ := os.ReadDir(dir) // a directory that was made is gone
		for _, e := range entries {
			if system.IsTemporary(e.Name(), base) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	made := slices.Clone(j.Made)
	slices.SortFunc(made, func(a, b string) int { return strings.Compare(b, a) }) // inner ones first
	for _, dir := range made {
		if filepath.IsLocal(filepath.FromSlash(dir)) {
			os.Remove(s.at(dir)) // fails if it holds another file
		}
	}
	return u, moveIndex(ctx, root, env, records, true)
}

// undo restores one file, from any state that an interrupted run can leave. Without
// write it only finds out whether that is possible.
func (r journalChange) undo(s *Set, write bool) error {
	name := r.New // of the file now
	if r.Old != "" && r.Old != r.New {
		if err := s.confined(r.Old); err != nil {
			return err
		}
		there, err := os.Lstat(s.at(r.New))
		if before, oldErr := os.Lstat(s.at(r.Old)); oldErr == nil && (err != nil || !os.SameFile(before, there)) {
			if err == nil {
				return &Error{r.Old, ErrExists}
			}
			return nil // not moved yet
		}
	}
	if err := s.confined(name); err != nil {
		return err
	}
	info, err := os.Lstat(s.at(name))
	if r.Old == "" && errors.Is(err, fs.ErrNotExist) {
		return nil // not made yet
	}
	if err != nil {
		return &Error{name, system.Cause(err)}
	}
	if !info.Mode().IsRegular() {
		return &Error{name, ErrStale}
	}
	if r.Edited {
		if err := r.undoText(s, write); err != nil {
			return err
		}
	}
	if !write || r.Old == "" || r.Old == r.New {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.at(r.Old)), 0o777); err != nil {
		return &Error{r.Old, system.Cause(err)}
	}
	switch err := system.Rename(s.at(r.New), s.at(r.Old)); {
	case errors.Is(err, fs.ErrExist):
		return &Error{r.Old, ErrExists}
	case err != nil:
		return &Error{r.New, err}
	}
	return nil
}

func (r journalChange) undoText(s *Set, write bool) error {
	text, err := system.Read(s.at(r.New), maxTextBytes)
	switch {
	case err != nil:
		return &Error{r.New, system.Cause(err)}
	case Hash(text) == r.After:
	case r.Old != "" && bytes.Equal(text, r.Text):
		return nil // not edited yet
	default:
		return &Error{r.New, ErrStale}
	}
	if !write {
		return nil
	}
	if r.Old == "" {
		err = system.RemoveIf(s.at(r.New), text)
	} else {
		err = system.Exchange(s.at(r.New), text, r.Text, r.Mode)
	}
	if errors.Is(err, ErrStale) {
		return &Error{r.New, ErrStale}
	}
	return err
}

// runGit runs a command that must not start programs which the repository names.
func runGit(ctx context.Context, root string, env []string, input string, args ...string) ([]byte, error) {
	args = append([]string{"-c", "core.quotePath=false"}, args...)
	// git must not take a repository above root if .git is damaged.
	env = append(git.UntrustedEnv(env, true), "GIT_CEILING_DIRECTORIES="+filepath.Dir(root))
	return git.Command{Dir: root, Env: env, Input: []byte(input)}.Run(ctx, args...)
}

// Committed reports whether a file or directory is in the last commit of the repository.
func (s *Set) Committed(ctx context.Context, name string) bool {
	if _, err := os.Lstat(filepath.Join(s.Root, ".git")); err != nil {
		return false
	}
	out, err := runGit(ctx, s.Root, s.Env, "", "ls-tree", "--name-only", "HEAD", "--", name)
	return err == nil && len(out) > 0
}

// explainGit says which repository cannot be read, and what to do.
func explainGit(root string, err error) error {
	failed := (*git.Error)(nil)
	if !errors.As(err, &failed) {
		return err
	}
	name := filepath.Join(root, ".git")
	return text.WithHint(fmt.Errorf("the git repository %s cannot be read: %w", name, err),
		"repair it; if the project is in no repository, remove "+name)
}

// renames returns the new name of each renamed file by its old name.
func renames(records []journalChange) map[string]string {
	names := map[string]string{}
	for _, r := range records {
		if r.Old != "" && r.Old != r.New {
			names[r.Old] = r.New
		}
	}
	return names
}

// renamedEntries returns what `git update-index --index-info` reads to give tracked files
// their new names, as `git mv` does, or with back their old ones; "" if none is tracked.
func renamedEntries(ctx context.Context, root string, env []string, records []journalChange, back bool) (input string, err error) {
	names := renames(records)
	if back {
		reversed := map[string]string{}
		for old, name := range names {
			reversed[name] = old
		}
		names = reversed
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil || len(names) == 0 {
		return "", nil // not a repository, or nothing to do
	}
	out, err := runGit(ctx, root, env, "", "ls-files", "-s", "-z")
	if errors.Is(err, git.ErrNotInstalled) {
		return "", nil
	} else if err != nil {
		return "", explainGit(root, err)
	}
	var removed, added strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") { // mode hash stage\tname
		info, name, _ := strings.Cut(line, "\t")
		to, ok := names[name]
		fields := strings.Fields(info)
		if !ok || len(fields) != 3 {
			continue
		}
		if fields[2] != "0" && !back {
			return "", &Error{name, ErrUnmerged}
		}
		removed.WriteString("0 " + strings.Repeat("0", len(fields[1])) + "\t" + name + "\x00")
		added.WriteString(info + "\t" + to + "\x00")
	}
	return removed.String() + added.String(), nil
}

// moveIndex renames the entries of git's index, and changes nothing else there.
func moveIndex(ctx context.Context, root string, env []string, records []journalChange, back bool) error {
	if back && len(renames(records)) > 0 {
		if err := waitForGit(ctx, root, env); err != nil {
			return err
		}
	}
	input, err := renamedEntries(ctx, root, env, records, back)
	if err != nil || input == "" {
		return err
	}
	if _, err := runGit(ctx, root, env, input, "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	// So that git need not read the files again. It fails for files that are edited.
	runGit(ctx, root, env, "", "update-index", "-q", "--refresh")
	return nil
}

// waitForGit waits while a git program holds the lock of the index: one that a killed
// run has started may still work.
func waitForGit(ctx context.Context, root string, env []string) error {
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil // not a repository
	}
	out, err := runGit(ctx, root, env, "", "rev-parse", "--path-format=absolute", "--git-path", "index")
	if errors.Is(err, git.ErrNotInstalled) {
		return nil
	} else if err != nil {
		return explainGit(root, err)
	}
	file := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	const most, step = 5 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += step {
		if _, err := os.Lstat(file + ".lock"); err != nil {
			return nil
		}
		if waited >= most {
			return text.WithHint(fmt.Errorf("git's index is locked by %s.lock", file), "wait until the other git has finished; if none runs, remove that file")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(step):
		}
	}
}
