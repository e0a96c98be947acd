package templates

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// DocrootOptions control [Docroot].
type DocrootOptions struct {
	Endpoints Endpoints
	Choice    Choice
	// Undo removes what earlier runs inserted, from all pages. Endpoints and
	// Choice are ignored.
	Undo bool
	// DryRun reports what would change, and changes nothing.
	DryRun bool
	// Extensions are the file name extensions of pages, in lower case and
	// without the dot. Empty means html, htm, shtml and xhtml. Pages named
	// xhtml are XML.
	Extensions []string
	// MaxPageBytes is the size above which a page is skipped; 0 means 64 MiB.
	MaxPageBytes int64
	// Jobs is the number of workers; 0 means one per processor.
	Jobs int
}

// DocrootResult is what [Docroot] did. Paths are slash paths in the docroot,
// sorted.
type DocrootResult struct {
	// Pages is the number of pages read. Chosen is how many of them should name
	// the endpoints, and Right how many already did.
	Pages, Chosen, Right int
	// Changed are the pages that were written, or would be without DryRun.
	Changed []string
	// Notes are the selected pages that still lack an element, with the reason.
	Notes []PageNote
	// Compressed are files beside changed pages, such as index.html.gz, that
	// still hold the old page.
	Compressed []string
}

// PageNote is a remark about one page.
type PageNote struct{ Page, Text string }

const (
	defaultMaxPage = 64 << 20
	// maxDocrootErrors is how many errors are reported one by one.
	maxDocrootErrors = 10
)

// Docroot inserts the elements into the pages of a built site, right after the
// charset declaration, or removes them again. What it writes ends in a mark,
// which is how the next run recognises it. A second run writes nothing. After an
// interruption at any point, the next run continues or undoes the work. Docroot
// leaves elements alone that come from the site's own templates.
//
// A page is replaced as a whole and keeps its permissions, its modification time
// and all other bytes. Docroot does not follow symbolic links and opens nothing
// outside the docroot. It does not sync files to the disk, because a docroot can
// be built again.
//
// An error names pages that could not be read or written; Docroot still edits
// the others. When ctx is cancelled, the error is its cause.
func Docroot(ctx context.Context, docroot string, opt DocrootOptions) (*DocrootResult, error) {
	if !opt.Undo && opt.Endpoints.IsZero() {
		return nil, errors.New("inject: no endpoint given")
	}
	if opt.MaxPageBytes == 0 {
		opt.MaxPageBytes = defaultMaxPage
	}
	if len(opt.Extensions) == 0 {
		opt.Extensions = []string{"html", "htm", "shtml", "xhtml"}
	}
	root, err := os.OpenRoot(docroot)
	if err != nil {
		return nil, fmt.Errorf("inject: %w", err)
	}
	defer root.Close()
	list, err := listPages(ctx, root, opt)
	if err != nil {
		return nil, fmt.Errorf("inject: %w", err)
	}
	if len(list.pages) == 0 {
		return nil, fmt.Errorf("inject: %s contains no page", docroot)
	}
	return list.work(ctx, root, opt)
}

// pageList holds the pages of a docroot.
type pageList struct {
	pages   []string
	chooser *Chooser
	// compressed maps a page to its compressed copies.
	compressed map[string][]string
}

// listPages walks the docroot. It removes the temporary files of interrupted
// runs.
func listPages(ctx context.Context, root *os.Root, opt DocrootOptions) (*pageList, error) {
	l := &pageList{compressed: map[string][]string{}}
	var feeds []string
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		base := d.Name()
		switch ext := path.Ext(base); ext {
		case temporaryExt:
			if isTemporary(base) && !opt.DryRun {
				return root.Remove(name)
			}
		case ".gz", ".br", ".zst":
			page := strings.TrimSuffix(name, ext)
			l.compressed[page] = append(l.compressed[page], name)
		case ".xml", ".json":
			if IsFeed(base) {
				feeds = append(feeds, name)
			}
		default:
			if slices.Contains(opt.Extensions, strings.ToLower(strings.TrimPrefix(ext, "."))) {
				l.pages = append(l.pages, name)
			}
		}
		return nil
	})
	l.chooser = NewChooser(opt.Choice, l.pages, feeds)
	return l, err
}

// work edits the pages with several workers.
func (l *pageList) work(ctx context.Context, root *os.Root, opt DocrootOptions) (*DocrootResult, error) {
	n := opt.Jobs
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	crew := make([]*docrootWorker, min(n, len(l.pages)))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range crew {
		w := &docrootWorker{list: l, opt: opt, editor: pageEditor{endpoints: opt.Endpoints}}
		crew[i] = w
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(l.pages) {
					return
				}
				if err := w.page(root, l.pages[i]); err != nil {
					w.fault(l.pages[i], err)
				}
			}
		})
	}
	wg.Wait()
	result := &DocrootResult{Pages: len(l.pages)}
	var faults []PageNote
	for _, w := range crew {
		result.Chosen += w.result.Chosen
		result.Right += w.result.Right
		result.Changed = append(result.Changed, w.result.Changed...)
		result.Notes = append(result.Notes, w.result.Notes...)
		faults = append(faults, w.faults...)
	}
	slices.Sort(result.Changed)
	for _, page := range result.Changed {
		result.Compressed = append(result.Compressed, l.compressed[page]...)
	}
	byPage := func(a, b PageNote) int { return cmp.Compare(a.Page, b.Page) }
	slices.SortFunc(result.Notes, byPage)
	slices.SortFunc(faults, byPage)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	var errs []error
	for i, f := range faults {
		if i == maxDocrootErrors {
			errs = append(errs, fmt.Errorf("inject: %d more errors", len(faults)-i))
			break
		}
		errs = append(errs, fmt.Errorf("inject: %s: %s", f.Page, f.Text))
	}
	return result, errors.Join(errs...)
}

// docrootWorker edits pages in its own buffers.
type docrootWorker struct {
	list   *pageList
	opt    DocrootOptions
	editor pageEditor
	result DocrootResult
	faults []PageNote
	in     bytes.Buffer
	out    []byte
}

func (w *docrootWorker) fault(page string, err error) {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", at.Op, at.Err) // its path is a temporary file, or relative to an open directory
	}
	w.faults = append(w.faults, PageNote{page, err.Error()})
}

// page reads one page, and rewrites it if it has to change.
func (w *docrootWorker) page(root *os.Root, p string) error {
	f, err := root.Open(p)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		w.in.Reset()
		_, err = w.in.ReadFrom(io.LimitReader(f, w.opt.MaxPageBytes+1))
	}
	f.Close() // Windows replaces no open file
	if err != nil {
		return err
	}
	xml := strings.EqualFold(path.Ext(p), ".xhtml")
	chosen := !w.opt.Undo && w.list.chooser.Of(p) == Yes
	text := w.in.Bytes()
	if chosen {
		w.result.Chosen++
		if w.editor.isRight(text, xml) {
			w.result.Right++
			return nil
		}
	}
	if int64(len(text)) > w.opt.MaxPageBytes {
		w.note(p, fmt.Sprintf("the page is larger than %d bytes", w.opt.MaxPageBytes), chosen)
		return nil
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
		if err := replacePage(root, p, info, w.out); err != nil {
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

const (
	temporaryStart = ".sitelink-"
	temporaryExt   = ".sitelink-tmp"
)

// isTemporary reports whether name is a temporary file of replacePage.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, temporaryStart) && strings.HasSuffix(name, temporaryExt)
}

var temporaries atomic.Uint64

// replacePage replaces a page with data, through a temporary file in the same
// directory, so that the page is complete at any time. info is the page's state
// when it was read; replacePage refuses to overwrite a page that changed since.
func replacePage(root *os.Root, name string, info fs.FileInfo, data []byte) (err error) {
	temporary := path.Join(path.Dir(name), temporaryStart+strconv.Itoa(os.Getpid())+"-"+strconv.FormatUint(temporaries.Add(1), 36)+temporaryExt)
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			root.Remove(temporary)
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
		err = root.Chtimes(temporary, info.ModTime(), info.ModTime())
	}
	if err != nil {
		return err
	}
	now, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !os.SameFile(now, info) || now.Size() != info.Size() || !now.ModTime().Equal(info.ModTime()) {
		return errors.New("another program changed the page while it was edited")
	}
	return root.Rename(temporary, name)
}
