package site

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan"
)

// TestRecursionEnds: LL-17, pages that link to each other in a loop are read
// once each.
func TestRecursionEnds(t *testing.T) {
	s := loadFiles(t, files{"index.html": `<a href=a.html>`, "a.html": `<a href=b.html>`, "b.html": `<a href=index.html><a href=b.html>`}, Options{})
	if s.Pages() != 3 {
		t.Errorf("LL-17: %d pages, want 3", s.Pages())
	}
	for i := range s.Pages() {
		for _, d := range details(t, s, s.Path(PageID(i))) {
			if d.State != host.StateOK {
				t.Errorf("LL-17: %s: %s", s.Path(PageID(i)), answerOf(t, s, &d))
			}
		}
	}
}

// TestNotOpened: LL-26, files that are not pages are looked up but not opened.
func TestNotOpened(t *testing.T) {
	root := tempDocroot(t, files{"p.html": `<!doctype html><img src=i.gif><a href=doc.pdf><script src=s.js></script><img src=gone.gif>`, "i.gif": "x", "doc.pdf": "x", "s.js": "x"})
	opened := watchOpen(t, root+"/i.gif", root+"/doc.pdf", root+"/s.js", root+"/p.html")
	s := load(t, root, Options{})
	all := details(t, s, "p.html")
	for i, want := range []host.State{host.StateOK, host.StateOK, host.StateOK, host.StateMissingFile} {
		if all[i].State != want {
			t.Errorf("LL-26: %s: %s", all[i].Raw, stateName(t, all[i].State))
		}
	}
	got := opened()
	if !slices.Contains(got, root+"/p.html") {
		t.Fatalf("opening the page was not noticed: %q", got)
	}
	if i := slices.IndexFunc(got, func(name string) bool { return name != root+"/p.html" }); i >= 0 {
		t.Errorf("LL-26: %s was opened", got[i])
	}
}

// TestPageNames: LL-27, which files are read as HTML.
func TestPageNames(t *testing.T) {
	const text = `<a href=gone.html>`
	for name, want := range map[string]bool{
		"a.html": true, "X.HTM": true, "b.shtml": true, "C.SHTML": true, "y.xhtml": true, "Y.XHTML": true, "d.Html": true, ".html": true, "a.b.html": true,
		"index.cgi": false, "e.txt": false, "html": false, "f.html.bak": false, "g.htmlx": false, "h.html~": false, "i.php": false, "j.xml": false, "k.": false,
	} {
		t.Run("LL-27/"+name, func(t *testing.T) {
			page := text
			if strings.EqualFold(filepath.Ext(name), ".xhtml") {
				page = `<html xmlns="http://www.w3.org/1999/xhtml"><body><a href="gone.html"/></body></html>`
			}
			s := loadFiles(t, files{"zz.html": `<a href="` + name + `">`, name: page}, Options{})
			n, ok := s.Lookup(name)
			if !ok {
				t.Fatal("not there")
			}
			_, parsed := s.PageOf(n)
			if parsed != want {
				t.Fatalf("parsed: %t, want %t", parsed, want)
			}
			if d := details(t, s, "zz.html"); !d[0].State.Answers() {
				t.Errorf("the link to it: %s", answerOf(t, s, &d[0]))
			}
			if parsed {
				if d := details(t, s, name); len(d) != 1 || d[0].State != host.StateMissingFile {
					t.Errorf("links %+v", d)
				}
			}
		})
	}
	t.Run("LL-27/answered_by_index_cgi", func(t *testing.T) {
		s := loadFiles(t, files{"p.html": `<a href=d/>`, "d/index.cgi": text}, Options{Profile: host.Linklint})
		d := details(t, s, "p.html")
		if got, want := answerOf(t, s, &d[0]), "OK 200 /d/ = d/index.cgi"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if _, parsed := s.PageOf(d[0].Node); parsed {
			t.Error("index.cgi was parsed")
		}
	})
}

// TestTextHidesTags: LL-34 in its current interpretation: the contents of these
// elements are text.
func TestTextHidesTags(t *testing.T) {
	for _, tags := range []scan.Tags{scan.Modern, scan.Linklint} {
		for _, e := range []string{"style", "textarea", "title", "iframe", "noembed", "noframes", "xmp", "script"} {
			t.Run(fmt.Sprintf("LL-34/%s/tags_%d", e, tags), func(t *testing.T) {
				s := loadFiles(t, files{"p.html": "<!doctype html><body><" + e + "><a href=x.html></" + e + "><a href=y.html>"}, Options{Tags: tags})
				if got := raws(t, s, "p.html"); !slices.Equal(got, []string{"y.html"}) {
					t.Errorf("got %q, want y.html only", got)
				}
			})
		}
	}
	s := loadFiles(t, files{"p.html": "<!doctype html><style>a{background:url(x.gif)}</style>"}, Options{})
	if got := raws(t, s, "p.html"); !slices.Equal(got, []string{"x.gif"}) {
		t.Errorf("LL-34: a style element's own URLs: got %q", got)
	}
}

// TestEmptyLinks: LL-75, an empty href leads to the page itself, and an empty
// src is an error.
func TestEmptyLinks(t *testing.T) {
	s := loadFiles(t, files{"p.html": `<!doctype html><a href="">x</a><img src=""><script src=""></script><img src=" ">`}, Options{})
	all := details(t, s, "p.html")
	for i, want := range []host.State{host.StateOK, host.StateEmptyLink, host.StateEmptyLink} {
		if all[i].State != want {
			t.Errorf("LL-75: link %d: %s", i, answerOf(t, s, &all[i]))
		}
	}
}

// TestRoot: LL-111, a docroot gives the same result by name, as the current
// directory, and through a symbolic link.
func TestRoot(t *testing.T) {
	root := tempDocroot(t, files{"p.html": `<a href=sub/><a href=gone.html>`, "sub/index.html": plain})
	link := filepath.Join(filepath.Dir(root), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	want := details(t, load(t, root, Options{}), "p.html")
	t.Chdir(root)
	for _, name := range []string{".", link, "../docroot", root + "/", root + "/sub/.."} {
		if got := details(t, load(t, name, Options{}), "p.html"); !reflect.DeepEqual(got, want) {
			t.Errorf("LL-111: docroot %s: got %+v\nwant %+v", name, got, want)
		}
	}
}

// TestPrivateFiles: LL-111, a file or directory that other users may not read
// is a warning, and one that its owner may not read either is an error.
func TestPrivateFiles(t *testing.T) {
	fs := files{"a.html": plain, "b.gif": "", "d/x.html": plain, "z.html": plain, "z.gif": "", "e/x.html": plain, "e/index.html": plain, "u/index.html": plain, "u/x.html": plain, "p.html": `<!doctype html>` +
		`<a href=a.html><img src=b.gif><a href=d/x.html><a href=z.html><img src=z.gif><a href=u/><a href=u><a href=u/x.html><a href=ok.html>`, "ok.html": plain}
	root := tempDocroot(t, fs)
	for name, mode := range map[string]os.FileMode{"a.html": 0o600, "b.gif": 0o640, "d": 0o750, "z.html": 0, "z.gif": 0, "u": 0o711} {
		chmod(t, filepath.Join(root, name), mode)
	}
	want := []host.State{host.StatePrivate, host.StatePrivate, host.StatePrivate, host.StateUnreadable, host.StateUnreadable, host.StateOK, host.StateUnreadable, host.StateOK, host.StateOK}
	s := load(t, root, Options{})
	records := s.Page(pageID(t, s, "p.html")).All()
	for i, d := range details(t, s, "p.html") {
		if d.State != want[i] || s.State(&records[i]) != want[i] {
			t.Errorf("LL-111: %s: detail %s, record %s, want %s", d.Raw, stateName(t, d.State), stateName(t, s.State(&records[i])), stateName(t, want[i]))
		}
		if wantStatus := map[host.State]int{host.StatePrivate: 403, host.StateUnreadable: 403, host.StateOK: 200}[want[i]]; d.Status != wantStatus {
			t.Errorf("LL-111: %s: status %d, want %d", d.Raw, d.Status, wantStatus)
		}
	}
	// In a docroot that is itself private, as umask 077 makes it, permissions
	// do not show what the host may read.
	chmod(t, root, 0o700)
	for _, d := range details(t, load(t, root, Options{}), "p.html") {
		if d.State == host.StatePrivate {
			t.Errorf("LL-111: private docroot: %s is %s", d.Raw, stateName(t, d.State))
		}
	}
}

// TestProgress: calls come one at a time, the counts never decrease or exceed
// the total, and the last call has the total.
func TestProgress(t *testing.T) {
	fs := files{}
	for i := range 100 {
		fs[fmt.Sprintf("%d.html", i)] = plain
	}
	for _, jobs := range []int{1, 4} {
		calls, last, busy := 0, 0, false
		loadFiles(t, fs, Options{Jobs: jobs, Progress: func(done, total int) {
			if busy {
				t.Error("two calls at a time")
			}
			busy = true
			if total != 100 || done < 1 || done > total {
				t.Errorf("progress %d of %d", done, total)
			}
			calls, last, busy = calls+1, max(last, done), false
		}})
		if calls == 0 || jobs == 1 && last != 100 {
			t.Errorf("jobs %d: %d calls, the last with %d", jobs, calls, last)
		}
	}
}

// TestMaxPageBytes: a page above the limit is not read, but links to it are
// valid.
func TestMaxPageBytes(t *testing.T) {
	big := "<!doctype html><a href=gone.html>" + strings.Repeat(" ", 1000)
	s := loadFiles(t, files{"p.html": `<!doctype html><a href=big.html#x>`, "big.html": big}, Options{MaxPageBytes: 500})
	p := s.Page(pageID(t, s, "big.html"))
	if e := p.Error(); !e.TooLarge || e.Err == nil || p.Links() != 0 {
		t.Errorf("got %+v, %d links", e, p.Links())
	}
	d := details(t, s, "p.html")
	if got, want := answerOf(t, s, &d[0]), "OK 200 /big.html = big.html # x"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	exact := loadFiles(t, files{"p.html": big}, Options{MaxPageBytes: int64(len(big))})
	if exact.Page(0).Error().Err != nil || exact.Page(0).Links() != 1 {
		t.Error("a page of exactly the limit was not read")
	}
}

// TestVanishedWhileLoading: pages that vanish, or are replaced with something
// else, between the listing and the reading are kept with their error.
func TestVanishedWhileLoading(t *testing.T) {
	fs := files{}
	for i := range 100 {
		fs[fmt.Sprintf("%02d.html", i)] = `<a href=98.html><a href=99.html>`
	}
	root := tempDocroot(t, fs)
	once := false
	s := load(t, root, Options{Jobs: 1, Progress: func(int, int) {
		if once {
			return
		}
		once = true
		if err := os.Remove(filepath.Join(root, "99.html")); err != nil {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(root, "98.html")); err != nil {
			t.Error(err)
		}
		mkdir(t, filepath.Join(root, "98.html"))
	}})
	for _, name := range []string{"98.html", "99.html"} {
		if err := s.Page(pageID(t, s, name)).Error(); err.Err == nil || err.TooLarge {
			t.Errorf("%s: got %+v", name, err)
		}
	}
	if err := s.Page(pageID(t, s, "99.html")).Error().Err; err == nil || !strings.Contains(err.Error(), "vanished") {
		t.Errorf("got %v, want that it vanished", err)
	}
	if s.Page(pageID(t, s, "97.html")).Error().Err != nil {
		t.Error("97.html was not read")
	}
}

// TestCancelledLoad: Load returns the cause of a cancelled context, whether it
// is cancelled before, while the tree is listed, or while pages are read.
func TestCancelledLoad(t *testing.T) {
	fs := files{}
	for i := range 200 {
		fs[fmt.Sprintf("d%d/p.html", i)] = plain
	}
	root := tempDocroot(t, fs)
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	if _, err := Load(ctx, root, Options{}); !errors.Is(err, cause) {
		t.Errorf("before: got %v, want %v", err, cause)
	}
	ctx, cancel = context.WithCancelCause(context.Background())
	defer cancel(nil)
	if _, err := Load(ctx, root, Options{Jobs: 2, Progress: func(int, int) { cancel(cause) }}); !errors.Is(err, cause) {
		t.Errorf("while reading: got %v, want %v", err, cause)
	}
}

// TestEach: each number is handled once, and an error or the end of ctx ends all workers.
func TestEach(t *testing.T) {
	s := loadFiles(t, files{"index.html": plain}, Options{})
	const tasks = 1000
	for _, jobs := range []int{0, 1, 8} {
		var handled [tasks]atomic.Int32
		err := s.Each(t.Context(), jobs, tasks, func(r *Reader) func(int) error {
			return func(i int) error {
				handled[i].Add(1)
				_, err := r.Text(0)
				return err
			}
		})
		for i := range handled {
			if n := handled[i].Load(); err != nil || n != 1 {
				t.Fatalf("%d jobs: %v, number %d is handled %d times", jobs, err, i, n)
			}
		}
		var some atomic.Int32
		own := errors.New("own")
		err = s.Each(t.Context(), jobs, tasks, func(*Reader) func(int) error {
			return func(int) error { some.Add(1); return own }
		})
		if err != own || some.Load() > 8 {
			t.Errorf("%d jobs: %v after %d tasks", jobs, err, some.Load())
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	own := errors.New("own")
	cancel(own)
	err := s.Each(ctx, 0, tasks, func(*Reader) func(int) error {
		return func(int) error { t.Error("a task runs"); return nil }
	})
	if err != own {
		t.Errorf("after the end of ctx: %v", err)
	}
}
