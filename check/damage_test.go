package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/similar"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// This file measures how good suggestions are. It damages working links in a
// copy of a site, as authors break links, so that it knows what each link means.
// Links to pages and ids that were removed or never existed mean nothing, and
// should get no suggestion.

// damageKind is a way to break a link.
type damageKind struct {
	name string
	// apply returns the damaged value; "" if the link cannot be damaged so.
	apply func(d *damager, raw string) string
	// never: the result means nothing on the site.
	never bool
}

// damageKinds are all kinds. Those of fragments begin with #.
var damageKinds = []damageKind{
	{"one letter", inPath(func(d *damager, p string) string { return d.letters(p, 1) }), false},
	{"two letters", inPath(func(d *damager, p string) string { return d.letters(p, 2) }), false},
	{"missing directory", inPath((*damager).withoutDirectory), false},
	{"missing prefix", inPath((*damager).withoutPrefix), false},
	{"additional prefix", inPath((*damager).withPrefix), false},
	{"missing word", inPath((*damager).withoutWord), false},
	{"old section name", inPath((*damager).oldSection), false},
	{"wrong depth", inPath((*damager).wrongDepth), false},
	{"letter case", inPath((*damager).wrongCase), false},
	{"separators", inPath((*damager).separators), false},
	{"wrong extension", inPath((*damager).wrongExtension), false},
	{"invented page", inPath((*damager).inventedPage), true},
	{"# one letter", inFragment(func(d *damager, f string) string { return d.letters(f, 1) }), false},
	{"# two letters", inFragment(func(d *damager, f string) string { return d.letters(f, 2) }), false},
	{"# renamed heading", inFragment((*damager).renamed), false},
	{"# letter case", inFragment((*damager).wrongCase), false},
	{"# separators", inFragment((*damager).separators), false},
	{"# invented id", inFragment((*damager).inventedID), true},
}

const (
	removedPage = "removed page"
	removedID   = "# removed id"
)

func inPath(f func(*damager, string) string) func(*damager, string) string {
	return func(d *damager, raw string) string {
		p, tail := raw, ""
		if i := strings.IndexAny(raw, "?#"); i >= 0 {
			p, tail = raw[:i], raw[i:]
		}
		if strings.Trim(p, "./") == "" {
			return ""
		}
		if p = f(d, p); p == "" {
			return ""
		}
		return p + tail
	}
}

func inFragment(f func(*damager, string) string) func(*damager, string) string {
	return func(d *damager, raw string) string {
		p, fragment, ok := strings.Cut(raw, "#")
		if !ok || fragment == "" {
			return ""
		}
		if fragment = f(d, fragment); fragment == "" {
			return ""
		}
		return p + "#" + fragment
	}
}

// damager damages values. It is seeded, so every run gives the same.
type damager struct {
	rng *rand.Rand
	// words are words of names of the site, to make names of.
	words []string
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// letters makes n typing errors in the words of s, never in its extension.
func (d *damager) letters(s string, n int) string {
	end := len(s) - len(path.Ext(s))
	for range n {
		var at []int
		for i := 1; i < end-1; i++ {
			if isLetter(s[i-1]) && isLetter(s[i]) && isLetter(s[i+1]) {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return ""
		}
		i := at[d.rng.IntN(len(at))]
		c := string(rune('a' + d.rng.IntN(26)))
		before := len(s)
		switch d.rng.IntN(4) {
		case 0:
			s = s[:i] + s[i+1:]
		case 1:
			s = s[:i] + c + s[i:]
		case 2:
			s = s[:i] + c + s[i+1:]
		default:
			s = s[:i] + s[i+1:i+2] + s[i:i+1] + s[i+2:]
		}
		end += len(s) - before
	}
	return s
}

// directories returns the segments of a path, and the indexes of those that name
// directories.
func directories(p string) (segments []string, at []int) {
	segments = strings.Split(p, "/")
	last := len(segments) - 1
	if segments[last] == "" {
		last--
	}
	for i := range max(last, 0) {
		if s := segments[i]; s != "" && s != "." && s != ".." {
			at = append(at, i)
		}
	}
	return segments, at
}

func (d *damager) withoutDirectory(p string) string {
	segments, at := directories(p)
	if len(at) == 0 {
		return ""
	}
	i := at[d.rng.IntN(len(at))]
	return strings.Join(slices.Delete(segments, i, i+1), "/")
}

// withoutPrefix leaves out the first directory, such as that of a language.
func (d *damager) withoutPrefix(p string) string {
	segments, at := directories(p)
	if len(at) == 0 || !strings.HasPrefix(p, "/") {
		return ""
	}
	return strings.Join(slices.Delete(segments, at[0], at[0]+1), "/")
}

func (d *damager) withPrefix(p string) string {
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	return "/" + pick(d.rng, []string{"en", "docs", "site", "public", "latest"}) + p
}

// withoutWord leaves out a word of the last name.
func (d *damager) withoutWord(p string) string {
	trimmed := strings.TrimSuffix(p, "/")
	dir, name := path.Split(trimmed)
	ext := path.Ext(name)
	words := strings.Split(strings.TrimSuffix(name, ext), "-")
	if len(words) < 3 {
		return ""
	}
	i := d.rng.IntN(len(words))
	return dir + strings.Join(slices.Delete(words, i, i+1), "-") + ext + p[len(trimmed):]
}

func (d *damager) oldSection(p string) string {
	segments, at := directories(p)
	if len(at) == 0 {
		return ""
	}
	segments[at[d.rng.IntN(len(at))]] = pick(d.rng, []string{"documentation", "manual", "old", "articles", "wiki", "handbook", "archive"})
	return strings.Join(segments, "/")
}

// wrongDepth climbs too far or not far enough.
func (d *damager) wrongDepth(p string) string {
	switch rest, ok := strings.CutPrefix(p, "../"); {
	case ok && d.rng.IntN(2) == 0:
		return rest
	case ok, !strings.HasPrefix(p, "/"):
		return "../" + p
	}
	return p[1:]
}

func (d *damager) wrongCase(p string) string {
	var at []int
	for i := range len(p) {
		if isLetter(p[i]) && (i == 0 || !isLetter(p[i-1])) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return ""
	}
	switch i := at[d.rng.IntN(len(at))]; d.rng.IntN(3) {
	case 0:
		return strings.ToUpper(p)
	case 1:
		return strings.ToLower(p)
	default:
		return p[:i] + string(p[i]^0x20) + p[i+1:]
	}
}

func (d *damager) separators(p string) string {
	switch {
	case strings.Contains(p, "-"):
		return strings.ReplaceAll(p, "-", pick(d.rng, []string{"_", "", "--"}))
	case strings.Contains(p, "_"):
		return strings.ReplaceAll(p, "_", pick(d.rng, []string{"-", ""}))
	}
	return ""
}

func (d *damager) wrongExtension(p string) string {
	if trimmed, ok := strings.CutSuffix(p, "/"); ok {
		return trimmed + pick(d.rng, []string{".html", ".md", ".htm", ".php"})
	}
	switch ext := path.Ext(p); ext {
	case ".html":
		return strings.TrimSuffix(p, ext) + pick(d.rng, []string{"", "/", ".md", ".htm", ".rst"})
	case ".png", ".svg", ".jpg", ".gif", ".webp":
		return strings.TrimSuffix(p, ext) + pick(d.rng, []string{".jpeg", ".avif", ".bmp"})
	}
	return ""
}

// inventedPage puts a name that no page ever had in place of the last one.
func (d *damager) inventedPage(p string) string {
	trimmed := strings.TrimSuffix(p, "/")
	dir, name := path.Split(trimmed)
	return dir + d.invented() + path.Ext(name) + p[len(trimmed):]
}

func (d *damager) inventedID(string) string { return d.invented() }

func (d *damager) invented() string {
	words := []string{pick(d.rng, d.words), pick(d.rng, d.words)}
	if d.rng.IntN(2) == 0 {
		words = append(words, pick(d.rng, d.words))
	}
	return strings.Join(words, "-")
}

// renamed changes the title that an id is made of.
func (d *damager) renamed(id string) string {
	words := strings.Split(id, "-")
	i := d.rng.IntN(len(words))
	switch n := d.rng.IntN(4); {
	case len(words) < 3 || n == 0:
		return strings.Join(slices.Insert(words, i, pick(d.rng, d.words)), "-")
	case n == 1:
		words[i] = pick(d.rng, d.words)
	case n == 2:
		words = slices.Delete(words, i, i+1)
	default:
		words[i] += pick(d.rng, []string{"s", "ing", "ed"})
	}
	return strings.Join(words, "-")
}

// damagedLink is a link of the copy with what it was before.
type damagedLink struct {
	kind     string
	never    bool
	page     string
	offset   int64
	raw      string // before
	broken   string // after
	node     docroot.NodeID
	fragment string
}

// sample returns links of a site that work, each target once, in a random order.
// The addresses of the same page with different fragments are different targets.
func sample(t testing.TB, s *isite.Site, rng *rand.Rand) []Link {
	t.Helper()
	var links []Link
	seen := map[string]bool{}
	_, err := Links(context.Background(), handle(s), Options{}, Query{}, func(l *Link) error {
		if l.Verdict != OK || l.Element != "a" && l.Element != "img" || l.Final != "" || l.node == docroot.NoNode || strings.ContainsAny(l.Raw, "%&<>'\" ") {
			return nil
		}
		if id, ok := s.Lookup(l.Page); !ok || id == l.node && l.Fragment == "" || strings.Contains(l.Raw, "://") {
			return nil
		}
		if key := l.Target + "#" + l.Fragment; !seen[key] {
			seen[key] = true
			links = append(links, *l)
		}
		return nil
	})
	testkit.Check(t, err)
	rng.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return links
}

// siteWords returns the words of the names of a site, each once.
func siteWords(s *isite.Site) []string {
	seen := map[string]bool{}
	for i := range s.Pages() {
		for _, w := range similar.Words(path.Base(s.Path(isite.PageID(i)))) {
			if len(w) > 3 && w != "html" && isLetter(w[0]) {
				seen[w] = true
			}
		}
	}
	words := []string{"welcome", "summary"}
	for w := range seen {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

// damagePlan is what a copy of a site should be.
type damagePlan struct {
	links []damagedLink
	// removed are the files that the copy lacks; removedIDs the ids, by page.
	removed    map[string]bool
	removedIDs map[string][]string
}

// planDamage chooses perKind links of each kind, and as many pages and ids to
// remove.
func planDamage(t testing.TB, s *isite.Site, perKind int) damagePlan {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 1))
	d := &damager{rng, siteWords(s)}
	links := sample(t, s, rng)
	plan := damagePlan{removed: map[string]bool{}, removedIDs: map[string][]string{}}
	count := map[string]int{}
	isGone := map[docroot.NodeID]bool{}
	plan.remove(s, links, perKind, count, isGone)
	for n, l := range links {
		from, _ := s.Lookup(l.Page)
		if isGone[from] || isGone[l.node] {
			continue
		}
		for i := range damageKinds {
			k := &damageKinds[(n+i)%len(damageKinds)]
			if count[k.name] >= perKind {
				continue
			}
			if broken := k.apply(d, l.Raw); broken != "" && broken != l.Raw {
				count[k.name]++
				plan.links = append(plan.links, damagedLink{kind: k.name, never: k.never, page: l.Page, offset: l.Offset, raw: l.Raw, broken: broken, node: l.node, fragment: l.Fragment})
				break
			}
		}
	}
	return plan
}

// remove chooses the pages and ids that the copy lacks, and a link to each.
func (plan *damagePlan) remove(s *isite.Site, links []Link, perKind int, count map[string]int, isGone map[docroot.NodeID]bool) {
	isUsed := map[docroot.NodeID]bool{}
	perKind = min(perKind, s.Pages()/20) // enough must be left
	for i := range links {
		l := &links[i]
		from, _ := s.Lookup(l.Page)
		if isGone[from] || isUsed[l.node] || from == l.node || l.Page == "index.html" {
			continue
		}
		gone := damagedLink{never: true, page: l.Page, offset: l.Offset, raw: l.Raw, broken: l.Raw, node: l.node, fragment: l.Fragment}
		switch target := s.Tree().Path(l.node); {
		case l.Fragment == "" && count[removedPage] < perKind && target != "index.html":
			gone.kind = removedPage
			plan.removed[target] = true
			isGone[l.node] = true
		case l.Fragment != "" && count[removedID] < perKind && !isGone[l.node]:
			gone.kind = removedID
			plan.removedIDs[target] = append(plan.removedIDs[target], l.Fragment)
		default:
			continue
		}
		count[gone.kind]++
		isUsed[from], isUsed[l.node] = true, true
		plan.links = append(plan.links, gone)
	}
}

// copyDamaged copies a docroot with the damage of the plan.
func copyDamaged(t testing.TB, from, to string, plan damagePlan) {
	t.Helper()
	byPage := map[string][]damagedLink{}
	for _, l := range plan.links {
		byPage[l.page] = append(byPage[l.page], l)
	}
	err := filepath.WalkDir(from, func(name string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		slash, target := filepath.ToSlash(rel), filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case plan.removed[slash]:
			return nil
		case e.Type()&os.ModeSymlink != 0:
			dest, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return os.Symlink(dest, target)
		case !e.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		links := byPage[slash]
		slices.SortFunc(links, func(a, b damagedLink) int { return int(b.offset - a.offset) })
		for _, l := range links {
			if at := int(l.offset); at+len(l.raw) <= len(text) && string(text[at:at+len(l.raw)]) == l.raw {
				text = slices.Replace(text, at, at+len(l.raw), []byte(l.broken)...)
			}
		}
		for _, id := range plan.removedIDs[slash] {
			text = []byte(strings.ReplaceAll(string(text), `id="`+id+`"`, `xd="`+id+`"`))
		}
		return os.WriteFile(target, text, 0o644)
	})
	testkit.Check(t, err)
}

// score counts the suggestions for one kind of damage.
type score struct {
	breaks, made, right, answers int
}

func (c *score) add(o score) {
	c.breaks, c.made, c.right, c.answers = c.breaks+o.breaks, c.made+o.made, c.right+o.right, c.answers+o.answers
}

// measureSuggestions damages a copy of a docroot and returns the score of each
// kind. examples gets a line for each wrong suggestion.
func measureSuggestions(t testing.TB, root string, perKind int, example func(kind, line string)) map[string]score {
	t.Helper()
	s := load(t, root, isite.Options{})
	plan := planDamage(t, s, perKind)
	to := filepath.Join(t.TempDir(), "docroot")
	mkdir(t, to)
	copyDamaged(t, root, to, plan)
	damaged := load(t, to, isite.Options{})
	type place struct{ page, raw string }
	byPlace := map[place]*Finding{}
	r := run(t, damaged, Options{})
	for i := range r.Findings {
		f := &r.Findings[i]
		byPlace[place{f.Page, f.Raw}] = f
	}
	reader := damaged.NewReader()
	defer reader.Close()
	scores := map[string]score{}
	for _, l := range plan.links {
		f := byPlace[place{l.page, l.broken}]
		if f == nil || f.Verdict != Error {
			continue // the damage did not break it
		}
		c := scores[l.kind]
		c.breaks++
		if f.Suggestion != "" {
			c.made++
			e := testkit.Must(Explain(context.Background(), handle(damaged), Options{}, l.page, f.Suggestion))(t)
			if e.Link.Verdict == OK || e.Link.Code == External {
				c.answers++
			} else {
				example(l.kind, fmt.Sprintf("NO ANSWER %s: %s -> %s is %s", l.page, l.broken, f.Suggestion, e.Link.Code))
			}
			if !l.never && e.Link.node != docroot.NoNode && damaged.Tree().Path(e.Link.node) == s.Tree().Path(l.node) && e.Link.Fragment == l.fragment {
				c.right++
			} else {
				example(l.kind, fmt.Sprintf("WRONG %s: %s -> %s, was %s", l.page, l.broken, f.Suggestion, l.raw))
			}
		} else {
			example(l.kind, fmt.Sprintf("none %s: %s, was %s [%s]", l.page, l.broken, l.raw, f.Code))
		}
		scores[l.kind] = c
	}
	return scores
}

// allKinds are the names of all kinds in the order of tables, and whether they
// mean nothing.
func allKinds() (names []string, never map[string]bool) {
	never = map[string]bool{removedPage: true, removedID: true}
	for _, k := range damageKinds {
		names = append(names, k.name)
		never[k.name] = k.never
	}
	return append(names, removedPage, removedID), never
}

// summarize adds up the scores of the links that mean something and of those
// that do not.
func summarize(scores map[string]score) (meant, meaningless score) {
	names, never := allKinds()
	for _, name := range names {
		if never[name] {
			meaningless.add(scores[name])
		} else {
			meant.add(scores[name])
		}
	}
	return meant, meaningless
}

// scoreTable writes the scores of sites as a table.
func scoreTable(scores map[string]score) string {
	var b strings.Builder
	names, _ := allKinds()
	row := func(name string, c score) {
		fmt.Fprintf(&b, "  %-20s %6d breaks %6d suggestions (%3.0f%%) %6d right (%5.1f%%) %6d answer\n", name, c.breaks, c.made, percent(c.made, c.breaks), c.right, percent(c.right, c.made), c.answers)
	}
	for _, name := range names {
		row(name, scores[name])
	}
	meant, meaningless := summarize(scores)
	row("damaged", meant)
	row("never existed", meaningless)
	return b.String()
}

func percent(part, all int) float64 { return 100 * float64(part) / float64(max(all, 1)) }

// TestSuggestionsCorpora measures the suggestions on the real sites in
// SITELINK_CORPORA, unpacked Debian packages, and SITELINK_DOCROOTS, a list of
// docroots.
func TestSuggestionsCorpora(t *testing.T) {
	var roots []string
	if dir := os.Getenv("SITELINK_CORPORA"); dir != "" {
		for _, at := range []string{"python3.11-doc/usr/share/doc/python3.11/html", "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html", "rust-doc/usr/share/doc/rust-doc/html"} {
			if root := filepath.Join(dir, filepath.FromSlash(at)); exists(root) {
				roots = append(roots, root)
			}
		}
	}
	roots = append(roots, filepath.SplitList(os.Getenv("SITELINK_DOCROOTS"))...)
	if len(roots) == 0 {
		t.Skip("neither SITELINK_CORPORA nor SITELINK_DOCROOTS names a site")
	}
	total := map[string]score{}
	for _, root := range roots {
		scores := measureSuggestions(t, root, 150, func(kind, line string) {
			if os.Getenv("SITELINK_EXAMPLES") != "" {
				fmt.Printf("%s: %s\n", kind, line)
			}
		})
		t.Logf("%s\n%s", root, scoreTable(scores))
		for name, c := range scores {
			sum := total[name]
			sum.add(c)
			total[name] = sum
		}
	}
	t.Logf("all sites\n%s", scoreTable(total))
	requireQuality(t, total)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// requireQuality fails if suggestions are not good enough.
func requireQuality(t testing.TB, scores map[string]score) {
	t.Helper()
	meant, meaningless := summarize(scores)
	all := meant
	all.add(meaningless)
	if p := percent(meant.right, meant.made); p < 95 {
		t.Errorf("%.1f %% of the suggestions are right, want 95 %%", p)
	}
	if p := percent(meant.made, meant.breaks); p < 40 {
		t.Errorf("%.1f %% of the breaks get a suggestion, want 40 %%", p)
	}
	if p := percent(all.answers, all.made); p < 99 {
		t.Errorf("%.1f %% of the suggestions lead to something that answers, want 99 %%", p)
	}
	if p := percent(meaningless.made, meaningless.breaks); p > 5 {
		t.Errorf("%.1f %% of the links that mean nothing get a suggestion, want 5 %% at most", p)
	}
}
