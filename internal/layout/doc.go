package layout

import "slices"

// Spot is a place in a template where something can be inserted.
type Spot struct {
	Pos
	// Before is the number of bytes of text that stand before it on the page,
	// as far as templates tell: a lower bound.
	Before int
	// Data is what the page is called there: "." or "$" in the language Go, ""
	// where neither is the page. It is "." in all other languages.
	Data string
	// Cached: what is written there is made for one page and used for others.
	Cached bool
	// InBlock names the innermost block around it, which another template may
	// replace.
	InBlock string
	// Chain are the files from the root to the spot's, for a person.
	Chain []string

	branches []int
}

// Always tells whether the spot is written whenever that one is.
func (s Spot) Always(whenever Spot) bool {
	return len(s.branches) <= len(whenever.branches) && slices.Equal(s.branches, whenever.branches[:len(s.branches)])
}

// Call is a call of another template in the head.
type Call struct {
	Spot
	Name string
	// Arg is the data that it hands over, as written; Found the file that it
	// leads to, "" when there is none.
	Arg, Found string
	// Page tells whether the called template gets the page as its data.
	Page bool
	// Cached: what the called template writes is used for several pages.
	CachedCall bool
	// Guarded: the call is made only if the template exists.
	Guarded bool
	// InBody: as far as the templates tell, the body has begun before, by text
	// or elements that cannot stand in a head.
	InBody bool
}

// Link is a link element of the template's own.
type Link struct {
	Spot
	// Rel is pingback or webmention.
	Rel string
}

// Doc is what the templates of one page say of its head.
type Doc struct {
	// Heads are the spots behind each <head>, HeadEnds those before each
	// </head>, both outside of scripts, comments and the like.
	Heads, HeadEnds []Spot
	// Charset is the spot behind the declaration of the encoding in the head.
	Charset *Spot
	// Body is where the body begins: its tag, or what can only stand in it.
	Body *Spot
	// BodyFirst: the body begins before the first </head>, which so ends no
	// head: stray text or elements stand in between.
	BodyFirst bool
	// Implied is the spot behind the last element of a head that has no tags
	// of its own, such as title or link.
	Implied *Spot
	// XHTML: the page declares itself to be XHTML.
	XHTML bool
	// Calls are the calls of other templates in the head, in order.
	Calls []Call
	// Links are elements in the head, or before it ends, by which the page names
	// endpoints itself.
	Links []Link
	// PageFunc is how the page is called where it is not at hand, "" if there is
	// no such way; set by the caller before [Doc.Place].
	PageFunc string
	// Files are all files that were read.
	Files []string
	// Extends is the template that the root is written into.
	Extends string
	// Blocks are the names of the blocks in the head, in order.
	// AllBlocks are those of the whole page.
	Blocks, AllBlocks []string
	// Defines are the blocks that the files define for others.
	Defines []string
	// IsDocument: a doctype or <html> shows that this is a page, not a part.
	IsDocument bool
}
