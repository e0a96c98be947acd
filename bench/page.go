package main

import (
	"math/rand/v2"
	"strconv"
)

const styleSheet = "body { max-width: 40em; margin: auto; font: 1rem/1.5 serif }\nnav ul { display: flex }\n"

var words = [...]string{
	"amber", "anvil", "apple", "arrow", "basil", "beach", "birch", "bread", "brick", "brook", "candle", "canvas",
	"cedar", "chalk", "cliff", "clover", "coast", "copper", "coral", "cotton", "creek", "crown", "delta", "ember",
	"fern", "field", "flint", "forest", "frost", "garden", "ginger", "glass", "grain", "harbor", "hazel", "heron",
	"honey", "island", "ivory", "juniper", "kettle", "lantern", "lemon", "linen", "maple", "marble", "meadow", "mint",
	"north", "ocean", "olive", "orchard", "paper", "pebble", "pepper", "pine", "quartz", "river", "saddle", "silver",
	"stone", "thyme", "timber", "willow",
}

// appendTwo appends letter and two digits: d07, p42.
func appendTwo(dst []byte, letter byte, n int) []byte {
	return append(dst, letter, byte('0'+n/10), byte('0'+n%10))
}

// appendFolder appends the folder of a leaf, with / at its end: d00/d17/.
func (g *generated) appendFolder(dst []byte, leaf int) []byte {
	unit := 1
	for range g.depth - 1 {
		unit *= perFolder
	}
	for ; unit > 0; unit /= perFolder {
		dst = append(appendTwo(dst, 'd', leaf/unit%perFolder), '/')
	}
	return dst
}

// appendName appends the file name of a page in its folder.
func appendName(dst []byte, page int) []byte {
	if page%perFolder == 0 {
		return append(dst, "index.html"...)
	}
	return append(appendTwo(dst, 'p', page%perFolder), ".html"...)
}

// appendFile appends the docroot-relative path of a page's file. Page 0 is the
// home page.
func (g *generated) appendFile(dst []byte, page int) []byte {
	if page > 0 {
		dst = g.appendFolder(dst, page/perFolder)
	}
	return appendName(dst, page)
}

// appendPath appends the site path of a page; the first page of a folder is
// its index and linked as the folder.
func (g *generated) appendPath(dst []byte, page int) []byte {
	dst = append(dst, '/')
	if page == 0 {
		return dst
	}
	dst = g.appendFolder(dst, page/perFolder)
	if page%perFolder == 0 {
		return dst
	}
	return appendName(dst, page)
}

// appendHref appends a link from page to target, as authors and generators mix
// them: relative within a folder and to its neighbours, absolute elsewhere.
func (g *generated) appendHref(dst []byte, page, target int) []byte {
	from, to := page/perFolder, target/perFolder
	switch {
	case page == 0 || target == 0:
		return g.appendPath(dst, target)
	case from == to:
		return appendName(dst, target)
	case from/perFolder == to/perFolder:
		dst = append(appendTwo(append(dst, "../"...), 'd', to%perFolder), '/')
		if target%perFolder == 0 {
			return dst
		}
		return appendName(dst, target)
	}
	return g.appendPath(dst, target)
}

// appendPage appends the bytes of a page and counts its links in m: a style
// sheet, the same nine header links on every page, and forty in eight sections,
// half of them to pages nearby and half to anywhere.
func (g *generated) appendPage(dst []byte, page int, m *made) []byte {
	rng := rand.New(rand.NewPCG(g.Seed, uint64(page)))
	dst = append(dst, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"...)
	dst = appendWords(dst, rng, 3)
	dst = append(dst, "</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<nav><ul>\n"...)
	for i := range navLinks {
		dst = append(dst, "<li><a href=\""...)
		dst = g.appendPath(dst, i*g.Pages/navLinks)
		dst = append(append(append(dst, "\">"...), words[i]...), "</a></li>\n"...)
	}
	dst = append(dst, "</ul></nav>\n<main>\n"...)
	link := 1 + navLinks
	for id := range idsPerPage {
		dst = strconv.AppendInt(append(dst, "<section id=\"s"...), int64(id), 10)
		dst = append(appendWords(append(dst, "\">\n<h2>"...), rng, 2), "</h2>\n<p>"...)
		for range (linksPerPage - 1 - navLinks) / idsPerPage {
			dst = append(appendWords(dst, rng, 1), " <a href=\""...)
			dst = g.appendLink(dst, rng, page, link, m)
			dst = append(appendWords(append(dst, "\">"...), rng, 1), "</a>\n"...)
			link++
		}
		dst = append(dst, "</p>\n</section>\n"...)
	}
	m.Links += link
	return append(dst, "</main>\n</body>\n</html>\n"...)
}

// appendLink appends the link-th URL of page: target, then at times a
// fragment, then at times a break.
func (g *generated) appendLink(dst []byte, rng *rand.Rand, page, link int, m *made) []byte {
	target := rng.IntN(g.Pages)
	if rng.IntN(2) == 0 { // nearby
		target = ((page+rng.IntN(3*perFolder)-perFolder*3/2)%g.Pages + g.Pages) % g.Pages
	}
	broken := rng.IntN(brokenEvery) == 0
	if broken {
		m.BrokenLinks++
		dst = append(strconv.AppendUint(append(dst, "/gone/"...), rng.Uint64N(1e9), 10), ".html"...)
	} else {
		dst = g.appendHref(dst, page, target)
	}
	if (link-1-navLinks)%fragmentEvery == fragmentEvery-1 {
		m.Fragments++
		id := rng.IntN(idsPerPage)
		if rng.IntN(brokenFragment) == 0 {
			id += idsPerPage
			if !broken {
				m.BrokenFragments++
			}
		}
		dst = strconv.AppendInt(append(dst, "#s"...), int64(id), 10)
	}
	return dst
}

func appendWords(dst []byte, rng *rand.Rand, n int) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, words[rng.IntN(len(words))]...)
	}
	return dst
}
