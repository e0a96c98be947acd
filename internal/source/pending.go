package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
)

// Pending is a Map that is being made in the background: it reads the names of
// the content files and may ask Hugo, while its caller reads the docroot.
type Pending struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when m and err are set
	m      *Map
	err    error
}

// Start begins to read a project. Call Open for the result, or Stop if it is
// not needed.
func Start(ctx context.Context, opt Options) *Pending {
	ctx, cancel := context.WithCancel(ctx)
	p := &Pending{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.m, p.err = newMap(ctx, opt)
	}()
	return p
}

// Open waits for the Map. The errors are those of the function [Open]. Call it
// once.
func (p *Pending) Open() (*Map, error) {
	<-p.done
	p.cancel()
	return p.m, p.err
}

// Stop ends Hugo, waits for it and releases the Map.
func (p *Pending) Stop() {
	p.cancel()
	<-p.done
	if p.m != nil {
		p.m.Close()
	}
}

// Open reads what is needed to find the source of a page. It returns an error
// if it cannot open the project directory or the docroot, or if ctx ends. Call
// Close to release the Map.
func Open(ctx context.Context, opt Options) (*Map, error) { return Start(ctx, opt).Open() }

func newMap(ctx context.Context, opt Options) (*Map, error) {
	root, err := os.OpenRoot(opt.Project)
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", opt.Project, disk.Cause(err))
	}
	m := &Map{opt: opt, root: root, project: root.FS(), close: []func() error{root.Close}, docs: map[string]*document{}, runs: map[string]*linkRun{}, fits: newFitMemo(), templates: &sharedTemplates{}, answer: &answer{}}
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, disk.Cause(err))
	}
	m.docroot, m.close = built.FS(), append(m.close, built.Close)
	old := m.readAnswer()
	m.stored = m.readKept()
	switch {
	case opt.Generator == Hugo && opt.Hugo != "":
		if err := m.askHugo(ctx, old); err != nil {
			m.Close()
			return nil, err
		}
	default:
		m.indexContent()
		m.addListed(m.readBuildMap())
		if opt.Cache != "" {
			m.answer.files = m.pageFiles(old.files)
		}
	}
	m.keepAnswer(old)
	m.openKept()
	return m, nil
}

// askHugo indexes the content with what Hugo says about mounts and pages. It
// starts Hugo only for what neither an earlier answer nor the names of the
// files decide. If Hugo fails, the names alone are used.
func (m *Map) askHugo(ctx context.Context, old *answer) error {
	hugo, run := m.hugo()
	now := m.answer
	now.settings = m.settings(old.modules)
	known := old.settings == now.settings
	if known && old.failed != "" {
		if m.useNames(old); now.failure == old.failure {
			now.failed = old.failed
			m.Notes = append(m.Notes, old.failed+withNames)
			return nil
		}
		m.content, m.templates, known = nil, &sharedTemplates{}, false
	}
	if known {
		now.modules = old.modules
	} else {
		var err error
		if now.modules, err = hugo.HugoModules(ctx, run); err != nil {
			return m.withoutHugo(ctx, old, err)
		}
		now.settings = m.settings(now.modules)
	}
	m.openMounts(now.modules)
	m.indexContent()
	now.files = m.pageFiles(old.files)
	switch {
	case known && sameAddresses(old.files, now.files):
		now.pages, now.byName = old.pages, old.byName
	case m.namesDecide(now.modules, now.files):
		now.byName = true
	default:
		var err error
		if now.pages, err = hugo.HugoPages(ctx, run, now.modules); err != nil {
			return m.withoutHugo(ctx, old, err)
		}
	}
	m.addListed(m.listedPages(now.pages))
	m.asked = true
	return nil
}

const withNames = "; positions are found by file names instead"

// withoutHugo indexes the content by names after Hugo failed. The error is the
// cause of ctx.
func (m *Map) withoutHugo(ctx context.Context, old *answer, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.Notes = append(m.Notes, err.Error()+withNames)
	m.mounts = nil
	m.answer.modules, m.answer.settings = nil, m.settings(nil)
	m.useNames(old)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() < 0 {
		return nil // it did not finish, which may have other reasons
	}
	m.answer.failed = err.Error()
	return nil
}

// useNames indexes the content by names, and identifies the project in case Hugo
// fails for the same files again.
func (m *Map) useNames(old *answer) {
	m.indexContent()
	m.answer.files = m.pageFiles(old.files)
	var h hashed
	for i := range m.answer.files {
		h.text(m.answer.files[i].name)
		h.number(m.answer.files[i].sum)
	}
	h.number(m.templatesSum())
	m.answer.failure = h.sum()
}

// AsksHugo reports whether Hugo has answered, so that HugoPages may be called.
func (m *Map) AsksHugo() bool { return m.asked }

// HugoPages returns the pages that Hugo lists for the project. It asks Hugo if
// that was not necessary before.
func (m *Map) HugoPages(ctx context.Context) ([]generator.HugoPage, error) {
	if m.answer.byName && m.answer.pages == nil {
		hugo, run := m.hugo()
		pages, err := hugo.HugoPages(ctx, run, m.answer.modules)
		if err != nil {
			return nil, err
		}
		m.answer.pages = pages
		m.writeAnswer()
	}
	return m.answer.pages, nil
}
