package source

import (
	"regexp"
	"slices"
)

// jsxValue finds what MDX gives to components as an address.
var jsxValue = regexp.MustCompile("\\b(?:to|href|src|link|url|image|img|action)\\s*=\\s*\\{?\\s*[\"'`]([^\"'`\\s]+)[\"'`]")

// addJSX puts the addresses that components get among the items of an MDX
// file, unless they were read as HTML.
func (d *document) addJSX(masked []byte) {
	known := map[int]bool{}
	for _, it := range d.items {
		known[it.at] = true
	}
	for _, v := range jsxValue.FindAllSubmatchIndex(masked, -1) {
		if !known[v[2]] {
			d.items = append(d.items, item{order: v[2], at: v[2], dest: string(masked[v[2]:v[3]]), loose: true})
		}
	}
	slices.SortStableFunc(d.items, func(a, b item) int { return a.order - b.order })
}
