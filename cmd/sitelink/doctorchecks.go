package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/config"
)

// doctor is one `sitelink doctor` at work.
type doctor struct {
	*app // says nothing by itself
	*surroundings
	cfg   *config.Config // nil if it is wrong
	fault error
}

// examine makes all diagnoses, sorted by name.
func (d *doctor) examine(ctx context.Context) []diagnosis {
	all := []diagnosis{d.config(), d.generator(), d.docrootState(ctx), d.baseURL(), d.host(), d.git(ctx), d.hook(), d.ci(), d.endpoints(), d.ledger(ctx)}
	if limit, ok := watchLimit(); ok {
		all = append(all, d.watches(limit))
	}
	slices.SortFunc(all, func(a, b diagnosis) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// site is the docroot as seen from the working directory: the configured one,
// else the one that is found.
func (d *doctor) site() string {
	if d.cfg != nil && d.cfg.Docroot != "" {
		return d.cfg.Docroot
	}
	return d.siteDir
}

func (d *doctor) config() diagnosis {
	one := diagnosis{Name: "config", State: healthy}
	switch {
	case d.fault != nil:
		faults := flatten(d.fault)
		one.State, one.Text = wrong, faults[0].Error()
		if len(faults) > 1 {
			one.Text += fmt.Sprintf(", and %s", counted(len(faults)-1, "other fault"))
		}
		one.Command = "sitelink check"
		var fault *config.Error
		if errors.As(faults[0], &fault) && fault.Hint != "" {
			one.Command = fault.Hint
		}
	case d.cfg.File != "":
		one.Text = filepath.ToSlash(d.cfg.File)
	default:
		one.State, one.Text, one.Command = notSet, "no sitelink.toml: what is found by itself holds", "sitelink init"
	}
	return one
}

func (d *doctor) generator() diagnosis {
	one := diagnosis{Name: "generator", State: healthy}
	p := &d.project
	switch {
	case d.gen == nil:
		one.State, one.Text = notSet, "none that is known: the docroot is checked as it is"
	case p.Version != "":
		one.Text = p.Title + " " + p.Version
		if program := d.gen.run.Programs[p.Generator]; program != "" {
			one.Text += " at " + program
		}
	default:
		one.State, one.Text, one.Command = wrong, p.Title+" is not installed", howToInstall(p.Generator)
		if p.Committed { // nobody has to build it here
			one.State = notSet
		}
	}
	if d.gen != nil && len(d.gen.settings.Notes) > 0 && one.State == healthy {
		one.State, one.Text, one.Command = wrong, d.gen.settings.Notes[0], p.Usual
	}
	return one
}

// howToInstall is what to type, or where to look, for a generator.
func howToInstall(generator string) string {
	switch generator {
	case "hugo":
		return "see https://gohugo.io/installation/"
	case "jekyll":
		return "gem install jekyll"
	case "zola":
		return "see https://www.getzola.org/documentation/getting-started/installation/"
	case "mkdocs":
		return "pip install mkdocs"
	}
	return "npm install"
}

// docrootState loads the site, and compares it with its sources.
func (d *doctor) docrootState(ctx context.Context) diagnosis {
	one := diagnosis{Name: "docroot", State: wrong, Text: d.site()}
	build := "sitelink check DIR"
	if d.gen != nil && d.gen.Builds() && !d.project.Committed {
		build = "sitelink build"
	}
	one.Command = build
	if d.site() == "" {
		one.Text = "no site is found here"
		return one
	}
	if err := lookAt(d.site()); err != nil {
		one.Text = err.Error()
		return one
	}
	if d.cfg == nil {
		return diagnosis{Name: "docroot", State: healthy, Text: d.site()}
	}
	s, err := loadSite(ctx, d.site(), d.siteOf(d.cfg, d.site()))
	if err != nil {
		one.Text = err.Error()
		return one
	}
	one.Text = fmt.Sprintf("%s, %s read", d.site(), counted(s.Pages(), "file"))
	switch newer := d.newerSource(); {
	case s.ServerPages() > 0:
		one.Text += fmt.Sprintf(", %s of them written by hugo server: not to be published", thousands(s.ServerPages()))
		one.Command = cmp.Or(d.project.Usual, build)
	case newer != "":
		one.Text += ", older than " + newer
		one.Command = cmp.Or(d.project.Usual, build)
	default:
		one.State, one.Command = healthy, ""
	}
	return one
}

func (d *doctor) baseURL() diagnosis {
	one := diagnosis{Name: "base-url", State: healthy}
	urls, by := d.project.BaseURLs, ""
	if d.gen != nil {
		by = d.gen.settings.From
	}
	if d.cfg != nil && len(d.cfg.BaseURLs) > 0 {
		urls, by = d.cfg.BaseURLs, d.cfg.Place("base-url")
	}
	if d.cfg != nil && len(d.cfg.Sites) > 0 {
		urls, by = nil, d.cfg.File
		for _, s := range d.cfg.Sites {
			urls = append(urls, s.Base)
		}
	}
	switch {
	case len(urls) == 0:
		one.State, one.Text = notSet, "not known: absolute links to the site itself are not checked"
		one.Command = `base-url = "https://..." in sitelink.toml`
	case isExample(urls[0]):
		one.State, one.Text = notSet, urls[0]+" is an example, not an address of yours"
		one.Command = "set it in " + cmp.Or(d.baseIn(), "sitelink.toml")
	default:
		one.Text = strings.Join(urls, ", ")
		if by != "" {
			one.Text += " (" + by + ")"
		}
	}
	return one
}

// baseIn is the file that the base URL comes from.
func (d *doctor) baseIn() string {
	if d.cfg != nil && d.cfg.Place("base-url") != "" {
		return d.cfg.Place("base-url")
	}
	if d.gen != nil && len(d.gen.Configs) > 0 {
		return d.shown(d.gen.Configs[0])
	}
	return ""
}

// isExample tells whether an address is one that templates of sites begin with.
func isExample(url string) bool {
	host := strings.TrimPrefix(strings.TrimPrefix(url, "https://"), "http://")
	host, _, _ = strings.Cut(strings.TrimPrefix(host, "www."), "/")
	return host == "example.org" || host == "example.com" || host == "your-docusaurus-site.example.com" || strings.HasPrefix(host, "localhost")
}

func (d *doctor) host() diagnosis {
	one := diagnosis{Name: "host", State: healthy}
	switch p := &d.project; {
	case d.cfg != nil && d.cfg.Place("profile") != "":
		one.Text = fmt.Sprintf("%s (%s)", d.cfg.Profile, d.cfg.Place("profile"))
	case p.Profile != "":
		one.Text = fmt.Sprintf("%s (%s)", p.Profile, p.ProfileBy)
	case d.hostUnclear != "":
		one.State, one.Text, one.Command = wrong, "not clear: "+d.hostUnclear, `profile = "NAME" in sitelink.toml`
	default:
		one.State, one.Text, one.Command = notSet, "none recognised: judged as most hosts answer", `profile = "NAME" in sitelink.toml`
	}
	return one
}

func (d *doctor) git(ctx context.Context) diagnosis {
	one := diagnosis{Name: "git", State: healthy}
	major, minor, err := githook.Git{Env: os.Environ()}.Version(ctx)
	switch {
	case errors.Is(err, githook.ErrNoGit):
		one.State, one.Text, one.Command = notSet, "is not installed: pushes are not checked", "see https://git-scm.com/downloads"
	case err != nil:
		one.State, one.Text, one.Command = wrong, err.Error(), "git version"
	case major < 2 || major == 2 && minor < 31:
		one.State, one.Text = wrong, fmt.Sprintf("git %d.%d: 2.31 is the oldest that works", major, minor)
		one.Command = "see https://git-scm.com/downloads"
	case d.repo == nil:
		one.State, one.Text, one.Command = notSet, fmt.Sprintf("git %d.%d, and no repository here", major, minor), "git init"
	default:
		one.Text = fmt.Sprintf("git %d.%d", major, minor)
	}
	return one
}

func (d *doctor) hook() diagnosis {
	one := diagnosis{Name: "hook", State: healthy}
	if d.repo == nil {
		one.State, one.Text = notSet, "no repository, no push"
		return one
	}
	one.Text = strings.TrimSuffix(installed(d.state), "\n")
	built := d.project.Committed || d.gen != nil && d.gen.Builds() || d.cfg != nil && d.cfg.Hook.Build != ""
	switch {
	case d.state.Method == githook.NotInstalled:
		one.State, one.Text, one.Command = notSet, "pushes are not checked", "sitelink hook install"
		if d.state.Manager != "" && !d.state.ConfigHooks {
			one.Text += "; hooks belong to " + d.state.Manager
		}
	case d.state.Method == githook.ByManager && !onPath("sitelink"):
		one.State, one.Text, one.Command = wrong, one.Text+", and sitelink is not on PATH", "go install github.com/sitelink/sitelink/cmd/sitelink@latest"
	case !built:
		one.State, one.Text, one.Command = wrong, "nothing says how a commit becomes a site", `build = "..." in [hook] of sitelink.toml`
	case len(d.repo.StaleTrees()) > 0:
		one.State, one.Text, one.Command = wrong, "temporary trees of killed runs are left", "sitelink hook run"
	}
	return one
}

func (d *doctor) ci() diagnosis {
	one := diagnosis{Name: "ci", State: healthy}
	files := d.runsIn()
	if len(files) == 0 {
		name := "github"
		if used := d.servers(); len(used) > 0 {
			name = used[0].Name
		}
		one.State, one.Text, one.Command = notSet, "no server checks the site", "sitelink init --ci "+name
		return one
	}
	one.Text = strings.Join(files, ", ")
	return one
}

// endpoints compares what is configured with the templates.
func (d *doctor) endpoints() diagnosis {
	one := diagnosis{Name: "endpoints", State: healthy}
	if d.cfg == nil {
		one.State, one.Text = notSet, "not looked at: the configuration is wrong"
		return one
	}
	var named []string
	for _, e := range []struct{ what, url string }{{"webmention", d.cfg.Templates.Webmention}, {"pingback", d.cfg.Templates.Pingback}} {
		if e.url != "" {
			named = append(named, e.what+" "+e.url)
		}
	}
	if len(named) == 0 {
		one.State, one.Text, one.Command = notSet, "none: others cannot tell the site of links to it", "[templates] in sitelink.toml"
		return one
	}
	one.Text = strings.Join(named, ", ")
	if d.gen == nil || d.advertised() {
		return one
	}
	quiet := *d.app
	quiet.env.Stdout = io.Discard
	switch err := quiet.inject(d.cfg, d.dir, injectFlags{check: true}); {
	case errors.Is(err, errFindings):
		one.State, one.Text, one.Command = wrong, one.Text+": the templates do not say so", "sitelink inject"
	case err != nil:
		one.State, one.Text, one.Command = wrong, flatten(err)[0].Error(), "sitelink inject"
	}
	return one
}

// advertised tells whether the home page names all endpoints, whoever put them
// there.
func (d *doctor) advertised() bool {
	const most = 1 << 20
	f, err := os.Open(filepath.Join(d.site(), "index.html"))
	if err != nil {
		return false
	}
	defer f.Close()
	page, err := io.ReadAll(io.LimitReader(f, most))
	t := d.cfg.Templates
	return err == nil && bytes.Contains(page, []byte(t.Webmention)) && bytes.Contains(page, []byte(t.Pingback))
}

// watches compares the directories of the site with the system's limit.
func (d *doctor) watches(limit int) diagnosis {
	one := diagnosis{Name: "watch", State: healthy}
	dirs := countDirectories(d.site())
	one.Text = fmt.Sprintf("%s of %s watches of the system are needed", thousands(dirs), thousands(limit))
	if dirs > limit/10*9 { // other programs want some too
		one.State, one.Command = wrong, fmt.Sprintf("sudo sysctl fs.inotify.max_user_watches=%d", max(524288, 4*dirs))
	}
	return one
}
