// Package check finds the broken links of a static site, and answers questions
// about its links.
//
// Load a docroot with package site and check it:
//
//	s, err := site.Load(ctx, "public", site.Options{BaseURLs: []string{"https://example.org/"}})
//	if err != nil {
//		return err
//	}
//	result, err := check.Run(ctx, s, check.Options{})
//	if err != nil {
//		return err // the work could not be done
//	}
//	for _, f := range result.Findings {
//		fmt.Printf("%s:%d:%d: %s: %s [%s]\n", f.Page, f.Line, f.Column, f.Verdict, f.Message, f.Code)
//	}
//
// # What is checked
//
// [Run] judges every link of every page as the site's host will answer it:
// files, index files, redirects, image maps, fragments, style sheets, feeds and
// sitemaps. A [Finding] is one fault, with its [Verdict], a [Code] that programs
// can rely on, its place, and, where something similar exists, a suggestion.
// Links to other hosts are listed, but not requested. The [Summary] counts what
// was not checked, by reason. Package report writes a [Result] in any format of the
// command.
//
// # Accepting findings
//
// [Options.Ignore] holds rules for findings that you accept. Package baseline
// accepts all findings that a site has today, so that only new ones are
// reported.
//
// # Asking about links
//
// [Links] lists all links, or those that a [Query] selects, and [WriteLinks]
// writes them fast. [Explain] shows step by step how a link gets its verdict.
// [Orphans] lists the files that nothing links to, and [Walk] the pages that a
// check reaches from a [Linkset]. Use [Anchors], [Addresses] and
// [ExternalTargets] to check the links between two sites.
//
// # Following a site
//
// When files change, load the next version with [site.Site.Update], run the check
// again, and [Compare] the findings of the two results.
//
// All functions may be called concurrently for one site. None of them writes a
// file or opens a connection; each reads again only the pages that it reports
// about.
package check
