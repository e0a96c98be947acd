package move

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/since"
)

// renameHeading plans a new text for a heading of a page.
func (m *planner) renameHeading(ctx context.Context, pageName, name string) error {
	m.names = &addressMap{stay: func(string) bool { return false }, base: m.before.audit.Site.BasePath()}
	file, err := request{&m.trial}.pageFile(pageName)
	if err != nil {
		return err
	}
	f := m.pages.byFile[file]
	if f == nil {
		return fault.Usage(pageName+" is not a page that the generator makes", "name the page's source file or its address")
	}
	if strings.ContainsAny(m.opt.New, "\r\n") || strings.TrimSpace(m.opt.New) == "" {
		return fault.Usage("the new heading is empty or has several lines", "give it as one line")
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
		return fault.Usage(fmt.Sprintf("%s: %v", pageName, err), "name the heading as it is written, or by its id")
	}
	set := m.plan.Set
	if err := set.Replace(file, doc.hash, h.Start, h.End, m.opt.New); err != nil {
		return err
	}
	if m.opt.KeepID && h.ID == "" {
		if id == "" {
			return fault.Usage("the id of this heading is not known, so it cannot be kept", "add {#id} to the heading yourself")
		}
		end := h.End + max(0, bytes.IndexByte(append(doc.text[h.End:len(doc.text):len(doc.text)], '\n'), '\n'))
		end = len(bytes.TrimRight(doc.text[:end], " \t\r"))
		if err := set.Replace(file, doc.hash, end, end, " {#"+id+"}"); err != nil {
			return err
		}
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
		return fault.New(fmt.Errorf("%s: %w", pageName, err), "rename the heading by hand, and then run: sitelink check")
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
func (m request) pageFile(name string) (string, error) {
	file, err := m.resolveOld(name)
	if err != nil {
		return "", err
	}
	if info, err := os.Lstat(m.shadow.at(file)); err == nil && info.IsDir() {
		for f := range m.pages.byFile {
			if path.Dir(f) == file && isBundleFile(path.Base(f)) {
				return f, nil
			}
		}
	}
	return file, nil
}

// anchors returns the ids of the page at an address, in their order.
func (m *planner) anchors(ctx context.Context, v *version, address string) ([]string, error) {
	var ids []string
	err := check.Anchors(ctx, audit.Handle(v.audit.Site), m.shadow.checkOptions(v.project), rulePath(address), func(a check.Anchor) error {
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
	if changed = since.Renamed(before, after); len(changed) != 1 {
		return nil, fmt.Errorf("the new text changes other ids of the page, so it is not clear which links to change")
	}
	return changed, nil
}
