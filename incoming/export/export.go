package export

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/incoming"
	"github.com/sitelink/sitelink/internal/system"
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
// files of its index. An error leaves the rest of the directory as it was. After a
// power failure, files may be empty; the next export replaces them.
//
// BenchmarkWrite and BenchmarkWriteSQLite measure 100,000 mentions on 10,000 pages. The
// first time, making files takes most of the time; when nothing changed, reading the
// mentions does.
func Write(ctx context.Context, mentions iter.Seq2[incoming.Mention, error], dir string, opt Options) (Result, error) {
	f, err := formatOf(opt.Format)
	if err != nil {
		return Result{}, err
	}
	c := collection{page: opt.Page, pages: map[string][]incoming.Mention{}, pageOf: map[string]pageOfTarget{}}
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
	slices.SortFunc(c.advice, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Received, b.Received))
	})
	target, err := openTarget(dir)
	if err != nil {
		return Result{}, fmt.Errorf("export to %s: %w", dir, err)
	}
	defer target.close()
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
	pages   map[string][]incoming.Mention // by page
	pageOf  map[string]pageOfTarget       // by target
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
	local := m.Local()
	p, ok := c.pageOf[local]
	if !ok {
		p.path, p.ok = c.page(local)
		c.pageOf[local] = p
	}
	switch {
	case c.err != nil:
		return c.err
	case !p.ok:
		c.skipped++
	case action.Ours():
		c.advice = append(c.advice, adviceOf(p.path, m))
	default:
		c.pages[p.path] = append(c.pages[p.path], m)
	}
	return nil
}

// pageOfTarget is what Options.Page returned.
type pageOfTarget struct {
	path string
	ok   bool
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

// itemsOf returns the mentions of a page in the order of its file, without repetitions:
// a source that links to several parts of a page is one mention of the page.
func itemsOf(mentions []incoming.Mention) []Item {
	items := make([]Item, len(mentions))
	for i, m := range mentions {
		items[i] = itemOf(m)
	}
	slices.SortFunc(items, compareItems)
	if len(items) == 1 {
		return items
	}
	seen := make(map[string]bool, len(items))
	return slices.DeleteFunc(items, func(i Item) bool {
		had := seen[i.Source]
		seen[i.Source] = true
		return had
	})
}

// folder is a directory of an export, and what was in it before.
type folder struct {
	*os.Root
	kinds map[string]fs.FileMode // by name
}

func (f *folder) list() error {
	entries, err := fs.ReadDir(f.FS(), ".")
	f.kinds = make(map[string]fs.FileMode, len(entries))
	for _, entry := range entries {
		f.kinds[entry.Name()] = entry.Type()
	}
	return err
}

// target is the directory of an export, with the folder of the pages.
type target struct{ top, pages folder }

func openTarget(dir string) (_ *target, err error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, system.Cause(err)
	}
	if err := mustBeDir(os.Lstat(dir)); err != nil {
		return nil, err
	}
	t := &target{}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if t.top.Root, err = os.OpenRoot(dir); err != nil {
		return nil, system.Cause(err)
	}
	if err := t.top.Mkdir(pagesDir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, system.Cause(err)
	}
	if err := mustBeDir(t.top.Lstat(pagesDir)); err != nil {
		return nil, fmt.Errorf("%s: %w", pagesDir, err)
	}
	if t.pages.Root, err = t.top.OpenRoot(pagesDir); err != nil {
		return nil, system.Cause(err)
	}
	return t, system.Cause(cmp.Or(t.top.list(), t.pages.list()))
}

func (t *target) close() {
	for _, f := range []folder{t.top, t.pages} {
		if f.Root != nil {
			f.Close()
		}
	}
}

func mustBeDir(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return system.Cause(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("it is a symbolic link, which an export does not follow; name the directory itself")
	case !info.IsDir():
		return errors.New("it is not a directory")
	}
	return nil
}

// file is one file of an export.
type file struct {
	name    string
	text    []byte // if changed
	changed bool
}

// replace writes what changed and removes what is out of date.
func (t *target) replace(ctx context.Context, c *collection, f *format) (Result, error) {
	// The comparison changes nothing. It fails if another program or a person wrote one of
	// the files.
	var old Index
	if text, err := t.top.replaceable(indexName + ".json"); err != nil {
		return Result{}, err
	} else if json.Unmarshal(text, &old) != nil {
		old = Index{} // missing or damaged: all pages are encoded and compared
	}
	names := slices.Sorted(maps.Keys(c.pages))
	pages, entries := make([]file, len(names)), make([]IndexEntry, len(names))
	err := inParallel(ctx, len(names), func(i int) (err error) {
		page := &PageFile{Generator: generator, Page: names[i], Mentions: itemsOf(c.pages[names[i]])}
		if pages[i], entries[i], err = t.pages.comparePage(page, f, old.Pages[names[i]].Sum); err != nil {
			return fmt.Errorf("%s/%w", pagesDir, err)
		}
		return nil
	})
	if err != nil {
		return Result{}, err
	}
	index := &Index{Generator: generator, Pages: map[string]IndexEntry{}}
	pageOf := map[string]string{}
	for i, e := range entries {
		if other, ok := pageOf[e.File]; ok {
			return Result{}, fmt.Errorf("the pages %s and %s have the same file name %s", other, names[i], e.File)
		}
		pageOf[e.File] = names[i]
		index.Pages[names[i]] = e
	}
	lists, err := t.compareLists(c, index)
	if err != nil {
		return Result{}, err
	}
	if err := inParallel(ctx, len(pages), func(i int) error { return t.pages.write(&pages[i]) }); err != nil {
		return Result{}, err
	}
	result := Result{Pages: len(pages), Advice: len(c.advice), Skipped: c.skipped}
	for _, e := range index.Pages {
		result.Mentions += e.Mentions
	}
	for _, f := range slices.Concat(pages, lists) {
		if f.changed {
			result.Written++
		} else {
			result.Unchanged++
		}
	}
	for i := range lists {
		if lists[i].changed {
			if err := system.WriteFileIn(t.top.Root, lists[i].name, lists[i].text, 0); err != nil {
				return Result{}, err
			}
		}
	}
	top, err := t.top.removeOthers(lists, isList)
	if err != nil {
		return Result{}, err
	}
	below, err := t.pages.removeOthers(pages, func(string) bool { return true })
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", pagesDir, err)
	}
	result.Removed = top + below
	return result, nil
}

// comparePage returns the file of one page and its entry in the index. The entry of
// the last export has a sum of the mentions and of the file that they gave. If it is
// still the same, there is no need to encode them again, which takes most of the time
// in some formats.
func (d *folder) comparePage(p *PageFile, f *format, sum string) (file, IndexEntry, error) {
	entry := IndexEntry{File: nameOf(p.Page), Mentions: len(p.Mentions)}
	out := file{name: entry.File + f.extension}
	old, err := d.replaceable(out.name)
	if err != nil {
		return out, entry, err
	}
	if entry.Sum = sumOf(p, f, old); entry.Sum == sum && len(old) > 0 {
		return out, entry, nil
	}
	if out.text, err = f.page(p); err != nil {
		return out, entry, fmt.Errorf("%s: encode: %w", out.name, err)
	}
	out.changed = !bytes.Equal(old, out.text)
	entry.Sum = sumOf(p, f, out.text)
	return out, entry, nil
}

// sumOf returns a hash of the mentions of a page, their format, and their file.
func sumOf(p *PageFile, f *format, text []byte) string {
	h := sha256.New()
	io.WriteString(h, string(f.name)+"\x00"+p.Page+"\x00")
	var buf []byte
	for i := range p.Mentions {
		m := &p.Mentions[i]
		buf = buf[:0]
		for _, field := range [...]string{m.ID, m.Protocol, m.Source, m.Target, m.Title, m.Excerpt, m.Lang, m.Author.Name, m.Author.URL, m.Received, m.Verified} {
			buf = append(append(buf, field...), 0) // fields have no control characters
		}
		h.Write(buf)
	}
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// compareLists returns the advice, if there is any, and the index.
func (t *target) compareLists(c *collection, index *Index) (files []file, err error) {
	add := func(name string, v any) error {
		f := file{name: name + ".json"}
		old, err := t.top.replaceable(f.name)
		if err == nil {
			f.text, err = encodeJSON(v)
		}
		f.changed = !bytes.Equal(old, f.text)
		files = append(files, f)
		return err
	}
	if len(c.advice) > 0 {
		if err := add(adviceName, &AdviceList{Generator: generator, Advice: c.advice}); err != nil {
			return nil, err
		}
	}
	return files, add(indexName, index)
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

// replaceable returns the content of a file that an export may replace, or nil if the
// file does not exist. It may replace a file with our mark, and an empty one, which has
// nothing to lose.
func (d *folder) replaceable(name string) ([]byte, error) {
	kind, ok := d.kinds[name]
	if !ok {
		return nil, nil
	}
	var text []byte
	var err error
	if kind.IsRegular() {
		text, err = d.ReadFile(name)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: read: %w", name, system.Cause(err))
	case !kind.IsRegular(), len(text) > 0 && !hasMark(name, text):
		return nil, fmt.Errorf("%s exists, and no export wrote it; move it away, or export to another directory", name)
	}
	return text, nil
}

// unsynced is the file system below a root, which does not wait for the disk: a sync
// of each of 10,000 files takes longer than everything else.
type unsynced struct{ *os.Root }

func (u unsynced) OpenFile(name string, flag int, perm fs.FileMode) (system.File, error) {
	f, err := u.Root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return unsyncedFile{f}, nil
}
func (unsynced) SyncDir(string) {}

type unsyncedFile struct{ *os.File }

func (unsyncedFile) Sync() error { return nil }

func (d *folder) write(f *file) error {
	if !f.changed {
		return nil
	}
	r, err := system.NewReplacementIn(unsynced{d.Root}, f.name, 0)
	if err == nil {
		defer r.Discard()
		_, err = r.Write(f.text)
	}
	if err == nil {
		err = r.Commit()
	}
	if err != nil {
		return fmt.Errorf("%s/%s: write: %w", pagesDir, f.name, system.Cause(err))
	}
	return nil
}

// removeOthers removes the files of earlier exports that are not in keep, and what
// interrupted exports left behind. It looks only at names that mayBeOurs accepts.
func (d *folder) removeOthers(keep []file, mayBeOurs func(name string) bool) (removed int, err error) {
	for _, f := range keep {
		delete(d.kinds, f.name)
	}
	for name, kind := range d.kinds {
		if !kind.IsRegular() || !mayBeOurs(name) {
			continue
		}
		if !isLeftover(name) {
			if text, err := d.ReadFile(name); err != nil || !hasMark(name, text) {
				continue
			}
			removed++
		}
		if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, fmt.Errorf("remove %s: %w", name, system.Cause(err))
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
	return ok && system.IsTemporary(name, base)
}
