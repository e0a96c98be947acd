package source

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/source/read"
)

// What adds to the score of a template for a link.
const (
	sameValue     = 12 // the value is written there
	sameAttribute = 2
	sameParent    = 1 // an element around it, and for each of its attributes sameAttribute
	maxLetters    = 8 // of the text around it
	// enough is the least score of a template that composes the link.
	enough = 2
)

// tags returns the tags of the page.
func (p *locatedPage) tags() *read.Outline {
	if p.outline == nil {
		p.outline, p.tagsOf = read.NewOutline(p.text), map[*pageLink]*pageLinkTag{}
	}
	return p.outline
}

// tagOf returns the tag of a link, nil if the link is not the value of an
// attribute. It remembers the tags, because each template is compared with them.
func (p *locatedPage) tagOf(l *pageLink) *pageLinkTag {
	o, at := p.tags(), int(l.offset)
	if tag, ok := p.tagsOf[l]; ok {
		return tag
	}
	p.tagsOf[l] = nil
	if t := o.At(at); t >= 0 {
		attrs, _ := o.Attributes(t)
		if i := slices.IndexFunc(attrs, func(a read.Attribute) bool {
			return len(attrs) <= read.MaxAttributes && a.From <= at && at <= a.To && a.Name == l.attribute
		}); i >= 0 {
			p.tagsOf[l] = &pageLinkTag{outline: o, tag: t, attrs: attrs, value: o.Pieces(attrs[i].From, attrs[i].To)[0], on: l}
		}
	}
	return p.tagsOf[l]
}

// fitting returns the templates that write the same attribute of the same element as
// a link, with attributes that fit its tag.
func (p *locatedPage) fitting(tag *pageLinkTag) []tagFit {
	of := tag.on.element + " " + tag.on.attribute
	var key strings.Builder
	key.WriteString(of)
	for _, a := range tag.attrs {
		key.WriteByte(0)
		key.WriteString(a.Name)
		if !read.LinkAttributes[a.Name] {
			key.WriteByte('=')
			key.Write(tag.outline.Text[a.From:a.To])
		}
	}
	links := p.m.templates().links[of]
	cost := 1
	if p.compared == nil {
		p.compared = map[string]bool{}
	}
	if !p.compared[key.String()] {
		p.compared[key.String()], cost = true, len(links)
	}
	if !p.spend(cost, links) {
		return nil
	}
	return p.m.fits.get(key.String(), func() (all []tagFit) {
		for _, w := range links {
			if n, ok := fitAttributes(w.file.outline, w.Attrs, w.Open, tag.outline, tag.attrs); ok {
				all = append(all, tagFit{w, n})
			}
		}
		return all
	})
}

// spend takes a cost from what the page is allowed, and reports whether it was left.
// Otherwise one of the links in templates that were compared says where.
func (p *locatedPage) spend(cost int, links []*written) bool {
	if p.left -= cost; p.left < 0 && len(links) > 0 {
		p.m.costly.get(links[0].file.display, func() bool { return true })
	}
	return p.left >= 0
}

// fit returns how well a template fits a link, 0 if it cannot have written it, and the
// part of the value that its actions wrote.
func (p *locatedPage) fit(f tagFit, tag *pageLinkTag) (score int, hole string) {
	w := f.by
	if !p.spend(1+len(w.Pieces), []*written{w}) {
		return 0, ""
	}
	hole, value := p.fitValue(w, tag)
	if value == 0 {
		return 0, ""
	}
	n, cost, ok := fitParents(w.file.outline, w.Tag, tag.outline, tag.tag)
	if !p.spend(cost, []*written{w}) || !ok || w.First && !tag.outline.IsFirst(tag.tag) {
		return 0, ""
	}
	score = value + f.score + n
	if !tag.known {
		tag.before, tag.after, tag.known = tag.outline.Before(tag.tag), tag.outline.After(tag.tag), true
	}
	if !(strings.HasSuffix(tag.before, w.Before) || strings.HasSuffix(w.Before, tag.before)) || !(strings.HasPrefix(tag.after, w.After) || strings.HasPrefix(w.After, tag.after)) {
		return 0, ""
	}
	return score + min(maxLetters, (len(w.Before)+1)/2) + min(maxLetters, (len(w.After)+1)/2), hole
}

// fitValue returns the part of a link's value that the actions of a template
// would have written, and 0 if the rest of the value differs.
func (p *locatedPage) fitValue(w *written, tag *pageLinkTag) (hole string, score int) {
	constant := w.Constant
	if w.IsLiteral() {
		if w.Pieces[0] == tag.value {
			return "", sameValue
		}
		constant = strings.TrimSpace(w.Pieces[0])
	}
	if constant != "" {
		src := p.m.constants.get(w, func() address { return p.m.address(constant, "") })
		if src.local != "" && src.local[0] != '/' {
			src.target = src.resolved(p.name)
		}
		if matchScore(&src, &tag.on.addr) >= targetMatch || src.local != "" && strings.HasSuffix(tag.on.addr.local, "/"+strings.TrimPrefix(src.local, "/")) {
			return "", sameValue
		}
		return "", 0
	}
	addr := &tag.on.addr
	withFragment := addr.target
	if addr.fragment != "" {
		withFragment += "#" + addr.fragment
	}
	for _, value := range []string{tag.value, addr.local, withFragment} {
		if hole, ok := between(w.Pieces, value); ok {
			literal := 0
			for _, piece := range w.Pieces {
				literal += len(strings.Trim(piece, "/"))
			}
			base := addressOf(hole, p.m.base, p.m.basePath)
			if literal > 0 && (strings.Trim(hole, "/") == "" || base.local == "/" || p.m.basePath != "" && base.local == p.m.basePath) {
				return "", sameValue // all but the site's base URL or its path is written here
			}
			return hole, 1 + min(maxLetters, literal)
		}
	}
	return "", 0
}

// between returns the part of a value between the first and the last piece; ok
// is false if the value does not consist of the pieces with other text between
// them.
func between(pieces []string, value string) (hole string, ok bool) {
	last := len(pieces) - 1
	rest, ok := strings.CutPrefix(value, pieces[0])
	if !ok {
		return "", false
	}
	if rest, ok = strings.CutSuffix(rest, pieces[last]); !ok {
		return "", false
	}
	hole = rest
	for _, piece := range pieces[1:last] {
		n := strings.Index(rest, piece)
		if n < 0 {
			return "", false
		}
		rest = rest[n+len(piece):]
	}
	return hole, true
}

// fitAttributes compares the attributes of two tags. What is between two actions
// of a value may be written under a condition. ok is false if they cannot
// be the same.
func fitAttributes(template *read.Outline, of []read.Attribute, open bool, page *read.Outline, all []read.Attribute) (score int, ok bool) {
	found := 0
	for _, a := range of {
		i := slices.IndexFunc(all, func(b read.Attribute) bool { return b.Name == a.Name })
		if i < 0 {
			if a.After {
				continue
			}
			return 0, false
		}
		found++
		value, b := template.Text[a.From:a.To], page.Text[all[i].From:all[i].To]
		switch {
		case read.LinkAttributes[a.Name]:
		case bytes.Equal(value, b):
			score += sameAttribute
		default:
			pieces := template.Pieces(a.From, a.To)
			text := page.Pieces(all[i].From, all[i].To)[0]
			if n := len(pieces); n > 1 && n <= maxPieces && template.OnlyConditions(a.From, a.To) {
				if !consistsOf(text, pieces) {
					return 0, false
				}
				score += sameAttribute
				continue
			}
			if a.Name == "class" {
				for k, p := range pieces { // with single spaces
					pieces[k] = strings.Join(strings.Fields(p), " ")
				}
				text = strings.Join(strings.Fields(text), " ")
			}
			last := pieces[len(pieces)-1]
			if len(pieces) == 1 && last != text || !strings.HasPrefix(text, pieces[0]) || !strings.HasSuffix(text, last) {
				if !a.After {
					return 0, false
				}
				continue
			}
			if strings.Join(pieces, "") != "" {
				score += sameAttribute
			}
		}
	}
	return score, open || found == len(all)
}

// maxPieces is how many pieces of a value may be missing on a page.
const maxPieces = 64

// consistsOf reports whether a text is the first piece followed by some of the others, up to
// white space.
func consistsOf(text string, pieces []string) bool {
	text = strings.Join(strings.Fields(text), "")
	ends := map[int]bool{}
	for i, piece := range pieces {
		piece = strings.Join(strings.Fields(piece), "")
		if i == 0 {
			if !strings.HasPrefix(text, piece) {
				return false
			}
			ends[len(piece)] = true
			continue
		}
		for end := range maps.Clone(ends) {
			if strings.HasPrefix(text[end:], piece) {
				ends[end+len(piece)] = true
			}
		}
	}
	return ends[len(text)]
}

// maxSkipped is how many elements of a template may be missing around a link
// because they are written under a condition.
const maxSkipped = 2

// maxMatched is how many elements around a link are compared.
const maxMatched = 32

// fitParents compares the elements around two tags, and returns what that cost. ok is
// false if the innermost ones differ.
func fitParents(template *read.Outline, t int, page *read.Outline, p int) (score, cost int, ok bool) {
	skipped, matched := 0, 0
	t, p = template.Tags[t].Parent, page.Tags[p].Parent
	for t >= 0 && p >= 0 && matched < maxMatched {
		cost += 1 + (template.Tags[t].End-template.Tags[t].Start)*(page.Tags[p].End-page.Tags[p].Start)>>9
		n, same := 0, bytes.EqualFold(template.Name(t), page.Name(p))
		if same && !bytes.Equal(template.Text[template.Tags[t].Start:template.Tags[t].End], page.Text[page.Tags[p].Start:page.Tags[p].End]) {
			of, open := template.Attributes(t)
			all, _ := page.Attributes(p)
			n, same = fitAttributes(template, of, open, page, all)
		} else if same {
			n = sameAttribute * bytes.Count(page.Text[page.Tags[p].Start:page.Tags[p].End], []byte("="))
		}
		if !same {
			if read.IsComponent(template.Name(t)) {
				return score - 2*skipped, cost, true
			}
			if skipped++; skipped > maxSkipped {
				break
			}
			t = template.Tags[t].Parent
			continue
		}
		score += sameParent + n
		matched++
		t, p = template.Tags[t].Parent, page.Tags[p].Parent
	}
	return score - 2*skipped, cost, matched > 0 || skipped == 0
}

// maxRun is how many links of a page are put into a run.
const maxRun = 2000

// composed finds the templates that may have written a link of a page.
func (p *locatedPage) composed(l *pageLink) composition {
	c := composition{by: p.templatesOf(l, enough)}
	if len(c.by) > 0 && !c.by[0].Writes() {
		// The run has the links of the page that the same template wrote.
		w := c.by[0]
		r, ok := p.runs[w]
		if !ok {
			var key strings.Builder
			var links []runLink
			expression := ""
			if len(c.by) == 1 {
				expression = w.Scope + string(w.file.text[w.Attr.From:w.Attr.To])
			}
			key.WriteString(w.file.display + "\n" + expression)
			for i := range p.links {
				on := &p.links[i]
				if on.element != l.element || on.attribute != l.attribute || len(r.at) == maxRun {
					continue
				}
				tag := p.tagOf(on)
				if tag == nil {
					continue
				}
				fits := p.fitting(tag)
				if !p.spend(len(fits)/8, []*written{w}) {
					break
				}
				for _, f := range fits {
					if f.by != w {
						continue
					}
					if score, hole := p.fit(f, tag); score > 0 {
						r.at = append(r.at, on.offset)
						links = append(links, runLink{hole, on.label})
						key.WriteString("\n" + hole + "\t" + on.label)
					}
				}
			}
			r.run = p.m.runs.get(key.String(), func() *linkRun { return &linkRun{links: links, expression: expression} })
			if p.runs == nil {
				p.runs = map[*written]pageRun{}
			}
			p.runs[w] = r
		}
		c.run, c.nth = r.run, slices.Index(r.at, l.offset)
	}
	return c
}

// templatesOf returns the templates that fit a link best, with a score above
// least.
func (p *locatedPage) templatesOf(l *pageLink, least int) (by []*written) {
	tag := p.tagOf(l)
	if tag == nil {
		return nil
	}
	best := 0
	for _, f := range p.fitting(tag) {
		switch score, _ := p.fit(f, tag); {
		case score <= least, score < best, p.m.isOtherPage(&f.by.file.contentFile, p.name):
		case score > best:
			best, by = score, append(by[:0], f.by)
		default:
			by = append(by, f.by)
		}
	}
	if len(by) > 1 && p.m.opt.Generator.Traits().Modules {
		if few := slices.DeleteFunc(slices.Clone(by), func(w *written) bool { return !isLayoutOf(w.file, p.name) }); len(few) > 0 {
			by = few
		}
	}
	return by
}

// isOtherPage reports whether a template makes a page of its own, and a page is neither that
// nor below it.
func (c *composer) isOtherPage(f *contentFile, page string) bool {
	if c.opt.Generator.Traits().Modules || f.dir.kind != read.Template || inTemplates(f.name) {
		return false
	}
	made := c.made.get(f.display, func() []string {
		key := NameKey(strings.TrimSuffix(f.name, path.Ext(f.name)))
		return slices.DeleteFunc(append(generatorKeys(c.opt.Generator, key), key), func(key string) bool { return c.pageOf(&address{target: "/" + key}) == "" })
	})
	return len(made) > 0 && !slices.ContainsFunc(made, func(key string) bool { return key == "" || strings.HasPrefix(PageKey(page)+"/", key+"/") })
}

// isLayoutOf reports whether Hugo looks for the layouts of a page in the
// directory of a template, as far as the names tell. A type that the front matter
// sets may have another directory.
func isLayoutOf(f *templateFile, page string) bool {
	dir, _, ok := strings.Cut(templateKey(f), "/")
	switch dir {
	case "taxonomy", "term", "section", "page", "home", "list", "single", "blocks", "terms":
		return true
	}
	return !ok || strings.HasPrefix(dir, "_") || slices.Contains(strings.Split(page, "/"), dir)
}

// elementAt returns where a template writes the first element with a name, nil
// if that is not certain.
func (p *locatedPage) elementAt(name string) *Position {
	p.tags()
	for t := range p.outline.Tags {
		if !strings.EqualFold(string(p.outline.Name(t)), name) {
			continue
		}
		attrs, _ := p.outline.Attributes(t)
		for _, a := range attrs {
			if !read.LinkAttributes[a.Name] {
				continue
			}
			l := pageLink{offset: int64(a.From), raw: p.outline.Pieces(a.From, a.To)[0], element: name, attribute: a.Name}
			l.addr = p.m.address(l.raw, p.name)
			if by := p.templatesOf(&l, 0); len(by) == 1 {
				return by[0].position(l.raw)
			}
			return nil
		}
	}
	return nil
}
