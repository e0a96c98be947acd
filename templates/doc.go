// Package templates puts the link elements by which others find a site's
// pingback and webmention servers into the head of its pages, takes them out
// again, and tells whether a page has them as it should.
//
// [Endpoints] holds the addresses and makes the bytes of the elements. What is
// put where is decided by the bytes of a template or page alone; where files
// are written, they are replaced whole or not at all.
package templates
