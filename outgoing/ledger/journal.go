package ledger

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/system"
)

// journal is an append-only file of the changes since the ledger file was written. A
// line is a CRC-32C as eight hexadecimal digits, a space, and an entry. The CRC-32C
// covers the entries of all lines so far, which reveals a missing line:
//
//	0a1b2c3d {"begin":{"source":..,"target":..}}
//	0a1b2c3d {"record":{..},"from":{..}}
//	0a1b2c3d {"peer":{..}}
//
// An entry has the new state of a row, so that it may be applied twice. That
// happens after a crash between writing the ledger and emptying the journal.
//
// append returns when the entry is on disk. Calls that arrive during a sync share
// the next one, so that many workers need few syncs.
type journal struct {
	name string
	disk system.FileSystem
	file system.File

	mu      sync.Mutex
	synced  sync.Cond // signals the end of a batch
	pending []string  // entries
	batch   uint64    // number of the batch to which pending belongs
	done    uint64    // number of the last batch that ended
	failed  map[uint64]error
	busy    bool   // a batch is being written
	size    int64  // bytes of complete lines on disk
	sum     uint32 // checksum of the last line on disk
	broken  error  // if set, nothing more can be written
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// journalLine returns the line of an entry and its checksum. sum is the checksum of
// the line before.
func journalLine(sum uint32, entry string) (string, uint32) {
	sum = crc32.Update(sum, castagnoli(), []byte(strings.TrimSuffix(entry, "\n")))
	return fmt.Sprintf("%08x %s", sum, entry), sum
}

// newJournal opens a journal to append to. Its first size bytes are complete
// lines, and sum is the checksum of the last one. It removes the rest, which is a
// cut-off line.
func newJournal(on system.FileSystem, name string, size int64, sum uint32) (*journal, error) {
	f, err := on.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, writeError(name, err)
	}
	on.SyncDir(filepath.Dir(name)) // it may be new
	if err := f.Truncate(size); err != nil {
		f.Close()
		return nil, writeError(name, err)
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		f.Close()
		return nil, writeError(name, err)
	}
	j := &journal{name: name, disk: on, file: f, size: size, sum: sum, batch: 1, failed: map[uint64]error{}}
	j.synced.L = &j.mu
	return j, nil
}

// append makes an entry durable.
func (j *journal) append(e journalEntry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(j.pending, rowText(e))
	mine := j.batch
	for j.done < mine {
		if j.busy {
			j.synced.Wait()
			continue
		}
		// The pending batch is written. j.mu is held, except while the disk works.
		batch, sum := j.batch, j.sum
		var data []byte
		for _, entry := range j.pending {
			var line string
			line, sum = journalLine(sum, entry)
			data = append(data, line...)
		}
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
			j.size, j.sum = j.size+int64(len(data)), sum
		}
		j.done, j.busy = batch, false
		j.synced.Broadcast()
	}
	return j.failed[mine]
}

// write appends data. If the disk is full, the part that was written is removed
// again, so that the journal can continue once there is space. If that fails, or
// a sync fails, the state of the file is unknown and nothing more is written.
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

// empty reports whether the journal has no entries.
func (j *journal) empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.size == 0
}

// clear empties the journal, after its entries were written to the ledger.
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
	j.size, j.sum = 0, 0
	return nil
}

// close closes the file and removes it if it is empty.
func (j *journal) close() error {
	err := j.file.Close()
	if j.size == 0 && j.broken == nil {
		err = errors.Join(err, j.disk.Remove(j.name))
	}
	if err != nil {
		return fmt.Errorf("close ledger %s: %w", j.name, system.Cause(err))
	}
	return nil
}

// journalEntry is a line of the journal. Exactly one of Begin, Record and Peer is
// set; From may be set with Record.
type journalEntry struct {
	Begin  *Key             `json:"begin,omitempty"`
	Record *Notice          `json:"record,omitempty"`
	From   *Key             `json:"from,omitempty"`
	Peer   *UnsupportedHost `json:"peer,omitempty"`
}

func recordEntry(from Key, n *Notice) journalEntry {
	if from == n.Key {
		return journalEntry{Record: n}
	}
	return journalEntry{Record: n, From: &from}
}

// journalEnd is where the complete lines of a journal end: their bytes, and the
// checksum of the last one.
type journalEnd struct {
	size int64
	sum  uint32
}

// replay applies a journal to the records. It drops a last line that a crash left
// incomplete, and saves other lines that it cannot read elsewhere.
func (p *parsed) replay(name, text string) (end journalEnd) {
	for number := 1; text != ""; number++ {
		line, rest, ended := strings.Cut(text, "\n")
		var err error
		sum := end.sum
		if ended {
			sum, err = p.replayLine(sum, line)
		}
		switch {
		case !ended, err != nil && rest == "" && strings.Contains(line, "\x00"):
			p.warn(name, number, "dropped the last line, which a crash cut off", false)
			return end
		case err != nil:
			p.warn(name, number, err.Error()+ignoredLine, true)
			p.damaged = append(p.damaged, line)
		}
		p.changed = true
		end.size, end.sum = end.size+int64(len(line))+1, sum
		text = rest
	}
	return end
}

// replayLine applies one line and returns its checksum. last is the checksum of the
// line before; version 1 did not include it.
func (p *parsed) replayLine(last uint32, line string) (uint32, error) {
	sum, text, ok := strings.Cut(line, " ")
	want, err := strconv.ParseUint(sum, 16, 32)
	if !ok || len(sum) != 8 || err != nil {
		return last, errors.New("not a journal entry")
	}
	entry := []byte(text)
	switch uint32(want) {
	case crc32.Update(last, castagnoli(), entry), crc32.Checksum(entry, castagnoli()):
		return uint32(want), p.replayEntry(text)
	}
	return uint32(want), errors.New("the checksum is wrong, or the line before is missing")
}

func (p *parsed) replayEntry(text string) error {
	var e journalEntry
	if err := decode(text, &e); err != nil {
		return err
	}
	switch {
	case e.Begin != nil:
		if err := e.Begin.check(); err != nil {
			return err
		}
		p.begin(*e.Begin)
	case e.Record != nil:
		n := e.Record.toSeconds()
		if err := n.check(); err != nil {
			return err
		}
		from := n.Key
		if e.From != nil {
			if from = *e.From; from.check() != nil {
				return from.check()
			}
		}
		p.record(from, n)
	case e.Peer != nil:
		h := *e.Peer
		if h.Until = toSeconds(h.Until); h.Origin == "" || h.Protocol == "" {
			return errors.New("an unsupported host lacks a required field")
		}
		p.recordUnsupported(h)
	default:
		return errors.New("unknown journal entry")
	}
	return nil
}
