// Package inject puts the link elements of a site's endpoints into the
// templates of its generator, and takes them out again.
//
// The directory of a project and the endpoints enter; a [Plan] leaves, the list
// of files to change with their bytes before and after. [Plan.Apply] carries it
// out. What is written stands between marks that are comments of the template
// language, so that the plan starts from the project as it would be without
// them: a second run finds nothing to change, and an edit around the marks
// survives. Nothing is ever written into a theme, a module or a package, and
// nothing outside of the project.
//
// Places, from the best: the stub that the theme calls at the end of its head,
// a line in the project's own template, a file that overrides an empty one of
// the theme. A generator is a file of this package.
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
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/layout"
	"github.com/sitelink/sitelink/templates"
)

// Options say what is injected where.
type Options struct {
	// Generator makes the site; see [generator.Detect].
	Generator generator.Name
	Endpoints templates.Endpoints
	// Choice chooses the pages.
	Choice templates.Choice
	// Themes are rows beside those that are built in; the first that has the
	// theme's name counts.
	Themes []Theme
	// Headers are the rules by which the site's host can send the endpoints; they
	// are used when no template can be reached.
	Headers []templates.HeaderRule
	// Modules are the directories in which Go and Hugo keep modules.
	Modules []string
}

// Theme is a row of the table of themes.
type Theme struct {
	// Name is the theme's directory, or the end of its module's path without
	// version, or a word of it; letter case does not count.
	Name string
	// Stub is the template that the theme leaves to its users, as it calls it.
	Stub string
}

// Plan is what has to be changed.
type Plan struct {
	// Changes are in the order in which they are to be made.
	Changes []Change
	// Places say where the elements stand or will stand.
	Places []Place
	// Refusals are pages for which no place was found.
	Refusals []Refusal
	// Notes are facts that the user should know.
	Notes []string

	root   *os.Root
	record record
	isUndo bool
	// unfinished: the record says that files were still to be written.
	unfinished bool
	dropDirs   []string
	// paths are the files that were looked at, changed or not.
	paths []string
	// hadRecord: there was a record.
	hadRecord bool
}

// Change is one file. Before is nil when it is not there, After when it is to
// be removed.
type Change struct {
	// Path is the file, relative to the project.
	Path          string
	Before, After []byte

	mode fs.FileMode
	rank int
}

// Place is where the elements stand.
type Place struct {
	// Path is the file, relative to the project, and Line the line of the mark
	// once the plan has been carried out.
	Path string
	Line int
	// How says what kind of place it is, for a person.
	How string
}

// Refusal says why no place was found, and what the user can do.
type Refusal struct {
	// Path and Line are where the reason lies; Line is 0 for a whole file, Path
	// "" for the project.
	Path string
	Line int
	// Reason is a phrase, Paste what to insert by hand, and Where the place for
	// it; both may be empty.
	Reason, Paste, Where string

	// unreachable: the head is not the project's, and leaves it no place.
	unreachable bool
}

func (r Refusal) Error() string {
	place := r.Path
	if r.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, r.Line)
	}
	if place != "" {
		place += ": "
	}
	return place + r.Reason
}

// edit is something that a generator wants to have in a file.
type edit struct {
	path string
	lang layout.Language
	// inner is what stands between the marks.
	inner string
	// create: the file is ours; why is said in it.
	create bool
	why    string
	// insert returns the text of an existing file with inner in it.
	insert func(text []byte) []byte
	// rank orders the changes: what others call comes first.
	rank int
	how  string
	// header is the rule of a host's file, which has marks of its own.
	header *templates.HeaderRule
}

// finding is what a generator's file found.
type finding struct {
	edits    []edit
	refusals []Refusal
	notes    []string
}

// finders are the generators whose templates are known.
var finders = map[generator.Name]func(p *project) (finding, error){
	generator.Hugo:       findHugo,
	generator.Jekyll:     findJekyll,
	generator.Eleventy:   findEleventy,
	generator.Zola:       findZola,
	generator.MkDocs:     findMkDocs,
	generator.Astro:      findAstro,
	generator.Docusaurus: findDocusaurus,
}

// Find plans the injection into the project at root. It writes nothing. The
// error means that the project could not be read; a place that is not found is
// a [Refusal].
func Find(root *os.Root, opt Options) (*Plan, error) {
	find, ok := finders[opt.Generator]
	if !ok {
		name := opt.Generator.Title()
		return &Plan{root: root, Refusals: []Refusal{{Reason: cmp.Or(name, "no generator") + ": where its templates are is not known",
			Where: "sitelink inject --docroot, which writes the elements into the built pages"}}}, nil
	}
	p, err := open(root, opt)
	if err != nil {
		return nil, err
	}
	found, err := find(p)
	if err != nil {
		return nil, err
	}
	if len(found.refusals) > 0 && !slices.ContainsFunc(found.refusals, func(r Refusal) bool { return !r.unreachable }) {
		if e, ok := p.headers(); ok {
			found.notes = append(found.notes, found.refusals[0].Error()+"; so the host sends the endpoints in headers, with all pages")
			found.edits, found.refusals = []edit{e}, nil
		}
	}
	if len(found.refusals) > 0 {
		// All or nothing: with some of the pages only, nobody could tell which.
		return &Plan{root: root, Refusals: found.refusals, Notes: found.notes}, nil
	}
	plan, err := p.plan(found.edits)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, found.notes...)
	return plan, nil
}

// Undo plans to take out all that was injected.
func Undo(root *os.Root) (*Plan, error) {
	p, err := open(root, Options{})
	if err != nil {
		return nil, err
	}
	plan, err := p.plan(nil)
	if err != nil {
		return nil, err
	}
	plan.isUndo = true
	return plan, nil
}

// plan compares the project with what it should be: as it is without the marks,
// with the edits.
func (p *project) plan(edits []edit) (*Plan, error) {
	plan := &Plan{root: p.root, unfinished: p.record.Writing, record: record{Version: recordVersion, Dirs: slices.Clone(p.record.Dirs)}}
	wanted := map[string]edit{}
	for _, e := range edits {
		e.path = p.canonical(e.path)
		if _, twice := wanted[e.path]; twice {
			continue // two pages share the place
		}
		wanted[e.path] = e
	}
	var paths []string
	for _, path := range p.marked() {
		if path = p.canonical(path); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for path := range wanted {
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	plan.paths, plan.hadRecord = paths, p.hadRecord
	for _, path := range paths {
		e, want := wanted[path]
		c, entry, refused, err := p.change(path, e, want)
		switch {
		case err != nil:
			return nil, err
		case refused != nil:
			plan.Refusals = append(plan.Refusals, *refused)
			continue
		}
		if want {
			at := 0
			if r, ok := e.lang.FindRegion(c.After); ok {
				at = r.InnerStart
			} else if e.header != nil {
				at = max(0, bytes.Index(c.After, []byte("sitelink")))
			}
			plan.Places = append(plan.Places, Place{path, layout.Line(c.After, at), e.how})
			plan.record.Files = append(plan.record.Files, entry)
		} else if c.After == nil {
			plan.dropDirs = append(plan.dropDirs, dirsOf(path)...)
		}
		if same(c.Before, c.After) {
			continue
		}
		plan.Changes = append(plan.Changes, c)
	}
	if len(plan.Refusals) > 0 {
		plan.Changes = nil
	}
	slices.SortStableFunc(plan.Changes, func(a, b Change) int { return cmp.Compare(a.rank, b.rank) })
	return plan, nil
}

// change works out one file.
func (p *project) change(path string, e edit, want bool) (c Change, entry fileRecord, refused *Refusal, err error) {
	if isHeaderFile(path) {
		return p.changeHeaders(path, e, want)
	}
	f, err := p.file(path)
	if err != nil {
		return c, entry, nil, err
	}
	c = Change{Path: path, Before: f.text, mode: f.mode, rank: e.rank}
	lang := f.lang
	if want {
		lang = e.lang
	}
	bare := f.bare(lang)
	switch {
	case f.refusal != "" && (want || f.text != nil):
		return c, entry, &Refusal{Path: path, Reason: f.refusal, Paste: e.inner, Where: e.how}, nil
	case !want:
		c.After = bare
		// What is called goes last.
		c.rank = 1
		switch {
		case strings.HasSuffix(path, headPartial):
			c.rank = 3
		case bare == nil:
			c.rank = 2
		}
		if want := p.record.sumOf(path); want.After == sum(f.text) && want.Before != sum(bare) {
			return c, entry, nil, fmt.Errorf("take the marks out of %s: the result is not what the file was; nothing is changed", path)
		}
		return c, entry, nil, nil
	case e.create && bare != nil && !f.isFile:
		return c, entry, &Refusal{Path: path, Reason: "the file is there, and not by sitelink", Paste: e.inner, Where: "there, or move the file away"}, nil
	}
	if r, ok := lang.FindRegion(f.text); ok {
		// Where the user has moved the marks to, they stay.
		c.After = append(append(slices.Clone(f.text[:r.InnerStart]), e.inner...), f.text[r.InnerEnd:]...)
	} else if bare == nil {
		c.After = lang.File(e.inner, cmp.Or(e.why, whyFile))
	} else {
		c.After = e.insert(bare)
	}
	entry = fileRecord{Path: path, Language: lang.String(), Before: sum(bare), After: sum(c.After)}
	return c, entry, nil, nil
}

// whyFile is said in the files that are created.
const whyFile = "written by sitelink inject; sitelink inject --undo removes it, text outside of the marks stays"

func same(a, b []byte) bool {
	return (a == nil) == (b == nil) && string(a) == string(b)
}

// Clean tells whether nothing has to be changed.
func (p *Plan) Clean() bool { return len(p.Changes) == 0 && len(p.Refusals) == 0 }

// Err returns the refusals as errors, nil if there is none.
func (p *Plan) Err() error {
	var all []error
	for _, r := range p.Refusals {
		all = append(all, r)
	}
	return errors.Join(all...)
}

func dirsOf(path string) []string {
	var dirs []string
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		dirs = append(dirs, path[:i])
	}
	return dirs
}

// Diff returns the changes as a unified diff that patch(1) and git apply read,
// the files in alphabetical order of the plan's changes.
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
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok { // "diff a b", which git reads as a header of its own
			text = rest
		}
		b.Write(text)
	}
	return b.Bytes()
}
