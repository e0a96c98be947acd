// Package move gives pages, sections and static files of a site another name, and
// keeps every link to them alive.
//
// [Make] tries the move in a copy of the project. It builds the copy before and after, so
// it knows from the generator which addresses change, which links lead to them, and whether
// the new site is as sound as the old one. The result is an [destination.Set] for the
// user's files, which Make does not touch, and a [Plan] that says what happens: addresses,
// links that templates compose and a redirect keeps alive, and everything that the move
// would break.
package move

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/run/audit/record"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Options say what to move.
type Options struct {
	// Old and New are paths of the sources, as the user wrote them in the project's
	// Dir, or addresses of the site. If Old has a fragment, it is the text or id of a
	// heading, and New is its new text.
	Old, New string
	// KeepID keeps the id of a heading.
	KeepID bool
	// Note takes lines for the user; nil drops them.
	Note func(text string)
}

// Pair is a name before and after.
type Pair redirect.Pair

// Plan is a move.
type Plan struct {
	// Set are the edits of the user's files.
	Set *destination.Set
	// Renames are the moved files and directories, by slash paths below the root.
	Renames []Pair
	// Heading is the renamed heading: its ids. Page is its address.
	Heading *Pair
	Page    string
	// Addresses are those that change, as paths, sorted.
	Addresses []Pair
	// Links is how many destinations are rewritten, in Files files.
	Links, Files int
	// Composed are links of the new site that still lead to old addresses, by a
	// redirect: templates compose them. They have positions where these are known.
	Composed []check.Finding
	// Kept are addresses that templates compose from the new address of a page, with
	// what they redirect to, so that their links keep working.
	Kept []Pair
	// Broken are findings that only the new site has.
	Broken []check.Finding
	// Lost are old addresses that the new site does not answer.
	Lost []string
}

// mover plans a move. It tries a set of changes in a copy of the project, which it builds before
// and after.
type mover struct {
	opt       Options
	shadow    *shadow
	plan      *Plan
	before    *version
	pages     *pages // before
	names     *addressMap
	documents map[string]*document
	edited    map[string]bool // files with rewritten links
	renamed   bool            // the files of the copy have their new names
	// fragments are the new ids of a renamed heading by the old ones, on the page with the
	// address fragmentPage.
	fragments    map[string]string
	fragmentPage string

	// Old addresses answer by aliases in front matter and by rules of the host.
	aliases map[string]*aliases // by file
	aliased map[string]bool     // addresses that front matter answers
	rules   rules
	returns bool                    // the move takes one back that is not committed
	placed  map[string][]placedLink // links of the pages that move, by their pages

	// Destinations in the sources get new values.
	left map[[2]string]bool // links that led nowhere, by new file and value
	refs refs
}

// begin copies the project, and builds and reads the site as it is. close removes the copy.
func begin(ctx context.Context, p *project.Project, opt Options) (m *mover, err error) {
	s, err := openShadow(ctx, p)
	if err != nil {
		return nil, err
	}
	m = &mover{
		opt: opt, shadow: s, documents: map[string]*document{}, edited: map[string]bool{}, plan: &Plan{Set: destination.NewSet(p.Root, p.Env())},
		aliases: map[string]*aliases{}, aliased: map[string]bool{}, placed: map[string][]placedLink{}, left: map[[2]string]bool{},
	}
	if m.before, err = s.publish(ctx, "before"); err != nil {
		err = explainBuild(err, "the site cannot be built as it is", "repair the build first")
	} else {
		m.pages, err = m.readPages(ctx)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *mover) close() {
	if m.before != nil {
		m.before.audit.Close()
	}
	m.shadow.Close()
}

// Make plans a move. It changes nothing but the cache. Errors carry hints.
func Make(ctx context.Context, p *project.Project, opt Options) (*Plan, error) {
	m, err := begin(ctx, p, opt)
	if err != nil {
		return nil, err
	}
	defer m.close()
	old, fragment, isHeading := strings.Cut(opt.Old, "#")
	if _, noFile := os.Lstat(p.Abs(opt.Old)); isHeading && noFile != nil {
		err = m.renameHeading(ctx, old, fragment)
	} else {
		err = m.rename(ctx)
	}
	if err != nil {
		return nil, err
	}
	after, err := m.try(ctx)
	if err != nil {
		return nil, err
	}
	for _, first := range []bool{true, false} { // the second time for what did not answer after the first
		changed, err := m.redirect(ctx, after, first)
		if err != nil || !changed {
			defer after.audit.Close()
			if err != nil {
				return nil, err
			}
			return m.plan, m.prove(ctx, after)
		}
		after.audit.Close()
		if after, err = m.try(ctx); err != nil {
			return nil, err
		}
	}
	defer after.audit.Close()
	return m.plan, m.prove(ctx, after)
}

// redirect adds redirects from the addresses that the new site has lost, and from
// the targets of links that templates compose. It reports whether it changed a
// file.
func (m *mover) redirect(ctx context.Context, after *version, first bool) (changed bool, err error) {
	if m.returns {
		return false, nil
	}
	lost := m.lost(after)
	if first {
		if changed, err = m.aliasMoved(after); err != nil {
			return false, err
		}
		lost = slices.DeleteFunc(lost, func(p Pair) bool { return m.aliased[p.Old] || m.aliased[p.Old+".html"] })
	}
	done, err := m.answer(lost, after)
	if err != nil || !first {
		return changed || len(done) > 0, err
	}
	c, err := m.compose(ctx, after, m.added(after.findings))
	if err != nil {
		return false, err
	}
	m.plan.Kept, err = m.answer(c.aliases, after)
	return changed || len(done)+len(m.plan.Kept) > 0, err
}

func (m *mover) note(format string, args ...any) {
	if m.opt.Note != nil {
		m.opt.Note(fmt.Sprintf(format, args...))
	}
}

func explainBuild(err error, what, hint string) error {
	var failed *BuildError
	if errors.As(err, &failed) {
		return text.WithHint(fmt.Errorf("%s: %w", what, failed), hint)
	}
	return err
}

// rename plans the move of files.
func (m *mover) rename(ctx context.Context) error {
	from, to, address, err := m.resolveNames()
	if err != nil {
		return err
	}
	set := m.plan.Set
	if err := set.Rename(from, to); err != nil {
		return err
	}
	m.plan.Renames = []Pair{{from, to}}
	m.noteTranslations(from)
	if err := m.rewriteTags(); err != nil {
		return err
	}
	if err := m.rewriteImports(); err != nil {
		return err
	}
	after, err := m.listRenamed(ctx)
	if err != nil {
		return err
	}
	m.names = m.mapAddresses(from, to, after)
	if address != "" && !slices.ContainsFunc(m.names.all(), func(p Pair) bool { return samePath(m.rooted(p.New), m.rooted(address)) }) {
		return text.Usage(fmt.Sprintf("%s would not be at %s: front matter or the configuration gives it another address", to, address),
			"name the new file instead of the address")
	}
	m.plan.Addresses = m.names.all()
	if err := m.addIndex(from, to); err != nil {
		return err
	}
	if err := m.takeBack(ctx, from, to); err != nil {
		return err
	}
	return m.rewrite(ctx)
}

// Undo takes the last move back.
func Undo(ctx context.Context, root string, env []string) (*destination.Undone, error) {
	command, _, _ := destination.Last(root) // Undo reads it again
	if command != "" && !strings.HasPrefix(command, "sitelink mv ") {
		return nil, text.Usage(fmt.Sprintf("the last change was not a move: %q", command), "to take it back: sitelink fix --undo")
	}
	u, err := destination.Undo(ctx, root, env)
	if errors.Is(err, destination.ErrNothing) {
		return nil, text.Usage("there is no move to undo", "")
	}
	return u, err
}

// listRenamed lists the pages after the move. The copy has its old names again when it
// returns, because positions of links are found in it.
func (m *mover) listRenamed(ctx context.Context) ([]*page, error) {
	if err := m.apply(); err != nil {
		return nil, err
	}
	after, err := m.listPages(ctx)
	return after, errors.Join(err, m.restore())
}

// renameInShadow gives the files of the copy their new names, or the old ones.
func (m *mover) renameInShadow(forth bool) error {
	if m.renamed == forth {
		return nil
	}
	m.renamed = forth
	for _, name := range m.plan.Set.Files() {
		to := m.plan.Set.NewName(name)
		if to == name {
			continue
		}
		if !forth {
			name, to = to, name
		}
		err := os.MkdirAll(filepath.Dir(m.shadow.at(to)), 0o777)
		if err == nil {
			err = os.Rename(m.shadow.at(name), m.shadow.at(to))
		}
		if err != nil {
			return fmt.Errorf("move %s in the copy of the project: %w", name, system.Cause(err))
		}
		for dir := filepath.Dir(m.shadow.at(name)); dir != m.shadow.root && os.Remove(dir) == nil; dir = filepath.Dir(dir) {
		}
	}
	return nil
}

// apply gives the files of the copy the names and texts of the set.
func (m *mover) apply() error {
	set := m.plan.Set
	if err := m.renameInShadow(true); err != nil {
		return err
	}
	for _, name := range set.Files() {
		if len(set.Edits(name)) == 0 {
			continue
		}
		text, _ := set.Text(name) // it was read for its edits
		if err := system.WriteFile(m.shadow.at(set.NewName(name)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// try publishes the copy with the names and texts of the set.
func (m *mover) try(ctx context.Context) (*version, error) {
	if err := m.apply(); err != nil {
		return nil, err
	}
	v, err := m.shadow.publish(ctx, "after")
	return v, explainBuild(err, "the site cannot be built after the move, so nothing was changed", "templates, configuration or shortcodes may name the old file")
}

// restore writes the texts from before into the copy again.
func (m *mover) restore() error {
	set := m.plan.Set
	for _, name := range set.Files() {
		if len(set.Edits(name)) == 0 {
			continue // it need not be a text
		}
		text, _, _ := set.Read(name)
		if err := system.WriteFile(m.path(name), text, 0o666); err != nil {
			return err
		}
	}
	return m.renameInShadow(false)
}

// document reads a source file, and makes sure that it is what was built.
func (m *mover) document(file string) (*document, error) {
	if d := m.documents[file]; d != nil {
		return d, nil
	}
	text, hash, err := m.plan.Set.Read(file)
	if err != nil {
		return nil, err
	}
	if built, err := system.Read(m.path(file), 64<<20); err != nil || !bytes.Equal(built, text) {
		return nil, &destination.Error{File: file, Err: destination.ErrStale}
	}
	d := &document{file, text, hash, destination.In(file, text, m.generator())}
	m.documents[file] = d
	return d, nil
}

// renameHeading plans a new text for a heading of a page.
func (m *mover) renameHeading(ctx context.Context, pageName, name string) error {
	m.names = &addressMap{base: m.before.audit.Site.BasePath()}
	file, err := m.pageFile(pageName)
	if err != nil {
		return err
	}
	f := m.pages.byFile[file]
	if f == nil {
		return text.Usage(pageName+" is not a page that the generator makes", "name the page's source file or its address")
	}
	if strings.ContainsAny(m.opt.New, "\r\n") || strings.TrimSpace(m.opt.New) == "" {
		return text.Usage("the new heading is empty or has several lines", "give it as one line")
	}
	doc, err := m.document(file)
	if err != nil {
		return err
	}
	ids, err := m.anchors(ctx, m.before, f.address)
	if err != nil {
		return err
	}
	headings := destination.Headings(file, doc.text, m.generator(), "")
	h, id, err := findHeading(headings, name, ids)
	if err != nil {
		return text.Usage(fmt.Sprintf("%s: %v", pageName, err), "name the heading as it is written, or by its id")
	}
	set := m.plan.Set
	err = set.Replace(file, doc.hash, h.Start, h.End, m.opt.New)
	if m.opt.KeepID && h.ID == "" {
		if id == "" {
			return text.Usage("the id of this heading is not known, so it cannot be kept", "add {#id} to the heading yourself")
		}
		end := h.End + max(0, bytes.IndexByte(append(doc.text[h.End:len(doc.text):len(doc.text)], '\n'), '\n'))
		end = len(bytes.TrimRight(doc.text[:end], " \t\r"))
		err = cmp.Or(err, set.Replace(file, doc.hash, end, end, " {#"+id+"}"))
	}
	if err != nil {
		return err
	}
	m.plan.Page = f.address
	m.fragmentPage, m.fragments = f.address, map[string]string{}
	after, err := m.try(ctx)
	if err != nil {
		return err
	}
	defer after.audit.Close()
	now, err := m.anchors(ctx, after, f.address)
	if err != nil {
		return err
	}
	if m.fragments, err = changedIDs(ids, now); err != nil {
		return text.WithHint(fmt.Errorf("%s: %w", pageName, err), "rename the heading by hand, and then run: sitelink check")
	}
	m.plan.Heading = &Pair{id, id}
	if to, ok := m.fragments[id]; ok {
		m.plan.Heading.New = to
	} else if id == "" && len(m.fragments) == 1 {
		for from, to := range m.fragments {
			m.plan.Heading = &Pair{from, to}
		}
	}
	if err := m.restore(); err != nil {
		return err
	}
	return m.rewrite(ctx)
}

// pageFile returns the content file that a name or address means.
func (m *mover) pageFile(name string) (string, error) {
	file, err := m.resolveOld(name)
	if err != nil {
		return "", err
	}
	var found []string // the bundle's, one for each language
	for f := range m.pages.byFile {
		if path.Dir(f) == file && isBundleFile(path.Base(f)) {
			found = append(found, f)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return append(found, file)[0], nil
}

// anchors returns the ids of the page at an address, in their order.
func (m *mover) anchors(ctx context.Context, v *version, address string) ([]string, error) {
	var ids []string
	err := check.Anchors(ctx, audit.Handle(v.audit.Site), v.options(), rulePath(address), func(a check.Anchor) error {
		if a.Kind == "id" {
			ids = append(ids, a.Name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the ids of %s: %w", address, err)
	}
	return ids, nil
}

// findHeading finds a heading by its text or its id. id is "" if it is not known.
func findHeading(headings []destination.Heading, name string, ids []string) (h *destination.Heading, id string, err error) {
	given := make([]string, len(headings))
	for i, h := range headings {
		if h.ID != "" || slices.Contains(ids, h.Anchor) {
			given[i] = h.Anchor
		}
	}
	for _, same := range []func(i int) bool{
		func(i int) bool { return headings[i].Text == name },
		func(i int) bool { return given[i] != "" && given[i] == name },
		func(i int) bool { return strings.EqualFold(headings[i].Text, name) },
	} {
		n := 0
		for i := range headings {
			if same(i) {
				n++
				h, id = &headings[i], given[i]
			}
		}
		switch {
		case n == 1:
			return h, id, nil
		case n > 1:
			return nil, "", fmt.Errorf("%d headings are %q", n, name)
		}
	}
	return nil, "", fmt.Errorf("it has no heading %q", name)
}

// changedIDs compares the ids of a page before and after. The same number of ids means
// that each has its place.
func changedIDs(before, after []string) (map[string]string, error) {
	changed := map[string]string{}
	if len(before) == len(after) {
		for i := range before {
			if before[i] != after[i] {
				changed[before[i]] = after[i]
			}
		}
		return changed, nil
	}
	if changed = record.Renamed(before, after); len(changed) != 1 {
		return nil, fmt.Errorf("the new text changes other ids of the page, so it is not clear which links to change")
	}
	return changed, nil
}
