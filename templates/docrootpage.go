package templates

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
)

// docrootWorker edits pages. It owns its buffers.
type docrootWorker struct {
	list   *pageList
	opt    DocrootOptions
	editor pageEditor
	result DocrootResult
	faults []PageNote
	in     []byte
	out    []byte
}

func (w *docrootWorker) task(ctx context.Context, root *os.Root, t pageTask) {
	dir, err := root.OpenRoot(t.dir)
	if err != nil {
		w.fault(t.dir, err)
		return
	}
	defer dir.Close()
	for _, name := range t.names {
		if ctx.Err() != nil {
			return
		}
		if err := w.page(dir, name, path.Join(t.dir, name)); err != nil {
			w.fault(path.Join(t.dir, name), err)
		}
	}
}

func (w *docrootWorker) fault(page string, err error) {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // its path is that of a temporary file, or relative to nothing
	}
	w.faults = append(w.faults, PageNote{page, err.Error()})
}

// page looks at one page, and rewrites it if it has to change.
func (w *docrootWorker) page(dir *os.Root, name, p string) error {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	xml := strings.EqualFold(path.Ext(name), ".xhtml")
	chosen := !w.opt.Undo && w.list.chooser.Of(p) == Yes
	size := info.Size()
	if cap(w.in) < prefixBytes {
		w.in = make([]byte, 256<<10)
	}
	text, err := readFull(f, w.in[:min(size, prefixBytes)])
	if err != nil {
		return err
	}
	if chosen {
		w.result.Chosen++
		if w.editor.isRight(text, xml) {
			w.result.Right++
			return nil
		}
	}
	if size > w.opt.MaxPageBytes {
		w.note(p, fmt.Sprintf("the page is larger than %d bytes", w.opt.MaxPageBytes), chosen)
		return nil
	}
	if int64(len(text)) < size {
		if int64(cap(w.in)) < size {
			w.in = append(make([]byte, 0, size+size/4), text...)
		}
		rest, err := readFull(f, w.in[len(text):size])
		if err != nil {
			return err
		}
		text = w.in[:len(text)+len(rest)]
	}
	v := w.editor.edit(text, xml, chosen)
	if v.piece || v.redirect {
		w.result.Chosen--
	}
	if v.note != "" {
		w.note(p, v.note, chosen)
	}
	if len(v.splices) == 0 {
		if chosen && v.note == "" && !v.piece && !v.redirect {
			w.result.Right++
		}
		return nil
	}
	if !w.opt.DryRun {
		w.out = apply(w.out[:0], text, v.splices)
		if err := replacePage(dir, name, info, w.out); err != nil {
			return err
		}
	}
	w.result.Changed = append(w.result.Changed, p)
	return nil
}

func (w *docrootWorker) note(page, text string, chosen bool) {
	if chosen {
		w.result.Notes = append(w.result.Notes, PageNote{page, text})
	}
}

// readFull fills buf, or less when the file shrank meanwhile.
func readFull(f *os.File, buf []byte) ([]byte, error) {
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buf[:n], err
}

const (
	temporaryStart = ".sitelink-"
	temporaryExt   = ".sitelink-tmp"
)

// isTemporary tells whether a file is one that replacePage left when it was
// cut off.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, temporaryStart) && strings.HasSuffix(name, temporaryExt)
}

var temporaries atomic.Uint64

// replacePage puts data in the place of a page that was read when info was
// taken: under another name in the same directory first, so that the page is
// whole at any time.
func replacePage(dir *os.Root, name string, info fs.FileInfo, data []byte) (err error) {
	temporary := temporaryStart + strconv.Itoa(os.Getpid()) + "-" + strconv.FormatUint(temporaries.Add(1), 36) + temporaryExt
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			dir.Remove(temporary)
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = keepOwner(f, info)
	}
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = dir.Chtimes(temporary, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return err
	}
	now, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(now, info) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return errors.New("the page was changed by somebody else meanwhile")
	}
	return dir.Rename(temporary, name)
}
