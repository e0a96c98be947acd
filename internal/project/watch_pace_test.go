package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestPace: when a batch ends, for what happens to a docroot. Time is that of the test,
// so that a busy machine makes no difference; the tree is listed, because events come in
// the time of the machine.
func TestPace(t *testing.T) {
	const (
		pages = 100
		tick  = 25 * time.Millisecond // between two lists
	)
	write := func(root string, i int) {
		testkit.Write(t, filepath.Join(root, fmt.Sprintf("p%d.html", i)), time.Now().String())
	}
	// build writes the pages from first on with these pauses in turn.
	build := func(root string, first int, pauses ...time.Duration) {
		for i := first; i < pages; i++ {
			write(root, i)
			time.Sleep(pauses[i%len(pauses)])
		}
	}
	empty := func(root string) {
		for _, e := range testkit.Must(os.ReadDir(root))(t) {
			testkit.Check(t, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	for _, test := range []struct {
		name    string
		missing bool // the docroot is at first
		writer  func(root string)
		// The only batch ends so long after the writer began; it lacks no page.
		after, within time.Duration
		away          int
		changing      bool
	}{
		{name: "one page saved", writer: func(root string) { write(root, 1) },
			after: DefaultQuiet, within: DefaultQuiet + 2*tick},
		{name: "one page renamed", writer: func(root string) {
			testkit.Check(t, os.Rename(filepath.Join(root, "p1.html"), filepath.Join(root, "q.html")))
		}, after: DefaultQuiet, within: DefaultQuiet + 2*tick},
		{name: "removed and copied back", writer: func(root string) {
			testkit.Check(t, os.RemoveAll(root))
			time.Sleep(time.Second)
			testkit.Check(t, os.Mkdir(root, 0o755))
			build(root, 0, 30*time.Millisecond, 30*time.Millisecond, 400*time.Millisecond)
		}, after: 16 * time.Second, within: 18 * time.Second, away: 1},
		{name: "replaced at once", writer: func(root string) {
			testkit.Check(t, os.Rename(root, root+".old"))
			time.Sleep(50 * time.Millisecond)
			testkit.Check(t, os.Rename(root+".old", root))
		}, after: 250 * time.Millisecond, within: 500 * time.Millisecond},
		{name: "emptied, then written after a while, as MkDocs does under load", writer: func(root string) {
			empty(root)
			time.Sleep(2 * time.Second)
			build(root, 0, 10*time.Millisecond, 90*time.Millisecond, 10*time.Millisecond, 700*time.Millisecond)
		}, after: 22 * time.Second, within: 24 * time.Second, away: 1},
		{name: "overwritten with pauses", writer: func(root string) {
			build(root, 88, 10*time.Millisecond)
			for i := range 4 {
				write(root, i)
				time.Sleep(150*time.Millisecond + time.Duration(i)*60*time.Millisecond)
			}
		}, after: 1200 * time.Millisecond, within: 1700 * time.Millisecond},
		{name: "a file that is written all the time", changing: true, writer: func(root string) {
			for range 70 {
				write(root, 1)
				time.Sleep(50 * time.Millisecond)
			}
		}, after: 2900 * time.Millisecond, within: 3100 * time.Millisecond},
		{name: "new names all the time", changing: true, writer: func(root string) {
			for i := range 70 {
				write(root, pages+i)
				time.Sleep(50 * time.Millisecond)
			}
		}, after: 2900 * time.Millisecond, within: 3100 * time.Millisecond},
		{name: "pages removed by intention, and a file that is written all the time", changing: true, writer: func(root string) {
			for i := range 10 {
				testkit.Check(t, os.Remove(filepath.Join(root, fmt.Sprintf("p%d.html", i))))
			}
			for range 80 {
				testkit.Write(t, filepath.Join(root, "clock.txt"), time.Now().String())
				time.Sleep(50 * time.Millisecond)
			}
			build(root, 0, 0)
		}, after: 2900 * time.Millisecond, within: 3200 * time.Millisecond},
		{name: "the first build", missing: true, writer: func(root string) {
			time.Sleep(time.Second)
			build(root, 0, 10*time.Millisecond, 600*time.Millisecond)
		}, after: 30 * time.Second, within: 33 * time.Second, away: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				root := filepath.Join(t.TempDir(), "public")
				if !test.missing {
					testkit.Check(t, os.Mkdir(root, 0o755))
					build(root, 0, 0)
				}
				away := 0
				w := testkit.Must(Watch(root, WatchOptions{Poll: tick, Away: func() error { away++; return nil }}))(t)
				defer w.Close()
				if !test.missing {
					if b := next(t, w); !b.All || b.Changing {
						t.Errorf("at first: %+v", b)
					}
				}
				begun := time.Now()
				done := make(chan struct{})
				go func() { defer close(done); test.writer(root) }()
				b := next(t, w)
				took := time.Since(begun)
				if took < test.after || took > test.within {
					t.Errorf("after %v, want %v to %v", took, test.after, test.within)
				}
				if b.Changing != test.changing || away != test.away {
					t.Errorf("changing %t, away %d times", b.Changing, away)
				}
				if entries := testkit.Must(os.ReadDir(root))(t); len(entries) < pages && !test.changing {
					t.Errorf("ended when the tree had %d files", len(entries))
				}
				<-done
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				if b, err := w.Next(ctx); !test.changing && err == nil {
					t.Errorf("another batch: %+v", b)
				}
			})
		})
	}
}

// TestAwayEnds: the error of Away ends the wait, and so does the context.
func TestAwayEnds(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	stop := errors.New("stop")
	w := testkit.Must(Watch(gone, WatchOptions{Quiet: time.Millisecond, Away: func() error { return stop }}))(t)
	defer w.Close()
	if _, err := w.Next(t.Context()); !errors.Is(err, stop) {
		t.Errorf("ended with %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	w = testkit.Must(Watch(gone, WatchOptions{Quiet: time.Millisecond, Away: func() error { cancel(fs.ErrClosed); return nil }}))(t)
	defer w.Close()
	if _, err := w.Next(ctx); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

// TestMissing: events tell which pages of the tree are missing in the middle of a build.
func TestMissing(t *testing.T) {
	n := &notifier{real: "/public", root: "/public", dirs: map[string]bool{}}
	b := &batch{paths: map[string]*change{}}
	for i, step := range []struct {
		name    string
		op      fsnotify.Op
		missing int
	}{
		{"a.html", fsnotify.Remove, 1},
		{"b.html", fsnotify.Rename, 2},
		{"style.css", fsnotify.Remove, 2}, // bundlers give it another name
		{"a.html", fsnotify.Create, 1},
		{"a.html", fsnotify.Write, 1},
		{"new.html", fsnotify.Create, 1}, // written, and renamed over another
		{"new.html", fsnotify.Rename, 1},
		{"b.html", fsnotify.Create, 0},
		{"b.html", fsnotify.Remove, 1},
		{"b.html", fsnotify.Remove, 1},
		{"b.html", fsnotify.Write, 0},
	} {
		testkit.Check(t, n.event(b, fsnotify.Event{Name: "/public/" + step.name, Op: step.op}))
		if b.gone != step.missing {
			t.Errorf("step %d, %s %s: %d missing, want %d", i, step.op, step.name, b.gone, step.missing)
		}
	}
}
