// Package export writes approved mentions into files for the next build of a site.
//
// [Write] takes the mentions of a store and keeps a directory up to date:
//
//	result, err := export.Write(ctx, store.List(ctx, export.Selection), "data/mentions", export.Options{})
//
// The directory gets one file per page in the folder pages, the file index with the
// name of each, and the file advice with what other sites reported about links of
// yours. The same mentions always give the same bytes, and only files that change
// are written. Files of pages without mentions are removed, if they begin with the
// mark of this package; Write never changes or removes any other file, and follows
// no symbolic link.
//
// All texts are plain text of strangers. Escape them where you show them, as
// html/template and the templates of Hugo do. Addresses are http or https URLs.
//
// [Backlinks] returns the links between the pages of your own site in the same
// shape, and [Read] returns the exported mentions to a Go program that builds a
// site. [Live] serves approved mentions to a script on the page, for readers who
// come before the next build.
package export
