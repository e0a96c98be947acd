// Package site loads a docroot, the directory that holds a built static site,
// for the packages that work with it.
//
// Call [Load] once and hand the [Site] to package check:
//
//	s, err := site.Load(ctx, "public", site.Options{BaseURLs: []string{"https://example.org/"}})
//	if err != nil {
//		return err
//	}
//	result, err := check.Run(ctx, s, check.Options{})
//
// Load lists the files, reads every page once, and works out which file the
// site's host sends for each link. How a host maps paths to files is its
// profile: set [Options.Profile] to the name of yours, and [Options.Host] where
// yours differs.
//
// A Site never changes. When files of the docroot do, [Site.Update] returns a
// new Site.
//
// Load and Update read files beneath the docroot and, when [Options.Project] is
// set, the host's rule files in that directory. They write nothing and open no
// connection.
package site
