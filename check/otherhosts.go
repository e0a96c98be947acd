package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/text"
)

// askOthers notes for each error about a missing file which other hosts would answer the
// link without a finding, if it is not known which host the site has. It returns these
// hosts, at most 32.
func askOthers(s *isite.Site, findings []Finding) (others []*host.Host) {
	if !s.HostUnknown() {
		return nil
	}
	type question struct {
		target, fragment string
		entry            bool
	}
	known := map[question]uint32{}
	for i := range findings {
		f := &findings[i]
		if f.Verdict != Error || !slices.Contains([]Code{MissingFile, MissingDirectory, MissingIndex}, f.plainCode()) {
			continue
		}
		if others == nil {
			others = host.Others(s.Host)
		}
		q := question{f.Target, f.Fragment, f.linkCode != ""}
		set, ok := known[q]
		for k, h := range others {
			if ok || !mayAnswer(s, f.Target) {
				break
			}
			r, err := h.Request(f.Target)
			if r.Fragment = f.Fragment; err == nil && r.State != host.StateExternal && isFine(s, f, r) {
				set |= 1 << k
			}
		}
		known[q], f.others = set, set
	}
	return others
}

// mayAnswer reports whether the docroot has a page or a directory by the name that a path
// ends with. Only then can another host answer the path.
func mayAnswer(s *isite.Site, target string) bool {
	name := strings.Trim(decodeAddress(s, target), "/")
	for _, end := range []string{"", ".html", ".htm"} {
		if _, ok := s.Lookup(name + end); ok {
			return true
		}
	}
	return false
}

// hostDecides says first which hosts would answer at least a third of the links that are
// errors, if there are such hosts and the site's host is not known. It replaces what it said
// before.
func (r *Result) hostDecides() {
	sum := &r.Summary
	said := func(note string) bool { return note == r.hostNote }
	if sum.Notes = slices.DeleteFunc(sum.Notes, said); said(sum.Lead) {
		sum.Lead = ""
	}
	r.hostNote, r.likelyHosts = "", 0
	errors, answers := 0, make([]int, len(r.others))
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Verdict != Error || isFileFault(f) {
			continue
		}
		errors++
		for k := range answers {
			answers[k] += int(f.others >> k & 1)
		}
	}
	most := slices.Max(append(answers, 0))
	if most == 0 || 3*most < errors {
		return
	}
	var names []string
	for k, h := range r.others {
		if answers[k] == most {
			names, r.likelyHosts = append(names, h.Profile().Name), r.likelyHosts|1<<k
		}
	}
	k := slices.Index(answers, most)
	f := &r.Findings[slices.IndexFunc(r.Findings, func(f Finding) bool { return f.others>>k&1 != 0 })]
	answer, _ := r.others[k].Request(f.Target)
	vanish := "vanish"
	if most == 1 {
		vanish = "vanishes"
	}
	path, _, _ := strings.Cut(f.Target, "?")
	r.hostNote = fmt.Sprintf("%s of %s %s on a host that answers %s with %s: --profile %s; nginx and Apache do not by themselves",
		text.Thousands(most), text.Count(errors, "error"), vanish, path, r.others[k].Tree().Path(answer.Node), strings.Join(names, ", "))
	if sum.Notes = append(sum.Notes, r.hostNote); sum.Lead == "" {
		sum.Lead = r.hostNote
	}
}
