// Package incoming receives pingbacks, webmentions and the calls of the LINK draft
// for static sites.
//
// A [Receiver] answers each notice from what it knows: the pages of the site, the
// mentions in its store, and the rules of moderation. The answer never depends on
// a request to another site, so a receiver cannot be used to probe or to flood
// one. A recorded mention is verified later, once: [Receiver.Run] fetches its
// source and looks for the link. A verified mention is held until a person or a
// rule approves it.
//
// Package server has the HTTP side, package store the database, package verify the
// look at a source, and package export the files for the next build of the site.
//
// Sources: https://www.hixie.ch/specs/pingback/pingback,
// https://www.w3.org/TR/webmention/ and draft-pritchard-http-links-00; the ids
// PB-1 to PB-69 and LK-1 to LK-62 name their requirements.
package incoming
