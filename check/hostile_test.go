//go:build unix

package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/testkit"
)

// patience is the longest time that a test may take on a busy machine.
const patience = time.Minute

// within fails the test when f does not return in time.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s hangs", what)
	}
}

// TestBadDocroots: the error contains the docroot and the cause.
func TestBadDocroots(t *testing.T) {
	root := tempDocroot(t, files{"file.html": plain, "empty/": "", "nopages/x.txt": "", "nopages/sub/y.css": "", "loop": "-> loop", "broken": "-> nowhere"})
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Skip(err)
	}
	tests := []struct{ name, cause string }{
		{"missing", "no such file"}, {"file.html", "not a directory"}, {"file.html/below", "not a directory"}, {"empty", isite.ErrNoPages.Error()},
		{"nopages", isite.ErrNoPages.Error()}, {"loop", "too many"}, {"broken", "no such file"}, {"fifo", "not a directory"}, {strings.Repeat("n", 300), "too long"}, {"nul\x00byte", "invalid"},
	}
	for _, tc := range tests {
		t.Run(strings.ReplaceAll(tc.name, "\x00", ""), func(t *testing.T) {
			name := filepath.Join(root, tc.name)
			var s *isite.Site
			var err error
			within(t, "Load", func() { s, err = isite.Load(context.Background(), name, isite.Options{}) })
			if err == nil || s != nil || !strings.HasPrefix(err.Error(), "read docroot "+name+": ") || !strings.Contains(err.Error(), tc.cause) {
				t.Errorf("got %v, want read docroot %s: ... %s", err, name, tc.cause)
			}
			if strings.Count(fmt.Sprint(err), name) > 1 {
				t.Errorf("%v contains the docroot twice", err)
			}
		})
	}
	t.Run("unreadable", func(t *testing.T) {
		if os.Geteuid() == 0 {
			t.Skip("root reads everything")
		}
		dir := filepath.Join(root, "nopages")
		chmod(t, dir, 0)
		defer chmod(t, dir, 0o755)
		if _, err := isite.Load(context.Background(), dir, isite.Options{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("got %v", err)
		}
	})
}

// TestUnreadableInside: unreadable files in the docroot are reported by name,
// and the rest is checked.
func TestUnreadableInside(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	root := tempDocroot(t, files{"p.html": plain + "<a href=d/x.html><a href=q.html#x><a href=gone.html>", "d/x.html": plain, "q.html": plain})
	chmod(t, filepath.Join(root, "d"), 0)
	defer chmod(t, filepath.Join(root, "d"), 0o755)
	chmod(t, filepath.Join(root, "q.html"), 0)
	r := run(t, load(t, root, isite.Options{}), Options{})
	compareBriefs(t, r.Findings, "d/:0:0 warning read-error", "p.html:1:40 error unreadable d/x.html", "p.html:1:57 error unreadable q.html#x",
		"p.html:1:74 error missing-file gone.html", "q.html:0:0 error read-error")
	addsUp(t, &r.Summary)
}

// TestChangesBetween: files that change between Load and Run give findings with
// their name and never a panic, and the counts still add up.
func TestChangesBetween(t *testing.T) {
	const page = plain + "<p id=a><a href=#nope>x</a><a href=q.html#gone>x</a>"
	replace := func(text string) func(t testing.TB, root string) {
		return func(t testing.TB, root string) {
			remove("p.html")(t, root)
			addFiles(t, root, files{"p.html": text})
		}
	}
	const described = "p.html:1:48 error missing-fragment #nope p.html:1:67 error missing-fragment q.html#gone"
	tests := []struct {
		name   string
		change func(t testing.TB, root string)
		want   string
	}{
		{"untouched", func(testing.TB, string) {}, described},
		{"vanished", remove("p.html"), "p.html:0:0 error read-error"},
		{"emptied", replace(""), "p.html:0:0 error changed"},
		{"shorter", replace(page[:len(page)-20]), "p.html:0:0 error changed"},
		{"cut_inside_a_tag", replace(page[:len(plain)+20]), "p.html:0:0 error changed"},
		{"one_link_more", replace(page + "<a href=x>"), "p.html:0:0 error changed"},
		{"links_moved", replace(strings.Replace(page, "<p ", "<p  ", 1)), "p.html:0:0 error changed"},
		{"text_behind_the_links", replace(page + strings.Repeat("more text ", 100000)), described},
		{"binary", replace("\x00\xFF\xFE" + strings.Repeat("\x00<", 5000)), "p.html:0:0 error changed"},
		{"a_directory_now", func(t testing.TB, root string) {
			remove("p.html")(t, root)
			mkdir(t, filepath.Join(root, "p.html"))
		}, "p.html:0:0 error read-error"},
		{"a_pipe_now", func(t testing.TB, root string) {
			remove("p.html")(t, root)
			if err := syscall.Mkfifo(filepath.Join(root, "p.html"), 0o644); err != nil {
				t.Skip(err)
			}
		}, "p.html:0:0 error read-error"},
		{"a_symlink_out_now", func(t testing.TB, root string) {
			remove("p.html")(t, root)
			addFiles(t, filepath.Dir(root), files{"beside.html": page})
			addFiles(t, root, files{"p.html": "-> ../beside.html"})
		}, "p.html:0:0 error read-error"},
		{"the_target_vanished", remove("q.html"), described},
		{"too_large_now", replace(page + strings.Repeat(" ", 2<<20)), "p.html:0:0 error read-error"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			root := tempDocroot(t, files{"p.html": page, "q.html": plain + "<p id=b>"})
			s := load(t, root, isite.Options{MaxPageBytes: 2 << 20})
			tc.change(t, root)
			within(t, "Run", func() {
				r, err := Run(context.Background(), handle(s), Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if got := strings.Join(briefs(r.Findings), " "); got != tc.want {
					t.Errorf("got %s\nwant %s", got, tc.want)
				}
				addsUp(t, &r.Summary)
			})
			within(t, "Links", func() {
				l, err := WriteLinks(context.Background(), handle(s), Options{}, Query{}, LinkWriter{io.Discard, render})
				if err != nil {
					t.Error(err)
					return
				}
				if changed := tc.want != described; changed != (len(l.Findings) == 1) || changed && brief(&l.Findings[0]) != tc.want {
					t.Errorf("Links: got %v, want %s", briefs(l.Findings), tc.want)
				}
				addsUp(t, &l.Summary)
			})
		})
	}
}

// TestDocrootVanishes: if the whole docroot vanishes between Load and Run, the
// error contains its name.
func TestDocrootVanishes(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain + "<a href=#nope>"})
	s := load(t, root, isite.Options{})
	testkit.Check(t, os.RemoveAll(root))
	if _, err := Run(context.Background(), handle(s), Options{}); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("Run: got %v", err)
	}
	if _, err := WriteLinks(context.Background(), handle(s), Options{}, Query{}, LinkWriter{io.Discard, render}); err == nil || !strings.Contains(err.Error(), root) {
		t.Errorf("Links: got %v", err)
	}
}

// TestFaultOfVanishedPage: a fault of a file that can no longer be read is
// still reported, without its position.
func TestFaultOfVanishedPage(t *testing.T) {
	root := tempDocroot(t, files{"p.html": plain, "q.html": plain + "<!-- x"})
	s := load(t, root, isite.Options{})
	remove("q.html")(t, root)
	compareBriefs(t, run(t, s, Options{}).Findings, "q.html:0:0 warning unclosed-comment")
}

// TestHostileDocroot: one docroot with pipes, sockets, loops, links out of the
// docroot, a tree of a thousand directories and names that are not text.
// Nothing blocks, and everything is reported.
func TestHostileDocroot(t *testing.T) {
	testkit.Long(t)
	root := tempDocroot(t, files{"loop.html": "-> loop.html", "a": "-> b", "b": "-> a", "self": "-> .", "out": "-> ../outside", "out.html": "-> ../outside/pipe.html"})
	addFiles(t, filepath.Dir(root), files{"outside/": ""})
	for _, name := range []string{root + "/pipe.html", filepath.Dir(root) + "/outside/pipe.html"} {
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Skip(err)
		}
	}
	deep := strings.TrimSuffix(strings.Repeat("d/", 1000), "/")
	testkit.Check(t, os.MkdirAll(filepath.Join(root, deep), 0o755))
	addFiles(t, root, files{
		deep + "/x.html":    plain + "<a href=#nope>",
		"caf\xE9.html":      plain + "<a href=#nope>",
		"new\nline\".html":  plain + "<a href=#nope>",
		"\x1b[31mred.html":  plain + "<a href=gone.html>",
		"-rf.html":          plain,
		"p.html":            plain + "<a href=pipe.html><a href=loop.html><a href=a/x><a href=out/pipe.html><a href=out.html><a href=self/self/p.html><a href=caf%E9.html#x>",
		"empty.html":        "",
		"nul.html":          strings.Repeat("\x00", 5000),
		"binary.html":       "\x7fELF\x02\x01" + strings.Repeat("\xff<a href=\xfe>", 300),
		"nested.html":       strings.Repeat("<div>", 20000) + "<a href=gone.html>",
		"templates.html":    strings.Repeat("<template>", 2000) + "<a href=gone.html>",
		"attributes.html":   "<a" + strings.Repeat(" x=y", 50000) + " href=gone.html>",
		"truncated.html":    plain + "<a href=\"gone.html",
		"references.html":   plain + "<a href=\"" + strings.Repeat("&#x61;", 20000) + "\">",
		"many.html":         plain + strings.Repeat("<a href=x>", 30000),
		"dots.html":         plain + "<a href=\"" + strings.Repeat("../", 10000) + "\"><a href=\"" + strings.Repeat("self/", 3000) + "\">",
		"long-element.html": "<" + strings.Repeat("a", 100000) + " href=x>",
	})
	within(t, "the check", func() {
		s, err := isite.Load(context.Background(), root, isite.Options{})
		if err != nil {
			t.Error(err)
			return
		}
		r := run(t, s, Options{})
		addsUp(t, &r.Summary)
		all, l := rows(t, s, Options{})
		if len(all) != r.Summary.Links || l.Summary.Errors != r.Summary.Errors || l.Summary.Warnings != r.Summary.Warnings || l.Summary.OK != r.Summary.OK {
			t.Errorf("%d rows; Run %+v, Links %+v", len(all), r.Summary, l.Summary)
		}
		byPage := map[string][]string{}
		for _, f := range r.Findings {
			byPage[f.Page] = append(byPage[f.Page], string(f.Verdict.String()+" "+string(f.Code)))
		}
		for page, want := range map[string]string{
			deep + "/x.html":   "[error missing-fragment]",
			"caf\xE9.html":     "[error missing-fragment]",
			"new\nline\".html": "[error missing-fragment]",
			"\x1b[31mred.html": "[error missing-file]",
			"p.html":           "[error special-file error broken-symlink error broken-symlink error missing-file error missing-file error missing-fragment]",
			"empty.html":       "[]", "nul.html": "[]", "-rf.html": "[]",
			"nested.html":     "[error missing-file]",
			"attributes.html": "[error missing-file]",
			"truncated.html":  "[warning unclosed-tag]",
			"dots.html":       "[error missing-index error bad-url]",
		} {
			if got := fmt.Sprint(byPage[page]); got != want {
				t.Errorf("%.40q: got %s, want %s", page, got, want)
			}
		}
		if got := len(byPage["many.html"]); got != 30000 {
			t.Errorf("many.html: %d findings, want 30,000", got)
		}
	})
}

// TestCancelled: all three functions return the cause of a cancelled context,
// whenever it is cancelled.
func TestCancelled(t *testing.T) {
	cause := errors.New("the user went home")
	root := tempDocroot(t, manyPages(700))
	s := load(t, root, isite.Options{})
	calls := map[string]func(ctx context.Context) error{
		"Load": func(ctx context.Context) error { _, err := isite.Load(ctx, root, isite.Options{}); return err },
		"Run":  func(ctx context.Context) error { _, err := Run(ctx, handle(s), Options{}); return err },
		"Links": func(ctx context.Context) error {
			_, err := WriteLinks(ctx, handle(s), Options{}, Query{}, LinkWriter{io.Discard, render})
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(cause)
			within(t, name, func() {
				if err := call(ctx); !errors.Is(err, cause) {
					t.Errorf("cancelled before: got %v, want %v", err, cause)
				}
			})
			for delay := time.Microsecond; delay < 100*time.Millisecond; delay *= 2 {
				ctx, cancel := context.WithCancelCause(context.Background())
				timer := time.AfterFunc(delay, func() { cancel(cause) })
				within(t, name, func() {
					if err := call(ctx); err != nil && !errors.Is(err, cause) {
						t.Errorf("cancelled after %s: got %v, want %v", delay, err, cause)
					}
				})
				timer.Stop()
				cancel(nil)
			}
		})
	}
}

// TestCancelledWhileRendering: Links stops even if workers have already taken
// all of its pages. A render function that cancels is the hardest case.
func TestCancelledWhileRendering(t *testing.T) {
	cause := errors.New("enough")
	s := load(t, tempDocroot(t, manyPages(700)), isite.Options{})
	for _, jobs := range []int{1, 4} {
		ctx, cancel := context.WithCancelCause(context.Background())
		var n atomic.Int64
		within(t, "Links", func() {
			_, err := WriteLinks(ctx, handle(s), Options{Jobs: jobs}, Query{}, LinkWriter{io.Discard, func(dst []byte, l *Link) []byte {
				if n.Add(1) == 100 {
					cancel(cause)
				}
				return append(dst, 'x')
			}})
			if !errors.Is(err, cause) {
				t.Errorf("got %v, want %v", err, cause)
			}
		})
		cancel(nil)
	}
}

// blockedWriter blocks its first Write until the test releases it.
type blockedWriter struct {
	once              sync.Once
	entered, released chan struct{}
	err               error
}

func (w *blockedWriter) Write(p []byte) (int, error) {
	w.once.Do(func() { close(w.entered) })
	<-w.released
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// TestBlockedWriter: while the writer blocks, workers wait and memory stays
// bounded. Links returns however the block ends.
func TestBlockedWriter(t *testing.T) {
	testkit.Long(t)
	full := errors.New("disk full")
	cause := errors.New("the user went home")
	s := load(t, tempDocroot(t, manyPages(1200)), isite.Options{})
	for _, jobs := range []int{1, 2, 8} {
		for _, tc := range []struct {
			name      string
			cancelled bool
			err, want error
		}{{"goes_on", false, nil, nil}, {"fails", false, full, full}, {"cancelled", true, nil, cause}, {"cancelled_and_fails", true, full, nil}} {
			t.Run(fmt.Sprintf("%s/%d", tc.name, jobs), func(t *testing.T) {
				w := &blockedWriter{entered: make(chan struct{}), released: make(chan struct{}), err: tc.err}
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				var rendered atomic.Int64
				var err error
				within(t, "Links", func() {
					done := make(chan struct{})
					go func() {
						defer close(done)
						_, err = WriteLinks(ctx, handle(s), Options{Jobs: jobs}, Query{}, LinkWriter{w, func(dst []byte, l *Link) []byte {
							rendered.Add(1)
							return render(dst, l)
						}})
					}()
					<-w.entered
					time.Sleep(20 * time.Millisecond) // wait until the workers block
					if n := rendered.Load(); n >= int64(total(s)) {
						t.Errorf("all %d rows were made while the writer blocked", n)
					}
					if tc.cancelled {
						cancel(cause)
					}
					close(w.released)
					<-done
				})
				switch {
				case tc.name == "cancelled_and_fails":
					if !errors.Is(err, full) && !errors.Is(err, cause) {
						t.Errorf("got %v", err)
					}
				case !errors.Is(err, tc.want):
					t.Errorf("got %v, want %v", err, tc.want)
				}
			})
		}
	}
}

func total(s *isite.Site) int {
	n := 0
	for i := range s.Pages() {
		n += s.Page(isite.PageID(i)).Links()
	}
	return n
}

// failingWriter accepts a number of calls and then fails.
type failingWriter struct {
	calls int
	err   error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.calls--; w.calls < 0 {
		return 0, w.err
	}
	return len(p), nil
}

// TestWriterError: an error of the writer, at any row, ends the work and is
// returned.
func TestWriterError(t *testing.T) {
	full := errors.New("disk full")
	s := load(t, tempDocroot(t, manyPages(700)), isite.Options{})
	for _, calls := range []int{0, 1, 31, 300, 699} {
		for _, jobs := range []int{1, 5} {
			within(t, "Links", func() {
				_, err := WriteLinks(context.Background(), handle(s), Options{Jobs: jobs}, Query{}, LinkWriter{&failingWriter{calls, full}, render})
				if !errors.Is(err, full) {
					t.Errorf("after %d calls with %d jobs: got %v, want %v", calls, jobs, err, full)
				}
			})
		}
	}
}
