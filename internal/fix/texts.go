package fix

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/source"
)

// Texts makes plans for texts that no build has seen yet, such as those of an editor,
// by the rules of [Make]. Its methods are safe for concurrent use.
type Texts struct {
	mu   sync.Mutex
	base *maker
}

// NewTexts returns the Texts of a site. r is the result of the last check of a,
// content are the content files, and prefix is put before their names to make them
// relative to the root of the project.
func NewTexts(a *audit.Audit, r *check.Result, content []source.ContentFile, prefix string, opt Options) *Texts {
	m := newMaker(a, r, opt)
	m.useContent(slices.Clone(content), prefix)
	return &Texts{base: m}
}

// Text is a text with its links.
type Text struct {
	// File is its name, a slash path relative to the root.
	File  string
	Bytes []byte
	// Repairs are those of its links, with a finding and without rule for a link that is
	// wrong and that no rule repairs. Starts are the offsets of the destinations.
	Repairs []check.Repair
	Starts  []int
}

// Plan returns the plan for a text. The error is the cause of ctx.
func (t *Texts) Plan(ctx context.Context, text *Text) (*Plan, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := *t.base
	m.plan, m.order, m.places = &Plan{Root: m.plan.Root}, nil, map[place]*proposals{}
	m.files = maps.Clone(m.files)
	m.files[text.File] = &file{text: text.Bytes, links: destination.In(m.inProject(text.File), text.Bytes, m.generator)}
	r := &check.Result{}
	var repairs []check.Repair
	starts := map[int64]int{}
	for i, repair := range text.Repairs {
		f := &repair.Finding
		f.Offset = int64(i) // identifies it below
		starts[f.Offset] = text.Starts[i]
		if f.Code != "" {
			r.Findings = append(r.Findings, *f)
		}
		if repair.Rule != "" {
			repairs = append(repairs, repair)
		}
	}
	repairs = m.improve(ctx, r, repairs)
	kind := check.InContent
	if _, ok := m.byFile[text.File]; !ok {
		kind = check.InStatic
	}
	for i := range repairs {
		at := starts[repairs[i].Finding.Offset]
		p := &check.Position{File: text.File, Kind: kind}
		p.Line, p.Column = positionOf(text.Bytes, at)
		m.propose(&repairs[i], p)
	}
	m.proposeRefsOf(text.File)
	m.decide()
	t.base.moves, t.base.markdown, t.base.refs = m.moves, m.markdown, m.refs
	return m.plan, context.Cause(ctx)
}

// Replaces returns the range of the bytes that an edit replaces, and the text that is
// written there.
func (e *Edit) Replaces() (start, end int, text string) { return e.start, e.end, e.text }

// Hash returns the hash of the file that the edit was made for.
func (e *Edit) Hash() string { return e.hash }

// inProject returns the name of a file relative to the directory of the project.
func (m *sources) inProject(name string) string {
	if m.prefix == "." {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, m.prefix), "/")
}

// useContent remembers the content files.
func (m *sources) useContent(content []source.ContentFile, prefix string) {
	m.prefix, m.content = prefix, content
	for i := range m.content {
		c := &m.content[i]
		if !path.IsAbs(c.File) {
			c.File = path.Join(prefix, c.File)
		}
		m.byFile[c.File] = i
		m.byPage[c.Page] = append(m.byPage[c.Page], i)
	}
}
