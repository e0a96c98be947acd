package report

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/testkit"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// produced lists the golden files that a test compared or wrote.
var produced struct {
	sync.Mutex
	names map[string]bool
}

// TestMain fails if there is a golden file that no test uses any more.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if code == 0 && wholeRun() {
		code = orphans()
	}
	os.Exit(code)
}

// wholeRun reports whether all tests ran, so that an unused file is not due to
// a test left out.
func wholeRun() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	worker := flag.Lookup("test.fuzzworker")
	return worker == nil || worker.Value.String() != "true"
}

func orphans() (code int) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, e := range entries {
		if e.IsDir() || produced.names[e.Name()] { // folders are fuzz inputs
			continue
		}
		fmt.Fprintf(os.Stderr, "testdata/%s: no test produces this golden file\n", e.Name())
		code = 1
	}
	return code
}

// golden compares got with testdata/name, or writes it with -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	produced.Lock()
	if produced.names == nil {
		produced.names = map[string]bool{}
	}
	produced.names[name] = true
	produced.Unlock()
	file := "testdata/" + name
	if *update {
		testkit.Check(t, os.WriteFile(file, got, 0o644))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (rewrite with -update and read the diff)\n%s", file, firstDifference(got, want))
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(string(want), "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, a, b)
		}
	}
	return ""
}

func TestGolden(t *testing.T) {
	for _, c := range results() {
		t.Run(c.name, func(t *testing.T) {
			color := c.opt
			color.Color = true
			for _, format := range []struct {
				suffix string
				write  func(io.Writer, *check.Result) error
			}{
				{"text", func(w io.Writer, r *check.Result) error { return Text(w, r, c.opt) }},
				{"color.text", func(w io.Writer, r *check.Result) error { return Text(w, r, color) }},
				{"json", func(w io.Writer, r *check.Result) error { return JSON(w, r, Options{Base: "public"}) }},
				{"jsonl", func(w io.Writer, r *check.Result) error { return JSONL(w, r, Options{Base: "public"}) }},
			} {
				var got, again bytes.Buffer
				testkit.Check(t, format.write(&got, &c.result))
				testkit.Check(t, format.write(&again, &c.result))
				if !bytes.Equal(got.Bytes(), again.Bytes()) {
					t.Errorf("%s: two runs over one result differ", format.suffix)
				}
				golden(t, c.name+"."+format.suffix, got.Bytes())
			}
		})
	}
}
