package site

// The public package site hands out an opaque handle that holds a [Site]. It
// sets these two functions in its init, so that the other packages of this
// module, and no program outside of it, get from one to the other. A package
// that calls them imports the public package too, or they are nil.
var (
	// Wrap returns the handle of s, a *site.Site of the public package.
	Wrap func(s *Site) (handle any)
	// Unwrap returns what a *site.Site of the public package holds. It panics
	// for any other type.
	Unwrap func(handle any) *Site
)
