package host

// WithURLs returns the profile as the settings cleanUrls and trailingSlash of
// vercel.json or firebase.json change it; trailingSlash is nil when the file
// does not say. Profiles of other hosts come back as they are.
//
// The answers were measured on serve-handler and superstatic; see
// docs/reference/profiles.md.
func (p Profile) WithURLs(cleanURLs bool, trailingSlash *bool) Profile {
	switch p.Name {
	case "vercel":
		p.vercelURLs(cleanURLs, trailingSlash)
	case "firebase":
		p.firebaseURLs(cleanURLs, trailingSlash)
	}
	return p
}

// vercelURLs: Vercel redirects by the text of a path, whether there is a file
// or not.
func (p *Profile) vercelURLs(cleanURLs bool, trailingSlash *bool) {
	if cleanURLs {
		p.Page, p.PageFile, p.PageSlash = Serve, RedirectAlways, Serve
		p.IndexFile, p.IndexName = RedirectBare, RedirectAlways
	}
	switch {
	case trailingSlash == nil:
	case *trailingSlash:
		p.TrailingSlash = Add
	default:
		p.TrailingSlash = Remove
	}
}

// firebaseURLs: Firebase redirects only from one address of a file that is
// there to the other.
func (p *Profile) firebaseURLs(cleanURLs bool, trailingSlash *bool) {
	if cleanURLs {
		p.Page, p.PageFile, p.Directory = Serve, Redirect, Serve
		p.IndexFile, p.IndexName = RedirectBare, RedirectBare
	}
	switch {
	case trailingSlash == nil:
	case *trailingSlash:
		p.Directory, p.DirectorySlash = RedirectIndex, Serve
		if cleanURLs {
			p.Page, p.PageSlash, p.IndexFile, p.IndexName = Redirect, Serve, Redirect, Redirect
		}
	default:
		p.Directory, p.DirectorySlash = Serve, Redirect
		if cleanURLs {
			p.PageSlash = Redirect
		}
	}
}
