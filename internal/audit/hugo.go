package audit

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// hugoHints adds to the summary what Hugo's list of pages says about the docroot
// that it wrote: pages that an earlier build left, since Hugo does not empty the
// docroot, and pages that this build left out. sources are those of the findings, which
// have that list; nil means that no finding needed them. Then Hugo is started only if
// pages are much older than the home page.
func (a *Audit) hugoHints(ctx context.Context, sources *source.Map, r *check.Result) error {
	s, g, docroot := a.Site, a.Project.Generator, a.Project.Docroot
	if a.Project.Config.Source == "off" {
		return nil
	}
	abs := a.Project.Abs(docroot)
	if !g.IsHugo() || g.Docroot != abs || s.ServerPages() > 0 {
		return nil
	}
	// The home page tells when the docroot was built. A build writes every page again,
	// even with the same bytes, so pages that are older by more than a build takes are
	// left from before.
	var built time.Time
	var old []site.PageID
	for _, root := range append([]generator.Root{{}}, g.Roots...) {
		if info, err := os.Stat(filepath.Join(abs, filepath.FromSlash(root.Dir), "index.html")); err == nil && info.ModTime().After(built) {
			built = info.ModTime()
		}
	}
	longest := 5*time.Second + time.Duration(s.Pages())*2*time.Millisecond
	for i := range s.Pages() {
		id := site.PageID(i)
		if !s.Page(id).Kind().IsHTML() {
			continue
		}
		info, err := os.Lstat(filepath.Join(abs, filepath.FromSlash(s.Path(id))))
		if err == nil && info.Mode().IsRegular() && info.ModTime().Before(built.Add(-longest)) {
			old = append(old, id)
		}
	}
	if len(old) == 0 && sources == nil || built.IsZero() {
		return nil
	}
	var pages []generator.HugoPage
	var err error
	switch {
	case sources != nil && sources.AsksHugo():
		pages = sources.HugoPages()
	case sources != nil:
		return nil // Hugo failed, or is not installed
	default:
		pages, err = g.HugoPages(ctx, g.Runner, nil)
	}
	if err != nil {
		return ctx.Err() // positions in the sources warn of it
	}
	made := map[site.PageID]bool{}
	lacking := map[string]bool{}
	published, known := 0, 0
	for _, p := range pages {
		if !p.PublishedAt(built) || p.Permalink.Host == "" && p.Permalink.Path == "" {
			continue
		}
		res, err := s.Request(p.Permalink.String())
		if err != nil || !strings.HasPrefix(res.Target, "/") || res.State == host.StateOutsideBase {
			continue
		}
		published++
		if id, ok := s.PageOf(res.Node); ok && res.State.Answers() {
			made[id] = true
			known++
		} else {
			lacking[decodedPath(res.Target)] = true
		}
	}
	if known == 0 {
		return nil // another site's list, or another address
	}
	if stale := withoutStatic(ctx, g, s, slices.DeleteFunc(old, func(id site.PageID) bool { return made[id] })); len(stale) > 0 {
		r.Summary.Notes = append(r.Summary.Notes, StaleNote(docroot, stale, "the last build did not write")+"; run sitelink check --build")
	}
	if n := leading(r.Findings, lacking); n > 0 {
		// It explains the rest of the report, so it comes first.
		r.Summary.Notes = slices.Insert(r.Summary.Notes, 0, fmt.Sprintf("part of a build? %s to pages that hugo list names and %s does not have (%d of %d): "+
			"built with --renderSegments, or before they were written; run hugo, or sitelink check --build", linksLead(n), docroot, len(lacking), published))
	}
	return nil
}

func linksLead(n int) string {
	if n == 1 {
		return "1 broken link leads"
	}
	return text.Thousands(n) + " broken links lead"
}

func isMissing(f check.Finding) bool {
	return f.Code == check.MissingFile || f.Code == check.MissingDirectory || f.Code == check.MissingIndex
}

// leading counts the findings whose links lead to one of these paths.
func leading(all []check.Finding, paths map[string]bool) int {
	n := 0
	for _, f := range all {
		if isMissing(f) && len(paths) > 0 {
			p := decodedPath(f.Target)
			if paths[p] || paths[p+"/"] {
				n++
			}
		}
	}
	return n
}

func decodedPath(target string) string {
	target, _, _ = strings.Cut(target, "?")
	if p, err := url.PathUnescape(target); err == nil {
		return p
	}
	return target
}

// withoutStatic returns the names of the pages that are not copies of static
// files: those keep their times.
func withoutStatic(ctx context.Context, g *project.Generator, s *site.Site, pages []site.PageID) (names []string) {
	if len(pages) == 0 {
		return nil
	}
	modules, err := g.HugoModules(ctx, g.Runner)
	if err != nil {
		return nil
	}
	var statics [][2]string // directory, and where it goes in the docroot
	for _, m := range modules {
		for _, mt := range m.Mounts {
			target := filepath.ToSlash(mt.Target)
			rest, ok := strings.CutPrefix(target, "static")
			if !ok || rest != "" && rest[0] != '/' {
				continue
			}
			dir := filepath.FromSlash(mt.Source)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(m.Dir, dir)
			}
			statics = append(statics, [2]string{dir, strings.TrimPrefix(rest, "/")})
		}
	}
	for _, id := range pages {
		name := s.Path(id)
		if !slices.ContainsFunc(statics, func(st [2]string) bool {
			rel, ok := strings.CutPrefix(name, st[1])
			for _, r := range append([]generator.Root{{}}, g.Roots...) { // static files go to every host
				rel := strings.TrimPrefix(strings.TrimPrefix(rel, r.Dir), "/")
				if _, err := os.Lstat(filepath.Join(st[0], filepath.FromSlash(rel))); ok && err == nil {
					return true
				}
			}
			return false
		}) {
			names = append(names, name)
		}
	}
	return names
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

// BuildLock returns the lock that Hugo holds in the project while it builds; ""
// when another generator builds the docroot.
func BuildLock(p *project.Project) string {
	dirs, _ := p.SourceDirs()
	for _, dir := range dirs {
		if g, ok := generator.Detect(dir); ok {
			if g.Generator != generator.Hugo {
				return ""
			}
			return filepath.Join(dir, hugoLock)
		}
	}
	if len(dirs) == 0 {
		return ""
	}
	return filepath.Join(dirs[0], hugoLock)
}

const hugoLock = ".hugo_build.lock"

// WaitForBuild waits until Hugo, if it is building the docroot now, has written
// all of it. It calls note before it waits.
func WaitForBuild(ctx context.Context, p *project.Project, note func(text string)) error {
	lock := BuildLock(p)
	if lock == "" || filepath.Base(filepath.Dir(p.Abs(p.Docroot))) == system.StateName {
		return nil
	}
	return project.WaitLock(ctx, lock, func() { note("waiting for Hugo to finish its build") })
}
