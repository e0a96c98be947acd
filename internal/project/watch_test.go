package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/sitelink/sitelink/internal/testkit"
)

const quiet = 40 * time.Millisecond

func open(t *testing.T, root string, opt WatchOptions) *Watcher {
	t.Helper()
	opt.Quiet = quiet
	w := testkit.Must(Watch(root, opt))(t)
	t.Cleanup(w.Close)
	return w
}

func next(t *testing.T, w *Watcher) Batch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	b := testkit.Must(w.Next(ctx))(t)
	return b
}

// nothing fails the test if a batch comes.
func nothing(t *testing.T, w *Watcher) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*quiet)
	defer cancel()
	if b, err := w.Next(ctx); err == nil {
		t.Errorf("batch %+v, want none", b)
	}
}

// both runs a test once with events and once with polling.
func both(t *testing.T, f func(t *testing.T, opt WatchOptions)) {
	t.Run("events", func(t *testing.T) { f(t, WatchOptions{}) })
	t.Run("polling", func(t *testing.T) { f(t, WatchOptions{Poll: 15 * time.Millisecond}) })
}

// TestSave: files written in place, files that replace the old one, editors'
// temporary files, and many files at once give one batch each.
func TestSave(t *testing.T) {
	t.Parallel() // it waits most of the time
	both(t, func(t *testing.T, opt WatchOptions) {
		root := t.TempDir()
		at := func(name string) string { return filepath.Join(root, name) }
		testkit.Write(t, at("a.html"), "a")
		testkit.Write(t, at("s/b.html"), "b")
		w := open(t, root, opt)
		testkit.Write(t, at("a.html"), "longer")
		if b := next(t, w); b.All || !slices.Equal(b.Paths, []string{"a.html"}) {
			t.Errorf("in place: %+v", b)
		}
		testkit.Write(t, at("s/.b.html.swp"), "x")
		testkit.Write(t, at("s/4913"), "x")
		testkit.Write(t, at("s/b.html~"), "x")
		nothingButDirs(t, w, "s")
		testkit.Write(t, at("s/new"), "renamed over")
		testkit.Check(t, os.Rename(at("s/new"), at("s/b.html")))
		if b := next(t, w); b.All || !slices.Contains(b.Paths, "s/b.html") {
			t.Errorf("renamed over: %+v", b)
		}
		for i := range 50 {
			testkit.Write(t, at(fmt.Sprintf("n/%d/p.html", i)), "p")
		}
		seen := map[string]bool{}
		for !seen["n/49/p.html"] {
			for _, p := range next(t, w).Paths {
				seen[p] = true
			}
		}
		for i := range 50 {
			if p := fmt.Sprintf("n/%d/p.html", i); !seen[p] && !seen["n"] {
				t.Errorf("%s was not reported", p)
			}
		}
	})
}

// nothingButDirs accepts only batches of directories: their time changes with
// the files in them.
func nothingButDirs(t *testing.T, w *Watcher, dirs ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*quiet)
	defer cancel()
	for {
		b, err := w.Next(ctx)
		if err != nil {
			return
		}
		for _, p := range b.Paths {
			if !slices.Contains(dirs, p) {
				t.Errorf("batch contains %s", p)
			}
		}
	}
}

// TestHalfWritten: a batch ends only when nothing has been written for a while.
// A busy machine may delay the writer for that long; then the test tries again.
func TestHalfWritten(t *testing.T) {
	const tries = 10
	for range tries {
		root := t.TempDir()
		name := filepath.Join(root, "p.html")
		w := open(t, root, WatchOptions{})
		longest := make(chan time.Duration, 1)
		go func() {
			var gap time.Duration
			last := time.Now()
			for i := range 10 {
				_ = os.WriteFile(name, []byte(strings.Repeat("x", i+1)), 0o644)
				gap, last = max(gap, time.Since(last)), time.Now()
				time.Sleep(quiet / 4)
			}
			longest <- gap
		}()
		next(t, w)
		info, err := os.Stat(name)
		gap := <-longest
		w.Close()
		switch {
		case err == nil && info.Size() >= 9:
			return
		case gap < quiet:
			t.Fatalf("reported after %d of 10 bytes, written at most %v apart, %v", info.Size(), gap, err)
		}
	}
	t.Skipf("the machine is too busy: the writer was delayed %d times by more than %v", tries, quiet)
}

// TestBusyNeighbour: a batch does not wait for files that are not watched.
func TestBusyNeighbour(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "public")
	testkit.Write(t, filepath.Join(root, "p.html"), "p")
	w := open(t, root, WatchOptions{Also: []string{filepath.Join(dir, "netlify.toml")}})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(quiet / 8):
				_ = os.WriteFile(filepath.Join(dir, "log"), fmt.Appendf(nil, "%d", i), 0o644)
			}
		}
	}()
	testkit.Write(t, filepath.Join(root, "p.html"), "longer")
	if b := next(t, w); b.All || !slices.Equal(b.Paths, []string{"p.html"}) {
		t.Errorf("batch %+v", b)
	}
}

// TestBusyNeighbourAtTheEnd: the pause ends just when a file changes that is not watched.
func TestBusyNeighbourAtTheEnd(t *testing.T) {
	for range 100 { // the two are ready at once
		n := &notifier{real: "/public", w: &fsnotify.Watcher{Events: make(chan fsnotify.Event, 1)}}
		n.w.Events <- fsnotify.Event{Name: "/log", Op: fsnotify.Write}
		until := make(chan time.Time, 1)
		until <- time.Time{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for changed := true; changed; {
			var err error
			if changed, err = n.wait(ctx, &batch{paths: map[string]*change{}}, until); err != nil || ctx.Err() != nil {
				t.Fatalf("the end of the pause was lost: %v, %v", err, ctx.Err())
			}
		}
		cancel()
	}
}

// TestLock: a batch waits until the build lock is released.
func TestLock(t *testing.T) {
	t.Parallel() // it waits most of the time
	root := t.TempDir()
	lock := filepath.Join(t.TempDir(), ".hugo_build.lock")
	w := open(t, root, WatchOptions{Lock: lock})
	testkit.Write(t, filepath.Join(root, "p.html"), "p")
	next(t, w)
	if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the watcher created the lock file")
	}
	unlock := testkit.Must(lockedfile.MutexAt(lock).Lock())(t)
	testkit.Write(t, filepath.Join(root, "p.html"), "longer")
	released := make(chan struct{})
	time.AfterFunc(6*quiet, func() { close(released); unlock() })
	next(t, w)
	select {
	case <-released:
	default:
		t.Error("reported while the lock was held")
	}
}

// TestReplaced: the whole tree is removed and created again, and then watched
// again.
func TestReplaced(t *testing.T) {
	t.Parallel() // it waits most of the time
	both(t, func(t *testing.T, opt WatchOptions) {
		root := filepath.Join(t.TempDir(), "public")
		testkit.Write(t, filepath.Join(root, "s/p.html"), "p")
		w := open(t, root, opt)
		testkit.Check(t, os.RemoveAll(root))
		time.AfterFunc(4*quiet, func() { testkit.Write(t, filepath.Join(root, "s/p.html"), "p") })
		if b := next(t, w); !b.All {
			t.Errorf("batch %+v, want all", b)
		}
		for range 3 {
			testkit.Write(t, filepath.Join(root, "s/p.html"), time.Now().String())
			if b := next(t, w); !b.All && len(b.Paths) == 0 {
				t.Errorf("batch %+v", b)
			}
		}
	})
}

// TestAlso: a file outside the tree changes.
func TestAlso(t *testing.T) {
	t.Parallel() // it waits most of the time
	both(t, func(t *testing.T, opt WatchOptions) {
		dir := t.TempDir()
		testkit.Write(t, filepath.Join(dir, "public/p.html"), "p")
		testkit.Write(t, filepath.Join(dir, "netlify.toml"), "a")
		opt.Also = []string{filepath.Join(dir, "netlify.toml")}
		w := open(t, filepath.Join(dir, "public"), opt)
		testkit.Write(t, filepath.Join(dir, "other"), "a")
		nothing(t, w)
		testkit.Write(t, filepath.Join(dir, "netlify.toml"), "longer")
		if b := next(t, w); !b.All {
			t.Errorf("batch %+v, want all", b)
		}
	})
}

// TestAnyEdits: a program that applies every batch to what it knew ends up with
// the current files, whatever was changed in between.
func TestAnyEdits(t *testing.T) {
	both(t, func(t *testing.T, opt WatchOptions) {
		t.Parallel() // each waits most of the time
		root := t.TempDir()
		for i := range 3 {
			testkit.Write(t, filepath.Join(root, fmt.Sprintf("d%d/e/f", i)), "x")
		}
		w := open(t, root, opt)
		known := snapshot(root)
		rng := rand.New(rand.NewPCG(1, 2))
		rounds := testkit.Longer(4, 12)
		for round := range rounds {
			for range 20 {
				scramble(rng, root)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*quiet)
			for end := time.Now().Add(time.Minute); ; {
				b, err := w.Next(ctx)
				if err != nil { // no batch comes any more, or not yet
					cancel()
					if maps.Equal(snapshot(root), known) || time.Now().After(end) {
						break
					}
					ctx, cancel = context.WithTimeout(t.Context(), 10*quiet)
					continue
				}
				is := snapshot(root)
				if b.All {
					known = is
				}
				for _, p := range b.Paths {
					under := func(name, _ string) bool { return name == p || strings.HasPrefix(name, p+"/") }
					maps.DeleteFunc(known, under)
					for name, text := range is {
						if under(name, text) {
							known[name] = text
						}
					}
				}
			}
			if is := snapshot(root); !maps.Equal(is, known) {
				t.Fatalf("round %d: files %v\nknown %v", round, is, known)
			}
		}
	})
}

func snapshot(root string) map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			rel, _ := filepath.Rel(root, path)
			out[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	return out
}

// scramble makes one random change to the tree. Many of its attempts fail.
func scramble(rng *rand.Rand, root string) {
	dirs := []string{"d0", "d1", "d2", "d0/e", "d1/e", "d2/e"}
	some := func() string { return filepath.Join(root, dirs[rng.IntN(len(dirs))]) }
	switch rng.IntN(8) {
	case 0, 1, 2:
		_ = os.WriteFile(filepath.Join(some(), "f"), fmt.Appendf(nil, "%d", rng.Int()), 0o644)
	case 3:
		_ = os.Mkdir(some(), 0o755)
	case 4:
		_ = os.RemoveAll(some())
	case 5, 6:
		_ = os.Rename(some(), some())
	case 7:
		_ = os.Rename(filepath.Join(some(), "f"), filepath.Join(some(), "f"))
	}
}

// TestNoRoot: Watch returns an error for a directory that cannot be watched.
func TestNoRoot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	testkit.Write(t, file, "x")
	for _, root := range []string{file, file + "gone"} {
		if _, err := Watch(root, WatchOptions{}); err == nil {
			t.Errorf("watches %s", root)
		}
	}
}

func TestTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		"a.html": false, "a.html~": true, ".a.html.swp": true, ".a.html.swx": true, "a.swp": false, ".#a.html": true, "#a.html#": true, "4913": true,
		".htaccess": false, "_redirects": false, "a.html___jb_tmp___": true, ".goutputstream-X1": true,
	} {
		if got := temporary(name); got != want {
			t.Errorf("temporary(%q) = %t", name, got)
		}
	}
}
