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
// If the program says in [Site.Sources] which texts a page was made of, findings
// have the line and column of the link in these texts. Package mdlink records
// the texts while goldmark renders them. For another renderer, make the [Source]
// values yourself.
//
// The package starts no process, reads no flags, environment variables or
// configuration files, prints nothing and writes no file. Package githook, below
// this one, installs and runs git hooks.
package hook
