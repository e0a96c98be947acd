package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// staleHint adds to the summary the pages that an earlier build left, if the generator
// does not empty the docroot: they are older than the last build and have no source.
// sources may be nil.
func (a *Audit) staleHint(ctx context.Context, sources *source.Map, r *check.Result) (err error) {
	s, g, docroot := a.Site, a.Project.Generator, a.Project.Docroot
	abs := a.Project.Abs(docroot)
	if a.Project.Config.Source == "off" || g == nil || !g.Generator.Traits().Leaves || g.Docroot != abs || s.ServerPages() > 0 {
		return nil
	}
	// The home page tells when the docroot was built. A build writes every page again,
	// even with the same bytes, so pages that are older by more than a build takes are
	// left from before.
	var built time.Time
	for _, root := range append([]generator.Root{{}}, g.Roots...) {
		if info, err := os.Stat(filepath.Join(abs, filepath.FromSlash(root.Dir), "index.html")); err == nil && info.ModTime().After(built) {
			built = info.ModTime()
		}
	}
	// A sitemap is written early, and templates that Hugo defers at the end of a build.
	if info, err := os.Stat(filepath.Join(abs, "sitemap.xml")); err == nil && info.ModTime().Before(built) {
		built = info.ModTime()
	}
	oldest := built.Add(-5*time.Second - time.Duration(s.Pages())*2*time.Millisecond)
	var old, written []site.PageID
	for i := range s.Pages() {
		id := site.PageID(i)
		if !s.Page(id).Kind().IsHTML() {
			continue
		}
		info, err := os.Lstat(filepath.Join(abs, filepath.FromSlash(s.Path(id))))
		switch {
		case err != nil || !info.Mode().IsRegular():
		case info.ModTime().Before(oldest):
			old = append(old, id)
		default:
			written = append(written, id)
		}
	}
	if len(old) == 0 {
		return nil
	}
	if sources == nil {
		if sources, _, err = a.OpenSources(ctx); err != nil || sources == nil {
			return err
		}
		defer sources.Close()
	}
	// If the last build wrote fewer than half of the pages with a source, ages say
	// nothing: it was incremental, or git wrote what a commit changed.
	made, before := 0, 0
	for _, id := range written {
		if sources.HasSource(s.Path(id)) {
			made++
		}
	}
	var stale []string
	for _, id := range old {
		switch name := s.Path(id); {
		case sources.Static(name) != "": // copies keep their times
		case sources.HasSource(name):
			before++
		default:
			stale = append(stale, name)
		}
	}
	if len(stale) == 0 || made == 0 || made < before {
		return nil
	}
	r.Summary.Notes = append(r.Summary.Notes, StaleNote(docroot, stale, "the last build did not write")+"; run sitelink check --build")
	return nil
}

// StaleNote names pages that an earlier build left, for the user.
func StaleNote(docroot string, stale []string, why string) string {
	const most = 3
	note := fmt.Sprintf("stale build? %s holds %s that %s: %s", docroot, text.Count(len(stale), "page"), why, strings.Join(stale[:min(len(stale), most)], ", "))
	if len(stale) > most {
		note += ", ..."
	}
	return note
}

// BuildLock returns the file that the generator locks in the project while it builds; ""
// when it locks none.
func BuildLock(p *project.Project) string {
	if p.Generator != nil {
		return p.Generator.Lock()
	}
	return ""
}

// WaitForBuild waits until the generator, if it is building the docroot now, has written
// all of it. It calls note before it waits.
func WaitForBuild(ctx context.Context, p *project.Project, note func(text string)) error {
	lock := BuildLock(p)
	if p.Server != "" || lock == "" || filepath.Base(filepath.Dir(p.Abs(p.Docroot))) == system.StateName {
		return nil
	}
	return project.WaitLock(ctx, lock, func() { note("waiting for the build that holds " + p.Show(lock)) })
}
