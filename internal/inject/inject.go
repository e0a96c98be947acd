// Package inject inserts link elements for a site's endpoints into the
// templates of its generator, and removes them again.
//
// [Find] returns a [Plan] for the directory of a project: the files to change,
// with their content before and after. [Plan.Apply] writes them. Everything it
// writes is between two marks, which are comments of the template language. A
// plan compares the project without the marked text with what the project
// should be, so a second run changes nothing and edits around the marks
// survive. The package never writes into a theme, a module or a package, or
// outside the project.
//
// It prefers these places, in this order: the stub that the theme calls at the
// end of its head, a line in a template of the project, and a file that
// overrides an empty file of the theme. If built pages show that the end of the
// head is too late, a place near its start comes first.
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

// Options configures [Find].
type Options struct {
	// Generator builds the site; see [generator.Detect].
	Generator generator.Name
	Endpoints templates.Endpoints
	// Choice selects the pages that get the elements.
	Choice templates.Choice
	// Themes are rows in addition to the built-in table, and take precedence.
	Themes []Theme
	// Headers are the rules with which the site's host can send the endpoints.
	// They are used when no template can be changed.
	Headers []templates.HeaderRule
	// Built has the positions in built pages that the Choice selects. If elements
	// at the end of the head would be after the first [layout.MaxOffset] bytes,
	// places near its start come first.
	Built layout.Built
	// Modules are the directories in which Go and Hugo store modules.
	Modules []string
}

// Theme is a row of the table of themes.
type Theme struct {
	// Name is the theme's directory, or the end of its module path without the
	// version, or a word of it. Letter case is ignored.
	Name string
	// Stub is the template that the theme leaves to its users, as the theme
	// calls it.
	Stub string
}

// Plan is a list of changes, not yet made.
type Plan struct {
	// Changes are in the order in which Apply makes them.
	Changes []Change
	// Places are where the elements are once the plan is applied.
	Places []Place
	// Refusals explain why the elements cannot be inserted. A plan with refusals
	// has no changes.
	Refusals []Refusal
	// Notes are facts that the user should know.
	Notes []string

	root   *os.Root
	record record
	isUndo bool
	// unfinished: the record shows that an earlier run was interrupted.
	unfinished bool
	// dropDirs are directories of removed files.
	dropDirs []string
	// paths are all files that were examined, changed or not.
	paths []string
	// hadRecord: the record existed when the plan was made.
	hadRecord bool
}

// Change is a change of one file. Before is nil if the file does not exist,
// After is nil if it is to be removed.
type Change struct {
	// Path is relative to the project.
	Path          string
	Before, After []byte

	mode fs.FileMode
	rank int
}

// Place is a place of the elements.
type Place struct {
	// Path is the file, relative to the project, and Line the line of the mark
	// once the plan is applied.
	Path string
	Line int
	// How describes the place for a person.
	How string
}

// Refusal explains why the elements cannot be inserted, and what the user can
// do.
type Refusal struct {
	// Path and Line locate the reason. Line is 0 for a whole file, Path is ""
	// for the whole project.
	Path string
	Line int
	// Reason is a phrase without a full stop.
	Reason string
	// Next tells the user what to do. If it asks for text to be pasted, Paste is
	// that text, otherwise Paste is "".
	Next, Paste string

	// unreachable: the head is part of the theme, which has no place for the
	// elements.
	unreachable bool
}

// What a user can do about several refusals.
const (
	nextPasteHead = "paste this into the <head>, right after the charset declaration"
	nextBuilt     = "run sitelink inject --docroot after each build: it writes the elements into the built pages"
	nextPatterns  = "run sitelink inject --docroot after each build: it supports all patterns"
	nextUTF8      = "convert the file to UTF-8 and run the command again"
)

// refuseOwnEndpoint returns the refusal for a template that has an element for
// an endpoint already (PB-21).
func refuseOwnEndpoint(l layout.Link, text []byte) Refusal {
	return Refusal{Path: l.File, Line: layout.Line(text, l.Offset),
		Reason: "the template names a " + l.Rel + " endpoint itself, and a page must name only one",
		Next:   "remove the element from the template, or the key from [templates] in sitelink.toml"}
}

// refusePlace returns the refusal for an error of [layout.Doc.Place] about the
// template file. Its line is the first that the error refers to.
func refusePlace(file string, err error, text func(file string) ([]byte, bool)) Refusal {
	r := Refusal{Path: file, Reason: err.Error(), Next: nextPasteHead}
	no, ok := err.(*layout.NoPlaceError)
	if !ok {
		return r
	}
	var lines []string
	for i, spot := range no.Spots {
		text, ok := text(spot.File)
		if !ok {
			continue
		}
		line := layout.Line(text, spot.Offset)
		if i == 0 {
			r.Path, r.Line = spot.File, line
		}
		lines = append(lines, fmt.Sprintf("%s:%d", spot.File, line))
	}
	if len(lines) > 1 {
		r.Reason += " (" + strings.Join(lines, ", ") + ")"
	}
	return r
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

// edit is text to insert into a file.
type edit struct {
	path string
	lang layout.Language
	// inner is the text between the marks.
	inner string
	// create: sitelink creates the file, with the comment why.
	create bool
	why    string
	// insert returns the text of an existing file with inner in it.
	insert func(text []byte) []byte
	// rank orders the changes: a template is written before those that call it.
	rank int
	// how becomes [Place.How].
	how string
	// header is set for the file with the host's header rules, which have marks of
	// their own.
	header *templates.HeaderRule
}

// finding is the result of the search in one generator's templates.
type finding struct {
	edits    []edit
	refusals []Refusal
	notes    []string
}

// finders has the supported generators.
var finders = map[generator.Name]func(p *project) (finding, error){
	generator.Hugo:       findHugo,
	generator.Jekyll:     findJekyll,
	generator.Eleventy:   findEleventy,
	generator.Zola:       findZola,
	generator.MkDocs:     findMkDocs,
	generator.Astro:      findAstro,
	generator.Docusaurus: findDocusaurus,
}

// Find plans the injection into the project at root, without writing anything.
// It returns an error if it cannot read the project. If it finds no place for
// the elements, the plan has a [Refusal].
//
// Elements that an earlier run wrote because of Built stay where they are: a run
// before the site is built must find nothing to change.
func Find(root *os.Root, opt Options) (*Plan, error) {
	plan, err := findPlan(root, opt)
	if err != nil || plan.Clean() || !plan.hadElements() {
		return plan, err
	}
	const late = layout.MaxOffset
	for _, built := range []layout.Built{{HeadEnd: late}, {HeadEnd: late, Charset: late}} {
		earlier := opt
		if earlier.Built = built; built.Charset < opt.Built.Charset && opt.Built.Charset+len(opt.Endpoints.HTML(true)) > late {
			continue // that place would be too late, too
		}
		if early, err := findPlan(root, earlier); err == nil && early.Clean() {
			return early, nil
		}
	}
	return plan, nil
}

// hadElements reports whether an earlier run wrote elements.
func (p *Plan) hadElements() bool {
	return p.hadRecord || slices.ContainsFunc(p.Changes, func(c Change) bool {
		_, marked := layout.Marked(c.Before)
		return marked
	})
}

func findPlan(root *os.Root, opt Options) (*Plan, error) {
	find, ok := finders[opt.Generator]
	if !ok {
		return &Plan{root: root, Refusals: []Refusal{{Reason: "the project has no generator that inject supports", Next: nextBuilt}}}, nil
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
			found.notes = append(found.notes, found.refusals[0].Error()+"; the host sends the endpoints in headers instead, for all pages")
			found.edits, found.refusals = []edit{e}, nil
		}
	}
	if len(found.refusals) > 0 {
		// All or nothing: you could not see which pages lack the elements.
		return &Plan{root: root, Refusals: found.refusals, Notes: found.notes}, nil
	}
	plan, err := p.plan(found.edits)
	if err != nil {
		return nil, err
	}
	plan.Notes = append(plan.Notes, found.notes...)
	return plan, nil
}

// Undo plans the removal of everything that was injected.
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

// plan returns the changes that turn the project into what it should be: the
// project without marked text, with the edits.
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

// change returns the change of one file. If want is false, the file should have
// no marked text.
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
		r := &Refusal{Path: path, Reason: f.refusal, Next: "remove the marked text by hand"}
		if want {
			r.Next, r.Paste = "paste this by hand ("+e.how+")", e.inner
		}
		return c, entry, r, nil
	case !want:
		c.After = bare
		// A template goes after those that call it.
		c.rank = 1
		switch {
		case strings.HasSuffix(path, headPartial):
			c.rank = 3
		case bare == nil:
			c.rank = 2
		}
		if want := p.record.of(path); want.After == sum(f.text) && want.Before != sum(bare) {
			return c, entry, nil, fmt.Errorf("remove the marked text from %s: the result differs from the file before injection; nothing was changed", path)
		}
		return c, entry, nil, nil
	case e.create && bare != nil && !f.isFile:
		return c, entry, &Refusal{Path: path, Reason: "the file exists, and sitelink did not create it", Next: "rename the file, or paste this into it", Paste: e.inner}, nil
	}
	if r, ok := lang.FindRegion(f.text); ok && !(p.endIsLate() && p.record.of(path).After == sum(f.text)) {
		// If the user moved the marks, they stay there. Marks that sitelink wrote too
		// late are moved.
		c.After = append(append(slices.Clone(f.text[:r.InnerStart]), e.inner...), f.text[r.InnerEnd:]...)
	} else if bare == nil {
		c.After = lang.File(e.inner, cmp.Or(e.why, whyFile))
	} else {
		c.After = e.insert(bare)
	}
	entry = fileRecord{Path: path, Language: lang.String(), Before: sum(bare), After: sum(c.After)}
	return c, entry, nil, nil
}

// whyFile is a comment in each file that sitelink creates.
const whyFile = "written by sitelink inject; sitelink inject --undo removes it, but keeps text outside the marks"

func same(a, b []byte) bool {
	return (a == nil) == (b == nil) && string(a) == string(b)
}

// Clean reports whether the plan has neither changes nor refusals.
func (p *Plan) Clean() bool { return len(p.Changes) == 0 && len(p.Refusals) == 0 }

// Err returns the refusals as errors, nil without refusals.
func (p *Plan) Err() error {
	var all []error
	for _, r := range p.Refusals {
		all = append(all, r)
	}
	return errors.Join(all...)
}

// dirsOf returns the directories above a path, inner ones first.
func dirsOf(path string) []string {
	var dirs []string
	for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
		dirs = append(dirs, path[:i])
	}
	return dirs
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
