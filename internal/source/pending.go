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
	src := &sources{opt: opt, project: root.FS(), close: []func() error{root.Close}, templates: &sharedTemplates{}}
	m := &Map{sources: src, docs: map[string]*document{}, runs: map[string]*linkRun{}, fits: newFitMemo()}
	built, err := os.OpenRoot(opt.Docroot)
	if err != nil {
		src.Close()
		return nil, fmt.Errorf("open docroot %s: %w", opt.Docroot, disk.Cause(err))
	}
	src.docroot, src.close = built.FS(), append(src.close, built.Close)
	if opt.Generator == Hugo && opt.Hugo != "" {
		if err := src.askHugo(ctx); ctx.Err() != nil {
			src.Close()
			return nil, context.Cause(ctx)
		} else if err == nil {
			return m, nil
		} else {
			src.Notes = append(src.Notes, err.Error()+"; positions are found by file names instead")
			src.mounts, src.answer = nil, answer{}
		}
	}
	src.indexContent()
	src.addListed(src.readBuildMap())
	return m, nil
}

// askHugo indexes the content with what Hugo says about mounts and pages. It
// starts Hugo only for what an earlier answer does not say.
func (src *sources) askHugo(ctx context.Context) error {
	project := generator.Project{Dir: src.opt.Project}
	run := generator.Runner{Programs: map[string]string{"hugo": src.opt.Hugo}, Env: src.opt.Env, Timeout: src.opt.Timeout}
	old := src.readAnswer()
	now := &src.answer
	now.Modules, now.Settings = old.Modules, src.settings(old.Modules)
	known := now.Settings == old.Settings
	if !known {
		var err error
		if now.Modules, err = project.HugoModules(ctx, run); err != nil {
			return err
		}
		now.Settings = src.settings(now.Modules)
	}
	src.openMounts(now.Modules)
	src.indexContent()
	if now.Matter = src.content.matterSum(); known && now.Matter == old.Matter && now.Matter != 0 {
		now.Pages = old.Pages
	} else {
		var err error
		if now.Pages, err = project.HugoPages(ctx, run, now.Modules); err != nil {
			return err
		}
		src.keepAnswer()
	}
	var listed []listedPage
	for _, p := range now.Pages {
		file, _ := src.inProject(p.File)
		listed = append(listed, listedPage{file, p.Permalink.Host, p.Permalink.Path})
	}
	src.addListed(listed)
	src.asked = true
	return nil
}

// AsksHugo reports whether Hugo has answered, so that HugoPages has its answer.
func (src *sources) AsksHugo() bool { return src.asked }

// HugoPages returns the pages that Hugo lists for the project.
func (src *sources) HugoPages() []generator.HugoPage { return src.answer.Pages }
