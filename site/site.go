package site

import (
	"context"
	"fmt"

	isite "github.com/sitelink/sitelink/internal/site"
)

// ErrNoPages reports that a docroot holds no file that is a page.
var ErrNoPages = isite.ErrNoPages

// Site is a loaded docroot. It is immutable, and safe for concurrent use.
type Site struct {
	inner *isite.Site
}

func init() {
	isite.Wrap = func(s *isite.Site) any { return &Site{s} }
	isite.Unwrap = func(handle any) *isite.Site { return handle.(*Site).inner }
}

// Load reads the docroot, a directory named by an absolute path or by one
// relative to the working directory.
//
// A page that cannot be read is not an error: checks report it. An error means
// that the docroot cannot be read, that it has no page ([ErrNoPages]), that an
// option is invalid, or that ctx was cancelled; then it is the cause of the
// cancellation.
func Load(ctx context.Context, docroot string, opt Options) (*Site, error) {
	inner, err := opt.inner()
	if err != nil {
		return nil, fmt.Errorf("load site %s: %w", docroot, err)
	}
	s, err := isite.Load(ctx, docroot, inner)
	if err != nil {
		return nil, err
	}
	return &Site{s}, nil
}

// Docroot returns the directory as it was given to [Load].
func (s *Site) Docroot() string { return s.inner.Root() }

// BaseURL returns the address at which the docroot is published, "" if it is
// not known.
func (s *Site) BaseURL() string { return s.inner.BaseURL() }

// Profile returns the name of the hosting profile in use.
func (s *Site) Profile() string { return s.inner.Profile().Name }

// Files returns the number of files in the docroot.
func (s *Site) Files() int { return s.inner.Files() }

// Pages returns the docroot-relative slash paths of the files that were parsed
// for links, sorted: HTML pages, style sheets, feeds, sitemaps, and other
// documents that hold links.
func (s *Site) Pages() []string {
	paths := make([]string, s.inner.Pages())
	for i := range paths {
		paths[i] = s.inner.Path(isite.PageID(i))
	}
	return paths
}

// Update returns the site as [Load] would return it now. changed lists the paths
// that may have changed since s was loaded: docroot-relative slash paths of files
// and directories that were written, made, removed or renamed. Without any, any
// file may have changed.
//
// s stays as it is, and both sites can be used at the same time. If only the
// contents of some files changed, the new site reads those files and shares all
// other records with s. Otherwise Update loads the docroot again. Errors are
// those of Load.
func (s *Site) Update(ctx context.Context, changed ...string) (*Site, error) {
	if len(changed) == 0 {
		changed = []string{isite.Everything}
	}
	inner, err := s.inner.Update(ctx, changed)
	if err != nil {
		return nil, err
	}
	return &Site{inner}, nil
}
