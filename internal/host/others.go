package host

import "slices"

// Others returns h as hosts of other kinds would answer, sorted by the names of their
// profiles: those that answer a page without its extension, or a directory, otherwise. Only
// their answers to requests count; addresses of pages stay those of h.
func Others(h *Host) (others []*Host) {
	for _, p := range Profiles() {
		sameIndex := slices.Equal(p.Index, h.profile.Index) || len(h.opt.Index) > 0
		if p.Name == Linklint.Name || p.Name == "hugo-server" || p.Page == h.profile.Page && sameIndex {
			continue // no site is published there, or nothing is different
		}
		p.FileSlash = h.profile.FileSlash // no one writes /a.html/ on purpose
		other := *h
		other.profile, other.rules, other.movedTo = p, nil, nil
		if !sameIndex {
			other.index, other.foldIndex = p.Index, p.FoldIndex
			other.findIndexes()
		}
		others = append(others, &other)
	}
	return others
}
