package destination

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Why a file cannot be changed; [Error] wraps one of these or an error of the system.
var (
	ErrStale    = system.ErrChanged
	ErrOutside  = errors.New("is outside the repository")
	ErrNested   = errors.New("belongs to another git repository")
	ErrSymlink  = errors.New("a symbolic link leads there")
	ErrReadOnly = errors.New("is read-only")
	ErrEncoding = errors.New("is not a text file in UTF-8")
	ErrExists   = errors.New("already exists")
	ErrOverlap  = errors.New("two edits change the same bytes")
	ErrUnmerged = errors.New("has a merge conflict in git's index")
)

// Error means that one file cannot be changed or restored.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return e.File + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// As gives the error its hint, see [text.Hint].
func (e *Error) As(target any) bool {
	to, ok := target.(**text.Error)
	for of, hint := range hints {
		if ok && errors.Is(e.Err, of) {
			*to = &text.Error{Err: e, Hint: hint}
			return true
		}
	}
	return false
}

var hints = map[error]string{
	ErrExists: "choose another name, or remove the file", ErrReadOnly: "make it writable", ErrSymlink: "name the file that the link leads to",
	ErrOutside: "name a file of the project", ErrNested: "move it in its own repository", ErrStale: "run the command again",
	ErrEncoding: "convert it to UTF-8", ErrUnmerged: "resolve the conflict first",
}

// maxTextBytes is the size of the largest file that can be edited.
const maxTextBytes = 64 << 20

// Hash returns the hash that edits of a file with this text name.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Edit replaces the bytes from Start up to End of a file by Text.
type Edit struct {
	Start, End int
	Text       string
}

// Set is a set of changes to the files below a root: replaced byte ranges, new names and
// new files. It prints them as a diff that `git apply` accepts, and applies all of them or
// none. [Undo] takes the last applied set back. A Set is not safe for concurrent use.
//
// Each edit has the hash of the file that it was made for. Set refuses a file with
// another content. It also refuses files outside the root or behind a symbolic link,
// files of another repository, read-only files, and files that are not UTF-8. The
// errors are of type [*Error] and name the file. Names are slash paths relative to
// the root, except in [Set.Root].
//
// Before the first file changes, the journal in the directory of git holds everything that
// Undo needs to restore all files. Every file is replaced whole. So a process that is
// killed leaves each file either old or new, and Undo restores the old ones. Set compares
// each file again at the moment when it replaces it, see [system.Exchange]: what another
// program saves meanwhile is kept.
type Set struct {
	// Root is the directory of the project: the root of the repository, if there is one.
	Root string
	// Env is the environment that git runs in, as [os.Environ] returns it.
	Env []string

	changes map[string]*change // by the name before, or that of a new file
	taken   map[string]string  // old name by new name
}

// change is what happens to one file.
type change struct {
	old, new string // equal without a rename; old is "" for a new file
	mode     fs.FileMode
	loaded   bool
	text     []byte // before, if loaded
	edits    []Edit // sorted by Start
}

// NewSet returns an empty set for a root, see [Set].
func NewSet(root string, env []string) *Set {
	return &Set{Root: root, Env: env, changes: map[string]*change{}, taken: map[string]string{}}
}

// Empty reports whether the set changes nothing.
func (s *Set) Empty() bool { return len(s.Files()) == 0 }

// Files returns the names of the changed files, as they are before the change,
// sorted. New files are among them.
func (s *Set) Files() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.changes)) {
		if c := s.changes[name]; c.old != c.new || len(c.edits) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// NewName returns the name that a file will have.
func (s *Set) NewName(file string) string {
	if c := s.changes[file]; c != nil {
		return c.new
	}
	return file
}

// Edits returns the edits of a file, sorted by position. A new file has one.
func (s *Set) Edits(file string) []Edit {
	if c := s.changes[file]; c != nil {
		return slices.Clone(c.edits)
	}
	return nil
}

// Drop removes all changes of one file from the set.
func (s *Set) Drop(file string) {
	if c := s.changes[file]; c != nil {
		delete(s.taken, c.new)
		delete(s.changes, file)
	}
}

// Exists reports whether there is a file or directory, by its name before the set.
func (s *Set) Exists(file string) bool {
	_, err := os.Lstat(s.at(file))
	return err == nil
}

// Read returns the text of a file that can be edited, and its hash.
func (s *Set) Read(file string) (text []byte, hash string, err error) {
	c, err := s.load(file)
	if err != nil {
		return nil, "", err
	}
	return c.text, Hash(c.text), nil
}

// Text returns the text of a file after the edits of the set.
func (s *Set) Text(file string) ([]byte, error) {
	c, err := s.load(file)
	if err != nil {
		return nil, err
	}
	return c.result(), nil
}

// Replace adds an edit: the bytes from start up to end of the file become text. hash
// is the hash of the file in which the range was found; a file with another hash is
// refused. file is the name before any rename. Adding the same edit twice has no
// effect. Edits at the same position that only insert follow each other.
func (s *Set) Replace(file, hash string, start, end int, text string) error {
	c, err := s.load(file)
	if err != nil {
		return err
	}
	if Hash(c.text) != hash {
		return &Error{file, ErrStale}
	}
	if start < 0 || end < start || end > len(c.text) {
		return &Error{file, fmt.Errorf("no bytes %d to %d in %d", start, end, len(c.text))}
	}
	e := Edit{start, end, text}
	if slices.Contains(c.edits, e) || string(c.text[start:end]) == text {
		return nil
	}
	at, _ := slices.BinarySearchFunc(c.edits, e, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), -1)
	})
	if at > 0 && c.edits[at-1].End > start || at < len(c.edits) && c.edits[at].Start < end {
		return &Error{file, ErrOverlap}
	}
	c.edits = slices.Insert(c.edits, at, e)
	return nil
}

// Withdraw removes an edit of a file from the set, if it is one.
func (s *Set) Withdraw(file string, e Edit) {
	if c := s.changes[file]; c != nil {
		c.edits = slices.DeleteFunc(c.edits, func(x Edit) bool { return x == e })
	}
}

// Create adds a file, which must not exist. Its directories are made.
func (s *Set) Create(file string, text []byte) error {
	if err := s.free(file); err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return &Error{file, ErrEncoding}
	}
	s.changes[file] = &change{new: file, mode: 0, loaded: true, edits: []Edit{{Text: string(text)}}}
	s.taken[file] = ""
	return nil
}

// Rename gives a file or all files of a directory another name. The new name must not
// exist. Empty directories that remain are removed.
func (s *Set) Rename(old, new string) error {
	if old == new {
		return nil
	}
	info, err := s.inspect(old)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return s.rename(old, new, info)
	}
	if strings.HasPrefix(new, old+"/") {
		return &Error{old, fmt.Errorf("cannot move into itself, %s", new)}
	}
	return filepath.WalkDir(s.at(old), func(name string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(s.at(old), name)
		if err = cmp.Or(err, relErr); err != nil {
			return &Error{old, system.Cause(err)}
		}
		if d.IsDir() && rel == "." {
			return nil
		}
		file := path.Join(old, filepath.ToSlash(rel))
		info, err := s.inspect(file)
		if err != nil || info.IsDir() {
			return err
		}
		return s.rename(file, path.Join(new, filepath.ToSlash(rel)), info)
	})
}

func (s *Set) rename(old, new string, info fs.FileInfo) error {
	if err := s.confined(new); err != nil {
		return err
	}
	if there, err := os.Lstat(s.at(new)); err != nil || !os.SameFile(info, there) { // About.md may become about.md
		if err := s.free(new); err != nil {
			return err
		}
	}
	c := s.changes[old]
	if c == nil {
		c = &change{old: old, new: old, mode: info.Mode().Perm()}
		s.changes[old] = c
	}
	if c.old == "" || c.old != c.new {
		return &Error{old, errors.New("has a new name already")}
	}
	c.new = new
	s.taken[new] = old
	return nil
}

// free returns an error if a file cannot get the name.
func (s *Set) free(name string) error {
	if err := s.confined(name); err != nil {
		return err
	}
	if _, ok := s.taken[name]; ok {
		return &Error{name, ErrExists}
	}
	switch _, err := os.Lstat(s.at(name)); {
	case err == nil:
		return &Error{name, ErrExists}
	case !errors.Is(err, fs.ErrNotExist):
		return &Error{name, system.Cause(err)}
	}
	return nil
}

// load reads a file that is to be edited.
func (s *Set) load(file string) (*change, error) {
	c := s.changes[file]
	if c != nil && c.loaded {
		return c, nil
	}
	text, mode, err := s.read(file)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &change{old: file, new: file}
		s.changes[file] = c
	}
	c.text, c.mode, c.loaded = text, mode, true
	return c, nil
}

// read returns the text of a file that may be edited.
func (s *Set) read(file string) ([]byte, fs.FileMode, error) {
	info, err := s.inspect(file)
	if err != nil {
		return nil, 0, err
	}
	text, err := system.Read(s.at(file), maxTextBytes)
	if err != nil {
		return nil, 0, &Error{file, err}
	}
	if !utf8.Valid(text) || strings.IndexByte(string(text), 0) >= 0 {
		return nil, 0, &Error{file, ErrEncoding}
	}
	return text, info.Mode().Perm(), nil
}

// inspect returns what a file is, or why it cannot be changed.
func (s *Set) inspect(file string) (fs.FileInfo, error) {
	if err := s.confined(file); err != nil {
		return nil, err
	}
	info, err := os.Lstat(s.at(file))
	switch {
	case err != nil:
		return nil, &Error{file, system.Cause(err)}
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &Error{file, ErrSymlink}
	case !info.IsDir() && !info.Mode().IsRegular():
		return nil, &Error{file, errors.New("not a regular file")}
	case !info.IsDir() && info.Mode().Perm()&0o200 == 0:
		return nil, &Error{file, ErrReadOnly}
	}
	return info, nil
}

// confined returns an error if a file is not one of the repository. The file need
// not exist.
func (s *Set) confined(file string) error {
	if !filepath.IsLocal(filepath.FromSlash(file)) || path.Clean(file) != file || file == "." {
		return &Error{file, ErrOutside}
	}
	at := s.Root
	parts := strings.Split(file, "/")
	for i, part := range parts {
		if strings.EqualFold(part, ".git") {
			return &Error{file, errors.New("is a file of git")}
		}
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if err != nil || i == len(parts)-1 && info.Mode()&fs.ModeSymlink == 0 && !info.IsDir() {
			return nil // free and inspect report what is wrong with the file itself
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return &Error{file, ErrSymlink}
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return &Error{file, ErrNested}
		}
	}
	return nil
}

// at returns the path of a file in the file system.
func (s *Set) at(file string) string { return filepath.Join(s.Root, filepath.FromSlash(file)) }

// result returns the text after the edits.
func (c *change) result() []byte {
	var out []byte
	last := 0
	for _, e := range c.edits {
		out = append(append(out, c.text[last:e.Start]...), e.Text...)
		last = e.End
	}
	return append(out, c.text[last:]...)
}

// Between returns the shortest edit that makes after of before.
func Between(before, after string) Edit {
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return Edit{Start: start, End: len(before) - end, Text: after[start : len(after)-end]}
}

// Diff writes the set as a unified diff that `git apply` accepts in the root. A set
// that changes nothing writes nothing.
func (s *Set) Diff(w io.Writer) error {
	var out bytes.Buffer
	for _, name := range s.Files() {
		s.changes[name].diff(&out)
	}
	_, err := w.Write(out.Bytes())
	return err
}

func (c *change) diff(w *bytes.Buffer) {
	old := cmp.Or(c.old, c.new)
	fmt.Fprintf(w, "diff --git %s %s\n", quote("a/"+old), quote("b/"+c.new))
	from := marked("a/" + old)
	switch {
	case c.old == "":
		w.WriteString("new file mode 100644\n")
		from = "/dev/null"
	case c.old != c.new && len(c.edits) == 0:
		fmt.Fprintf(w, "similarity index 100%%\nrename from %s\nrename to %s\n", quote(c.old), quote(c.new))
	case c.old != c.new:
		changed := 0
		for _, e := range c.edits {
			changed += max(e.End-e.Start, len(e.Text))
		}
		similar := max(0, min(99, 100-100*changed/max(1, len(c.text))))
		fmt.Fprintf(w, "similarity index %d%%\nrename from %s\nrename to %s\n", similar, quote(c.old), quote(c.new))
	}
	// The first three lines name the files in another way than git. Each line has a
	// number before it, and so does the line that the edits make of it. So a line equals
	// only itself, and the diff shows no more than the edits.
	var before []byte
	n := 0
	for line := range bytes.Lines(c.text) {
		before = append(fmt.Appendf(before, "\x00%08d\x00", n), line...)
		n++
	}
	shifted := func(at int) int { // by the numbers of the lines that begin before it
		if at == 0 {
			return 0
		}
		return at + len("\x0000000000\x00")*(1+bytes.Count(c.text[:at-1], []byte("\n")))
	}
	numbered := change{text: before}
	for _, e := range c.edits {
		numbered.edits = append(numbered.edits, Edit{shifted(e.Start), shifted(e.End), e.Text})
	}
	after := numbered.result()
	hunks := bytes.SplitN(diff.Diff("", before, "", after), []byte("\n"), 4)
	if len(hunks) == 4 {
		fmt.Fprintf(w, "--- %s\n+++ %s\n%s", from, marked("b/"+c.new), lineNumber().ReplaceAll(hunks[3], nil))
	}
}

// lineNumber is what numbered puts before a line. No text that can be edited has such bytes.
var lineNumber = text.Regexp(`\x00[0-9]{8}\x00`)

// marked is the name in a line with --- or +++. A tab follows a name with a space, or
// the rest could be read as a date.
func marked(name string) string {
	name = quote(name)
	if strings.Contains(name, " ") {
		name += "\t"
	}
	return name
}

// quote returns a name as git writes it with core.quotePath=false.
func quote(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		switch c := name[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Apply changes the files. command says who does it, such as "sitelink mv a.md b.md";
// [Undo] returns it. Tracked files get their new names in git's index too.
//
// After an error, and when ctx is cancelled, no file is changed, except those that
// another program saved meanwhile: they stay as it left them, and the error is [ErrStale].
// A set cannot be applied while another one is, or while one that was killed is not undone.
func (s *Set) Apply(ctx context.Context, command string) error {
	files := s.Files()
	if len(files) == 0 {
		return nil
	}
	unlock, err := lock(s.Root)
	if err != nil {
		return err
	}
	defer unlock()
	last, err := readJournal(s.Root)
	if err != nil {
		return err
	}
	if last != nil && !last.Complete {
		return interrupted(last)
	}
	// The files must still be as they were read.
	var errs []error
	for _, name := range files {
		c := s.changes[name]
		if c.old == "" {
			if _, err := os.Lstat(s.at(name)); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, &Error{name, ErrExists})
			}
			continue
		}
		info, err := s.inspect(name)
		if err == nil && c.loaded {
			var text []byte
			if text, _, err = s.read(name); err == nil && string(text) != string(c.text) {
				err = &Error{name, ErrStale}
			}
		}
		if err == nil && c.old != c.new {
			if there, statErr := os.Lstat(s.at(c.new)); statErr == nil && !os.SameFile(info, there) {
				err = &Error{c.new, ErrExists}
			}
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	j := s.journal(files, command)
	// Whether the entries of git's index can be renamed shows before a file changes.
	entries, err := renamedEntries(ctx, s.Root, s.Env, j.Changes, false)
	if err == nil && entries != "" {
		err = waitForGit(ctx, s.Root, s.Env)
	}
	if err != nil {
		return err
	}
	if err := j.write(s.Root); err != nil {
		return err
	}
	err = s.apply(ctx, files, j)
	if err == nil {
		err = j.complete(s.Root)
	}
	if err == nil {
		return nil
	}
	u, undoErr := j.undo(context.WithoutCancel(ctx), s.Root, s.Env, j.Changes)
	if undoErr != nil {
		return errors.Join(err, interrupted(j), undoErr)
	}
	for _, kept := range u.Kept {
		if !strings.Contains(err.Error(), kept.Error()) {
			err = errors.Join(err, kept)
		}
	}
	if last != nil {
		return errors.Join(err, last.write(s.Root))
	}
	return errors.Join(err, removeJournal(s.Root))
}

// interrupted is the error for a set with incomplete changes.
func interrupted(j *journal) error {
	hint := "to restore them: sitelink mv --undo"
	if strings.HasPrefix(j.Command, "sitelink fix") {
		hint = "to restore them: sitelink fix --undo"
	}
	return text.WithHint(fmt.Errorf("%q was interrupted and has changed only some of its files", j.Command), hint)
}

// apply changes the files and the index.
func (s *Set) apply(ctx context.Context, files []string, j *journal) error {
	for _, name := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := s.applyTo(s.changes[name]); err != nil {
			return err
		}
	}
	for _, name := range files {
		if c := s.changes[name]; c.old != c.new && c.old != "" {
			for dir := path.Dir(c.old); dir != "." && os.Remove(s.at(dir)) == nil; dir = path.Dir(dir) { // as far as they are empty
			}
		}
	}
	return moveIndex(ctx, s.Root, s.Env, j.Changes, false)
}

func (s *Set) applyTo(c *change) error {
	if c.old != c.new { // a new file, or a new name
		if err := os.MkdirAll(filepath.Dir(s.at(c.new)), 0o777); err != nil {
			return &Error{c.new, system.Cause(err)}
		}
	}
	if c.old != "" && c.old != c.new {
		if err := system.Rename(s.at(c.old), s.at(c.new)); err != nil {
			return &Error{c.old, err}
		}
	}
	var err error
	switch {
	case len(c.edits) == 0:
	case c.old == "":
		err = system.WriteNew(s.at(c.new), c.result(), c.mode)
	default:
		err = system.Exchange(s.at(c.new), c.text, c.result(), c.mode)
	}
	if errors.Is(err, ErrStale) {
		return &Error{c.new, ErrStale}
	}
	return err
}

// lock keeps other processes from changing files of the project.
func lock(root string) (unlock func(), err error) {
	dir, err := system.PrivateState(root)
	if err != nil {
		return nil, err
	}
	if err := system.MakeState(dir); err != nil {
		return nil, err
	}
	return Lock(filepath.Join(dir, "edit.lock"), "another sitelink is changing files of this project")
}

// Lock locks a file that only one process may hold, until unlock is called. busy says that
// another one holds it.
func Lock(name, busy string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", name, system.Cause(err))
	}
	if err := system.TryLock(f); err != nil {
		f.Close()
		if errors.Is(err, system.ErrLocked) {
			return nil, text.WithHint(errors.New(busy), "wait until it has finished")
		}
		return nil, fmt.Errorf("lock %s: %w", name, system.Cause(err))
	}
	return func() { f.Close() }, nil
}

// journal describes the set for Undo.
func (s *Set) journal(files []string, command string) *journal {
	j := &journal{Command: command}
	for _, name := range files {
		c := s.changes[name]
		r := journalChange{Old: c.old, New: c.new, Mode: c.mode}
		if len(c.edits) > 0 {
			r.Edited, r.Text, r.After = true, c.text, Hash(c.result())
		}
		for dir := path.Dir(c.new); dir != "."; dir = path.Dir(dir) {
			if _, err := os.Lstat(s.at(dir)); err == nil {
				break
			}
			if !slices.Contains(j.Made, dir) {
				j.Made = append(j.Made, dir)
			}
		}
		j.Changes = append(j.Changes, r)
	}
	return j
}
