package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/statedir"
)

// File is the [Store] in a sorted file of JSON Lines. Beside NAME.jsonl stand
// NAME.journal, what happened since the file was written, NAME.lock, held while
// the store is open for writing, and NAME.damaged, lines that could not be
// read.
type File struct {
	name   string
	note   func(string)
	lock   *lock    // nil when the store is read-only
	log    *journal // nil as well
	isNew  bool
	faults []Fault

	// gate is held for reading from before an entry goes to the journal until
	// the book has it, and for writing while the journal is emptied: else an
	// entry could fall between.
	gate sync.RWMutex

	mu      sync.Mutex
	book    *book
	changed bool         // the file lacks something that the book has
	claimed map[Key]bool // by this store
	closed  bool
}

// FileOptions are those of [OpenFile].
type FileOptions struct {
	// ReadOnly opens the ledger for [File.Load] alone: nothing is locked or
	// written, and another process may work with it.
	ReadOnly bool
	// Note is told, in a sentence each, what is odd about the files but no
	// reason to stop. Nil is for nobody.
	Note func(string)
}

// OpenFile opens the ledger of that name, which need not exist yet. It reads
// the file, then the journal that a crash may have left; see [Fault] for what
// it makes of lines that it cannot read. Errors are [ErrLocked], [ErrNewer],
// [ErrNoLedger] and those of the file system, each with the file's name.
func OpenFile(name string, opt FileOptions) (*File, error) {
	f := &File{name: name, note: opt.Note, claimed: map[Key]bool{}}
	if f.note == nil {
		f.note = func(string) {}
	}
	if opt.ReadOnly {
		p, _, err := f.readUnlocked()
		if err != nil {
			return nil, err
		}
		f.take(p)
		return f, nil
	}
	if err := makeDirectory(filepath.Dir(name)); err != nil {
		return nil, writeError(name, err)
	}
	var err error
	if f.lock, err = takeLock(f.beside("lock")); err != nil {
		return nil, err
	}
	p, whole, err := f.read()
	if err == nil {
		err = keepAside(f.beside("damaged"), p.damaged)
	}
	if err == nil {
		f.log, err = newJournal(f.beside("journal"), whole)
	}
	if err != nil {
		f.lock.release()
		return nil, err
	}
	f.take(p)
	return f, nil
}

// beside returns the name of a file that belongs to the ledger.
func (f *File) beside(ending string) string {
	return strings.TrimSuffix(f.name, ".jsonl") + "." + ending
}

func (f *File) take(p *parsed) {
	f.book, f.changed, f.faults = p.book, p.changed, p.faults
	const most = 5
	for i, fault := range p.faults {
		if i == most {
			f.note(fmt.Sprintf("%s: %d more lines are odd; sitelink ledger verify lists them", f.name, len(p.faults)-i))
			break
		}
		f.note(fault.String())
	}
	if len(p.damaged) > 0 && f.lock != nil {
		f.note(fmt.Sprintf("%d lines that could not be read are kept in %s", len(p.damaged), f.beside("damaged")))
	}
}

// Faults returns what was odd about the files when they were read.
func (f *File) Faults() []Fault { return f.faults }

// read reads ledger and journal, and returns how many bytes of the journal are
// whole.
func (f *File) read() (p *parsed, whole int64, err error) {
	log, _, err := readFile(f.beside("journal"))
	if err != nil {
		return nil, 0, err
	}
	text, there, err := readFile(f.name)
	if err != nil {
		return nil, 0, err
	}
	f.isNew = !there && log == ""
	if p, err = parse(f.name, text); err != nil {
		return nil, 0, err
	}
	return p, p.replay(f.beside("journal"), log), nil
}

// readUnlocked reads while another process may write: the journal first, whose
// entries may be in the ledger already, and all again when the ledger was
// replaced meanwhile.
func (f *File) readUnlocked() (p *parsed, whole int64, err error) {
	const tries = 5
	for range tries {
		before, _ := os.Stat(f.name)
		if p, whole, err = f.read(); err != nil {
			return nil, 0, err
		}
		after, _ := os.Stat(f.name)
		if before == nil && after == nil || before != nil && after != nil && os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()) {
			break
		}
	}
	return p, whole, nil
}

// maxFileBytes bounds a ledger in memory: some ten million rows.
const maxFileBytes = 2 << 30

func readFile(name string) (text string, there bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read ledger %s: %w", name, disk.Cause(err))
	}
	defer f.Close()
	var b strings.Builder
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		return "", false, fmt.Errorf("read ledger %s: is a directory", name)
	}
	if err == nil && info.Mode().IsRegular() && info.Size() < maxFileBytes {
		b.Grow(int(info.Size()))
	}
	n, err := io.Copy(&b, io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", false, fmt.Errorf("read ledger %s: %w", name, disk.Cause(err))
	}
	if n > maxFileBytes {
		return "", false, fmt.Errorf("read ledger %s: larger than %d bytes", name, int64(maxFileBytes))
	}
	return b.String(), true, nil
}

// makeDirectory makes the directory of a ledger. In one of our name, git is
// told which files are not to be committed.
func makeDirectory(dir string) error {
	if filepath.Base(dir) == statedir.Name {
		return statedir.Make(dir)
	}
	return os.MkdirAll(dir, 0o777)
}

// keepAside appends lines to the file of those that could not be read, before
// the file that they stand in is written anew.
func keepAside(name string, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return writeError(name, err)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return writeError(name, err)
	}
	return nil
}

// Load returns the present state.
func (f *File) Load(context.Context) (*Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.book.snapshot()
	s.New = f.isNew
	return s, nil
}

// errReadOnly is the error of writing to a store that was opened for reading.
var errReadOnly = errors.New("the ledger is open for reading only")

func (f *File) writable() error {
	switch {
	case f.lock == nil:
		return errReadOnly
	case f.closed:
		return fmt.Errorf("write ledger %s: it is closed", f.name)
	}
	return nil
}

// Plan writes the file anew, with the change in it.
func (f *File) Plan(_ context.Context, base string, c Change) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return err
	}
	next := f.book.clone()
	next.apply(base, c.whole())
	if err := f.save(next); err != nil {
		return err
	}
	f.book, f.isNew = next, false
	for _, n := range c.Notices {
		delete(f.claimed, n.Key)
	}
	return nil
}

// save makes the book the contents of the file, and empties the journal.
func (f *File) save(b *book) error {
	if err := replace(f.name, b.write); err != nil {
		return err
	}
	f.changed = false
	return f.log.clear()
}

// adopt makes another book of that of the store, with no entry between.
func (f *File) adopt(change func(*book) *book) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return err
	}
	b := change(f.book)
	if err := f.save(b); err != nil {
		return err
	}
	f.book, f.isNew = b, false
	return nil
}

// copyBook returns the book as it is now.
func (f *File) copyBook() *book {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.book.clone()
}

// Claim returns open notices that are due, in the order of their keys. The
// lease is for the life of the store: the file is locked meanwhile.
func (f *File) Claim(_ context.Context, now time.Time, limit int) ([]Notice, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return nil, err
	}
	due := f.book.due(now, limit, func(n *Notice) bool { return !f.claimed[n.Key] })
	for _, n := range due {
		f.claimed[n.Key] = true
	}
	return due, nil
}

// Begin notes in the journal that the notice is about to be sent.
func (f *File) Begin(_ context.Context, k Key) error {
	return f.enter(beginEntry(k), func(b *book) { b.begin(k) })
}

// Record notes the outcome in the journal.
func (f *File) Record(_ context.Context, from Key, n Notice) error {
	n = n.whole()
	return f.enter(recordEntry(from, &n), func(b *book) {
		b.record(from, n)
		delete(f.claimed, from)
		if n.Open() {
			f.claimed[n.Key] = true // not again in this run
		}
	})
}

// Remember notes the peer in the journal.
func (f *File) Remember(_ context.Context, p Peer) error {
	p.Until = p.Until.UTC().Truncate(time.Second)
	return f.enter(peerEntry(&p), func(b *book) { b.remember(p) })
}

// enter makes an entry durable, then applies it.
func (f *File) enter(entry []byte, apply func(*book)) error {
	f.gate.RLock()
	defer f.gate.RUnlock()
	f.mu.Lock()
	err := f.writable()
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err := f.log.append(entry); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	apply(f.book)
	f.changed = true
	return nil
}

// Compact writes the file anew, if it lacks something, and empties the journal.
func (f *File) Compact() error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil || !f.changed {
		return err
	}
	return f.save(f.book)
}

// Close compacts the ledger and gives the lock back. When the ledger cannot be
// written, the journal keeps what it lacks.
func (f *File) Close() error {
	if f.lock == nil {
		return nil
	}
	err := f.Compact()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	err = errors.Join(err, f.log.close())
	f.lock.release()
	return err
}
