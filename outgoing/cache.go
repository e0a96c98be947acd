package outgoing

import (
	"encoding/gob"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Cache holds the results of an earlier [Read], so that only files that changed
// are read again. The result is the same without it, or with the cache of
// another site. The zero value is an empty cache.
type Cache struct {
	fingerprint uint64 // of the rules
	files       cachedFiles
}

// cachedFiles has files by their path in the docroot.
type cachedFiles map[string]cachedFile

// cachedFile is the result for one file.
type cachedFile struct {
	Sum               uint64
	URL, Hash         string
	Excluded          Reason
	Targets, Internal []string
}

// namedFile is a cached file as it is stored. The files are sorted, so that equal
// caches have equal bytes.
type namedFile struct {
	Page string
	File cachedFile
}

// of returns the files that were read with rules of that fingerprint.
func (c *Cache) of(fingerprint uint64) cachedFiles {
	if c == nil || c.fingerprint != fingerprint {
		return nil
	}
	return c.files
}

// get returns the result for the file of an entry that has its page and URL.
func (c cachedFiles) get(e *Entry, sum uint64) (pageResult, bool) {
	f, ok := c[e.Page]
	if !ok || f.Sum != sum || f.URL != e.URL {
		return pageResult{}, false
	}
	full := *e
	full.Hash, full.Targets, full.Internal = f.Hash, f.Targets, f.Internal
	return pageResult{entry: full, excluded: f.Excluded}, true
}

// fill replaces the cache by the results of a run.
func (c *Cache) fill(fingerprint uint64, read []pageResult) {
	if c == nil {
		return
	}
	c.fingerprint, c.files = fingerprint, make(cachedFiles)
	for i := range read {
		if m := &read[i]; m.sum != 0 {
			c.files[m.entry.Page] = cachedFile{m.sum, m.entry.URL, m.entry.Hash, m.excluded, m.entry.Targets, m.entry.Internal}
		}
	}
}

// cacheVersion is the version of the stored format.
const cacheVersion = 3

type cacheHead struct {
	Version     int
	Fingerprint uint64
}

// ReadCache reads a cache that [Cache.Write] wrote. The error means that it is
// damaged or of another version; use an empty cache then.
func ReadCache(r io.Reader) (*Cache, error) {
	dec := gob.NewDecoder(r)
	var head cacheHead
	if err := dec.Decode(&head); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if head.Version != cacheVersion {
		return nil, fmt.Errorf("version %d, want %d", head.Version, cacheVersion)
	}
	var list []namedFile
	if err := dec.Decode(&list); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	c := &Cache{fingerprint: head.Fingerprint, files: make(cachedFiles, len(list))}
	for _, f := range list {
		c.files[f.Page] = f.File
	}
	return c, nil
}

// Write writes the cache. The only errors are those of w.
func (c *Cache) Write(w io.Writer) error {
	enc := gob.NewEncoder(w)
	if err := enc.Encode(cacheHead{cacheVersion, c.fingerprint}); err != nil {
		return err
	}
	list := make([]namedFile, 0, len(c.files))
	for _, page := range slices.Sorted(maps.Keys(c.files)) {
		list = append(list, namedFile{page, c.files[page]})
	}
	return enc.Encode(list)
}
