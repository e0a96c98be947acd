package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/disk"
)

// Selection selects the mentions that [Write] may export, for incoming.Store.List.
var Selection = incoming.Filter{States: []incoming.State{incoming.Approved, incoming.Held}}

// Options describe an export. The zero value writes JSON.
type Options struct {
	Format Format
	// Page returns the path of the page of ours that a target names, such as
	// "/posts/knots", or false to leave its mentions out. If nil, PageOf is used,
	// and all targets have to be of one host.
	Page func(target string) (path string, ok bool)
}

// Result counts what an export did.
type Result struct {
	Pages    int // pages that have mentions
	Mentions int
	Advice   int // links of ours that are gone, moved or changed at the other end
	// Skipped are the mentions that are not approved, or that Options.Page or the
	// scheme of their source leaves out.
	Skipped int
	// Written, Unchanged and Removed count files.
	Written, Unchanged, Removed int
}

// The names below the directory of an export.
const (
	pagesDir   = "pages"
	indexName  = "index"
	adviceName = "advice"
)

// Write exports mentions into a directory, which it makes if needed, and removes
// what earlier exports wrote and is out of date, also in another format. mentions
// may come in any order; those that are not approved are left out, and held advice
// (incoming.UnlinkR and incoming.LinkMod) is kept, because only authors see it.
// Write holds all of it in memory, about 1 KiB for each mention.
//
// Each file is replaced atomically. The index is written after the pages that it
// names and before others are removed, so a build that runs meanwhile finds all
// files of its index. An error leaves the rest of the directory as it was.
func Write(ctx context.Context, mentions iter.Seq2[incoming.Mention, error], dir string, opt Options) (Result, error) {
	f, err := formatOf(opt.Format)
	if err != nil {
		return Result{}, err
	}
	c := collection{page: opt.Page, pages: map[string][]Item{}}
	if c.page == nil {
		c.page = c.pageOfOneHost
	}
	for m, err := range mentions {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = c.add(m)
		}
		if err != nil {
			return Result{}, err
		}
	}
	c.sort()
	target, err := openTarget(dir)
	if err != nil {
		return Result{}, fmt.Errorf("export to %s: %w", dir, err)
	}
	defer target.root.Close()
	result, err := target.replace(ctx, &c, f)
	if err != nil {
		return Result{}, fmt.Errorf("export to %s: %w", dir, err)
	}
	return result, nil
}

// collection is what an export contains.
type collection struct {
	page    func(target string) (string, bool)
	host    string // of all targets, for pageOfOneHost
	err     error
	pages   map[string][]Item // by page
	advice  []Advice
	skipped int
}

func (c *collection) add(m incoming.Mention) error {
	action := cmp.Or(m.Action, incoming.Link)
	allowed := m.State == incoming.Approved || action.Ours() && m.State == incoming.Held
	if !allowed || !isWeb(m.Source) || !isWeb(m.Target) || action == incoming.Unlink {
		c.skipped++
		return nil
	}
	page, ok := c.page(m.Local())
	if c.err != nil {
		return c.err
	}
	switch {
	case !ok:
		c.skipped++
	case action.Ours():
		c.advice = append(c.advice, adviceOf(page, m))
	default:
		c.pages[page] = append(c.pages[page], itemOf(m))
	}
	return nil
}

// pageOfOneHost is PageOf for targets of one host.
func (c *collection) pageOfOneHost(target string) (string, bool) {
	host, page, ok := split(target)
	if !ok {
		return "", false
	}
	if c.host == "" {
		c.host = host
	}
	if c.host != host {
		hosts := []string{c.host, host}
		slices.Sort(hosts)
		c.err = fmt.Errorf("the mentions are of pages at %s and %s; export one host at a time, each to a directory of its own", hosts[0], hosts[1])
	}
	return page, true
}

// sort puts everything into the order of the files, and drops repetitions: a source
// that links to several parts of a page is one mention of the page.
func (c *collection) sort() {
	for page, items := range c.pages {
		slices.SortFunc(items, compareItems)
		seen := map[string]bool{}
		c.pages[page] = slices.DeleteFunc(items, func(i Item) bool {
			had := seen[i.Source]
			seen[i.Source] = true
			return had
		})
	}
	slices.SortFunc(c.advice, compareAdvice)
}

// target is the directory of an export.
type target struct{ root *os.Root }

func openTarget(dir string) (*target, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, disk.Cause(err)
	}
	if err := mustBeDir(os.Lstat(dir)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, disk.Cause(err)
	}
	err = root.Mkdir(pagesDir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		err = mustBeDir(root.Lstat(pagesDir))
		if err != nil {
			err = fmt.Errorf("%s: %w", pagesDir, err)
		}
	}
	if err != nil {
		root.Close()
		return nil, disk.Cause(err)
	}
	return &target{root}, nil
}

func mustBeDir(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return disk.Cause(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link, which an export does not follow; name the directory itself")
	case !info.IsDir():
		return errors.New("it is not a directory")
	}
	return nil
}

// file is one file of an export, below the root.
type file struct {
	name    string
	text    []byte
	changed bool
}

// replace writes what changed and removes what is out of date.
func (t *target) replace(ctx context.Context, c *collection, f *format) (Result, error) {
	files, err := t.compare(ctx, c, f)
	if err != nil {
		return Result{}, err
	}
	result := Result{Pages: len(c.pages), Advice: len(c.advice), Skipped: c.skipped}
	wanted := map[string]bool{}
	for _, items := range c.pages {
		result.Mentions += len(items)
	}
	for _, f := range files {
		wanted[f.name] = true
		if f.changed {
			result.Written++
		} else {
			result.Unchanged++
		}
	}
	pages := files[:len(c.pages)]
	if err := inParallel(ctx, len(pages), func(i int) error { return t.write(&pages[i]) }); err != nil {
		return Result{}, err
	}
	for i := range files[len(pages):] {
		if err := t.write(&files[len(pages)+i]); err != nil {
			return Result{}, err
		}
	}
	result.Removed, err = t.removeOthers(wanted)
	return result, err
}

// compare returns the files of an export, first those of the pages, and finds out
// which differ from what is there. It changes nothing, and fails if another program
// or a person wrote one of them.
func (t *target) compare(ctx context.Context, c *collection, f *format) ([]file, error) {
	pages := slices.Sorted(maps.Keys(c.pages))
	index := Index{Generator: generator, Pages: map[string]Entry{}}
	pageOfName := map[string]string{}
	files := make([]file, len(pages), len(pages)+2)
	for i, page := range pages {
		name := nameOf(page)
		if other, ok := pageOfName[name]; ok {
			return nil, fmt.Errorf("the pages %s and %s have the same file name %s", other, page, name)
		}
		pageOfName[name] = page
		index.Pages[page] = Entry{File: name, Mentions: len(c.pages[page])}
		files[i].name = pagesDir + "/" + name + f.extension
	}
	encode := func(i int, text []byte, err error) error {
		if err != nil {
			return fmt.Errorf("encode %s: %w", files[i].name, err)
		}
		files[i].text = text
		files[i].changed, err = t.differs(files[i].name, text)
		return err
	}
	err := inParallel(ctx, len(files), func(i int) error {
		text, err := f.page(&Page{Generator: generator, Page: pages[i], Mentions: c.pages[pages[i]]})
		return encode(i, text, err)
	})
	if err != nil {
		return nil, err
	}
	add := func(name string, v any) error {
		files = append(files, file{name: name + f.lists.extension})
		text, err := f.lists.encode(v)
		return encode(len(files)-1, text, err)
	}
	if len(c.advice) > 0 {
		if err := add(adviceName, &AdviceList{Generator: generator, Advice: c.advice}); err != nil {
			return nil, err
		}
	}
	return files, add(indexName, &index)
}

// inParallel calls f for 0 to n-1, several at a time, and returns the error for the
// lowest number, or the cause of the end of ctx.
func inParallel(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(n, 4*runtime.GOMAXPROCS(0)) { // more than processors: they wait for the disk
		workers.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// differs reports whether a file has to be written.
func (t *target) differs(name string, text []byte) (bool, error) {
	old, ours, err := t.read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", name, disk.Cause(err))
	case bytes.Equal(old, text):
		return false, nil
	case !ours:
		return false, fmt.Errorf("%s exists, and no export wrote it; move it away, or export to another directory", name)
	}
	return true, nil
}

// read returns the content of a file, and whether an export wrote it. A link or
// another special file has no content and is not ours.
func (t *target) read(name string) (text []byte, ours bool, err error) {
	info, err := t.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, false, err
	}
	text, err = t.root.ReadFile(name)
	return text, hasMark(name, text), err
}

func (t *target) write(f *file) error {
	if !f.changed {
		return nil
	}
	return disk.WriteFileIn(t.root, f.name, f.text, 0)
}

// removeOthers removes the files of earlier exports that are not wanted, with what
// interrupted exports left behind.
func (t *target) removeOthers(wanted map[string]bool) (removed int, err error) {
	for _, dir := range []string{".", pagesDir} {
		list, err := fs.ReadDir(t.root.FS(), dir)
		if err != nil {
			return removed, fmt.Errorf("list %s: %w", dir, disk.Cause(err))
		}
		for _, entry := range list {
			name := strings.TrimPrefix(dir+"/"+entry.Name(), "./")
			if !entry.Type().IsRegular() || wanted[name] || dir == "." && !isList(entry.Name()) {
				continue
			}
			if !isLeftover(entry.Name()) {
				if _, ours, err := t.read(name); err != nil || !ours {
					continue
				}
				removed++
			}
			if err := t.root.Remove(name); err != nil {
				return removed, fmt.Errorf("remove %s: %w", name, disk.Cause(err))
			}
		}
	}
	return removed, nil
}

// isList reports whether a file directly in the directory may be ours.
func isList(name string) bool {
	stem, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".")
	return stem == indexName || stem == adviceName
}

// isLeftover reports whether a name is that of a file that an interrupted export
// had not completed.
func isLeftover(name string) bool {
	base, _, ok := strings.Cut(strings.TrimPrefix(name, "."), ".sitelink-")
	return ok && disk.IsTemporary(name, base)
}
