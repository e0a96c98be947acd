package setup

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Survey is what init and doctor find out about the project of a directory,
// without its configuration.
type Survey struct {
	Facts
	// Found is the project; its Dir is the surveyed directory without symbolic
	// links. Generator is nil for none.
	Found     *project.Project
	Generator *project.Generator
	// Dir is the directory of the generator's project, or the surveyed one.
	Dir string
	// Site is the docroot as a user in the surveyed directory would write it; ""
	// when no site was found.
	Site string
	// ShouldIgnore is the docroot that should not be committed, see [CommittedDocroot].
	ShouldIgnore string
	// Repo is nil without a repository or without git; NoRepo then says why.
	Repo   *githook.Repo
	NoRepo error
	Hook   githook.Status
	// Hooked means that the hook checks this site.
	Hooked  bool
	Remotes string
}

// Options are what a survey needs to know about the process.
type Options struct {
	// Env is the environment of the programs that are started.
	Env []string
	// Version is the version of sitelink.
	Version string
	// Untrusted means that the repository is only read, and that git starts nothing
	// that it names.
	Untrusted bool
}

// Look surveys the project of a directory. Whatever is missing is empty in the
// Survey; the error is that of ctx, of the directory, or of a hook that cannot be
// read.
func Look(ctx context.Context, dir string, opt Options) (*Survey, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, errors.New("the working directory does not exist")
	}
	s := &Survey{Dir: dir}
	if s.Found, err = project.Find(ctx, dir, project.Options{Env: opt.Env}); err != nil {
		return nil, err
	}
	if s.Generator = s.Found.Generator; s.Generator != nil {
		if s.Dir, err = filepath.EvalSymlinks(s.Generator.Dir); err != nil {
			s.Dir = s.Generator.Dir
		}
	}
	if s.Repo, s.NoRepo = githook.Open(ctx, githook.Git{Env: opt.Env, Untrusted: opt.Untrusted}.In(s.Dir)); s.NoRepo != nil {
		s.Repo = nil
	}
	if stuck := (*git.StuckError)(nil); errors.As(s.NoRepo, &stuck) {
		return nil, s.NoRepo
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if s.Repo != nil {
		if s.Hook, err = s.Repo.Status(ctx); err != nil {
			return nil, ExplainHook(err)
		}
		s.Remotes = s.Repo.Remotes(ctx)
	}
	s.fill(ctx, opt)
	return s, context.Cause(ctx)
}

// fill gathers the facts.
func (s *Survey) fill(ctx context.Context, opt Options) {
	s.Release = releaseTag(opt.Version)
	s.readPackages()
	here, err := filepath.Rel(s.Found.Root, s.Found.Dir)
	s.Hooked = slices.Contains(s.Hook.Sites, path.Clean(s.Below)) || err == nil && slices.Contains(s.Hook.Sites, filepath.ToSlash(here))
	s.Branches = git.DefaultBranches(ctx, s.Found.Root, opt.Env)
	p := s.Found
	if p.Script.Dir == p.Dir || s.Generator != nil && p.Script.Dir == s.Generator.Dir {
		s.Script = p.Script.Value
	}
	if g := s.Generator; g != nil {
		s.Title, s.Usual, s.DocrootBy = g.Title(), g.UsualCommand(), g.From
		if s.DocrootBy == "" {
			s.DocrootBy = "where " + s.Title + " writes"
		}
		s.Build, s.Installed, s.Facts.Version = BuildCommand(g), g.Installed(), generatorVersion(g)
		s.Site, s.Docroot = p.Docroot, filepath.ToSlash(g.Docroot)
		if rel, err := filepath.Rel(g.Dir, g.Docroot); err == nil && filepath.IsLocal(rel) {
			s.Docroot = filepath.ToSlash(rel)
		}
	} else if p.CheckDocroot() == nil && exists(filepath.Join(p.Abs(p.Docroot), "index.html")) {
		s.Docroot, s.Site = p.Docroot, p.Docroot
		if p.Docroot == "." || p.Docroot == "public" { // others are found once they are built
			s.DocrootBy = "it holds index.html"
		}
	}
	if s.Repo != nil && s.Docroot != "" {
		s.Committed = s.Repo.Tracks(ctx, p.Abs(s.Site))
		s.ShouldIgnore = CommittedDocroot(ctx, s.Repo, p)
	}
	if p.ProfileFrom != "" {
		s.Profile, s.ProfileBy = p.Profile, p.ProfileFrom
	}
	_, plugin := generator.Depends(s.Dir, plugins)
	s.Plugin = plugin != "" || slices.ContainsFunc(s.Packages, func(p string) bool { return strings.HasSuffix(p, "-sitelink") })
	s.BaseURLs = p.BaseURLs
	for _, r := range p.Roots {
		s.BaseURLs = append(s.BaseURLs, r.Base)
	}
}

// readPackages gathers the facts that the project's lists of packages tell.
func (s *Survey) readPackages() {
	s.Has = func(name string) bool { return exists(filepath.Join(s.Dir, filepath.FromSlash(name))) }
	if rel, err := filepath.Rel(s.Found.Root, s.Dir); err == nil && rel != "." {
		s.Below = filepath.ToSlash(rel)
	}
	if g := s.Generator; g != nil {
		s.Facts.Generator = string(g.Generator)
		if _, pip, _, _ := g.Generator.Install(""); pip != "" {
			var list []byte
			for _, f := range slices.Backward(pythonFiles) {
				if text, err := readRegular(filepath.Join(s.Dir, filepath.FromSlash(f.name))); err == nil && strings.Contains(string(text), f.says) {
					s.Python, list = f.name, text
				}
			}
			s.Packages = g.Packages(s.Python, list)
		}
	}
	for _, own := range []struct{ pkg, run string }{{"npm:sitelink", s.npx()}, {"gem:sitelink", "bundle exec "}, {"pip:sitelink", s.python().run}} {
		if _, file := generator.Depends(s.Dir, own.pkg); file != "" {
			s.Own = own.run + "sitelink"
		}
	}
}

// Own returns the command of the sitelink that a project's packages install, see [Facts].
func Own(p *project.Project) string { return packagesOf(p).Own }

// Install returns the line of the shell that installs what builds a project.
func Install(p *project.Project) string { return packagesOf(p).install() }

func packagesOf(p *project.Project) *Survey {
	s := &Survey{Found: p, Generator: p.Generator, Dir: p.Dir}
	if s.Generator != nil {
		s.Dir = s.Generator.Dir
	}
	s.readPackages()
	return s
}

// Commands returns a text for a person with its commands, such as sitelink check, as the
// project starts them: with own in place of sitelink.
func Commands(own, text string) string {
	run := strings.TrimSuffix(own, "sitelink")
	if run == "" {
		return text
	}
	return regexp.MustCompile(`(^|[^\w/-])(?:`+regexp.QuoteMeta(run)+`)?(sitelink (?:--help|(?:`+commandNames+`)\b))`).ReplaceAllString(text, "${1}"+run+"${2}")
}

// commandNames are those that texts name.
const commandNames = "check|verify|watch|lsp|fix|init|doctor|external|explain|links|mv|notify|deploy|ledger|serve|mentions|baseline|profile|hook|inject|version|completion|man|help"

// releaseTag is the version that files name: this one if it is a release.
func releaseTag(version string) string {
	if v := "v" + strings.TrimPrefix(version, "v"); regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(v) && v != "v0.0.0" {
		return v
	}
	return githook.Release
}

// BuildCommand returns the command that builds a commit into $SITELINK_OUT.
func BuildCommand(g *project.Generator) string {
	const out = "SITELINK-OUT"
	c := g.Command(out, false, nil)
	for i, arg := range c.Args { // name a program of the project relative to each working tree
		if rel, err := filepath.Rel(g.Dir, arg); filepath.IsAbs(arg) && err == nil && filepath.IsLocal(rel) {
			c.Args[i] = filepath.ToSlash(rel)
		}
	}
	return strings.ReplaceAll(c.String(), out, `"$SITELINK_OUT"`)
}

// plugins are our packages that check each build of a generator.
const plugins = "npm:astro-sitelink npm:docusaurus-plugin-sitelink npm:eleventy-plugin-sitelink npm:netlify-plugin-sitelink npm:vite-plugin-sitelink npm:vitepress-plugin-sitelink " +
	"pip:mkdocs-sitelink pip:sphinx-sitelink gem:jekyll-sitelink"

// versionOf matches a version of a package or of a Go module.
var versionOf = text.Regexp(`^v?(\d+\.\d+(?:\.\d+)*)`)

// generatorVersion returns the version of the project's generator on this machine as
// files say it: the package that the project has installed, or what Go wrote into the
// program. It is "" if they do not.
func generatorVersion(g *project.Generator) string {
	var p struct{ Version string }
	if npm, _, _, _ := g.Generator.Install(""); npm != "" {
		text, _ := readRegular(filepath.Join(g.Dir, "node_modules", filepath.FromSlash(npm), "package.json"))
		_ = json.Unmarshal(text, &p) // a part of it is useful too
	} else if program, err := exec.LookPath(g.Generator.Program()); err == nil {
		if info, err := buildinfo.ReadFile(program); err == nil {
			p.Version = info.Main.Version
		}
	}
	if m := versionOf().FindStringSubmatch(p.Version); m != nil {
		return m[1]
	}
	return ""
}

// maxCIBytes is how much of such a file is read, maxCIFiles how many of a
// directory.
const (
	maxCIBytes = 1 << 20
	maxCIFiles = 100
)

// CIFiles returns the files that make a server run sitelink, relative to the
// root of the project.
func (s *Survey) CIFiles() (files []string) {
	names := append(slices.Clone(project.CIFiles), "Jenkinsfile")
	for _, f := range host.Each(func(k *host.Kind) []host.DeployFile { return k.Deploys }) {
		for name := range strings.FieldsSeq(f.Names) {
			if f.Build != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	for _, dir := range slices.Compact([]string{"", s.Below}) {
		for _, name := range names {
			name = path.Join(dir, name)
			full := filepath.Join(s.Found.Root, filepath.FromSlash(name))
			entries, err := os.ReadDir(full)
			if err != nil {
				if runsSitelink(full) {
					files = append(files, name)
				}
				continue
			}
			for _, e := range entries[:min(len(entries), maxCIFiles)] {
				if runsSitelink(filepath.Join(full, e.Name())) {
					files = append(files, path.Join(name, e.Name()))
				}
			}
		}
	}
	return files
}

// runsSitelink reports whether a file mentions a command of sitelink, or its
// action.
func runsSitelink(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCIBytes {
		return false
	}
	text, err := system.Read(name, maxFileBytes)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(text) {
		code, _, _ := strings.Cut(string(line), "#")
		for _, word := range []string{"sitelink check", "sitelink check --build", "sitelink/sitelink@", "sitelink.git"} {
			if strings.Contains(code, word) {
				return true
			}
		}
	}
	return false
}

// rootHas reports whether the root of the project has a file of that name.
func (s *Survey) rootHas(name string) bool {
	return exists(filepath.Join(s.Found.Root, filepath.FromSlash(name)))
}

// Servers returns the servers that the repository seems to use.
func (s *Survey) Servers() (used []Server) {
	for _, server := range Servers() {
		if server.Used(s.rootHas, s.Remotes) || s.Below != "" && server.Used(s.Has, "") {
			used = append(used, server)
		}
	}
	return used
}

// Show returns a path of the project as a user in the surveyed directory would
// write it.
func (s *Survey) Show(name string) string {
	return filepath.ToSlash(s.Found.Show(filepath.Join(s.Dir, filepath.FromSlash(path.Clean(name)))))
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
