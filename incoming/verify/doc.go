// Package verify looks at a page of another site once and finds out whether it
// links to a page of ours.
//
//	client := verify.NewClient(verify.Options{})
//	page := client.Fetch(ctx, source, peer)
//	evidence := page.Find(target)
//
// A source is a URL that a stranger chose, so a [Client] makes one GET request
// within narrow limits (PB-57 to PB-61): no address that is not on the public
// internet, ports 80 and 443, at most three redirects, 1 MiB, 10 seconds. Nothing
// else is ever fetched: no picture of an author, no home page, no style sheet.
//
// [Response.Find] parses the page and looks for an element that links to the target.
// The same URL in a comment, a script, a template or in plain text is not a link.
// It also takes from the page what is shown next to the link: title, excerpt,
// author and language, from the h-entry (microformats2) if the page has one. All
// these texts are plain text of strangers, bounded, on one line, and without
// characters that change the direction of the text after them.
package verify
