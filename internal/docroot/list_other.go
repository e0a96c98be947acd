//go:build !linux

package docroot

// lister lists directories beneath the docroot. It is not safe for concurrent
// use.
type lister struct{ real string }

func newLister(real string) *lister { return &lister{real} }

func (l *lister) close() {}

// list returns the contents of a directory; path is relative to the docroot.
func (l *lister) list(path []byte) *listing { return listPortable(l.real, string(path)) }
