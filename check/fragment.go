package check

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/scan/script"
	isite "github.com/sitelink/sitelink/internal/site"
)

// Fragments that scripts serve look broken and are not. A missing fragment is
// left to a script only on evidence: the configuration says so, or a script of
// the page reads the fragment and can serve its form. The number of links is not
// evidence, and neither is a script that does something else.
//
// Four kinds of evidence are certain: a range of lines with both ends among the
// ids of the page; in scaladoc's frame set, the name of a class that has a page
// with the member; the name of a Markdown file that Docsify shows; and an alias
// page with a script that passes the fragment on to a page that has it.
// Everything else is a guess. A similar id on the page, or one of the same
// form, refutes a guess, and so does the same id on another page.

// hasFragment reports whether a page has what a link asks for.
func hasFragment(p *isite.Page, fragment *isite.Fragment) bool {
	return p.Has(fragment.Exact) || p.Has(fragment.Decoded)
}

// uncheckedFragment returns why no fragment can be looked for in the file of a
// node; "" when one can.
func uncheckedFragment(s *isite.Site, node docroot.NodeID, opt *Options) Code {
	target, isPage := s.PageOf(node)
	switch {
	case isPage && s.Page(target).Kind() == isite.PagePointer:
		return NotScanned
	case !isPage || !s.Page(target).Kind().HasAnchors():
		return NotHTML
	case s.Page(target).Error().Err != nil:
		return NotScanned
	case !opt.scope.has(target) && !opt.scope.named: // A-LL-11
		return Skipped
	}
	return ""
}

// foundFolded reports whether a missing fragment is found the way browsers
// compare names in quirks mode.
func foundFolded(s *isite.Site, d *isite.Detail) bool {
	target, ok := s.PageOf(d.Node)
	return ok && s.HasFolded(target, d.Fragment)
}

// miss is a link with a fragment that was not found.
type miss struct {
	target   isite.PageID
	page     isite.PageID
	link     uint32
	answer   host.State // of the link without its fragment
	form     script.Form
	evidence uint16 // in judged.evidence; 0 if the fragment is missing
	// exact, decoded, from and to are those of the [isite.Fragment].
	exact, decoded, from, to uint64
}

func newMiss(target isite.PageID, at linkPlace, answer host.State, f *isite.Fragment) miss {
	return miss{target: target, page: at.page, link: at.link, answer: answer, form: f.Form,
		exact: f.Exact, decoded: f.Decoded, from: f.From, to: f.To}
}

// key identifies the fragment of a page that a link asks for.
func (m *miss) key() fragmentKey { return fragmentKey{m.target, m.exact} }

type fragmentKey struct {
	target isite.PageID
	exact  uint64
}

func compareMisses(a, b miss) int {
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.page, b.page), cmp.Compare(a.link, b.link))
}

// targetMisses returns the first misses, those of one target.
func targetMisses(misses []miss) []miss {
	n := 1
	for n < len(misses) && misses[n].target == misses[0].target {
		n++
	}
	return misses[:n]
}

// evidence says why fragments are left to scripts.
type evidence struct {
	text string
	// stated: the configuration says so, and nothing has to be reported.
	stated bool
}

// attributor decides which missing fragments are left to scripts. It belongs to
// one goroutine.
type attributor struct {
	s   *isite.Site
	opt *Options
	// texts are the fragments that are known as text.
	texts    map[fragmentKey]string
	reader   *isite.Reader
	evidence []evidence // the first stands for none
	uses     map[uint64][]scriptUse
	files    map[docroot.NodeID]script.Use
	ids      map[isite.PageID]*script.IDs
	usedRule []bool
}

// scriptUse is a script of a page that can serve fragments.
type scriptUse struct {
	script.Use
	evidence uint16
}

func newAttributor(s *isite.Site, opt *Options) *attributor {
	return &attributor{
		s: s, opt: opt, reader: s.NewReader(), texts: map[fragmentKey]string{}, evidence: make([]evidence, 1), uses: map[uint64][]scriptUse{},
		files: map[docroot.NodeID]script.Use{}, ids: map[isite.PageID]*script.IDs{}, usedRule: make([]bool, len(opt.ScriptRules)),
	}
}

// attribute sets the evidence of misses, which are sorted by target.
func (a *attributor) attribute(ctx context.Context, misses []miss) error {
	defer a.reader.Close()
	if len(misses) == 0 {
		return nil
	}
	var open []*miss // whose fragments are needed as text
	guessed := map[*miss]uint16{}
	for rest := misses; len(rest) > 0; {
		group := targetMisses(rest)
		rest = rest[len(group):]
		rules := a.rulesFor(group[0].target)
		uses := a.usesOf(group[0].target)
		if len(rules)+len(uses) == 0 {
			for i := range group {
				group[i].evidence = 0
			}
			continue
		}
		t := target{uses: uses}
		for i := range group {
			m := &group[i]
			if m.evidence = a.stated(rules, nil); m.evidence != 0 {
				continue
			}
			use, certain := a.scriptFor(m, &t)
			if certain {
				m.evidence = use
			} else if use != 0 {
				guessed[m] = use
			}
			if len(rules) > 0 || use != 0 && !certain || m.evidence == 0 && slices.ContainsFunc(uses, func(u scriptUse) bool { return u.AddsComments() }) {
				open = append(open, m)
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	// Each fragment that is not known as text yet is read at the first link that asks for
	// it.
	want := map[isite.PageID][]uint32{}
	asked := map[fragmentKey]bool{}
	keys := map[linkPlace]fragmentKey{}
	for _, m := range open {
		key := m.key()
		if _, known := a.texts[key]; !known && !asked[key] {
			asked[key] = true
			want[m.page] = append(want[m.page], m.link)
			keys[linkPlace{m.page, m.link}] = key
		}
	}
	type named struct {
		key  fragmentKey
		text string
	}
	pages := make([]isite.PageID, 0, len(want))
	for id := range want {
		slices.Sort(want[id])
		pages = append(pages, id)
	}
	slices.Sort(pages)
	texts := make([][]named, len(pages))
	err := readers(ctx, a.s, *a.opt, len(pages), func(r *isite.Reader, i int) error {
		id := pages[i]
		err := r.Details(id, want[id], func(link int, d *isite.Detail) {
			texts[i] = append(texts[i], named{keys[linkPlace{id, uint32(link)}], strings.Clone(d.Fragment)})
		})
		if err != nil {
			texts[i] = nil // the page changed, and is reported as changed
		}
		return nil
	})
	for _, list := range texts {
		for _, n := range list {
			a.texts[n.key] = n.text
		}
	}
	if err != nil {
		return err
	}
	for _, m := range open {
		if guessed[m] == 0 {
			guessed[m] = a.commentOf(m)
		}
	}
	elsewhere := a.definedElsewhere(guessed)
	for _, m := range open {
		text, ok := a.texts[m.key()]
		if !ok {
			continue // the page changed
		}
		if n := a.stated(a.rulesFor(m.target), &text); n != 0 {
			m.evidence = n
		} else if n = guessed[m]; n != 0 && !elsewhere[text] && a.idsOf(m.target).Allow(m.form, decodeFragment(text)) {
			m.evidence = n
		}
	}
	return nil
}

// commentOf returns the evidence of a script of the target that adds a comment
// with the id that m asks for, or 0.
func (a *attributor) commentOf(m *miss) uint16 {
	text := decodeFragment(a.texts[m.key()])
	for _, u := range a.usesOf(m.target) {
		if u.AddsComment(text, a.idsOf(m.target)) {
			return u.evidence
		}
	}
	return 0
}

// add returns the number of an evidence.
func (a *attributor) add(e evidence) uint16 {
	if i := slices.Index(a.evidence[1:], e); i >= 0 {
		return uint16(i + 1)
	}
	if len(a.evidence) == 1<<16 {
		return 1<<16 - 1 // thousands of inline scripts, all different
	}
	a.evidence = append(a.evidence, e)
	return uint16(len(a.evidence) - 1)
}

// rulesFor returns the numbers of the rules of the configuration for a page.
func (a *attributor) rulesFor(target isite.PageID) (rules []int) {
	for i, r := range a.opt.ScriptRules {
		if matchAny(r.Page, a.s.Path(target)) {
			rules = append(rules, i)
		}
	}
	return rules
}

// stated returns the evidence of the first of some rules of the configuration
// that a fragment matches, or 0. If text is nil, only rules that apply to every
// fragment count.
func (a *attributor) stated(rules []int, text *string) (n uint16) {
	for _, i := range rules {
		r := &a.opt.ScriptRules[i]
		if r.Fragment != "" && (text == nil || !matchAny(r.Fragment, *text, decodeFragment(*text))) {
			continue
		}
		a.usedRule[i] = true
		if n == 0 {
			n = a.add(evidence{text: r.Origin + " says so", stated: true})
		}
	}
	return n
}

// target is a page with missing fragments.
type target struct {
	uses []scriptUse
	// routes are the pages that scaladoc's frame set on the page can show, nil
	// until they are needed.
	routes map[uint64]isite.PageID
	// files are the fragments that Docsify shows a file for. It is nil until it
	// is needed.
	files map[uint64]bool
	// alias is where an alias page leads, nil until it is needed.
	alias *aliasEnd
}

// aliasEnd is the page that an alias page leads to in the end. It is unknown if
// that is a page of another site, or no page answers.
type aliasEnd struct {
	page             isite.PageID
	isAlias, unknown bool
}

// scriptFor returns the evidence of a script of the target that can serve the
// fragment of m, or 0, and whether it certainly does.
func (a *attributor) scriptFor(m *miss, t *target) (n uint16, certain bool) {
	for i := range t.uses {
		if u := &t.uses[i]; u.ReadsHash() && a.passesOn(m, t) {
			return u.evidence, true
		}
	}
	for i := range t.uses {
		u := &t.uses[i]
		switch {
		case u.Framework == script.Docsify && m.form != script.FormRoute:
			if t.files == nil {
				t.files = docsifyFiles(a.s, m.target)
			}
			if t.files[m.exact] {
				return u.evidence, true
			}
		case !u.Forms.Has(m.form):
		case u.Scaladoc:
			if t.routes == nil {
				// The frame set of scaladoc names a page by a fragment: scala.Option for
				// scala/Option.html.
				dir := path.Dir(a.s.Path(m.target)) + "/"
				if dir == "./" {
					dir = ""
				}
				routes := map[uint64]isite.PageID{}
				for i := range a.s.Pages() {
					id := isite.PageID(i)
					name, below := strings.CutPrefix(a.s.Path(id), dir)
					name, isPage := strings.CutSuffix(name, ".html")
					if below && isPage {
						f, _ := a.s.ParseFragment(strings.ReplaceAll(name, "/", "."))
						routes[f.Exact] = id
					}
				}
				t.routes = routes
			}
			name := m.exact
			if m.form == script.FormMember {
				name = m.from
			}
			if class, ok := t.routes[name]; ok && (m.form != script.FormMember || a.s.Page(class).Has(m.to)) {
				return u.evidence, true
			}
		case m.form == script.FormLines && m.from != 0:
			if p := a.s.Page(m.target); p.Has(m.from) && p.Has(m.to) {
				return u.evidence, true
			}
		case n == 0:
			n = u.evidence
		}
	}
	return n, false
}

// maxAliases is how many alias pages may follow one another.
const maxAliases = 8

// passesOn reports whether the target of m is an alias page that leads to a page
// with the fragment. A script passes the fragment on, as in rustdoc:
// location.replace("new.html" + location.hash). Where no page answers, or one of
// another site, the fragment is not at fault.
func (a *attributor) passesOn(m *miss, t *target) bool {
	if t.alias == nil {
		end := a.aliasEnd(m.target)
		t.alias = &end
	}
	p := a.s.Page(t.alias.page)
	return t.alias.isAlias && (t.alias.unknown || p.Has(m.exact) || p.Has(m.decoded))
}

// aliasEnd follows alias pages from a page.
func (a *attributor) aliasEnd(id isite.PageID) (end aliasEnd) {
	for range maxAliases {
		end.page = id
		to := a.s.Page(id).Alias()
		if to == "" {
			return end
		}
		end.isAlias = true
		to, _ = cutValue(to)
		if !strings.HasPrefix(to, "/") {
			end.unknown = true
			return end
		}
		next, ok := a.s.PageOf(a.s.Answer(to).Node)
		if !ok {
			end.unknown = true
			return end
		}
		id = next
	}
	return aliasEnd{} // they lead in a loop
}

// docsifyFiles returns the fragments for which Docsify on a page shows a Markdown
// file, by their hash. They have no leading slash, because Docsify adds it.
func docsifyFiles(s *isite.Site, page isite.PageID) map[uint64]bool {
	dir := strings.TrimSuffix(s.Path(page), path.Base(s.Path(page)))
	files := map[uint64]bool{}
	t := s.Tree()
	for i := range t.Len() {
		node := docroot.NodeID(i)
		if t.Kind(node) != docroot.KindFile || !strings.HasSuffix(t.Name(node), ".md") {
			continue
		}
		if name, below := strings.CutPrefix(t.Path(node), dir); below {
			name = strings.TrimSuffix(name, ".md")
			if dir, isHome := strings.CutSuffix(name, "/README"); isHome {
				name = dir + "/"
			}
			f, _ := s.ParseFragment(name)
			files[f.Exact] = true
		}
	}
	return files
}

// usesOf returns the scripts of a page that can serve fragments, those of known
// frameworks first. A script that cannot be read is known by its address only.
func (a *attributor) usesOf(id isite.PageID) []scriptUse {
	key := a.s.Page(id).Scripts()
	if key == 0 || a.opt.ScriptFragments == ScriptError {
		return nil
	}
	if uses, ok := a.uses[key]; ok {
		return uses
	}
	a.uses[key] = nil
	scripts, err := a.reader.Scripts(id)
	if err != nil {
		return nil
	}
	var uses []script.Use
	names := make([]string, len(scripts))
	for i, sc := range scripts { // the texts of inline scripts do not last
		if names[i] = sc.Address; sc.Address == "" {
			names[i] = "an inline script"
		}
		uses = append(uses, script.ByText(sc.Text))
	}
	for i, sc := range scripts {
		if sc.Address == "" {
			continue
		}
		uses[i] = script.ByAddress(sc.Address)
		if sc.Node != docroot.NoNode {
			names[i] = a.s.Tree().Path(sc.Node)
			if !uses[i].Any() && !script.IsLibrary(sc.Address) {
				u, ok := a.files[sc.Node]
				if !ok {
					if text, err := a.reader.File(sc.Node, maxScriptBytes); err == nil {
						u = script.ByText(text)
					}
					a.files[sc.Node] = u
				}
				uses[i] = u
			}
		}
	}
	var out []scriptUse
	for i, u := range uses {
		if !u.Any() {
			continue
		}
		text := names[i] + " " + u.How
		if u.Framework != "" {
			text = fmt.Sprintf("%s (%s)", u.Framework, names[i])
		}
		out = append(out, scriptUse{u, a.add(evidence{text: text})})
	}
	slices.SortStableFunc(out, func(x, y scriptUse) int {
		return cmp.Compare(min(len(x.How), 1), min(len(y.How), 1)) // a script of a framework has no How
	})
	a.uses[key] = out
	return out
}

// maxScriptBytes limits the size of a script that is read.
const maxScriptBytes = 32 << 20

// definedElsewhere returns which of the guessed fragments are ids of any page.
func (a *attributor) definedElsewhere(guessed map[*miss]uint16) map[string]bool {
	defined, asked := map[uint64]bool{}, map[string]isite.Fragment{}
	for m := range guessed {
		if text, ok := a.texts[m.key()]; ok {
			f, _ := a.s.ParseFragment(text)
			asked[text] = f
			defined[f.Exact], defined[f.Decoded] = false, false
		}
	}
	out := map[string]bool{}
	if len(asked) > 0 {
		delete(defined, 0) // no decoded form
		a.s.MarkDefined(defined)
		for text, f := range asked {
			out[text] = defined[f.Exact] || defined[f.Decoded]
		}
	}
	return out
}

// idsOf returns the ids of a page.
func (a *attributor) idsOf(id isite.PageID) *script.IDs {
	ids := a.ids[id]
	if ids == nil {
		ids = &script.IDs{}
		a.ids[id] = ids
		err := a.reader.Anchors(id, func(name []byte, kind scan.AnchorKind) {
			if kind != scan.AnchorMap {
				ids.Add(string(name))
			}
		})
		if err != nil {
			ids.Forms = ^script.Forms(0) // the page changed
		}
	}
	return ids
}

// scriptTarget is a page with fragments that are left to scripts. It is reported
// once, at the place of one of the links.
type scriptTarget struct {
	target    isite.PageID
	page      isite.PageID // that holds the link
	link      uint32
	missing   int // links whose fragment is not there
	fragments int // different fragments of these links
	evidence  string
}

// scriptTargets groups misses, which are sorted by target, and picks the link at
// which each target is reported: on a page that is read again anyway if there is
// one, else on the smallest page. On rust-doc, taking the first link of each
// target would read twice as many pages. What the configuration states is not
// reported. scriptTargets also counts what is left to scripts, by evidence.
func scriptTargets(s *isite.Site, misses []miss, all []evidence, bad map[isite.PageID][]badLink) (out []scriptTarget, counts []ScriptFragmentCount) {
	counts = make([]ScriptFragmentCount, len(all))
	for i := range counts {
		counts[i].Evidence = all[i].text
	}
	chosen := map[isite.PageID]bool{}
	distinct := map[uint64]bool{} // of one target
	for len(misses) > 0 {
		group := targetMisses(misses)
		misses = misses[len(group):]
		clear(distinct)
		var best *miss
		var used []uint16 // evidence
		t, settled := scriptTarget{target: group[0].target}, false
		for i := range group {
			m := &group[i]
			isNew := !distinct[m.exact]
			distinct[m.exact] = true
			c := &counts[m.evidence]
			c.Links++
			if isNew {
				c.Fragments++
			}
			if !slices.Contains(used, m.evidence) {
				used = append(used, m.evidence)
				c.Pages++
			}
			if all[m.evidence].stated {
				continue
			}
			t.missing++
			if isNew {
				t.fragments++
			}
			if !settled {
				_, again := bad[m.page]
				settled = again || chosen[m.page]
				if best == nil || settled || s.Page(m.page).Size() < s.Page(best.page).Size() {
					best = m
				}
			}
		}
		if best == nil {
			continue
		}
		chosen[best.page] = true
		// The configuration states some evidence, which is left out.
		var texts []string
		for _, n := range used {
			if !all[n].stated {
				texts = append(texts, all[n].text)
			}
		}
		slices.Sort(texts)
		t.page, t.link, t.evidence = best.page, best.link, strings.Join(texts, "; ")
		out = append(out, t)
	}
	counts = slices.DeleteFunc(counts, func(c ScriptFragmentCount) bool { return c.Links == 0 })
	slices.SortFunc(counts, func(a, b ScriptFragmentCount) int {
		return cmp.Or(cmp.Compare(b.Fragments, a.Fragments), cmp.Compare(a.Evidence, b.Evidence))
	})
	return out, counts
}
