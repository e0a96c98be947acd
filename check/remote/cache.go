package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Cache is the status cache in a file of sorted JSON Lines, NAME.jsonl. While it is
// open, a file NAME.PID-N.journal beside it has what was learned since then. Several
// processes may have the same cache open: each has its own journal, and Close
// merges.
//
// A Cache is safe for concurrent use.
type Cache struct {
	name string
	warn func(string)

	mu      sync.Mutex
	rows    map[string]string // lines of the file by URL: records would take twice the memory
	changed bool
	removed map[string]bool // URLs that this process removed
	file    os.FileInfo     // of the file as Open read it; nil if it did not exist

	journal   *os.File
	pending   bytes.Buffer // not written yet: lines of so many records
	unwritten int
	unsynced  bool
	failed    error // of writing the journal or the store
	stopped   chan struct{}
	finished  chan struct{}

	shared *shared           // nil for a file
	own    map[string]string // with a shared cache: lines to save, "" for those to remove

	upstream *upstream // nil for a cache that is not in git
}

// flushEvery is the time within which a record is on disk. The end of the process loses
// at most maxUnwritten records even before.
const (
	flushEvery   = 500 * time.Millisecond
	maxUnwritten = 64
)

// maxBytes limits the size of a cache: about four million URLs.
const maxBytes = 1<<31 - 1

// ErrNewer means that a newer version of sitelink wrote the cache. It is not changed.
var ErrNewer = errors.New("a newer version of sitelink wrote it")

// Open opens the cache with that name. The file need not exist yet, but its directory
// must. Open also reads journals that killed runs left. It calls warn, if not nil,
// with a sentence about each line that it cannot read; only that line is lost. The
// error is [ErrNewer] or comes from the file system, with the name of the file.
func Open(name string, warn func(string)) (*Cache, error) {
	c := &Cache{name: name, warn: warn, removed: map[string]bool{}, stopped: make(chan struct{}), finished: make(chan struct{})}
	if warn == nil {
		c.warn = func(string) {}
	}
	var err error
	c.file, _ = os.Stat(name) // load reports errors
	if c.rows, _, err = load(name, c.warn); err != nil {
		return nil, err
	}
	if c.journal, err = c.newJournal(); err != nil {
		return nil, fmt.Errorf("write status cache %s: %w", name, system.Cause(err))
	}
	go c.flushing()
	return c, nil
}

// Read returns the records of a cache, sorted by URL, without changing anything. A
// cache that does not exist has none. Another process may have it open. See [Open] for
// warn and the error.
func Read(name string, warn func(string)) ([]Record, error) {
	if warn == nil {
		warn = func(string) {}
	}
	rows, _, err := load(name, warn)
	if err != nil {
		return nil, err
	}
	return records(rows), nil
}

// records returns the records of rows, sorted by URL.
func records(rows map[string]string) []Record {
	all := make([]Record, 0, len(rows))
	for _, url := range slices.Sorted(maps.Keys(rows)) {
		if r, err := parseRow(rows[url]); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// Get returns the record of a URL, or one that has only the URL.
func (c *Cache) Get(url string) Record {
	c.mu.Lock()
	line := c.rows[url]
	c.mu.Unlock()
	if line != "" {
		if r, err := parseRow(line); err == nil {
			return r
		}
	}
	return Record{URL: url}
}

// pauses calls pause for each record if its host wants no requests before a time in the
// future.
func (c *Cache) pauses(now time.Time, pause func(url string, until time.Time)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.rows {
		if !strings.Contains(line, `"next":`) { // as nearly all
			continue
		}
		if r, err := parseRow(line); err == nil && r.Next.After(now) && r.Next.Sub(now) <= maxNext {
			pause(r.URL, r.Next)
		}
	}
}

// URLs returns the URLs of all records, sorted.
func (c *Cache) URLs() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.rows))
}

// Put replaces the record of a URL. It is on disk within a second.
func (c *Cache) Put(r Record) {
	line := string(appendRow(nil, &r))
	c.putLine(keyIn(line, r.URL), line)
}

func (c *Cache) putLine(url, line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[url], c.changed = line, true
	if c.shared != nil {
		if c.own[url] = line; len(c.own) == maxUnwritten {
			c.shared.hurry()
		}
		return
	}
	delete(c.removed, url)
	c.pending.WriteString(line)
	c.pending.WriteByte('\n')
	if c.unwritten++; c.unwritten >= maxUnwritten {
		c.write()
	}
}

// Remove removes the record of a URL.
func (c *Cache) Remove(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.rows[url]; ok {
		delete(c.rows, url)
		c.changed = true
		if c.shared != nil {
			c.own[url] = ""
		} else {
			c.removed[url] = true
		}
	}
}

// Close merges what this process learned into the file. It returns the first error of
// writing, after which the journal still has what could be written.
func (c *Cache) Close() error {
	close(c.stopped)
	<-c.finished
	if c.shared != nil {
		// The store may not have taken all results.
		err := c.failed
		if err != nil && len(c.own) > 0 {
			if c.shared.lost != nil { // Ask has returned the cause
				err = errors.New("status cache")
			}
			err = fmt.Errorf("%w: the database did not take %s; later runs ask again for their links", err, text.Count(len(c.own), "result"))
		}
		if closeErr := c.shared.store.Close(); err == nil {
			err = closeErr
		}
		return err
	}
	err := c.failed
	if !c.changed && err == nil && !c.unmerged() {
		c.journal.Close()
		os.Remove(c.journal.Name())
		return nil
	}
	if mergeErr := c.merge(); err == nil {
		err = mergeErr
	}
	if err != nil {
		c.journal.Close()
		name := c.name
		if c.upstream != nil {
			name = c.upstream.name
		}
		return fmt.Errorf("write status cache %s: %w", name, system.Cause(err))
	}
	return nil
}

// unmerged reports whether earlier runs left a journal, or what they could not push.
func (c *Cache) unmerged() bool {
	_, err := os.Stat(c.name)
	return len(journals(c.name)) > 1 || c.upstream != nil && err == nil // one journal is that of this process
}

// flushing writes what is pending to the journal until Close.
func (c *Cache) flushing() {
	defer close(c.finished)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.flush()
		case <-c.stopped:
			c.flush()
			return
		}
	}
}

// flush brings what is pending to the disk.
func (c *Cache) flush() {
	c.mu.Lock()
	c.write()
	sync := c.unsynced && c.failed == nil
	c.unsynced = false
	c.mu.Unlock()
	if !sync {
		return
	}
	if err := c.journal.Sync(); err != nil {
		c.mu.Lock()
		c.failed = err
		c.mu.Unlock()
	}
}

// write writes what is pending to the journal. The caller has locked the cache.
func (c *Cache) write() {
	if c.pending.Len() > 0 && c.failed == nil {
		_, c.failed = c.journal.Write(c.pending.Bytes())
		c.unsynced = true
	}
	c.pending.Reset()
	c.unwritten = 0
}

// journalEnd ends the names of journals.
const journalEnd = ".journal"

// newJournal creates and locks the journal of this process.
func (c *Cache) newJournal() (*os.File, error) {
	const tries = 100
	for n := range tries {
		name := fmt.Sprintf("%s.%d-%d%s", stem(c.name), os.Getpid(), n, journalEnd)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			err = system.TryLock(f)
		}
		return f, err
	}
	return nil, fmt.Errorf("%d journals are in the way", tries)
}

func stem(name string) string { return strings.TrimSuffix(name, ".jsonl") }

// journals returns the names of all journals of a cache, sorted.
func journals(name string) []string {
	dir, base := filepath.Split(stem(name))
	entries, _ := os.ReadDir(cmp.Or(dir, ".")) // a directory that does not exist has none
	var names []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base+".")
		if ok {
			rest, ok = strings.CutSuffix(rest, journalEnd)
		}
		if ok && strings.Trim(rest, "0123456789-") == "" && e.Type().IsRegular() {
			names = append(names, dir+e.Name())
		}
	}
	return names
}

// lockWait is how long Close waits for other processes that write the file.
const lockWait = 30 * time.Second

// merge rewrites the file with what is in it now, with the journals of killed
// runs, and with what this process put.
func (c *Cache) merge() error {
	// No other process may write the file meanwhile. The lock ends when it is closed.
	lock, err := os.OpenFile(stem(c.name)+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(20 * time.Millisecond) {
		if err = system.TryLock(lock); !errors.Is(err, system.ErrLocked) || time.Now().After(end) {
			break
		}
	}
	if err != nil {
		lock.Close()
		return err
	}
	defer lock.Close()
	rows, read, err := c.current()
	if err != nil {
		return err
	}
	var pushErr error
	if c.upstream != nil {
		pushErr = c.upstream.push(rows, c.removed)
	}
	if c.upstream != nil && pushErr == nil {
		if err = os.Remove(c.name); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	} else {
		err = writeFile(c.name, rows)
	}
	if err != nil {
		return errors.Join(pushErr, err)
	}
	c.journal.Close()
	os.Remove(c.journal.Name())
	for _, name := range read {
		removeOrphan(name)
	}
	if pushErr != nil {
		return fmt.Errorf("%w; the results are kept in %s, and the next run pushes them", pushErr, filepath.Dir(c.name))
	}
	return nil
}

// current returns the rows that the file should have now, and the journals that they
// contain. In most runs no other process has changed anything, and they are those in
// memory.
func (c *Cache) current() (rows map[string]string, read []string, err error) {
	now, _ := os.Stat(c.name)
	same := now == nil && c.file == nil
	if now != nil && c.file != nil {
		same = os.SameFile(now, c.file) && now.Size() == c.file.Size() && now.ModTime().Equal(c.file.ModTime())
	}
	if same && len(journals(c.name)) <= 1 { // that of this process
		return c.rows, nil, nil
	}
	rows, read, err = load(c.name, func(string) {}) // Open has reported what is damaged
	if err != nil {
		return nil, nil, err
	}
	if c.failed != nil { // the journal is not complete
		for url, line := range c.rows {
			rows[url] = preferLine(rows[url], line, line)
		}
	}
	for url := range c.removed {
		delete(rows, url)
	}
	return rows, read, nil
}

// removeOrphan removes the journal of a process that has ended. Its rows are in the
// file.
func removeOrphan(name string) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if system.TryLock(f) == nil {
		os.Remove(name)
	}
}

// clockSlack is how far in the future a request may be because the clocks of two
// machines differ. Later ones are from a clock that was wrong.
const clockSlack = time.Hour

// preferLine returns the line with the later request, where one in the future is
// earlier than any other. Of two with the same time, tie.
func preferLine(old, next, tie string) string {
	if old == next {
		return next
	}
	a, errA := parseRow(old)
	b, errB := parseRow(next)
	limit := time.Now().Add(clockSlack)
	wrongA, wrongB := a.Asked.After(limit), b.Asked.After(limit)
	switch {
	case errA != nil:
		return next
	case errB != nil:
		return old
	case wrongA != wrongB && wrongA, wrongA == wrongB && b.Asked.After(a.Asked):
		return next
	case wrongA != wrongB, a.Asked.After(b.Asked):
		return old
	}
	return tie
}

// writeFile replaces the cache.
func writeFile(name string, rows map[string]string) error {
	r, err := system.NewReplacement(name, 0)
	if err != nil {
		return err
	}
	defer r.Discard()
	buf := []byte(headerLine + "\n")
	for _, url := range slices.Sorted(maps.Keys(rows)) {
		buf = append(append(buf, rows[url]...), '\n')
		if len(buf) > 1<<20 {
			if _, err := r.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	if _, err := r.Write(buf); err != nil {
		return err
	}
	return r.Commit()
}

// load reads a cache with its journals. read are the names of the journals.
func load(name string, warn func(string)) (rows map[string]string, read []string, err error) {
	rows = map[string]string{}
	if err := loadFile(name, rows, warn); err != nil {
		return nil, nil, err
	}
	for _, journal := range journals(name) {
		if err := loadFile(journal, rows, warn); err != nil {
			return nil, nil, err
		}
		read = append(read, journal)
	}
	return rows, read, nil
}

// loadFile adds the rows of a cache or a journal.
func loadFile(name string, rows map[string]string, warn func(string)) error {
	f, err := system.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read status cache %s: %w", name, err)
	}
	defer f.Close()
	return loadRows(name, io.LimitReader(f, maxBytes), rows, warn)
}

// loadRows adds the rows of the text of a cache or a journal.
func loadRows(name string, r io.Reader, rows map[string]string, warn func(string)) error {
	isJournal := strings.HasSuffix(name, journalEnd)
	text := bufio.NewReaderSize(r, 256<<10)
	for n := 1; ; n++ {
		line, err := text.ReadString('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("read status cache %s: %w", name, system.Cause(err))
		}
		if line == "" {
			return nil
		}
		line, ended := strings.CutSuffix(line, "\n")
		line = strings.TrimSuffix(line, "\r") // git on Windows
		switch {
		case line == "", isConflictMark(line):
			continue
		case !ended && isJournal: // cut off by a kill
			continue
		}
		r, err := parseLine(line)
		var newer *newerError
		switch {
		case errors.As(err, &newer):
			return fmt.Errorf("read status cache %s: %w: its schema is %d, this sitelink reads up to %d", name, ErrNewer, newer.schema, schema)
		case err != nil:
			warn(name + ":" + strconv.Itoa(n) + ": " + err.Error() + "; the line is dropped, and its link is asked for again")
			continue
		case r.URL == "": // the header
			continue
		}
		url := keyIn(line, r.URL)
		if old := rows[url]; old != "" {
			tie := line
			if !isJournal && old > line {
				tie = old
			}
			line = preferLine(old, line, tie)
		}
		rows[url] = line
	}
}

// isConflictMark reports whether git wrote the line between two versions. The rows of
// both are read.
func isConflictMark(line string) bool {
	for _, c := range []string{"<", "|", "=", ">"} {
		if mark := strings.Repeat(c, 7); line == mark || strings.HasPrefix(line, mark+" ") {
			return true
		}
	}
	return false
}
