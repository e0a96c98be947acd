package source

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source/read"
)

// Options describe a project.
type Options struct {
	// Project is the directory of the sources, as [generator.Find] returns it.
	Project string
	// Also are directories outside of Project that have content too, as slash paths relative
	// to it: ../docs of docs_dir: ../docs.
	Also []string
	// Docroot is the directory of the built pages.
	Docroot string
	// Output is the directory of an earlier build in the project, which has no
	// sources either: dist when Docroot is .sitelink/public. It may be "".
	Output string
	// Roots are the directories of the docroot with hosts of their own. Hugo copies static
	// files into each of them.
	Roots []string
	// Generator is the generator that [generator.Find] recognised.
	Generator Generator
	// Env has the variables of the build, and Args its flags: both override the configuration
	// of Hugo.
	Env, Args []string
}

// BuiltLink is one link of a built page.
type BuiltLink struct {
	// Page is the slash path of the page, relative to the docroot.
	Page string
	// Offset is the number of bytes of the page before the link's value.
	Offset int64
	// Raw is the value as the DOM has it, "" for a fault of the file itself. A
	// fault has a position only if the file is a copy of a source file, or if
	// Element is set.
	Raw string
	// Element is the name of the element that a fault is about, such as base: that
	// of the page's first one with a link.
	Element string
	// Line is the line of a rule of a host, 0 for everything else.
	Line int
}

// Position is a position in a source file. Line and Column count from 1, Column
// in code points.
type Position struct {
	// File is a slash path relative to the project directory, or an absolute
	// path in a Hugo module outside of the project.
	File         string
	Line, Column int
	Kind         read.SourceKind
	// Module is the Hugo module or theme that File belongs to, "" for the
	// project's own files.
	Module string
}

// Generator is the program that built the pages.
type Generator = generator.Name

// No generator, and files that none makes pages of.
const (
	None  = generator.None
	Plain = generator.Plain
)

// memo keeps what was made for a key. Several goroutines can use it.
type memo[K comparable, V any] struct {
	max int // values that are kept, 0 for all
	mu  sync.Mutex
	of  map[K]func() V
}

// get returns what build returned for the key.
func (m *memo[K, V]) get(key K, build func() V) V {
	m.mu.Lock()
	value, ok := m.of[key]
	if !ok {
		if m.of == nil || m.max > 0 && len(m.of) >= m.max {
			m.of = map[K]func() V{}
		}
		value = sync.OnceValue(build)
		m.of[key] = value
	}
	m.mu.Unlock()
	return value()
}

func (m *memo[K, V]) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.of)
}

// How many parsed files and tags are kept.
const (
	maxDocuments = 500
	maxTags      = 10_000
)

// workers returns how many workers parallel uses for n pieces of work.
func workers(n int) int { return min(runtime.GOMAXPROCS(0), n) }

// parallel calls f with each number below n, on several processors, until ctx ends.
// worker is the number of the goroutine.
func parallel(ctx context.Context, n int, f func(worker, i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for worker := range workers(n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				f(worker, i)
			}
		})
	}
	wg.Wait()
}

// Place is where a link is written.
type Place struct {
	// Position is nil where that is not known.
	*Position
	// Rule is the name of the rule that decided, "" if none did. Source is what it found
	// there, in the source, or the files that it could not decide between.
	Rule, Source string
}
