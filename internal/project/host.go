package project

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
)

// published looks at the files of the docroot itself, if no deploy file names the host and
// no workflow does or several do: those that only one host reads, then the others, the
// surest first.
func (s *survey) published() (all []Evidence) {
	docroot := s.Abs(s.Docroot)
	if a := &s.Answers[AskHost]; a.Value == "" && (len(a.Against) == 0 || a.Against[0].Line > 0) { // steps of workflows
		dirs := []string{docroot}
		for _, r := range s.Roots { // Hugo writes such files into the directory of each host
			dirs = append(dirs, filepath.Join(docroot, filepath.FromSlash(r.Dir)))
		}
		for _, dir := range dirs {
			if all = s.hostOf(dir); len(all) > 0 {
				break
			}
		}
	}
	// Some hosts publish with a file that has the host name of the site.
	dirs, above := []string{docroot}, s.dirs
	if s.Generator != nil {
		above = append([]string{s.Generator.Dir, filepath.Join(s.Generator.Dir, filepath.FromSlash(s.Generator.Source))}, above...)
	}
	for _, dir := range above {
		for _, sub := range []string{"", "static", "public", "docs", "source", "content", "src"} {
			dirs = append(dirs, filepath.Join(dir, sub))
		}
	}
	for _, dir := range dirs {
		for kind, m := range host.Each(func(k *host.Kind) []host.Mark { return k.Marks }) {
			name := filepath.Join(dir, m.File)
			domain := s.domain(name)
			if !m.HostName || domain == "" {
				continue
			}
			if len(all) == 0 && s.Answers[AskHost].Value == "" {
				all = append(all, Evidence{Question: AskHost, Value: kind, File: name, Words: domain})
			}
			base := s.Answers[AskBase].Value
			if base == "" || strings.HasPrefix(base, "/") {
				s.BaseURLs, s.BasePath = []string{"https://" + domain + cmp.Or(base, "/")}, ""
				s.Answers[AskBase] = Answer{}
				base = s.BaseURLs[0]
			} else if on := "://" + strings.TrimPrefix(domain, "www."); !strings.Contains(strings.Replace(base, "://www.", "://", 1)+"/", on+"/") {
				base = "https://" + domain + "/"
			}
			return append(all, Evidence{Question: AskBase, Value: base, File: name, Line: 1, Words: domain})
		}
	}
	return all
}

// hostOf returns the evidence for the host that the files in a published directory are: the
// deploy files that some projects publish, then the surest mark.
func (s *survey) hostOf(dir string) []Evidence {
	for _, c := range s.deploys(dir) {
		return c.publish[:1]
	}
	// An address that one of those who read _redirects gives away is clearer.
	for address := range strings.FieldsSeq(s.Answers[AskBase].Value) {
		k, _ := host.KindByName(host.NameAt(address))
		if slices.ContainsFunc(k.Files, func(f host.RuleFile) bool { return f.Name == "_redirects" }) {
			return nil
		}
	}
	var best Evidence
	rank := -1
	for kind, m := range host.Each(func(k *host.Kind) []host.Mark { return k.Marks }) {
		name := filepath.Join(dir, m.File)
		data := s.read(name)
		switch {
		case data == nil || rank >= 0 && m.Rank > rank, m.HostName && s.domain(name) == "":
			continue
		case m.Below != "" && !slices.ContainsFunc(s.dirs, func(above string) bool { return isDirectory(filepath.Join(above, m.Below)) }):
			continue
		}
		e := Evidence{Question: AskHost, Value: kind, File: name, Words: m.Words}
		if m.Line != nil {
			n := 0
			for line := range bytes.Lines(data) {
				if n++; m.Line(string(line)) {
					e.Line, e.Words = n, strings.TrimSpace(string(line))
					break
				}
			}
		}
		if m.Line != nil && e.Line == 0 || m.Rank == rank && best.Line <= e.Line {
			continue // nothing that only this host reads, or it is below that of another
		}
		best, rank = e, m.Rank
	}
	if rank < 0 {
		return nil
	}
	return []Evidence{best}
}

// domain returns the host name in the first line of a file, "" for none.
func (s *survey) domain(name string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(string(s.read(name))), "\n")
	if isHostName(strings.TrimSpace(first)) {
		return strings.TrimSpace(first)
	}
	return ""
}
