package announce

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/statedir"
	"github.com/sitelink/sitelink/outgoing"
)

// entryCache holds what the pages linked to in the last run, in a file of the
// project that can be deleted at any time.
type entryCache struct {
	*outgoing.Cache
	file string
	was  []byte
}

// openEntryCache reads the cache of the project; a file that cannot be read is an
// empty cache.
func openEntryCache(p *project.Project) *entryCache {
	c := &entryCache{file: filepath.Join(p.Root, statedir.Name, "cache", "entries"), Cache: &outgoing.Cache{}}
	var err error
	if c.was, err = os.ReadFile(c.file); err == nil {
		if read, err := outgoing.ReadCache(bufio.NewReader(bytes.NewReader(c.was))); err == nil {
			c.Cache = read
		}
	}
	return c
}

// keep writes the cache if it changed. A failure only makes the next run slower.
func (c *entryCache) keep() {
	var now bytes.Buffer
	if c.Write(&now) != nil || bytes.Equal(now.Bytes(), c.was) {
		return
	}
	dir := filepath.Dir(c.file)
	if statedir.Make(filepath.Dir(dir)) != nil || os.MkdirAll(dir, 0o777) != nil {
		return
	}
	r, err := disk.New(c.file, 0)
	if err != nil {
		return
	}
	if _, err := r.Write(now.Bytes()); err != nil {
		r.Discard()
		return
	}
	_ = r.Commit() // it removes the new file when it fails
}
