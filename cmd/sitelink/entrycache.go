package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/statedir"
	"github.com/sitelink/sitelink/outgoing"
)

// entryCache is what the pages said last time, as a file of the project that
// nobody misses: it can be deleted at any time.
type entryCache struct {
	*outgoing.Cache
	file string
	was  []byte
}

// openEntryCache reads the cache of the project. One that cannot be read is as
// good as none.
func openEntryCache() (*entryCache, error) {
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	c := &entryCache{file: filepath.Join(root, statedir.Name, "cache", "entries"), Cache: &outgoing.Cache{}}
	if c.was, err = os.ReadFile(c.file); err == nil {
		if read, err := outgoing.ReadCache(bufio.NewReader(bytes.NewReader(c.was))); err == nil {
			c.Cache = read
		}
	}
	return c, nil
}

// keep writes the cache if it changed. It is no failure when it cannot: the
// next run takes longer.
func (c *entryCache) keep() {
	var now bytes.Buffer
	if c.Write(&now) != nil || bytes.Equal(now.Bytes(), c.was) {
		return
	}
	dir := filepath.Dir(c.file)
	if statedir.Make(filepath.Dir(dir)) != nil || os.MkdirAll(dir, 0o777) != nil {
		return
	}
	r, err := newReplacement(c.file, c.file, 0)
	if err != nil {
		return
	}
	if _, err := r.Write(now.Bytes()); err != nil {
		r.Discard()
		return
	}
	_ = r.Commit() // it removes what it wrote when it fails
}
