package outgoing

import (
	"bytes"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestCacheChangesNothing: deploys with a cache, which is written and read between
// them, give the same plans as deploys without.
func TestCacheChangesNothing(t *testing.T) {
	with, without := newWorld(t), newWorld(t)
	with.cache = &Cache{}
	steps := []func(w *world){
		func(w *world) {
			w.write("a/index.html", post("A", a("https://x.example/1"), a("/b/")))
			w.write("b/index.html", post("B", a("https://x.example/2")))
			w.write("list.html", "<article>"+a("https://x.example/")+"</article><article></article>")
		},
		func(w *world) { w.write("a/index.html", post("A", a("https://x.example/1"), a("https://y.example/"))) },
		func(*world) {},
		func(w *world) { w.opt.Deny = []string{"x.example"} },
		func(w *world) { w.opt.Deny, w.opt.Internal = nil, true },
		func(w *world) { w.opt.Exclude = []string{"b/**"} },
		func(w *world) { w.opt.Exclude = nil; w.remove("b") },
		func(w *world) { w.write("list.html", post("one", a("https://x.example/"))) },
	}
	for i, step := range steps {
		step(with)
		step(without)
		got, want := with.deploy(), without.deploy()
		if !slices.Equal(got, want) {
			t.Errorf("step %d: with a cache %q, without %q", i, got, want)
		}
		if !slices.Equal(with.plan.Excluded, without.plan.Excluded) || with.plan.Unchanged != without.plan.Unchanged {
			t.Errorf("step %d: with a cache %v %d, without %v %d", i, with.plan.Excluded, with.plan.Unchanged, without.plan.Excluded, without.plan.Unchanged)
		}
		with.sent()
		without.sent()
		var kept bytes.Buffer
		testkit.Check(t, with.cache.Write(&kept))
		again := testkit.Must(ReadCache(&kept))(t)
		with.cache = again
	}
}

// TestCacheIsUsed: the cached result for a file with the same hash is used.
func TestCacheIsUsed(t *testing.T) {
	w := newWorld(t)
	w.cache = &Cache{}
	w.write("a/index.html", post("A", a("https://x.example/1")))
	w.entries()
	f := w.cache.files["a/index.html"]
	f.Targets = []string{"https://y.example/"}
	w.cache.files["a/index.html"] = f
	if got := w.entries().List[0].Targets; !slices.Equal(got, f.Targets) {
		t.Errorf("targets %q: the file was read again", got)
	}
}

func TestDamagedCache(t *testing.T) {
	var whole bytes.Buffer
	c := &Cache{fingerprint: 1, files: cachedFiles{"a": {Sum: 1, Targets: []string{"x"}}}}
	testkit.Check(t, c.Write(&whole))
	for n := range whole.Len() {
		if _, err := ReadCache(bytes.NewReader(whole.Bytes()[:n])); err == nil {
			t.Errorf("%d of %d bytes are accepted as a cache", n, whole.Len())
		}
	}
}
