package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/run/audit/baseline"
	"github.com/sitelink/sitelink/internal/system"
)

const (
	recordSchema = 1
	// maxFileBytes is how much is read of a record, or of a file that is to be
	// compared: no file that was written is larger.
	maxFileBytes = baseline.MaxBytes
)

// Record is what was written into a project. It is not safe for concurrent use.
type Record struct {
	dir, root string
	file      string // the record
	text      recordText
}

type recordText struct {
	Schema int          `json:"schema"`
	Files  []recordFile `json:"files"`
	// Hook: the hook before a push was installed.
	Hook bool `json:"hook"`
}

type recordFile struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	// Was is the hash before a change that may not have been carried out.
	Was string `json:"was,omitempty"`
}

// Open reads the record of the project in dir; a missing record is empty. root is
// the root of the repository: no path of a record may lead out of it, not by a symbolic
// link either. The record is where a checkout cannot bring it, see [system.PrivateState].
func Open(dir, root string) (*Record, error) {
	state, err := system.PrivateState(root)
	if err != nil {
		return nil, err
	}
	below, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	name := "init.json"
	if below != "." {
		name = "init-" + url.PathEscape(filepath.ToSlash(below)) + ".json"
	}
	name = filepath.Join(state, name)
	r := &Record{dir: dir, root: root, file: name, text: recordText{Schema: recordSchema}}
	data, err := readRegular(name)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r.text)
	}
	if err == nil && r.text.Schema != recordSchema {
		err = fmt.Errorf("schema %d, not %d: another version of sitelink wrote it", r.text.Schema, recordSchema)
	}
	for _, f := range r.text.Files {
		if err == nil && !r.inside(f.Path) {
			err = fmt.Errorf("%q leads out of the repository", f.Path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, system.Cause(err))
	}
	return r, nil
}

// Empty reports whether nothing is recorded.
func (r *Record) Empty() bool { return len(r.text.Files) == 0 && !r.text.Hook }

// Hook reports whether the pre-push hook is recorded as installed.
func (r *Record) Hook() bool { return r.text.Hook }

// SetHook records that the hook will be installed, or was removed.
func (r *Record) SetHook(installed bool) error {
	r.text.Hook = installed
	if r.Empty() {
		return r.forget()
	}
	return r.save()
}

// Action is what happens to a file.
type Action uint8

const (
	// Add means that no file has that name.
	Add Action = iota
	// Change means that the file is as sitelink wrote it, and gets another text.
	Change
	// Same means that the file has that text.
	Same
	// Foreign means that sitelink did not write the file, or that it was changed
	// since.
	Foreign
)

// Plan returns what Write would do to a file.
func (r *Record) Plan(f File) (Action, error) {
	sum, err := r.sum(f.Path)
	switch {
	case err != nil:
		return Foreign, err
	case sum == "":
		return Add, nil
	case sum == hash([]byte(f.Text)):
		return Same, nil
	case r.ours(f.Path, sum):
		return Change, nil
	}
	return Foreign, nil
}

// Write writes a file, unless it is [Same] or [Foreign]. It is recorded before it
// is written, so that what a crash leaves is known.
func (r *Record) Write(f File) (Action, error) {
	if !r.inside(f.Path) {
		return Foreign, fmt.Errorf("write %s: it leads out of the repository", f.Path)
	}
	action, err := r.Plan(f)
	if err != nil || action == Foreign || action == Same {
		return action, err
	}
	entry := recordFile{Path: f.Path, SHA256: hash([]byte(f.Text))}
	if action == Change {
		entry.Was, _ = r.sum(f.Path) // Plan has just read it
	}
	if err := r.note(entry); err != nil {
		return action, err
	}
	if err := system.WriteFile(r.at(f.Path), []byte(f.Text), 0); err != nil {
		return action, err
	}
	entry.Was = ""
	return action, r.note(entry)
}

// note records a file.
func (r *Record) note(f recordFile) error {
	at := slices.IndexFunc(r.text.Files, func(old recordFile) bool { return old.Path == f.Path })
	if at < 0 {
		r.text.Files = append(r.text.Files, f)
	} else {
		r.text.Files[at] = f
	}
	slices.SortFunc(r.text.Files, func(a, b recordFile) int { return strings.Compare(a.Path, b.Path) })
	return r.save()
}

// save writes the record, which git does not see.
func (r *Record) save() error {
	data, err := json.MarshalIndent(r.text, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", r.file, err)
	}
	if err := system.MakeState(filepath.Dir(r.file)); err != nil {
		return err
	}
	return system.WriteFile(r.file, append(data, '\n'), 0)
}

// Undo removes the files that are as they were written, with the directories that are
// empty then, and returns their paths. left are the files that were changed since:
// they stay, and stay recorded. Undo does not touch the hook. A dry run changes nothing.
func (r *Record) Undo(dryRun bool) (removed, left []string, err error) {
	var rest []recordFile
	for _, f := range r.text.Files {
		sum, err := r.sum(f.Path)
		switch {
		case err != nil:
			return removed, left, err
		case sum == "":
			continue
		case !r.ours(f.Path, sum):
			left, rest = append(left, f.Path), append(rest, f)
			continue
		}
		removed = append(removed, f.Path)
		if dryRun {
			continue
		}
		if err := os.Remove(r.at(f.Path)); err != nil {
			return removed, left, fmt.Errorf("remove %s: %w", r.at(f.Path), system.Cause(err))
		}
		for dir := path.Dir(f.Path); dir != "." && r.inside(dir) && os.Remove(r.at(dir)) == nil; {
			dir = path.Dir(dir) // os.Remove fails for one that is not empty
		}
	}
	if dryRun {
		return removed, left, nil
	}
	r.text.Files = rest
	if !r.Empty() {
		return removed, left, r.save()
	}
	return removed, left, r.forget()
}

// forget removes the record, and its directories if they are empty then.
func (r *Record) forget() error {
	if err := os.Remove(r.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", r.file, system.Cause(err))
	}
	dir := filepath.Dir(r.file)
	ignore := filepath.Join(dir, system.StateIgnoreName)
	if entries, err := os.ReadDir(dir); err == nil && len(entries) == 1 && entries[0].Name() == system.StateIgnoreName {
		if text, err := readRegular(ignore); err == nil && string(text) == system.StateIgnore {
			_ = os.Remove(ignore)
		}
	}
	if os.Remove(dir) == nil && filepath.Base(dir) != system.StateName { // fails if it is not empty
		_ = os.Remove(filepath.Dir(dir))
	}
	return nil
}

// ours reports whether a file with that hash was written by sitelink.
func (r *Record) ours(name, sum string) bool {
	return slices.ContainsFunc(r.text.Files, func(f recordFile) bool { return f.Path == name && (f.SHA256 == sum || f.Was == sum) })
}

// sum returns the hash of a file, "" if it does not exist. A link, a directory or a
// file that is far too large has a hash that no written file has.
func (r *Record) sum(name string) (string, error) {
	data, err := readRegular(r.at(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case errors.Is(err, errOdd):
		return "-", nil
	case err != nil:
		return "", fmt.Errorf("read %s: %w", r.at(name), system.Cause(err))
	}
	return hash(data), nil
}

func (r *Record) at(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// inside reports whether a path stays in the repository, out of its directory of git,
// with all symbolic links.
func (r *Record) inside(name string) bool {
	if name == "" || path.IsAbs(name) || filepath.IsAbs(filepath.FromSlash(name)) || filepath.Clean(r.at(name)) == filepath.Clean(r.root) {
		return false
	}
	_, where := system.Outside(r.root, r.at(name))
	return where == ""
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// errOdd means that the name belongs to something that sitelink cannot have written.
var errOdd = errors.New("not a regular file of moderate size")

func readRegular(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, errOdd
	}
	return system.Read(name, maxFileBytes)
}
