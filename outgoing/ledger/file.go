package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sitelink/sitelink/internal/system"
)

// File is the [Store] in a sorted file of JSON Lines, NAME.jsonl. In the same
// directory are NAME.journal, with the changes since the file was written,
// NAME.lock, which is locked while the store is open for writing, and
// NAME.damaged, with lines that could not be read.
type File struct {
	name     string
	disk     system.FileSystem
	warn     func(string)
	lock     *lock    // nil if the store is read-only
	log      *journal // nil if the store is read-only
	isNew    bool
	warnings []Warning
	lost     error // a *LostError, or nil

	// gate is held for reading from before an entry goes to the journal until it
	// is in the records, and for writing while the journal is emptied. Without
	// it, an entry could be lost between the two.
	gate sync.RWMutex

	mu      sync.Mutex
	records *records
	changed bool         // the file lacks changes that the records have
	claimed map[Key]bool // by this store
	closed  bool
}

// FileOptions configure [OpenFile].
type FileOptions struct {
	// ReadOnly opens the ledger for [File.Load] only. Nothing is locked or
	// written, and another process may have the ledger open.
	ReadOnly bool
	// Warn, if not nil, is called with a sentence about each problem with the
	// files that did not prevent them from being opened.
	Warn func(string)
	// AcceptLoss opens a ledger for writing that has lost rows.
	AcceptLoss bool
}

// OpenFile opens the ledger with that name, which need not exist yet. It reads the
// file and then the journal, which a crash may have left. Lines that cannot be
// read are moved to the .damaged file; see [File.Warnings]. Errors are
// [ErrLocked], [ErrNewer], [ErrNoLedger], [*LostError] unless the ledger is opened
// for reading, and those of the file system, all with the name of the file.
func OpenFile(name string, opt FileOptions) (*File, error) { return openFileOn(system.OS, name, opt) }

func openFileOn(on system.FileSystem, name string, opt FileOptions) (*File, error) {
	f := &File{name: name, disk: on, warn: opt.Warn, claimed: map[Key]bool{}}
	if f.warn == nil {
		f.warn = func(string) {}
	}
	if opt.ReadOnly {
		p, err := f.readUnlocked()
		if err != nil {
			return nil, err
		}
		f.use(p)
		return f, nil
	}
	if err := system.MakeState(filepath.Dir(name)); err != nil {
		return nil, writeError(name, err)
	}
	var err error
	if f.lock, err = takeLock(f.sibling("lock")); err != nil {
		return nil, err
	}
	f.removeTemporary()
	p, end, err := f.read()
	if err == nil && f.lost != nil && !opt.AcceptLoss {
		f.report(p)
		err = f.lost
	}
	if err == nil {
		err = saveDamaged(on, f.sibling("damaged"), p.damaged)
	}
	if err == nil {
		f.log, err = newJournal(on, f.sibling("journal"), end.size, end.sum)
	}
	if err != nil {
		f.lock.release()
		return nil, err
	}
	f.use(p)
	return f, nil
}

// sibling returns the name of another file that belongs to the ledger.
func (f *File) sibling(extension string) string {
	return strings.TrimSuffix(f.name, ".jsonl") + "." + extension
}

// use makes p the content of the store and reports its problems.
func (f *File) use(p *parsed) {
	f.records, f.changed, f.warnings = p.records, p.changed || f.lost != nil, p.warnings
	f.report(p)
	if f.lost != nil {
		f.warn(f.lost.Error())
	}
	if len(p.damaged) > 0 && f.lock != nil {
		f.warn(fmt.Sprintf("unreadable lines saved in %s: %d", f.sibling("damaged"), len(p.damaged)))
	}
}

// report reports the warnings of p.
func (f *File) report(p *parsed) {
	const most = 5
	for i, warning := range p.warnings {
		if i == most {
			f.warn(fmt.Sprintf("%s: %d more lines have problems; run 'sitelink ledger verify' to list them", f.name, len(p.warnings)-i))
			break
		}
		f.warn(warning.String())
	}
}

// Warnings returns the problems found when the files were read.
func (f *File) Warnings() []Warning { return f.warnings }

// Lost returns a [*LostError] if rows of the ledger are lost, and nil otherwise.
func (f *File) Lost() error { return f.lost }

// read reads ledger and journal.
func (f *File) read() (p *parsed, end journalEnd, err error) {
	log, _, err := readFile(f.sibling("journal"))
	if err != nil {
		return nil, end, err
	}
	text, exists, err := readFile(f.name)
	if err != nil {
		return nil, end, err
	}
	f.isNew = !exists && log == ""
	if p, err = parse(f.name, text); err != nil {
		return nil, end, err
	}
	end = p.replay(f.sibling("journal"), log)
	f.lost = nil
	if missing := p.missing(); len(missing) > 0 && !f.isNew {
		f.lost = &LostError{f.name, missing}
	}
	p.clampTimes(f.name, time.Now())
	return p, end, nil
}

// readUnlocked reads while another process may write. It reads the journal first,
// because its entries may be in the ledger already, and starts again if the ledger
// was replaced meanwhile.
func (f *File) readUnlocked() (p *parsed, err error) {
	const tries = 5
	for range tries {
		before, _ := os.Stat(f.name)
		if p, _, err = f.read(); err != nil {
			return nil, err
		}
		after, _ := os.Stat(f.name)
		if before == nil && after == nil || before != nil && after != nil && os.SameFile(before, after) && before.ModTime().Equal(after.ModTime()) {
			break
		}
	}
	return p, nil
}

// maxFileBytes limits the size of a ledger: about ten million rows.
const maxFileBytes = 2 << 30

func readFile(name string) (text string, exists bool, err error) {
	f, err := system.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read ledger %s: %w", name, system.Cause(err))
	}
	defer f.Close()
	var b strings.Builder
	if info, err := f.Stat(); err == nil && info.Size() < maxFileBytes {
		b.Grow(int(info.Size()))
	}
	n, err := io.Copy(&b, io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return "", false, fmt.Errorf("read ledger %s: %w", name, system.Cause(err))
	}
	if n > maxFileBytes {
		return "", false, fmt.Errorf("read ledger %s: larger than %d bytes", name, int64(maxFileBytes))
	}
	return b.String(), true, nil
}

// saveDamaged appends lines that could not be read to a file, before the file they
// are from is replaced.
func saveDamaged(on system.FileSystem, name string, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := on.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return writeError(name, err)
	}
	_, err = io.WriteString(f, strings.Join(lines, "\n")+"\n")
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return writeError(name, err)
	}
	return nil
}

// Load returns the current state.
func (f *File) Load(context.Context) (*Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.records.snapshot()
	s.New = f.isNew
	return s, nil
}

var errReadOnly = errors.New("the ledger was opened for reading only")

func (f *File) writable() error {
	switch {
	case f.lock == nil:
		return errReadOnly
	case f.closed:
		return fmt.Errorf("write ledger %s: it is closed", f.name)
	}
	return nil
}

// Plan replaces the file by one that includes the change.
func (f *File) Plan(_ context.Context, base string, c Change) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return err
	}
	if err := c.Accept(f.records.base, base); err != nil {
		return err
	}
	next := f.records.clone()
	next.apply(base, c.toSeconds())
	if err := f.save(next); err != nil {
		return err
	}
	f.records, f.isNew = next, false
	for _, n := range c.Notices {
		delete(f.claimed, n.Key)
	}
	return nil
}

// save writes the records to the file and empties the journal. After a crash in
// between, the next run applies the journal to the file again. That changes nothing
// if the file has the state at the end of the journal, but would undo changes of a
// later state. So save writes the state at the end of the journal first.
func (f *File) save(b *records) error {
	states := []*records{b}
	if b != f.records && !f.log.empty() {
		states = []*records{f.records, b}
	}
	for _, state := range states {
		if err := replace(f.disk, f.name, state.write); err != nil {
			return err
		}
		if err := f.log.clear(); err != nil {
			return err
		}
	}
	f.changed = false
	return nil
}

// update replaces the records, without letting journal entries in between.
func (f *File) update(change func(*records) *records) error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return err
	}
	b := change(f.records)
	if err := f.save(b); err != nil {
		return err
	}
	f.records, f.isNew = b, false
	return nil
}

// copyRecords returns a copy of the current records.
func (f *File) copyRecords() *records {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.records.clone()
}

// Claim returns open notices that are due, sorted by key. The lease lasts as long
// as the store is open, because the file is locked.
func (f *File) Claim(_ context.Context, now time.Time, limit int) ([]Notice, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil {
		return nil, err
	}
	due := f.records.due(now, limit, func(n *Notice) bool { return !f.claimed[n.Key] })
	for _, n := range due {
		f.claimed[n.Key] = true
	}
	return due, nil
}

// Begin writes to the journal that the notice is about to be sent.
func (f *File) Begin(_ context.Context, k Key) error {
	return f.enter(journalEntry{Begin: &k}, func(b *records) { b.begin(k) })
}

// Record writes the outcome to the journal.
func (f *File) Record(_ context.Context, from Key, n Notice) error {
	n = n.toSeconds()
	return f.enter(recordEntry(from, &n), func(b *records) {
		b.record(from, n)
		delete(f.claimed, from)
		if n.Open() {
			f.claimed[n.Key] = true // not again in this run
		}
	})
}

// RecordUnsupported writes the host to the journal.
func (f *File) RecordUnsupported(_ context.Context, h UnsupportedHost) error {
	h.Until = toSeconds(h.Until)
	return f.enter(journalEntry{Peer: &h}, func(b *records) { b.recordUnsupported(h) })
}

// enter makes an entry durable and then applies it.
func (f *File) enter(entry journalEntry, apply func(*records)) error {
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
	apply(f.records)
	f.changed = true
	return nil
}

// Compact writes the changes in the journal to the file, if there are any, and
// empties the journal.
func (f *File) Compact() error {
	f.gate.Lock()
	defer f.gate.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.writable(); err != nil || !f.changed {
		return err
	}
	return f.save(f.records)
}

// Close compacts the ledger and releases the lock. If the file cannot be written,
// the journal keeps the changes.
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

// replace replaces the content of the file atomically.
func replace(on system.FileSystem, name string, write func(io.Writer) error) error {
	target := name
	if followed, err := filepath.EvalSymlinks(name); err == nil {
		target = followed // keep the symbolic link
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	r, err := system.NewReplacementIn(on, target, mode)
	if err != nil {
		return writeError(name, err)
	}
	defer r.Discard()
	if err := write(r); err != nil {
		return writeError(name, err)
	}
	if err := r.Commit(); err != nil {
		return writeError(name, err)
	}
	return nil
}

// writeError names the file as the user did, and says so if the disk is full.
func writeError(name string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("the disk is full: %w", syscall.ENOSPC)
	}
	return fmt.Errorf("write ledger %s: %w", name, system.Cause(err))
}

// ErrLocked means that another process has the ledger open for writing.
var ErrLocked = system.ErrLocked

// lock is a lock on the lock file of a ledger. The operating system releases it
// when the process ends in any way. The file remains; it has the process ID of the
// holder.
type lock struct{ file *os.File }

// lockWait is how long takeLock waits for another process.
const lockWait = time.Second

// takeLock takes the lock. If another process has it, the error says which one.
func takeLock(name string) (*lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock ledger %s: %w", name, system.Cause(err))
	}
	// A git process that a killed run was starting holds its lock for a moment.
	err = system.TryLock(f)
	for end := time.Now().Add(lockWait); errors.Is(err, ErrLocked) && time.Now().Before(end); err = system.TryLock(f) {
		time.Sleep(lockWait / 50)
	}
	if err != nil {
		defer f.Close()
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("lock ledger %s: %w", name, system.Cause(err))
		}
		text, _ := io.ReadAll(io.LimitReader(f, 64))
		if pid := strings.TrimSpace(string(text)); pid != "" {
			if _, notANumber := strconv.Atoi(pid); notANumber == nil {
				return nil, fmt.Errorf("ledger is %w (process %s, lock file %s)", ErrLocked, pid, name)
			}
		}
		return nil, fmt.Errorf("ledger is %w (lock file %s)", ErrLocked, name)
	}
	// The process ID is only for messages, so a failure to write it is ignored.
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{f}, nil
}

func (l *lock) release() {
	l.file.Truncate(0)
	l.file.Close()
}
