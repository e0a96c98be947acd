package templates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// DocrootOptions say what [Docroot] does.
type DocrootOptions struct {
	Endpoints Endpoints
	Choice    Choice
	// Undo takes out what earlier runs put in, from all pages; Endpoints and
	// Choice do not matter.
	Undo bool
	// DryRun changes nothing.
	DryRun bool
	// Extensions are the endings of the names of pages, without dot, in lower
	// case; none means html, htm, shtml and xhtml. Those named xhtml are XML.
	Extensions []string
	// MaxPageBytes is the size above which a page is left alone; 0 means 64 MiB.
	MaxPageBytes int64
	// Jobs is the number of workers, 0 one per processor.
	Jobs int
}

// DocrootResult tells what [Docroot] did. Paths are slash paths in the docroot,
// sorted.
type DocrootResult struct {
	// Pages is the number of pages looked at, Chosen of those that should name
	// the endpoints, Right of those that did before.
	Pages, Chosen, Right int
	// Changed are the pages that were written, or with DryRun would be.
	Changed []string
	// Notes are chosen pages that do not have all elements now, and why.
	Notes []PageNote
	// Compressed are files beside changed pages, such as index.html.gz, that
	// hold the page as it was.
	Compressed []string
}

// PageNote says something about one page.
type PageNote struct{ Page, Text string }

const (
	defaultMaxPage = 64 << 20
	// prefixBytes are read of a page first: as a rule they tell that it is as
	// it should be.
	prefixBytes = 8 << 10
	// batchFiles of one directory are one task.
	batchFiles = 64
	// maxDocrootErrors are reported of many.
	maxDocrootErrors = 10
)

// Docroot puts the elements into the pages of a built site, right after the
// declaration of the encoding, or takes them out again. What is written ends
// in a mark by which the next run knows it: nothing else is remembered, a
// second run writes nothing, and one that was cut off at any point is carried on
// by the next, or undone. Elements that the pages have of their own are not
// touched.
//
// A page is replaced as a whole, with its permissions and its time of change;
// all its other bytes stay. Symbolic links are not followed, and nothing
// outside of the docroot is opened. The files are not forced onto the disk: a
// docroot can be built again.
//
// An error means that a page could not be read or written; the others are done
// all the same.
func Docroot(ctx context.Context, docroot string, opt DocrootOptions) (*DocrootResult, error) {
	if !opt.Undo && opt.Endpoints.IsZero() {
		return nil, errors.New("inject: no endpoint is given")
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
	if list.pages == 0 {
		return nil, fmt.Errorf("inject: no page in %s", docroot)
	}
	return list.work(ctx, root, opt)
}

// pageList is what a docroot holds, as far as it matters here.
type pageList struct {
	tasks   []pageTask
	pages   int
	chooser *Chooser
	// compressed holds, by page, the files beside it that hold it compressed.
	compressed map[string][]string
}

// pageTask is some pages of one directory.
type pageTask struct {
	dir   string // "." for the docroot
	names []string
}

// listPages walks the docroot and removes what a run that was cut off left.
func listPages(ctx context.Context, root *os.Root, opt DocrootOptions) (*pageList, error) {
	l := &pageList{compressed: map[string][]string{}}
	var pages, feeds []string
	byDir := map[string][]string{}
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
				pages = append(pages, name)
				dir := path.Dir(name)
				byDir[dir] = append(byDir[dir], base)
			}
		}
		return nil
	})
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		for names := range slices.Chunk(byDir[dir], batchFiles) {
			l.tasks = append(l.tasks, pageTask{dir, names})
		}
	}
	l.pages = len(pages)
	l.chooser = NewChooser(opt.Choice, pages, feeds)
	return l, err
}

// work carries out the tasks.
func (l *pageList) work(ctx context.Context, root *os.Root, opt DocrootOptions) (*DocrootResult, error) {
	n := opt.Jobs
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	crew := make([]*docrootWorker, min(n, len(l.tasks)))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range crew {
		w := &docrootWorker{list: l, opt: opt, editor: pageEditor{endpoints: opt.Endpoints}}
		crew[i] = w
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(l.tasks) {
					return
				}
				w.task(ctx, root, l.tasks[i])
			}
		})
	}
	wg.Wait()
	result := &DocrootResult{Pages: l.pages}
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
	return result, joinFaults(faults)
}

func joinFaults(faults []PageNote) error {
	var errs []error
	for i, f := range faults {
		if i == maxDocrootErrors {
			errs = append(errs, fmt.Errorf("inject: %d more", len(faults)-i))
			break
		}
		errs = append(errs, fmt.Errorf("inject: %s: %s", f.Page, f.Text))
	}
	return errors.Join(errs...)
}
