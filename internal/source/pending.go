package source

import (
	"context"
	"fmt"
	"os"

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
	m := &Map{opt: opt, root: root, project: root.FS(), close: []func() error{root.Close}, docs: map[string]*document{}, runs: map[string]*linkRun{}, fits: newFitMemo(), templates: &sharedTemplates{}}
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, disk.Cause(err))
	}
	m.docroot, m.close = built.FS(), append(m.close, built.Close)
	if opt.Generator == Hugo && opt.Hugo != "" {
		if err := m.askHugo(ctx); ctx.Err() != nil {
			m.Close()
			return nil, context.Cause(ctx)
		} else if err == nil {
			return m, nil
		} else {
			m.Notes = append(m.Notes, err.Error()+"; positions are found by file names instead")
			m.mounts, m.answer = nil, answer{}
		}
	}
	m.indexContent()
	m.addListed(m.readBuildMap())
	return m, nil
}

// askHugo indexes the content with what Hugo says about mounts and pages. It
// starts Hugo only for what an earlier answer does not say.
func (m *Map) askHugo(ctx context.Context) error {
	project := generator.Project{Dir: m.opt.Project}
	run := generator.Runner{Programs: map[string]string{"hugo": m.opt.Hugo}, Env: m.opt.Env, Timeout: m.opt.Timeout}
	old := m.readAnswer()
	now := &m.answer
	now.Modules, now.Settings = old.Modules, m.settings(old.Modules)
	known := now.Settings == old.Settings
	if !known {
		var err error
		if now.Modules, err = project.HugoModules(ctx, run); err != nil {
			return err
		}
		now.Settings = m.settings(now.Modules)
	}
	m.openMounts(now.Modules)
	m.indexContent()
	if now.Matter = m.matterSum(); known && now.Matter == old.Matter && now.Matter != 0 {
		now.Pages = old.Pages
	} else {
		var err error
		if now.Pages, err = project.HugoPages(ctx, run, now.Modules); err != nil {
			return err
		}
		m.keepAnswer()
	}
	m.addListed(m.listedPages(now.Pages))
	m.asked = true
	return nil
}

// AsksHugo reports whether Hugo has answered, so that HugoPages has its answer.
func (m *Map) AsksHugo() bool { return m.asked }

// HugoPages returns the pages that Hugo lists for the project.
func (m *Map) HugoPages() []generator.HugoPage { return m.answer.Pages }
