package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/site"
)

// scope is the part of a site to judge the links of, if [Options.From], Skip or
// Limit leave something out. A nil scope is the whole site.
type scope struct {
	in []bool // by page
	// named means that [Options.Pages] named them: fragments of other pages count then.
	named bool
	// skipped are the pages that were left out although a judged page links to
	// them, or that would have been judged. They are sorted by path.
	skipped []string
	// findings are about the linksets themselves.
	findings []Finding
	visits   []Visit
}

// has reports whether the links of a page are judged.
func (c *scope) has(id isite.PageID) bool { return c == nil || c.in[id] }

// Visit is one page or directory listing that [Walk] came to.
type Visit struct {
	// Path is the site path that led to the page.
	Path string
	// Kind says what happens to it.
	Kind VisitKind
}

// VisitKind says what happens to a page.
type VisitKind uint8

const (
	VisitCheck  VisitKind = iota // its links are judged and followed
	VisitFollow                  // the seed of a linkset, but in no linkset: its links are only followed (A-LL-1)
	VisitSkip                    // left out: in no linkset of From, or in one of Skip
	VisitLimit                   // left out: the limit was reached
)

var visitNames = [...]string{"check", "follow", "skip", "limit"}

// String returns check, follow, skip or limit.
func (k VisitKind) String() string { return visitNames[k] }

// Walk returns the pages and listings that [Run] comes to under opt.From,
// opt.Skip and opt.Limit, in order, without judging a link. It returns none when
// the three leave nothing out. The error is that of a linkset, or of ctx.
func Walk(ctx context.Context, s *site.Site, opt Options) ([]Visit, error) {
	c, err := scopeOf(ctx, isite.Unwrap(s), opt)
	if c == nil || err != nil {
		return nil, err
	}
	return c.visits, nil
}

// Follows returns which pages linksets let a crawl follow, by their decoded site paths, and the
// seeds at which it begins. from and skip are those of [Options].
func Follows(from, skip []string) (follows func(path string) bool, seeds []string, err error) {
	in, err := parseLinksets(from)
	if err != nil {
		return nil, nil, err
	}
	out, err := parseLinksets(skip)
	return func(path string) bool { return (len(from) == 0 || in.match(path)) && !out.match(path) }, in.seeds(), err
}

// scopeOf finds the pages to judge the links of. Without linksets in From, these
// are all pages except those of Skip, in the order of their paths, up to the
// limit. With linksets, scopeOf follows links from the seeds (LL-17), breadth
// first and in document order, so that a limit means the same in each run
// (A-LL-12).
func scopeOf(ctx context.Context, s *isite.Site, opt Options) (*scope, error) {
	if len(opt.From)+len(opt.Skip)+len(opt.Pages) == 0 && opt.Limit <= 0 {
		return nil, nil
	}
	from, err := parseLinksets(opt.From)
	if err != nil {
		return nil, err
	}
	skip, err := parseLinksets(opt.Skip)
	if err != nil {
		return nil, err
	}
	w := newWalker(s)
	w.from, w.skip, w.limit = &from, &skip, opt.Limit
	defer w.reader.Close()
	if len(opt.From) == 0 {
		w.from = nil
		if err := w.everything(opt.Pages); err != nil {
			return nil, err
		}
	} else if err := w.walk(ctx, from.seeds()); err != nil {
		return nil, err
	}
	c := w.scope()
	c.named = len(opt.Pages) > 0
	return c, nil
}

// scope ends the walk.
func (w *walker) scope() *scope {
	c := &scope{in: w.in, visits: w.visits}
	for node := range w.left {
		path := w.s.Tree().Path(node)
		if _, page := w.s.PageOf(node); !page && path != "" {
			path += "/"
		}
		c.skipped = append(c.skipped, path)
	}
	slices.Sort(c.skipped)
	c.findings = w.findings()
	return c
}

// findings reports linksets that match no page, and that the limit was reached.
// A check that leaves pages out must not look like one that found nothing
// (A-LL-1, LL-23).
func (w *walker) findings() []Finding {
	var out []Finding
	if w.cut > 0 {
		out = append(out, Finding{Page: w.cutFirst, Verdict: Warning, Code: LimitReached, Count: 1,
			Message: fmt.Sprintf("--limit %d was reached at this page; pages left out: %d", w.limit, w.cut)})
	}
	if w.from == nil {
		return out
	}
	for i, l := range w.from.all {
		if w.used[i] {
			continue
		}
		f := Finding{Page: strings.TrimPrefix(l.text, "/"), Verdict: Warning, Code: UnmatchedLinkset, Count: 1, Target: l.Seed()}
		node, path, ok := w.find(f.Target)
		switch a := w.s.Answer(f.Target); {
		case !ok && a.State.Answers():
			f.Message = fmt.Sprintf("the linkset %s names a file without links, so there is nothing to check", l)
		case !ok:
			f.Verdict = Error
			f.Message = fmt.Sprintf("the linkset %s matches no page: nothing answers its seed %s", l, f.Target)
		case l.pattern == nil:
			f.Message = fmt.Sprintf("the linkset %s matches no page: the address of %s is %s", l, w.s.Tree().Path(node), path)
			f.Suggestion = path
		default:
			f.Message = fmt.Sprintf("the linkset %s matches no page that links from its seed %s lead to", l, f.Target)
		}
		if w.count == 0 {
			f.Verdict = Error
		}
		out = append(out, f)
	}
	return out
}

// Linkset is a pattern of site paths that selects pages (LL-1). "@" matches any
// characters, "#" any characters but slashes; both may match nothing (LL-4,
// LL-5). A slash after "#" is optional (LL-6, A-LL-10). Every other character
// matches itself. The pattern matches whole paths (LL-7), below the base URL and
// decoded: /sub/ for a directory, /sub/b.html for a file.
//
// The zero value matches nothing. A Linkset is read-only and safe for
// concurrent use.
type Linkset struct {
	text    string
	pattern *regexp.Regexp // nil when there is no wildcard
}

// maxLinkset is the length of the longest linkset, in bytes: that of the longest
// path on most systems.
const maxLinkset = 4096

// ParseLinkset reads a linkset. It adds a slash at the front if the linkset has
// none (LL-11).
func ParseLinkset(text string) (Linkset, error) {
	lower := strings.ToLower(text)
	switch {
	case text == "":
		return Linkset{}, errors.New("the linkset is empty; / selects the home page, /@ the whole site")
	case strings.HasPrefix(lower, "http:"), strings.HasPrefix(lower, "https:"):
		return Linkset{}, fmt.Errorf("a linkset is a path of the site, not a URL such as %q", text)
	case strings.ContainsRune(text, 0):
		return Linkset{}, errors.New("the linkset contains a NUL byte")
	case len(text) > maxLinkset:
		return Linkset{}, fmt.Errorf("the linkset that begins with %.40q is longer than %d bytes", text, maxLinkset)
	}
	if text[0] != '/' {
		text = "/" + text
	}
	l := Linkset{text: text}
	if !strings.ContainsAny(text, "@#") {
		return l, nil
	}
	if !utf8.ValidString(text) {
		return Linkset{}, fmt.Errorf("a linkset with wildcards must be UTF-8, got %q", text)
	}
	var re strings.Builder
	re.WriteString("(?s)^")
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "@#")
		if i < 0 {
			i = len(rest)
		}
		re.WriteString(regexp.QuoteMeta(rest[:i]))
		if rest = rest[i:]; rest == "" {
			break
		}
		wildcard := rest[0]
		rest = rest[1:]
		switch {
		case wildcard == '@':
			re.WriteString(".*")
		case strings.HasPrefix(rest, "/"):
			re.WriteString("[^/]*/?")
			rest = rest[1:]
		default:
			re.WriteString("[^/]*")
		}
	}
	re.WriteString("$")
	var err error
	if l.pattern, err = regexp.Compile(re.String()); err != nil {
		return Linkset{}, fmt.Errorf("the linkset %q is too large", text)
	}
	return l, nil
}

// String returns the linkset with its leading slash.
func (l Linkset) String() string { return l.text }

// Match reports whether the linkset matches a decoded site path, which begins
// with a slash.
func (l Linkset) Match(path string) bool {
	if l.pattern != nil {
		return l.pattern.MatchString(path)
	}
	return l.text != "" && l.text == path
}

// Seed returns the path where the search for pages of the set begins: the linkset
// itself if it has no wildcard (LL-2), else its part up to the last slash before
// the first wildcard (LL-3).
func (l Linkset) Seed() string {
	i := strings.IndexAny(l.text, "@#")
	if i < 0 {
		return l.text
	}
	return l.text[:strings.LastIndexByte(l.text[:i], '/')+1]
}

// linksets match a path if one of them does. Those without wildcards are in a
// map, so that a list of ten thousand pages costs one look-up.
type linksets struct {
	literal  map[string]int // index in all
	patterns []int
	all      []Linkset
}

func parseLinksets(texts []string) (linksets, error) {
	ls := linksets{literal: map[string]int{}}
	for _, text := range texts {
		l, err := ParseLinkset(text)
		if err != nil {
			return linksets{}, err
		}
		if _, known := ls.literal[l.text]; known {
			continue
		}
		ls.literal[l.text] = len(ls.all) // patterns too, to find equal ones
		if l.pattern != nil {
			ls.patterns = append(ls.patterns, len(ls.all))
		}
		ls.all = append(ls.all, l)
	}
	for _, i := range ls.patterns {
		delete(ls.literal, ls.all[i].text) // a path may hold @ and # itself
	}
	return ls, nil
}

func (ls *linksets) match(path string) bool {
	_, ok := ls.literal[path]
	return ok || slices.ContainsFunc(ls.patterns, func(i int) bool { return ls.all[i].Match(path) })
}

// seeds returns the seeds of the linksets, sorted, each once (LL-15).
func (ls *linksets) seeds() []string {
	var seeds []string
	for _, l := range ls.all {
		seeds = append(seeds, l.Seed())
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}
