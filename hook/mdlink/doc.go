// Package mdlink records where links are written in Markdown, while goldmark
// renders it.
//
// A [Recorder] is an extension of goldmark. Call [Recorder.Convert] instead of
// [goldmark.Markdown.Convert], and [Document.Page] for each page that contains
// the result. Package hook then reports broken links of the built site at their
// line and column in the Markdown:
//
//	var links mdlink.Recorder
//	md := goldmark.New(goldmark.WithExtensions(&links))
//	doc, err := links.Convert(md, mdlink.Input{File: "content/a.md", Text: text}, &html)
//	...
//	doc.Page("a/index.html")
//	result, err := hook.Check(ctx, hook.Site{Docroot: "public", Sources: links.Sources})
//
// Nothing is parsed a second time. Links that other extensions add or change are
// recorded with the destination that is rendered.
//
// [Relative] is a second extension. It reports relative links without a target
// while they are rendered, before there is a site to check.
package mdlink
