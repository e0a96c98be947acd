// Package hook checks the links of a site from the Go program that builds it.
//
// Call [Check] when the docroot is written. It checks every link as `sitelink
// check` does and returns the findings; [Result.Write] prints them in any format
// of the command:
//
//	result, err := hook.Check(ctx, hook.Site{Docroot: "public", BaseURL: "https://example.org/"})
//	if err != nil {
//		return err
//	}
//	if err := result.Write(os.Stdout, "text"); err != nil {
//		return err
//	}
//	if result.HasErrors() {
//		os.Exit(1)
//	}
//
// If the program lists in [Site.Sources] the texts that a page was made of,
// findings have the line and column of the link in these texts. A [Recorder] is
// an extension of goldmark that records the texts while goldmark renders them.
// Call [Recorder.Convert] instead of [goldmark.Markdown.Convert], and
// [Document.Page] for each page that contains the result:
//
//	var links hook.Recorder
//	md := goldmark.New(goldmark.WithExtensions(&links))
//	doc, err := links.Convert(md, hook.Input{File: "content/a.md", Text: text}, &html)
//	...
//	doc.Page("a/index.html")
//	result, err := hook.Check(ctx, hook.Site{Docroot: "public", Sources: links.Sources})
//
// [Relative] is a second extension. It reports relative links without a target
// while they are rendered, before there is a site to check. For another renderer,
// make the [Source] values yourself.
//
// The package starts no process, reads no flags, environment variables or
// configuration files, prints nothing and writes no file. Package githook, below
// this one, installs and runs git hooks.
package hook
