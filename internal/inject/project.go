package inject

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/layout"
)

// project is a directory, as it would be without marked text.
type project struct {
	root   *os.Root
	tree   fs.FS
	opt    Options
	record record
	// hadRecord: the record exists.
	hadRecord bool
	files     map[string]*file
	// found are the files with marks if there is no record.
	found []string
}

// file is a file of the project, or a name for which there is none yet.
type file struct {
	// text is nil if the file does not exist.
	text []byte
	mode fs.FileMode
	lang layout.Language
	// real is the path with symbolic links resolved.
	real string
	// isFile: sitelink created the file.
	isFile bool
	// refusal is the reason why the file must not be written, or "".
	refusal string
}

// endIsLate reports whether the built pages show that the end of the head is too
// late for the elements.
func (p *project) endIsLate() bool {
	return p.opt.Built.HeadEnd+p.elementSize() > layout.MaxOffset
}

// place chooses the place in a page's templates, one that is early enough in the
// built pages if there is one.
func (p *project) place(d *layout.Doc, owned func(file string) bool) (layout.Place, error) {
	place, err := d.Place(owned, p.elementSize(), p.opt.Built)
	if err != nil {
		return d.Place(owned, p.elementSize(), layout.Built{})
	}
	return place, nil
}

// maxTemplate is the size of the largest template.
const maxTemplate = 4 << 20

func open(root *os.Root, opt Options) (*project, error) {
	p := &project{root: root, tree: root.FS(), opt: opt, files: map[string]*file{}}
	known, err := p.readRecord()
	if err != nil {
		return nil, err
	}
	p.hadRecord = known
	if !known {
		p.found = p.search()
	}
	return p, nil
}

// file returns a file, read once.
func (p *project) file(name string) (*file, error) {
	if f, ok := p.files[name]; ok {
		return f, nil
	}
	f := &file{lang: languageOf(name)}
	real, info, err := p.resolve(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.refusal = p.whyNotCreate(name)
		p.files[name] = f
		return f, nil
	case errors.Is(err, errOutside):
		// A file outside the project is not read.
		f.refusal, f.text = outside, []byte{}
		p.files[name] = f
		return f, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	f.real, f.mode = real, info.Mode().Perm()
	for _, entry := range p.record.Files {
		if entry.Path == name {
			f.lang, _ = layout.Named(entry.Language)
		}
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: not a regular file", name)
	case info.Size() > maxTemplate:
		return nil, fmt.Errorf("read %s: the file has more than %d bytes, so it is not a template", name, maxTemplate)
	}
	in, err := p.root.Open(real)
	if err == nil {
		f.text, err = io.ReadAll(io.LimitReader(in, maxTemplate+1))
		in.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, disk.Cause(err))
	}
	if f.text == nil {
		f.text = []byte{}
	}
	if lang, ok := layout.Marked(f.text); ok && f.lang == layout.HTML {
		f.lang = lang
	}
	switch {
	case isUTF16(f.text):
		f.refusal = "the file is in UTF-16, and templates must be in UTF-8"
	case bytes.IndexByte(f.text, 0) >= 0:
		f.refusal = "the file contains NUL bytes, and templates must be text in UTF-8"
	case f.mode&0o200 == 0:
		f.refusal = "the file is read-only"
	case inTheme(real):
		f.refusal = "the file belongs to a theme, and an update of the theme would undo the change"
	}
	p.files[name] = f
	return f, nil
}

// outside is the refusal of a file that a symbolic link puts outside the
// project.
const outside = "a symbolic link leads out of the project"

// unreadable reports whether the file cannot be read as a template.
func (f *file) unreadable() bool { return f.refusal == outside || isUTF16(f.text) }

// whyNotCreate returns the reason why a file must not be created, or "". The
// reason is a symbolic link or a file in its path.
func (p *project) whyNotCreate(name string) string {
	if _, err := p.root.Lstat(name); err == nil {
		return "the target of the symbolic link does not exist"
	}
	for _, dir := range dirsOf(name) {
		real, info, err := p.resolve(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case errors.Is(err, errOutside):
			return outside
		case err != nil:
			return disk.Cause(err).Error()
		case !info.IsDir():
			return dir + " is not a directory"
		case inTheme(real + "/"):
			return "a symbolic link leads into a theme, and an update of the theme would undo the change"
		}
		break
	}
	return ""
}

// bare returns the text without marked text, nil for a file that has nothing
// else.
func (f *file) bare(lang layout.Language) []byte {
	if f.text == nil {
		return nil
	}
	r, ok := lang.FindRegion(f.text)
	f.isFile = ok && r.IsFile
	bare := lang.Without(f.text)
	if f.isFile && len(bytes.TrimSpace(bare)) == 0 {
		return nil
	}
	return bare
}

// read returns the text of a file without marked text. ok is false if there is
// no such file, or if sitelink created it.
func (p *project) read(name string, lang layout.Language) (text []byte, ok bool) {
	f, err := p.file(name)
	if err != nil {
		return nil, false
	}
	text = f.bare(lang)
	return text, text != nil
}

// errOutside: a symbolic link leaves the project.
var errOutside = errors.New("leads out of the project")

// maxLinks is the largest number of symbolic links in a path.
const maxLinks = 40

// resolve follows the symbolic links of a path inside the project.
func (p *project) resolve(name string) (real string, info fs.FileInfo, err error) {
	done, rest := "", name
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		next := path.Join(done, part)
		if !fs.ValidPath(next) {
			return "", nil, errOutside
		}
		if info, err = p.root.Lstat(next); err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", nil, errors.New("too many symbolic links")
		}
		target, err := p.root.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		target = strings.ReplaceAll(target, `\`, "/")
		if path.IsAbs(target) {
			return "", nil, errOutside
		}
		whole := path.Join(done, target, rest)
		if whole == ".." || strings.HasPrefix(whole, "../") {
			return "", nil, errOutside
		}
		done, rest = "", whole
	}
	return done, info, nil
}

// canonical returns the name of a file with symbolic links resolved, so that
// each file has one name. It returns name unchanged if that fails.
func (p *project) canonical(name string) string {
	for _, known := range append([]string{name}, dirsOf(name)...) {
		real, _, err := p.resolve(known)
		if err == nil {
			return real + strings.TrimPrefix(name, known)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return name
}

// isDir reports whether name is a directory.
func (p *project) isDir(name string) bool {
	info, err := fs.Stat(p.tree, name)
	return err == nil && info.IsDir()
}

// list returns the files below dir whose names have one of the endings, sorted.
// It follows symbolic links inside the project.
func (p *project) list(dir string, endings ...string) []string {
	var names []string
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		if depth > 12 || len(names) > maxFiles {
			return
		}
		entries, _ := fs.ReadDir(p.tree, dir)
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			info, err := fs.Stat(p.tree, name)
			switch {
			case strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules":
			case err != nil && e.Type()&fs.ModeSymlink != 0 && endsIn(name, endings):
				names = append(names, name) // change refuses to write it
			case err != nil:
			case info.IsDir():
				walk(name, depth+1)
			case info.Mode().IsRegular() && endsIn(name, endings):
				names = append(names, name)
			}
		}
	}
	walk(dir, 0)
	slices.Sort(names)
	return names
}

// maxFiles is the largest number of templates that list returns, roughly.
const maxFiles = 20_000

func endsIn(name string, endings []string) bool {
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// inTheme reports whether a file belongs to a theme or a package, which an
// update can replace.
func inTheme(real string) bool {
	first, _, _ := strings.Cut(real, "/")
	return first == "themes" || first == "_vendor" || first == "node_modules" || strings.Contains(real, "/node_modules/")
}

func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff})
}

// languageOf guesses the template language from the name of a file.
func languageOf(name string) layout.Language {
	switch path.Ext(name) {
	case ".astro":
		return layout.Astro
	case ".yml", ".yaml":
		return layout.YAML
	case ".toml":
		return layout.TOML
	case ".njk":
		return layout.Jinja
	case ".liquid":
		return layout.Liquid
	}
	return layout.HTML
}

func sum(text []byte) string {
	if text == nil {
		return ""
	}
	h := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(h[:])
}

// bareTree is the project without the files that sitelink created.
type bareTree struct{ p *project }

func (b bareTree) hides(name string) bool {
	if !slices.Contains(b.p.marked(), name) {
		return false
	}
	f, err := b.p.file(name)
	return err == nil && f.text != nil && f.bare(f.lang) == nil
}

// Open implements [fs.FS].
func (b bareTree) Open(name string) (fs.File, error) {
	if b.hides(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return b.p.tree.Open(name)
}

// ReadDir implements [fs.ReadDirFS].
func (b bareTree) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.p.tree, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		full := e.Name()
		if name != "." {
			full = name + "/" + full
		}
		return b.hides(full)
	}), err
}
