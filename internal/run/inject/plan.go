// Package inject inserts link elements for a site's endpoints into the templates of
// its generator, and removes them again.
//
// [Find] tries: it inserts the elements at a place in a copy of the project, builds
// the copy and looks at the built pages, until it finds places that give each page the
// elements once, in its head. The places come from the text of the templates (places.go,
// hugo.go); no template is executed here. Everything it writes is between two marks,
// which are comments of the template language. So [Refresh] compares the marked text
// with the configuration, and [Undo] removes it, without a build. The package never
// writes into a theme, a module or a package, or outside the project.
//
// docs/guide/link-elements.md is the manual.
package inject

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/templates"
)

// ErrNoEndpoints means that the configuration names no endpoint to inject.
var ErrNoEndpoints = text.Usage("no endpoint is configured",
	`add webmention = "https://example.org/webmention" to the table [templates] of sitelink.toml`)

// Plan is a list of changes, not yet made.
type Plan struct {
	// Changes are in the order in which Apply makes them.
	Changes []Change
	// Places are where the elements are once the plan is applied.
	Places []Place
	// Missing means that the templates do not have the elements, and that only
	// [Find] can tell where they go.
	Missing bool
	// Notes are facts that the user should know.
	Notes []string

	root *os.Root
	// leftovers are what an interrupted run can have left: temporary files, and the
	// folders above our partial, which go if they are empty, as after Undo.
	leftovers []string
}

// Change is a change of one file. Before is nil if the file does not exist, After is
// nil if it is to be removed.
type Change struct {
	// Path is a slash path relative to the generator's project.
	Path          string
	Before, After []byte

	mode fs.FileMode
}

// Place is a place of the elements.
type Place struct {
	// Path is the file, relative to the generator's project, and Line the line of the
	// mark once the plan is applied.
	Path string
	Line int
	// How describes the place for a person.
	How string
}

// edit is text to insert into a file: before, the elements, after.
type edit struct {
	path                    string
	lang                    language
	before, elements, after string
	// how becomes [Place.How].
	how string
	// insert returns the text of an existing file with the inner text in it; nil appends
	// that, and creates a file that does not exist.
	insert func(text []byte, inner string) []byte
}

func (e *edit) inner() string { return e.before + e.elements + e.after }

// file is a template, or another file with marks.
type file struct {
	text []byte
	// bare is the text without marked text, nil if sitelink created the file.
	bare []byte
	mode fs.FileMode
}

// templateSet is what could be changed in a project.
type templateSet struct {
	generator generator.Name
	config    string // the first file of its configuration
	endpoints templates.Endpoints
	choice    templates.Choice
	root      *os.Root
	files     map[string]*file
	leftovers []string
	// modules are those of Hugo, without the project.
	modules []generator.HugoModule
	// layouts is the directory of the project's own layouts in Hugo.
	layouts string
}

const (
	// maxTemplate is the size of the largest template, and maxFiles the number of files
	// that are read.
	maxTemplate = 4 << 20
	maxFiles    = 20_000
)

// templateEndings are the ends of the names of files that may have marks.
var templateEndings = []string{".html", ".htm", ".njk", ".liquid", ".astro", ".yml", ".yaml", ".toml"}

// notOwn are the top directories without templates of the project's author, beside those
// without any of his files.
var notOwn = []string{"static", "themes"}

// open reads the templates of the generator's project, or of the directory without one.
// Symbolic links are not followed.
func open(p *project.Project) (*templateSet, error) {
	set := &templateSet{endpoints: audit.Endpoints(p.Config), choice: audit.EndpointPages(p.Config), files: map[string]*file{}, layouts: "layouts"}
	dir, docroot := p.Dir, ""
	if g := p.Generator; g != nil {
		dir, set.generator = g.Dir, g.Generator
		if len(g.Configs) > 0 {
			set.config = g.Configs[0]
		}
		if rel, err := filepath.Rel(dir, g.Docroot); err == nil && rel != "." {
			docroot = filepath.ToSlash(rel)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", dir, system.Cause(err))
	}
	set.root = root
	return set, fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		base := d.Name()
		switch {
		case err != nil && name == ".":
			return fmt.Errorf("open project %s: %w", dir, system.Cause(err))
		case err != nil || len(set.files) > maxFiles:
			return nil
		case d.IsDir():
			if set.generator.Foreign(root.FS(), name) || name == docroot || slices.Contains(notOwn, name) {
				return fs.SkipDir
			}
			if slices.Contains([]string{"layouts", "partials", "_partials", path.Dir(headPartial)}, base) && set.language() == generator.GoTemplates {
				set.leftovers = append(set.leftovers, name)
			}
			return nil
		case base[0] == '.':
			if i := strings.LastIndex(base, ".sitelink-"); i > 0 && system.IsTemporary(base, base[1:i]) {
				set.leftovers = append(set.leftovers, name)
			}
			return nil
		case !d.Type().IsRegular() || !slices.Contains(templateEndings, path.Ext(base)):
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxTemplate {
			return nil
		}
		if text, err := system.ReadFS(root.FS(), name, maxTemplate); err == nil {
			set.files[name] = &file{text: text, bare: without(text), mode: info.Mode().Perm()}
		}
		return nil
	})
}

// Close releases the directory of the project.
func (p *Plan) Close() { p.root.Close() }

// Clean reports whether the templates are as the configuration wants them.
func (p *Plan) Clean() bool { return len(p.Changes) == 0 && !p.Missing }

// plan returns the changes that turn the project into what it should be: the project
// without marked text, with the edits. Of several edits of a file, the last counts.
func (s *templateSet) plan(edits []edit) (*Plan, error) {
	wanted := map[string]*edit{}
	for i := range edits {
		wanted[edits[i].path] = &edits[i]
	}
	after := map[string][]byte{}
	for name, f := range s.files {
		if !same(f.text, f.bare) {
			after[name] = f.bare
		}
	}
	for name, e := range wanted {
		f := s.files[name]
		switch {
		case f == nil || f.bare == nil:
			if err := s.mayCreate(name, f); err != nil {
				return nil, err
			}
			after[name] = e.lang.file(e.inner(), whyFile+e.whyMore())
		case f.mode&0o200 == 0:
			return nil, fmt.Errorf("%s: the file is read-only", name)
		case e.insert != nil:
			after[name] = e.insert(f.bare, e.inner())
		default:
			after[name] = e.lang.add(f.bare, e.inner())
		}
	}
	p := s.planOf(after)
	for name, e := range wanted {
		p.place(name, after[name], e.how)
	}
	slices.SortFunc(p.Places, func(a, b Place) int { return cmp.Compare(a.Path, b.Path) })
	return p, nil
}

// whyFile is a comment in each file that sitelink creates.
const whyFile = "written by sitelink inject; sitelink inject --undo removes it, but keeps text outside the marks"

func (e *edit) whyMore() string {
	if strings.HasSuffix(e.path, headPartial) {
		return "; the table [templates] in sitelink.toml configures this text"
	}
	return ""
}

// mayCreate returns an error if a file of this name cannot be created in the project
// itself: the name is taken, or a symbolic link leads elsewhere.
func (s *templateSet) mayCreate(name string, f *file) error {
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		switch info, err := s.root.Lstat(name[:i]); {
		case err != nil:
			return nil
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("%s: a symbolic link, through which sitelink does not write", name[:i])
		case i == len(name) && f == nil:
			return fmt.Errorf("%s: the file exists, and sitelink did not create it", name)
		}
	}
	return nil
}

// planOf returns the plan that gives the files these texts.
func (s *templateSet) planOf(after map[string][]byte) *Plan {
	p := &Plan{root: s.root, leftovers: s.leftovers}
	for name, text := range after {
		c := Change{Path: name, After: text}
		if f := s.files[name]; f != nil {
			c.Before, c.mode = f.text, f.mode
		}
		if !same(c.Before, c.After) {
			p.Changes = append(p.Changes, c)
		}
	}
	slices.SortFunc(p.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Path, b.Path))
	})
	return p
}

// rank orders the changes: a called template is written before those that call it, and
// removed after them.
func (c *Change) rank() int {
	rank := 2
	if strings.HasSuffix(c.Path, headPartial) {
		rank = 0
	} else if c.Path == hugoModule || strings.HasPrefix(c.Path, "mkdocs.") {
		rank = 1
	}
	if _, ok := findRegion(c.After); !ok {
		return 10 - rank
	}
	return rank
}

func (p *Plan) place(name string, text []byte, how string) {
	if r, ok := findRegion(text); ok {
		p.Places = append(p.Places, Place{name, 1 + bytes.Count(text[:r.innerStart], []byte("\n")), how})
	}
}

func same(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

// Undo plans the removal of everything that was injected.
func Undo(p *project.Project) (*Plan, error) {
	set, err := open(p)
	if err != nil {
		return nil, err
	}
	return set.plan(nil)
}

// Refresh compares what was injected with the configuration. It builds nothing and
// starts no program. If nothing was injected, the plan is [Plan.Missing].
func Refresh(p *project.Project) (*Plan, error) {
	set, err := open(p)
	if err != nil {
		return nil, err
	}
	if err := set.refused(); err != nil {
		return nil, err
	}
	return set.refresh(), nil
}

// refresh puts the configured elements between the marks. It leaves marked text alone
// that no place explains.
func (s *templateSet) refresh() *Plan {
	after := map[string][]byte{}
	var edits []edit
	if s.language() == generator.GoTemplates { // the call of a partial does not change
		edits = []edit{s.head()}
	} else {
		for _, c := range s.candidates("") {
			edits = append(edits, c...)
		}
	}
	carried := false
	for name, f := range s.files {
		r, ok := findRegion(f.text)
		if !ok {
			continue
		}
		inner := string(f.text[r.innerStart:r.innerEnd])
		if s.language() == generator.GoTemplates {
			carried = carried || !strings.HasSuffix(name, headPartial) && strings.Contains(inner, headPartial)
		} else {
			carried = carried || strings.Contains(inner, "<link rel=")
		}
		for i := range edits {
			e := &edits[i]
			if e.path == name && len(inner) >= len(e.before)+len(e.after) && strings.HasPrefix(inner, e.before) && strings.HasSuffix(inner, e.after) {
				after[name] = splice(f.text, r.innerStart, r.innerEnd, e.inner())
				break
			}
		}
	}
	if e := s.head(); s.language() == generator.GoTemplates && carried && after[e.path] == nil {
		after[e.path] = e.lang.file(e.inner(), whyFile+e.whyMore())
	}
	p := s.planOf(after)
	p.Missing = !carried
	for _, c := range p.Changes {
		p.place(c.Path, c.After, "the elements")
	}
	return p
}

// Diff returns the changes, in their order, as a unified diff for patch(1) or
// git apply.
func (p *Plan) Diff() []byte {
	var b bytes.Buffer
	for _, c := range p.Changes {
		from, to := "a/"+c.Path, "b/"+c.Path
		if c.Before == nil {
			from = "/dev/null"
		}
		if c.After == nil {
			to = "/dev/null"
		}
		text := diff.Diff(from, c.Before, to, c.After)
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // "diff a b", which git would read as a header of its own format
			text = rest
		}
		b.Write(text)
	}
	return b.Bytes()
}

// Apply makes the changes, and replaces each file atomically. It stops at a file that
// has changed since the plan was made. After an interruption, the marks show what was
// written: a new plan continues, or takes it back.
func (p *Plan) Apply() error {
	for _, name := range slices.Backward(p.leftovers) {
		removeEmpty(p.root, name)
	}
	for _, c := range p.Changes {
		now, err := system.ReadFS(p.root.FS(), c.Path, maxTemplate)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			now = nil
		case err != nil:
			return fmt.Errorf("read %s: %w", c.Path, system.Cause(err))
		case now == nil:
			now = []byte{}
		}
		switch {
		case !same(now, c.Before):
			return fmt.Errorf("change %s: the file has changed in the meantime; run the command again", c.Path)
		case c.After != nil:
			err = system.WriteFileIn(p.root, c.Path, c.After, c.mode)
		default:
			if err = p.root.Remove(c.Path); err == nil {
				removeEmpty(p.root, path.Dir(c.Path))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeEmpty removes a file or an empty directory, and the directories above it that
// are empty then.
func removeEmpty(root *os.Root, dir string) {
	for dir != "." && root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}
