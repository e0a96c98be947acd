package check

import (
	"bytes"
	"context"
	"reflect"
	"runtime"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"

	isite "github.com/sitelink/sitelink/internal/site"
)

// TestDeterminism: 20 runs with 1 to 8 workers on 1 to 4 processors give the
// same findings, the same summary and the same bytes. The hash seeds of a
// site are new with each Load, and so is the order of its maps.
func TestDeterminism(t *testing.T) {
	testkit.Long(t)
	const rounds = 20
	fs := manyPages(400)
	for name, text := range asking(readsHash, routes(30)...) {
		fs["s/"+name] = text
	}
	root := tempDocroot(t, fs)
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	opt := Options{Ignore: []Ignore{{URL: "/Pic.png"}, {URL: "/never"}}}
	var first *Result
	var firstRows []byte
	for i := range rounds {
		runtime.GOMAXPROCS(1 + i%4)
		opt.Jobs = 1 + i*3%8
		s := load(t, root, isite.Options{Jobs: 1 + i*5%8})
		r := run(t, s, opt)
		var out bytes.Buffer
		l := testkit.Must(WriteLinks(context.Background(), handle(s), opt, Query{}, LinkWriter{&out, render}))(t)
		for j := range r.Findings {
			r.Findings[j].node = 0
		}
		if first == nil {
			first, firstRows = r, bytes.Clone(out.Bytes())
			if len(r.Findings) < 100 || len(r.Summary.UnusedIgnores) != 1 {
				t.Fatalf("only %d findings, unused rules %q", len(r.Findings), r.Summary.UnusedIgnores)
			}
			continue
		}
		if !reflect.DeepEqual(r, first) {
			t.Errorf("run %d, %d jobs: %d findings, %+v; first run %d, %+v", i, opt.Jobs, len(r.Findings), r.Summary, len(first.Findings), first.Summary)
		}
		if !reflect.DeepEqual(l.Summary, first.Summary) {
			t.Errorf("run %d: Links %+v, first run %+v", i, l.Summary, first.Summary)
		}
		if !bytes.Equal(out.Bytes(), firstRows) {
			t.Errorf("run %d, %d jobs: the bytes differ", i, opt.Jobs)
		}
	}
}

// TestConcurrentUse: a loaded site is read-only, and concurrent checks of it
// give the same result as one.
func TestConcurrentUse(t *testing.T) {
	s := load(t, tempDocroot(t, manyPages(200)), isite.Options{})
	want := run(t, s, Options{})
	done := make(chan *Result)
	for i := range 6 {
		go func() {
			r, err := Run(context.Background(), handle(s), Options{Jobs: 1 + i%3})
			if err != nil {
				t.Error(err)
			}
			done <- r
		}()
	}
	for range 6 {
		if r := <-done; r != nil && !reflect.DeepEqual(r, want) {
			t.Errorf("got %+v, want %+v", r.Summary, want.Summary)
		}
	}
}
