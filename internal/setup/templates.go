package setup

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	stdhtml "html"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/audit"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/inject"
	"github.com/sitelink/sitelink/internal/layout"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/scan/html"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/templates"
)

// ErrNoEndpoints means that the configuration names no endpoint to inject.
var ErrNoEndpoints = fault.Usage("no endpoint is configured",
	`add webmention = "https://example.org/webmention" to the table [templates] of sitelink.toml`)

// Templates is a plan for the link elements in the templates of a project.
type Templates struct {
	*inject.Plan
	// Dir is the directory of the project as the user would write it.
	Dir string
	// ServerRules are headers that the host's server can send instead, for hosts
	// whose configuration is not a file of the project.
	ServerRules []templates.HeaderRule

	root *os.Root
}

// TemplatesOf finds the generator's project of a directory whose templates are
// to be changed. A directory without one is a project of no generator, in which
// marks of earlier runs can still be found.
func TemplatesOf(dir string) (generator.Project, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return generator.Project{}, fmt.Errorf("open project %s: %w", dir, disk.Cause(err))
	case !info.IsDir():
		return generator.Project{}, fmt.Errorf("open project %s: not a directory", dir)
	}
	g, ok := generator.Detect(dir)
	if !ok {
		g = generator.Project{Dir: dir}
	}
	return g, nil
}

// PlanTemplates works out what has to change in the templates of a project so
// that its pages advertise the configured endpoints, or with undo what removes
// everything that earlier runs wrote. The caller closes the plan.
func PlanTemplates(g generator.Project, cfg *config.Config, getenv func(string) string, undo bool) (*Templates, error) {
	root, err := os.OpenRoot(g.Dir)
	if err != nil {
		return nil, fmt.Errorf("open project %s: %w", g.Dir, disk.Cause(err))
	}
	t := &Templates{Dir: g.Dir, root: root}
	opt := injectOptions(g, cfg, getenv)
	switch {
	case undo:
		t.Plan, err = inject.Undo(root)
	case opt.Endpoints.IsZero():
		err = ErrNoEndpoints
	default:
		t.Plan, err = inject.Find(root, opt)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	for _, rule := range opt.Headers {
		if rule.File == "" {
			t.ServerRules = append(t.ServerRules, rule)
		}
	}
	return t, nil
}

// Close releases the directory of the project.
func (t *Templates) Close() { t.root.Close() }

// Refused returns an error for each place where the elements cannot be written,
// with a hint that says what to paste where; nil when there is none.
func (t *Templates) Refused() error {
	var all []error
	for _, r := range t.Refusals {
		hint := r.Next
		if r.Paste != "" {
			hint += ": " + r.Paste
		}
		all = append(all, fault.New(r, hint))
	}
	return errors.Join(all...)
}

func injectOptions(g generator.Project, cfg *config.Config, getenv func(string) string) inject.Options {
	opt := inject.Options{
		Generator: g.Generator,
		Endpoints: audit.Endpoints(cfg),
		Choice:    audit.EndpointPages(cfg),
		Modules:   moduleCaches(getenv),
	}
	docroot := cmp.Or(cfg.Docroot, filepath.Join(g.Dir, filepath.FromSlash(g.Docroot)))
	opt.Built = positionsInBuilt(docroot, opt)
	profile := cfg.Profile
	if cfg.Place("profile") == "" {
		profile, _, _ = project.DetectHost([]string{g.Dir}, docroot)
	}
	opt.Headers = templates.HeaderRules(profile, opt.Endpoints)
	for _, theme := range cfg.Templates.Themes {
		opt.Themes = append(opt.Themes, inject.Theme{Name: theme.Name, Stub: theme.Stub})
	}
	return opt
}

// maxHead is how much of a built page is read to find the end of its head.
const maxHead = 64 << 10

// positionsInBuilt returns the last positions at which pages of the docroot that
// should have the elements declare their encoding and end their heads. A docroot
// that is not built, or a file that cannot be read, says nothing.
func positionsInBuilt(docroot string, opt inject.Options) (last layout.Built) {
	var pages, feeds []string
	filepath.WalkDir(docroot, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		rel, _ := filepath.Rel(docroot, name)
		switch rel = filepath.ToSlash(rel); {
		case templates.IsFeed(path.Base(rel)):
			feeds = append(feeds, rel)
		case slices.Contains(site.DefaultPageExtensions(), strings.TrimPrefix(strings.ToLower(path.Ext(rel)), ".")):
			pages = append(pages, rel)
		}
		return nil
	})
	chooser := templates.NewChooser(opt.Choice, pages, feeds)
	size := len(opt.Endpoints.HTML(false))
	buf := make([]byte, maxHead)
	for _, page := range pages {
		if chooser.Of(page) != templates.Yes {
			continue
		}
		f, err := disk.Open(filepath.Join(docroot, filepath.FromSlash(page)))
		if err != nil {
			continue
		}
		n, _ := io.ReadFull(f, buf)
		f.Close()
		head := html.ReadHead(buf[:n], false, n)
		before := func(end int) int {
			for _, url := range []string{opt.Endpoints.Pingback, opt.Endpoints.Webmention} {
				if url != "" && bytes.Contains(buf[:end], []byte(stdhtml.EscapeString(url))) {
					return end - size // an earlier run has written them
				}
			}
			return end
		}
		last.Charset, last.HeadEnd = max(last.Charset, before(head.Charset)), max(last.HeadEnd, before(head.End))
	}
	return last
}

// moduleCaches returns the directories where Hugo keeps the modules that it has
// fetched.
func moduleCaches(getenv func(string) string) []string {
	const below = "modules/filecache/modules/pkg/mod"
	var dirs []string
	if dir := getenv("HUGO_CACHEDIR"); dir != "" {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), below))
	}
	if dir, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), "hugo_cache", below))
	}
	dirs = append(dirs, path.Join(filepath.ToSlash(os.TempDir()), "hugo_cache", below))
	if dir := getenv("GOMODCACHE"); dir != "" {
		dirs = append(dirs, filepath.ToSlash(dir))
	}
	if dir, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, path.Join(filepath.ToSlash(dir), "go/pkg/mod"))
	}
	return dirs
}
