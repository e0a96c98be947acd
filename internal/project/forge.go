package project

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/text"
)

// IsMarkdown reports whether a file, or the files of a pattern, are Markdown by their name.
func IsMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown" || name == "-"
}

// SourceLinks is [git.SourceLinks] of the project's repository.
func (p *Project) SourceLinks(ctx context.Context) (pattern string, isLinked func(file string) bool) {
	return git.SourceLinks(ctx, p.Root, p.env)
}

// ofMarkdown makes the project that of the Markdown of a repository, as its forge shows it, if
// the user names such files or the profile of a forge, or if there is no site: Docroot is the
// top of the repository then. The files that are named, or a directory of them, become the
// pages of the configuration.
func (p *Project) ofMarkdown(ctx context.Context) error {
	cfg := *p.Config
	kind, _ := host.KindByName(cfg.Profile)
	docroot := p.Abs(p.Docroot)
	first := docroot
	if len(cfg.Pages) > 0 {
		first = p.Abs(cfg.Pages[0])
	}
	root := RootOf(filepath.Dir(first))
	named := p.named && !lexists(filepath.Join(docroot, ".git"))
	if !named && len(cfg.Pages) == 0 {
		root = RootOf(docroot)
	}
	switch {
	case p.builtElsewhere, cfg.Place("profile") != "" && kind.Forge == nil:
		return nil
	case kind.Forge != nil, slices.ContainsFunc(cfg.Pages, IsMarkdown), named && len(cfg.Pages) == 0 && onlyMarkdown(docroot):
	case len(cfg.Pages) > 0, named, p.Generator != nil || docroot != p.Dir || isFile(filepath.Join(docroot, "index.html")):
		return nil
	}
	repo := repository{Root: root, env: p.env}
	asked := kind.Forge != nil || named || len(cfg.Pages) > 0
	if err := repo.read(ctx); err != nil && asked {
		return text.WithHint(err, "git tells sitelink which files are in the repository: repair or install it, or check a built site: sitelink check DIR")
	}
	if !asked {
		switch {
		case repo.tracked == nil && !onlyMarkdown(docroot), repo.tracked != nil && !slices.ContainsFunc(repo.names, IsMarkdown):
			return nil
		case repo.tracked == nil:
			root = docroot
		}
	}
	if kind.Forge == nil {
		p.Profile, p.ProfileFrom = "github", ""
		if name := host.ForgeAt(repo.host); name != "" {
			p.Profile, p.ProfileFrom = name, "remote origin"
		}
	}
	if named && docroot != root && len(cfg.Pages) == 0 {
		cfg.Pages = []string{docroot}
	}
	if docroot != root {
		p.Docroot = p.Show(root)
	}
	if slices.Contains(cfg.Pages, "-") {
		rel, err := filepath.Rel(root, p.Abs("-"))
		if err != nil || !filepath.IsLocal(rel) {
			return text.Usage("standard input is Markdown of this directory, which is outside of "+p.Show(root), "name files of one repository")
		}
		p.input = filepath.ToSlash(rel)
	}
	g := p.Generator
	p.Config, p.Generator, p.repository, p.uncertain = &cfg, nil, &repo, nil
	p.BaseURLs, p.BasePath, p.Roots, p.RuleDir, p.Answers, p.Notes = nil, "", nil, "", Answers{}, nil
	note := "Markdown as " + host.Title(p.Profile) + " shows it"
	if p.ProfileFrom != "" {
		note += " (" + p.ProfileFrom + ")"
	}
	if g != nil {
		note += "; its links may mean pages of the " + g.Title() + " site, which sitelink check --build checks"
	}
	p.note(note)
	return nil
}

// OfMarkdown reports whether the docroot is a repository with Markdown that is checked as
// its forge shows it.
func (p *Project) OfMarkdown() bool { return p.repository != nil }

// onlyMarkdown reports whether a directory has Markdown, and no HTML.
func onlyMarkdown(dir string) (found bool) {
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch ext := strings.ToLower(filepath.Ext(name)); {
		case err != nil:
		case d.IsDir():
			if base := d.Name(); base == ".git" || base == "node_modules" {
				return fs.SkipDir
			}
		case ext == ".html" || ext == ".htm" || ext == ".xhtml":
			return errors.New("a page")
		default:
			found = found || IsMarkdown(name)
		}
		return nil
	})
	return found && err == nil
}

// repository is what git says of the repository that holds the Markdown.
type repository struct {
	Root string
	env  []string
	// host and address are those of the remote origin: github.com, https://github.com/me/site;
	// "" without one.
	host, address string
	branches      []string
	// tracked are the paths that git has, with the directories of files; nil without git.
	tracked map[string]bool
	names   []string
}

// read asks git.
func (r *repository) read(ctx context.Context) error {
	var err error
	if r.tracked, err = r.list(ctx); err != nil || r.tracked == nil {
		return err
	}
	repo, err := git.Open(ctx, r.Root, r.env)
	if err != nil {
		return err
	}
	ask := func(args ...string) string {
		out, err := repo.Run(ctx, args...)
		if err != nil {
			return "" // not set
		}
		return strings.TrimSpace(string(out))
	}
	var at string
	if r.host, at = git.Remote(ask("config", "--local", "--get", "remote.origin.url")); at != "" {
		r.address = (&url.URL{Scheme: "https", Host: r.host, Path: "/" + at}).String()
	}
	if branch := ask("rev-parse", "--abbrev-ref", "HEAD"); branch != "" && branch != "HEAD" {
		r.branches = []string{branch}
	}
	for _, branch := range git.DefaultBranches(ctx, r.Root, r.env) {
		if !slices.Contains(r.branches, branch) {
			r.branches = append(r.branches, branch)
		}
	}
	return nil
}

// list returns the paths that git tracks now.
func (r *repository) list(ctx context.Context) (map[string]bool, error) {
	repo, err := git.Open(ctx, r.Root, r.env)
	if errors.Is(err, git.ErrNoRepository) || errors.Is(err, git.ErrNotInstalled) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := repo.Run(ctx, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	r.names = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	tracked := make(map[string]bool, len(r.names)+len(r.names)/4)
	for _, name := range r.names {
		for ; name != "." && !tracked[name]; name = path.Dir(name) {
			tracked[name] = true
		}
	}
	return tracked, nil
}
