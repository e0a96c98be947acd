// Package project finds the project that a command works on, once per run: its
// root, its generator, the docroot, the host's profile and the addresses of the
// site.
//
// [Find] takes a directory, the configuration of the run and the environment,
// and returns a [Project]. It reads files and may start the generator to print
// its configuration; it never reads the working directory or the environment of
// the process. A Project does not change after Find.
//
// What the user configured counts first, then what the generator's
// configuration says, then what the files of the project and its docroot show.
// [Project.Notes] says how each was found.
package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/scan/markdown"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Options are what a command knows before the project is found. The zero value
// stands for a project without configuration.
type Options struct {
	// Config is the configuration of the run, flags included; nil means that
	// nothing is configured.
	Config *config.Config
	// Env is the environment of the generator's programs, as [os.Environ]
	// returns it.
	Env []string
	// Docroot names the docroot, an absolute path or one relative to the
	// directory; "" for the docroot of Config.
	Docroot string
	// BuiltElsewhere means that Docroot was built from the project that holds the
	// directory, although it is not inside it: a git hook builds commits in a
	// directory of its own.
	BuiltElsewhere bool
	// Markdown means that the Markdown of a repository will do, as its forge shows it, if
	// there is no site or the configuration names it.
	Markdown bool
	// Input is read for the page "-" of the configuration, which is Markdown in the directory.
	Input io.Reader
}

// Project is what was found. All paths are absolute unless said otherwise.
type Project struct {
	// Dir is the directory that was given to [Find].
	Dir string
	// Root is the root of the project: the nearest directory at or above Dir that
	// holds .git; without a repository the nearest that holds a configuration file
	// of sitelink; else Dir. Reports name files relative to it, and the ledger and
	// the cache are kept below it.
	Root string
	// Config is the configuration of the run, never nil.
	Config *config.Config
	// Generator is the project that a generator makes the site of; nil for none.
	Generator *Generator
	// Docroot is the directory of the built site as a user in Dir would write it:
	// what was configured, else a path from [Project.Show].
	Docroot string
	// Server is the address of a running site that takes the place of the docroot, with a slash
	// at its end; "" for none. Docroot is that of its build then, if there is one.
	Server string
	// Answers are what the description of the project answers, with the evidence. The
	// fields are made of them.
	Answers
	// Script is the evidence for a script of package.json that builds the site: "npm run
	// build". What deploys the site may do more.
	Script Evidence
	// Profile names the host's profile. ProfileFrom is the evidence for the host, ""
	// when the profile was configured or is the default. If the host is in doubt, Profile is
	// the default, and the site is loaded with what the hosts have in common.
	Profile, ProfileFrom string
	// BaseURLs, BasePath and Roots say where the docroot is published, see
	// [site.Options].
	BaseURLs []string
	BasePath string
	Roots    []host.Root
	// RuleDir is the directory with the host's rule files that are not part of the
	// docroot, such as netlify.toml; "" for none.
	RuleDir string
	// Notes say what was guessed, and what went wrong, for the user.
	Notes []Note

	named          bool  // the docroot was
	uncertain      error // why the docroot is only a guess
	refNotFound    string
	dirs           []string // that may hold the sources of the docroot, the nearest first
	env            []string
	builtElsewhere bool
	generators     map[string]*Generator // by directory
	input          string                // what the page on standard input is called in the docroot
	inputText      []byte
	repository     *repository // of Markdown that a forge shows; nil for a site
}

// Note is a line for the user.
type Note struct {
	Text string
	// Warning means that something is wrong.
	Warning bool
}

// Find finds the project of the absolute path dir. The error is that of ctx, or
// says that dir is not absolute; anything that is missing or unreadable is a
// note, or empty.
func Find(ctx context.Context, dir string, opt Options) (*Project, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("find the project of %s: not an absolute path", dir)
	}
	cfg := opt.Config
	if cfg == nil {
		cfg = &config.Config{}
	}
	p := &Project{
		Dir: filepath.Clean(dir), Root: RootOf(dir), Config: cfg,
		env: opt.Env, builtElsewhere: opt.BuiltElsewhere, generators: map[string]*Generator{},
	}
	p.find(ctx, cmp.Or(opt.Docroot, cfg.Docroot))
	if ctx.Err() != nil {
		return p, context.Cause(ctx)
	}
	if err := p.checkLinks(); err != nil {
		return p, err
	}
	if cfg.Server != "" {
		p.ofServer()
		return p, nil
	}
	if opt.Markdown {
		var err error
		if slices.Contains(cfg.Pages, "-") {
			if p.inputText, err = io.ReadAll(io.LimitReader(opt.Input, markdown.MaxBytes)); err != nil {
				return p, fmt.Errorf("read standard input: %w", err)
			}
		}
		if err = p.ofMarkdown(ctx); err != nil {
			return p, err
		}
	}
	if len(p.Config.Pages) == 0 {
		return p, nil
	}
	return p.ofPages(ctx)
}

// ofPages returns the project of the pages that the configuration names, which are below
// its docroot then. Pages that are not below the docroot belong to a site of their own, in
// the directory that holds them all.
func (p *Project) ofPages(ctx context.Context) (*Project, error) {
	cfg := *p.Config
	cfg.Pages = slices.Clone(cfg.Pages)
	common := ""
	for i, name := range cfg.Pages {
		dir, pattern := doublestar.SplitPattern(filepath.ToSlash(p.Abs(name)))
		switch info, err := os.Stat(p.Abs(name)); {
		case err == nil && info.IsDir():
			dir, pattern = filepath.ToSlash(p.Abs(name)), "**"
		case err == nil: // may have characters of a pattern
			dir = filepath.ToSlash(filepath.Dir(p.Abs(name)))
			pattern = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`).Replace(filepath.Base(name))
		case strings.ContainsAny(name, "*?[{"), name == "-" && p.input != "":
		case strings.HasPrefix(name, "/") || strings.HasSuffix(name, "@"):
			return nil, text.Usage(fmt.Sprintf("%q names no page", name), "if it is a linkset, write --from before it")
		default:
			return nil, text.WithHint(fmt.Errorf("read page %s: %w", name, system.Cause(err)), "after the first name, check takes more pages of the same site; check another site in a run of its own")
		}
		cfg.Pages[i] = path.Join(dir, pattern)
		if i == 0 {
			common = dir
		}
		for dir != common && !strings.HasPrefix(dir, strings.TrimSuffix(common, "/")+"/") {
			common = path.Dir(common)
		}
	}
	if common == path.Dir(common) {
		return nil, text.Usage("the pages have no directory in common", "--docroot DIR names the directory that holds the site")
	}
	docroot := filepath.ToSlash(p.Abs(p.Docroot))
	if common != docroot && !strings.HasPrefix(common, docroot+"/") || p.CheckDocroot() != nil {
		docroot = common
		var err error
		if p, err = p.WithDocroot(ctx, p.Show(filepath.FromSlash(common))); err != nil {
			return nil, err
		}
	}
	for i, name := range cfg.Pages {
		cfg.Pages[i] = strings.TrimPrefix(name, docroot+"/")
	}
	p.Config = &cfg
	return p, nil
}

// ofServer makes the project that of the running site of the configuration. What the project says
// about its host does not matter then.
func (p *Project) ofServer() {
	p.Server, p.uncertain = p.Config.Server, nil
	p.BaseURLs = append([]string{p.Server}, p.BaseURLs...)
	loopback := []string{"localhost:", "127.0.0.1:", "[::1]:"} // generators have one of them in their pages
	for i := range 9 {
		if _, port, ok := strings.Cut(p.Server, "://"+loopback[i/3]); ok {
			p.BaseURLs = append(p.BaseURLs, "http://"+loopback[i%3]+port)
		}
	}
	for _, r := range p.Roots {
		if strings.Trim(r.Dir, "/.") == "" {
			p.BaseURLs = append(p.BaseURLs, r.Base)
		}
	}
	p.BasePath, p.Roots, p.RuleDir, p.Profile, p.ProfileFrom, p.Notes = "", nil, "", host.Generic.Name, "", nil
	p.Answers[AskHost], p.Answers[AskForm] = Answer{}, Answer{}
	if g := p.Generator; g != nil {
		p.note(g.Title() + " site: findings are placed in its sources")
	}
	if from := p.Config.Place("profile"); from != "" {
		p.note(from + ": the profile does not count: the server answers itself")
	}
}

// checkLinks refuses files that sitelink knows by their names, and that are
// symbolic links out of the repository: a checkout may be hostile.
func (p *Project) checkLinks() error {
	dirs := []string{p.Dir, p.Root}
	if p.Generator != nil {
		dirs = append(dirs, p.Generator.Dir)
	}
	for _, dir := range dirs {
		if err := system.CheckState(p.rootFor(filepath.Join(dir, system.StateName)), dir); err != nil {
			return err
		}
	}
	names := make([]string, 0, len(RuleFiles)+len(OwnerFiles))
	for _, name := range OwnerFiles {
		names = append(names, filepath.Join(p.Root, filepath.FromSlash(name)))
	}
	for _, dir := range p.dirs {
		if p.RuleDir == dir {
			for _, name := range RuleFiles {
				names = append(names, filepath.Join(dir, name))
			}
		}
	}
	if p.Generator != nil {
		for _, name := range p.Generator.Configs {
			names = append(names, filepath.Join(p.Generator.Dir, filepath.FromSlash(name)))
		}
	}
	for _, name := range names {
		if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if path, where := system.Outside(p.rootFor(name), name); where != "" {
			return text.Usage(fmt.Sprintf("%s leads to %s, %s", p.Show(name), path, where), "replace the link with a file")
		}
	}
	return nil
}

// rootFor returns the root of the repository that contains a file, which may be
// another one than the project's: a named docroot can be anywhere.
func (p *Project) rootFor(name string) string {
	if rel, err := filepath.Rel(p.Root, name); err == nil && filepath.IsLocal(rel) {
		return p.Root
	}
	docroot := p.Abs(p.Docroot)
	if rel, err := filepath.Rel(docroot, name); p.builtElsewhere && err == nil && filepath.IsLocal(rel) {
		return docroot // a git hook builds below .git
	}
	return RootOf(filepath.Dir(name))
}

// WithDocroot returns the same project with another docroot. It finds the
// generator, host and addresses of that docroot again.
func (p *Project) WithDocroot(ctx context.Context, docroot string) (*Project, error) {
	if p.repository != nil && p.Abs(docroot) == p.Abs(p.Docroot) {
		return p, nil
	}
	q := &Project{Dir: p.Dir, Root: p.Root, Config: p.Config, env: p.env, generators: p.generators}
	q.find(ctx, docroot)
	return q, context.Cause(ctx)
}

// find fills in what depends on the docroot; "" looks for one.
func (p *Project) find(ctx context.Context, docroot string) {
	s := &survey{Project: p, ctx: ctx, docroot: docroot}
	p.named = docroot != ""
	s.dirs = p.sourceDirs(filepath.Join(p.Dir, "docroot"))
	if p.named && !p.builtElsewhere {
		s.dirs = p.sourceDirs(p.Abs(docroot))
	}
	for _, dir := range s.dirs {
		if s.own = dir; p.generatorOf(dir) != nil {
			break
		}
	}
	if g := p.generatorOfDir(); g != nil && !p.named && !slices.Contains(s.dirs, g.Dir) {
		s.dirs = p.sourceDirs(filepath.Join(g.Dir, "docroot"))
	}
	for _, source := range sources {
		batch := source(s)
		p.Answers.take(batch)
		if i := slices.IndexFunc(batch, func(e Evidence) bool {
			return e.Question == AskBuild && filepath.Base(e.File) == "package.json" && e.Value != e.Words
		}); i >= 0 && p.Script.Value == "" {
			p.Script = batch[i]
		}
	}
	if p.Docroot == "" {
		p.Docroot = p.Show(p.Answers[AskDocroot].Value)
	}
	p.dirs = p.sourceDirs(p.Abs(p.Docroot))
	p.RuleDir = ruleDir(p.dirs)
	p.Profile = cmp.Or(p.Config.Profile, host.Generic.Name)
	if a := &p.Answers[AskHost]; p.Config.Place("profile") == "" && a.Value != "" {
		p.Profile, p.ProfileFrom = a.Value, p.From(a.Evidence)
	}
	p.describe(s.found)
}

// describe notes what was found for a user who did not configure it, and what
// contradicts it. found means that the addresses were.
func (p *Project) describe(found bool) {
	a := &p.Answers
	if g := p.Generator; g != nil && (found || !p.named) {
		text := g.Title() + " site"
		if by := cmp.Or(g.From, g.By); by != "" {
			text += " (" + by + ")"
		}
		if !p.named {
			text += ": checking " + p.Docroot
		}
		at := slices.Clone(p.BaseURLs)
		for _, r := range p.Roots {
			at = append(at, r.Base+" ("+cmp.Or(r.Dir, ".")+")")
		}
		if p.BasePath != "" {
			at = append(at, p.BasePath)
		}
		if found {
			text += ", published at " + strings.Join(at, ", ")
		}
		if n := len(g.Languages); n > 1 && !g.Multihost() {
			text += ", languages " + strings.Join(g.Languages, ", ")
		}
		if p.ProfileFrom != "" {
			text += ", host " + a[AskHost].Value + " (" + p.ProfileFrom + ")"
		}
		p.note(text)
	} else if !p.named && p.uncertain == nil {
		p.note("no docroot configured, checking " + p.Docroot)
	}
	for q := range questions {
		doubt := p.Doubt(q)
		switch {
		case doubt == "" || q == AskDocroot && p.named || q == AskHost && p.Config.Place("profile") != "":
		case a[q].Value == "":
			p.warn("the host is ambiguous: " + doubt + "; only what these hosts have in common applies; choose one with --profile NAME")
		default:
			p.note("two answers for " + q.String() + ": " + doubt)
		}
	}
}

func (p *Project) warn(text string) { p.Notes = append(p.Notes, Note{Text: text, Warning: true}) }
func (p *Project) note(text string) { p.Notes = append(p.Notes, Note{Text: text}) }

// Abs returns the absolute path of a name that the user wrote in Dir.
func (p *Project) Abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(p.Dir, name)
}

// Env returns the environment of the programs that are started for the project.
func (p *Project) Env() []string { return p.env }

// Show returns a path as a user in Dir would write it: relative when it is below
// Dir or at most two levels above, with slashes then.
func (p *Project) Show(path string) string { return show(p.Dir, path) }

func show(dir, path string) string {
	rel, err := filepath.Rel(dir, path)
	if up := filepath.Join("..", "..", ".."); err != nil || strings.HasPrefix(rel, up) {
		return path
	}
	return filepath.ToSlash(rel)
}

// FromRoot returns the slash path of a file relative to Root, or the absolute
// path when the file is elsewhere. Servers that show the project's files count
// paths from there.
func (p *Project) FromRoot(name string) string {
	abs := p.Abs(name)
	rel, err := filepath.Rel(p.Root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(abs)
	}
	return filepath.ToSlash(rel)
}

// fromDocroot names a file of the project as seen from the docroot.
func (p *Project) fromDocroot(name string) string {
	rel, err := filepath.Rel(p.Abs(p.Docroot), p.Abs(name))
	if err != nil {
		return filepath.ToSlash(name)
	}
	return filepath.ToSlash(rel)
}

// CheckDocroot returns an error with a hint when the docroot cannot be one: it
// does not exist, is a file or is empty, or it is a guess and nothing is certain. Faults further down are found when the
// site is loaded.
//
// One that the user did not name must be inside the repository, also when a
// generator's configuration names it or a symbolic link leads there.
func (p *Project) CheckDocroot() error {
	if p.Server != "" {
		return nil
	}
	if p.uncertain != nil {
		return p.uncertain
	}
	if !p.named {
		if path, where := system.Outside(p.Root, p.Abs(p.Docroot)); where != "" {
			return text.Usage(fmt.Sprintf("the docroot %s is %s, %s", p.Docroot, path, where), "name it: sitelink check "+p.Docroot)
		}
	}
	return p.checkDocroot(p.Docroot)
}

// CheckDocroot is [Project.CheckDocroot] for a docroot as a user in dir wrote it,
// without a project.
func CheckDocroot(dir, docroot string) error { return (&Project{Dir: dir}).checkDocroot(docroot) }

func (p *Project) checkDocroot(docroot string) error {
	info, err := os.Stat(p.Abs(docroot))
	switch {
	case err == nil && !info.IsDir():
		return text.WithHint(fmt.Errorf("read docroot %s: not a directory", docroot),
			"name the directory that holds it: sitelink check "+filepath.Dir(docroot))
	case err == nil:
		if entries, err := os.ReadDir(p.Abs(docroot)); err == nil && len(entries) == 0 {
			return text.WithHint(fmt.Errorf("read docroot %s: %w", docroot, site.ErrNoPages), p.notBuilt(docroot))
		}
		return nil
	}
	err = fmt.Errorf("read docroot %s: %w", docroot, system.Cause(err))
	if errors.Is(err, fs.ErrNotExist) {
		return text.WithHint(err, p.notBuilt(docroot))
	}
	return p.ExplainLoad(err)
}

// notBuilt is the hint for a docroot that does not exist: the command that
// builds it, where the generator is known.
func (p *Project) notBuilt(docroot string) string {
	switch {
	case p.OfMarkdown():
		return "check reads the Markdown that git tracks: git add new files"
	case strings.Contains(filepath.ToSlash(docroot), system.StateName+"/"):
		return "the build wrote no pages: does the project have content, and templates for it?"
	}
	if filepath.Separator == '/' && strings.Contains(docroot, `\`) {
		return "write / instead of \\; Windows understands it too"
	}
	if name, port, ok := strings.Cut(docroot, ":"); ok && !strings.Contains(name, "/") && port != "" && port[0] >= '0' && port[0] <= '9' {
		return "the address of a running site begins with http://: sitelink check http://" + docroot
	}
	if p.named {
		if q, err := p.WithDocroot(context.Background(), ""); err == nil && q.Answers[AskDocroot].Value != "" && isDirectory(q.Abs(q.Docroot)) && q.Docroot != "." && q.Abs(q.Docroot) != p.Abs(docroot) {
			return "this project's site is in " + q.Docroot + ": sitelink check " + q.Docroot
		}
	}
	if command := p.BuildCommand(docroot); command != "" {
		hint := "run " + command + " first, or sitelink check --build, which checks what it builds"
		if g := p.Generator; g != nil && g.Generator.Static() != "" {
			hint += "; " + g.Title() + " writes a site of files only with " + g.Generator.Static()
		}
		return hint
	}
	return buildFirst
}

// BuildCommand returns the command that builds a docroot as a person types it, "" if none is
// known.
func (p *Project) BuildCommand(docroot string) string {
	if build := p.Answers[AskBuild]; p.Generator != nil && build.Value != "" && !strings.ContainsAny(build.Value, "\n$") {
		return p.Value(build.Evidence)
	}
	for _, dir := range p.sourceDirs(p.Abs(docroot)) {
		if g, ok := p.detect(dir); ok {
			return g.UsualCommand()
		}
	}
	return ""
}

const buildFirst = "build the site first, or name the directory that it was built into: sitelink check DIR"

// ExplainLoad adds a hint to an error of loading the site.
func (p *Project) ExplainLoad(err error) error {
	switch {
	case errors.Is(err, site.ErrNoPages):
		return text.WithHint(err, p.notBuilt(p.Docroot))
	case errors.Is(err, fs.ErrPermission):
		return text.WithHint(err, "make the directory readable for the user who runs sitelink")
	}
	return err
}

// RootOf returns the [Project.Root] of an absolute path.
func RootOf(dir string) string {
	root := ""
	for up := dir; ; up = filepath.Dir(up) {
		if lexists(filepath.Join(up, ".git")) {
			return up
		}
		if root == "" && holdsConfig(up) {
			root = up
		}
		if up == filepath.Dir(up) {
			return cmp.Or(root, dir)
		}
	}
}

func holdsConfig(dir string) bool {
	return slices.ContainsFunc(config.FileNames, func(name string) bool {
		return lexists(filepath.Join(dir, filepath.FromSlash(name)))
	})
}

// sourceDirs returns the directories that may hold the sources of a docroot, the
// nearest first. These are the directories above it, up to the root of its
// repository or to the first with a configuration file and without a generator,
// which begins its own project: what is above the project of a generator can still
// publish it. If neither is above the docroot, only its parent counts.
func (p *Project) sourceDirs(docroot string) (dirs []string) {
	if p.builtElsewhere {
		docroot = filepath.Join(p.Dir, "docroot")
	}
	for dir, up := docroot, filepath.Dir(docroot); up != dir; dir, up = up, filepath.Dir(up) {
		if name := filepath.Base(up); len(dirs) == 0 && (name == system.StateName || name == "node_modules") {
			continue // what sitelink check --build made belongs to the directory above, see Generator.StateDir
		}
		dirs = append(dirs, up)
		if up == RootOf(up) || holdsConfig(up) && p.generatorOf(up) == nil {
			break
		}
	}
	return dirs
}

// SourceDirs returns the directories that may hold the sources of the docroot,
// the nearest first, and those of Dir that are not among them: a docroot may have
// been built into a directory elsewhere.
func (p *Project) SourceDirs() (above, others []string) {
	docroot := p.Abs(p.Docroot)
	for _, dir := range p.sourceDirs(filepath.Join(p.Dir, "docroot")) {
		if dir != docroot && !slices.Contains(p.dirs, dir) {
			others = append(others, dir)
		}
	}
	return p.dirs, others
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func lexists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
