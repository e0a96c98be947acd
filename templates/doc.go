// Package templates adds link elements to the head of a site's pages, verifies
// them and removes them again. The elements name the site's pingback and
// webmention endpoints, so that other sites can find them.
//
// Start with [NewEndpoints]. Then choose the way that fits the program:
//
//   - [Insert] changes html/template templates before their first execution.
//   - [NewWriter] adds the elements to one page while it is written.
//   - [Docroot] edits the pages of a built site, or undoes its edits.
//   - [HeaderRules] has the headers that the host can send instead.
//
// [Verify] checks a page in memory. Where the elements go depends only on the
// bytes of the template or page. Files are replaced as a whole or not at all.
//
// Sources: Pingback 1.0 (https://www.hixie.ch/specs/pingback/pingback),
// Webmention (https://www.w3.org/TR/webmention/).
package templates
