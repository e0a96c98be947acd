package ledger

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/sitelink/sitelink/internal/disk"
)

// journal is an append-only file of what happened since the ledger was written.
// A line is the CRC-32C of an entry in eight hexadecimal digits, a space, and
// the entry:
//
//	0a1b2c3d {"begin":{"source":..,"target":..}}
//	0a1b2c3d {"record":{..},"from":{..}}
//	0a1b2c3d {"peer":{..}}
//
// An entry says what a row is from now on, not how it changes, so that entries
// may be applied twice: after a crash between writing the ledger and emptying
// the journal they are.
//
// append returns when the entry is on the disk. Callers that come while a sync
// runs share the next one, so that many workers cost few of them.
type journal struct {
	name string
	file *os.File

	mu      sync.Mutex
	synced  sync.Cond // a batch has ended
	pending []byte
	batch   uint64 // the number of the batch that pending belongs to
	done    uint64 // the last batch that has ended
	failed  map[uint64]error
	busy    bool  // somebody writes
	size    int64 // bytes that are on the disk and whole
	broken  error // nothing can be written any more
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendEntry adds the line of an entry.
func appendEntry(dst, entry []byte) []byte {
	sum := strconv.FormatUint(uint64(crc32.Checksum(entry, castagnoli)), 16)
	for range 8 - len(sum) {
		dst = append(dst, '0')
	}
	dst = append(append(append(dst, sum...), ' '), entry...)
	return append(dst, '\n')
}

// newJournal continues a journal whose first size bytes are whole; the rest is
// a torn line, and goes.
func newJournal(name string, size int64) (*journal, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, writeError(name, err)
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, writeError(name, err)
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		f.Close()
		return nil, writeError(name, err)
	}
	j := &journal{name: name, file: f, size: size, batch: 1, failed: map[uint64]error{}}
	j.synced.L = &j.mu
	return j, nil
}

// append makes an entry durable.
func (j *journal) append(entry []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = appendEntry(j.pending, entry)
	mine := j.batch
	for j.done < mine {
		if j.busy {
			j.synced.Wait()
			continue
		}
		j.flush()
	}
	return j.failed[mine]
}

// flush writes what is pending. j.mu is held, but not while the disk works.
func (j *journal) flush() {
	batch, data := j.batch, j.pending
	j.batch, j.pending, j.busy = batch+1, nil, true
	err := j.broken
	if err == nil {
		j.mu.Unlock()
		err = j.write(data)
		j.mu.Lock()
	}
	if err != nil {
		j.failed[batch] = err
	} else {
		j.size += int64(len(data))
	}
	j.done, j.busy = batch, false
	j.synced.Broadcast()
}

// write appends data. What a full disk leaves of it is taken back, so that the
// journal goes on once there is room; when that fails too, or a sync does, the
// state of the file is unknown and nothing more is written.
func (j *journal) write(data []byte) error {
	_, err := j.file.Write(data)
	if err == nil {
		if err = j.file.Sync(); err != nil {
			j.broken = writeError(j.name, err)
			return j.broken
		}
		return nil
	}
	err = writeError(j.name, err)
	if terr := j.file.Truncate(j.size); terr != nil {
		j.broken = err
	} else if _, serr := j.file.Seek(j.size, io.SeekStart); serr != nil {
		j.broken = err
	}
	return err
}

// clear empties the journal, whose entries the ledger now holds.
func (j *journal) clear() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.busy {
		j.synced.Wait()
	}
	if j.broken != nil {
		return j.broken
	}
	if j.size == 0 {
		return nil
	}
	err := j.file.Truncate(0)
	if err == nil {
		_, err = j.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.broken = writeError(j.name, err)
		return j.broken
	}
	j.size = 0
	return nil
}

// close closes the file, and removes it when it is empty.
func (j *journal) close() error {
	err := j.file.Close()
	if j.size == 0 && j.broken == nil {
		err = errors.Join(err, os.Remove(j.name))
	}
	if err != nil {
		return fmt.Errorf("close ledger %s: %w", j.name, disk.Cause(err))
	}
	return nil
}
