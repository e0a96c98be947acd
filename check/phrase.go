package check

import isite "github.com/sitelink/sitelink/internal/site"

// phrases remembers what was said of links of one directory: pages of a
// directory repeat each other's, and a redirect or an alias page may be behind
// thousands (rust-doc: 39,691 links to 170 alias pages). It belongs to
// one goroutine.
type phrases struct {
	dir  isite.NodeID
	said map[string]phrase
}

// phrase is a finding's text, and what it depends on beside its raw value and
// its directory.
type phrase struct {
	resolved                             isite.Resolved
	judged                               judgement
	based                                bool
	raw, fragment, file, message, advice string
}

// maxPhrases bounds what is remembered.
const maxPhrases = 1 << 12

// report makes f, which is empty, the report of one link of page id, its advice
// at once included.
func (p *phrases) report(s *isite.Site, id isite.PageID, path string, f *Finding, d *isite.Detail, j judgement) {
	page := s.Page(id)
	if j.code != ViaRedirect {
		f.report(s, path, d, j)
		f.based = page.HasBase()
		adviseAtOnce(s, f)
		return
	}
	if dir := s.Tree().Parent(page.Node()); dir != p.dir || p.said == nil || len(p.said) >= maxPhrases {
		p.dir, p.said = dir, make(map[string]phrase)
	}
	if known, ok := p.said[d.Raw]; ok && known.resolved == d.Resolved && known.judged == j && known.based == page.HasBase() {
		f.place(path, d, j)
		f.Raw, f.Fragment, f.File, f.Message, f.Suggestion, f.based = known.raw, known.fragment, known.file, known.message, known.advice, known.based
		return
	}
	f.report(s, path, d, j)
	f.based = page.HasBase()
	adviseAtOnce(s, f)
	known := phrase{d.Resolved, j, f.based, f.Raw, f.Fragment, f.File, f.Message, f.Suggestion}
	known.resolved.Fragment = f.Fragment // that of d does not last
	p.said[f.Raw] = known
}
