// Package importer brings the mentions of other receivers into a store.
//
// [JF2] reads what webmention.io exports, [WordPress] an export file of WordPress, and
// [Webmentiond] the database of webmentiond. Each returns an iterator for [Import],
// which records what the store does not have yet. So an import can be repeated, also
// after an error, and never changes a decision that was made here.
//
//	report, err := importer.Import(ctx, store, importer.JF2(file), importer.Options{})
//
// A mention is approved if the other receiver showed it, and held if it waited for a
// decision there. Everything that is left out is in the report, with the reason. No
// request is made.
package importer
