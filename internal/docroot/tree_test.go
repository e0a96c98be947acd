package docroot

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.InMemory()
	m.Run()
}

// TestTreeGrows adds many names to one directory and to many, and finds each again.
func TestTreeGrows(t *testing.T) {
	tree := newTree()
	var ids []NodeID
	for d := range 20 {
		dir := tree.append(0, fmt.Appendf(nil, "d%d", d), KindDir)
		for i := range 500 {
			ids = append(ids, tree.append(dir, fmt.Appendf(nil, "f%d", i), KindFile))
		}
	}
	tree.index()
	for i, id := range ids {
		dir := tree.Child(0, fmt.Appendf(nil, "d%d", i/500))
		if got := tree.Child(dir, fmt.Appendf(nil, "f%d", i%500)); got != id {
			t.Fatalf("d%d/f%d: node %d, want %d", i/500, i%500, got, id)
		}
	}
	if tree.Child(0, []byte("f1")) != NoNode || tree.Files != len(ids) || tree.Len() != len(ids)+21 {
		t.Errorf("%d files, %d nodes", tree.Files, tree.Len())
	}
}

// TestSortedFiles compares the order of the tree with that of the paths as strings.
func TestSortedFiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tree := newTree()
		dirs := []NodeID{0}
		for at := 0; at < len(dirs) && at < 40; at++ {
			var names []string
			for range rnd.IntN(12) {
				name := ""
				for range 1 + rnd.IntN(3) {
					name += string("-.0/ab"[rnd.IntN(6)])
				}
				if !slices.Contains([]byte(name), '/') {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			for _, name := range slices.Compact(names) {
				if rnd.IntN(2) == 0 {
					tree.append(dirs[at], []byte(name), KindFile)
				} else {
					dirs = append(dirs, tree.append(dirs[at], []byte(name), KindDir))
				}
			}
		}
		var got, want []string
		for _, id := range tree.SortedFiles() {
			got = append(got, tree.Path(id))
		}
		for id := range tree.Nodes {
			if tree.Nodes[id].Kind == KindFile {
				want = append(want, tree.Path(NodeID(id)))
			}
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

// TestListStays: the target directory of a symbolic link is not listed.
func TestListStays(t *testing.T) {
	root := testkit.MakeDocroot(t, testkit.Files{"d/x": ""})
	if os.Symlink("d", filepath.Join(root, "l")) != nil || os.Symlink("..", filepath.Join(root, "up")) != nil {
		t.Skip("no symbolic links")
	}
	w := testkit.Must(List(t.Context(), root, 3, nil, ""))(t)
	var got []string
	for id := range w.Tree.Len() {
		got = append(got, w.Tree.Path(NodeID(id)))
	}
	if want := []string{"", "d", "l", "up", "d/x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWalkOrder: the same docroot gives the same nodes, no matter in which order
// its files were created.
func TestWalkOrder(t *testing.T) {
	names := []string{"b.html", "a.html", "z/y.html", "z/x.html", "m/n.html", "c.html"}
	var want []string
	for _, reversed := range []bool{false, true} {
		root := testkit.MakeDocroot(t, testkit.Files{})
		for i := range names {
			name := names[i]
			if reversed {
				name = names[len(names)-1-i]
			}
			testkit.AddFiles(t, root, testkit.Files{name: ""})
		}
		w := testkit.Must(List(context.Background(), root, 0, nil, ""))(t)
		var got []string
		for id := range w.Tree.Len() {
			got = append(got, w.Tree.Path(NodeID(id)))
		}
		if want == nil {
			want = got
		} else if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
