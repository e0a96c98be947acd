package remote

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/text"
)

// rescue is a file for the results that a store does not take. It has the format of a
// cache, with journals, so that they are on disk within a second after the store fails or
// hangs. The mutex of the cache protects it.
type rescue struct {
	name    string
	makeDir func(dir string) error
	// taken are the rows that an earlier run left in the file.
	taken map[string]string
	// file is open since the store failed, and has the rows in kept.
	file *Cache
	kept map[string]string
	err  error // of opening the file
}

// Rescue names a file, as [Open] has it, for results that the store of a cache from
// [OpenStore] does not take. What an earlier run has left there is saved now, and the
// file removed when the store has taken all of it. makeDir makes the directory of the
// file when it is needed; nil means that it exists. Call Rescue before [Ask]. The error
// is that of [Open].
func (c *Cache) Rescue(name string, makeDir func(dir string) error) error {
	rows, _, err := load(name, c.warn)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shared.rescue = &rescue{name: name, makeDir: makeDir, taken: rows, kept: map[string]string{}}
	for url, line := range rows {
		c.rows[url] = preferLine(c.rows[url], line, line)
		c.own[url] = line
	}
	return nil
}

// keep writes rows that the store did not take to the file.
func (r *rescue) keep(rows map[string]string) {
	if r == nil || r.err != nil {
		return
	}
	if r.file == nil {
		if r.makeDir != nil {
			r.err = r.makeDir(cmp.Or(filepath.Dir(r.name), "."))
		}
		if r.err == nil {
			r.file, r.err = Open(r.name, nil)
		}
		if r.err != nil {
			return
		}
	}
	for url, line := range rows {
		if line != "" && r.kept[url] != line && r.taken[url] != line {
			r.kept[url] = line
			r.file.putLine(url, line)
		}
	}
}

// end closes the file after a run whose store has taken everything but the rows. It
// returns a sentence about these, empty without any, and the error of the file.
func (r *rescue) end(rows map[string]string) (string, error) {
	if len(rows) == 0 {
		if r == nil {
			return "", nil
		}
		return "", r.discard()
	}
	sentence := "the database did not take " + text.Count(len(rows), "result")
	if r != nil {
		r.keep(rows)
		if r.err == nil {
			r.err = r.file.Close()
		}
		if r.err == nil {
			return sentence + "; " + r.name + " has them, and the next run with this file saves them; without it, later runs ask again for their links", nil
		}
	}
	sentence += "; later runs ask again for their links"
	if r == nil {
		return sentence, nil
	}
	return sentence, r.err
}

// discard removes the rows of this run, and those that it took over, from the file: the
// store has them.
func (r *rescue) discard() error {
	if r.file != nil {
		close(r.file.stopped)
		<-r.file.finished
		r.file.journal.Close()
		os.Remove(r.file.journal.Name())
	}
	if len(r.taken) == 0 {
		return nil
	}
	lock, err := lockCache(r.name)
	if err != nil {
		return fmt.Errorf("write %s: %w", r.name, disk.Cause(err))
	}
	defer lock.Close()
	rows, read, err := load(r.name, func(string) {}) // Rescue has reported what is damaged
	if err != nil {
		return err
	}
	for url, line := range r.taken {
		if rows[url] == line {
			delete(rows, url)
		}
	}
	if len(rows) > 0 {
		err = writeFile(r.name, rows)
	} else if err = os.Remove(r.name); errors.Is(err, os.ErrNotExist) {
		err = nil // there were only journals
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", r.name, disk.Cause(err))
	}
	for _, name := range read {
		removeOrphan(name)
	}
	return nil
}
