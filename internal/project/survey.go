package project

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/text"
)

// survey finds the answers for a project. Its methods are the [sources].
type survey struct {
	*Project
	ctx context.Context
	// docroot is the one that was named, "" for none.
	docroot string
	// own is the directory of the generator's project that holds the docroot or Dir, else
	// the top of the repository.
	own string
	// made are the projects that commands build, and where to.
	made []made
	// commandsRead counts towards [maxCommands].
	commandsRead int
	// moved means that commands put the site where it is published, not the generator.
	moved bool
	// found means that the addresses are in the generator's configuration.
	found bool
}

// made is a project that a command builds into the directory out, absolute; "" for its usual
// one. by is the evidence for its generator.
type made struct {
	generator.Project
	out string
	by  Evidence
}

// configured is what flags, variables and sitelink.toml say.
func (s *survey) configured() (all []Evidence) {
	cfg := s.Config
	add := func(q Question, value, key string) {
		all = append(all, Evidence{Question: q, Value: value, Dir: s.Dir, File: cfg.Place(key), Words: "named"})
	}
	if s.docroot != "" {
		s.Docroot = s.docroot
		add(AskDocroot, s.Abs(s.docroot), "docroot")
	}
	add(AskBuild, cfg.Hook.Build, "hook.build")
	s.BaseURLs = cfg.BaseURLs
	bases := slices.Clone(cfg.BaseURLs)
	for _, one := range cfg.Sites {
		s.Roots = append(s.Roots, host.Root{Dir: one.Root, Base: one.Base})
		bases = append(bases, one.Base)
	}
	add(AskBase, strings.Join(bases, " "), "base-url")
	if cfg.Place("profile") != "" {
		add(AskHost, cfg.Profile, "profile")
	}
	return all
}

// generated is what the generator's project says: the one that holds the docroot, else
// the one that a user in Dir works on.
func (s *survey) generated() (all []Evidence) {
	g := s.theGenerator()
	if s.Generator = g; g == nil {
		return nil
	}
	configured := s.Answers[AskBase].Value != ""
	if !g.loaded {
		g.Env = s.env
		g.Configure()
		if g.Err != nil && (!s.named || !configured) && s.ctx.Err() == nil {
			s.warn(g.Title() + ": " + g.Err.Error())
		}
	}
	file, by := filepath.Join(g.Dir, filepath.FromSlash(g.By)), ""
	if g.By == "" || !isFile(file) {
		file, by = "", g.By
	}
	add := func(q Question, value, file, words string) {
		all = append(all, Evidence{Question: q, Value: value, Dir: g.Dir, File: file, Words: words})
	}
	add(AskGenerator, string(g.Generator), file, by)
	add(AskBuild, g.UsualCommand(), "", "how "+g.Title()+" is built")
	from := g.From
	if from != "" && isFile(filepath.Join(g.Dir, filepath.FromSlash(from))) {
		from = filepath.Join(g.Dir, filepath.FromSlash(from))
	}
	docroot, said := g.BuiltDocroot(), s.Answers[AskDocroot].Value
	if !s.named {
		s.Docroot = s.Show(docroot)
		if said != "" && (isDirectory(said) || !isDirectory(docroot)) { // otherwise, what is published is made elsewhere
			s.Docroot = s.Show(said)
		}
		if said != "" {
			docroot = g.Docroot // what sitelink built contradicts no file
		}
	}
	if !s.moved && g.out != "" {
		all = append(all, Evidence{Question: AskDocroot, Value: docroot, Dir: g.Dir, File: g.outBy.File, Line: g.outBy.Line, Words: g.outBy.Words})
	} else if !s.moved {
		add(AskDocroot, docroot, from, "where "+g.Title()+" writes")
	}
	if !configured && s.takeAddresses(g) {
		s.found = true
		bases := slices.Clone(s.BaseURLs)
		for _, r := range s.Roots {
			bases = append(bases, r.Base)
		}
		add(AskBase, cmp.Or(strings.Join(bases, " "), s.BasePath), from, "")
	}
	form := Evidence{Question: AskForm, Value: string(g.Form), Dir: g.Dir, Words: g.Title() + " does so by default"}
	if g.FormFrom != "" {
		name, line, _ := strings.Cut(g.FormFrom, ":")
		form.File, form.Words = filepath.Join(g.Dir, filepath.FromSlash(name)), ""
		form.Line, _ = strconv.Atoi(line) // 0 if the line is not known
	}
	if g.Builder != "" && g.FormFrom != "" && g.outBy.File != "" {
		form.File, form.Line, form.Words = g.outBy.File, g.outBy.Line, g.outBy.Words
	}
	all = append(all, form)
	return all
}

// theGenerator returns the project of the generator that makes the site: one that a command
// builds, the nearest above the docroot, or the one of Dir; nil for none.
func (s *survey) theGenerator() *Generator {
	if a := s.Answers[AskGenerator]; s.Config.Generator == "" {
		for _, m := range s.made {
			if m.by != a.Evidence || s.named && !s.builtElsewhere && !slices.Contains(s.dirs, m.Dir) {
				continue
			}
			g := s.generatorOf(m.Dir)
			if g == nil || g.Generator != m.Generator || g.Source != m.Source || g.Builder != m.Builder {
				g = &Generator{Project: m.Project}
				s.generators[m.Dir] = g
			}
			g.Configs, g.Args, g.out, g.outBy = m.Configs, m.Args, m.out, m.by
			return g
		}
	}
	dirs := s.dirs
	if docroot := s.Answers[AskDocroot].Value; !s.named && docroot != "" {
		dirs = s.sourceDirs(docroot)
	}
	if !s.named || s.builtElsewhere {
		if g := s.generatorOfDir(); g != nil && (s.builtElsewhere || s.Answers[AskDocroot].Value == "" || slices.Contains(dirs, g.Dir) || len(dirs) == 0) {
			return g
		}
	}
	for _, dir := range dirs {
		if g := s.generatorOf(dir); g != nil {
			return g
		}
	}
	return nil
}

// addressed is what the address of the site says about its host.
func (s *survey) addressed() (all []Evidence) {
	base := s.Answers[AskBase]
	for _, address := range strings.Fields(base.Value) {
		all = append(all, Evidence{Question: AskHost, Value: host.NameAt(address), File: base.File, Line: base.Line, Words: address})
	}
	return all
}

// built looks for a docroot where nothing names one: the directory public, the only one
// with a name that a generator uses and pages that are as new as the sources, else Dir. A
// directory of sources is none of these: s.uncertain then says what can be one.
func (s *survey) built() []Evidence {
	if s.Answers[AskDocroot].Value != "" {
		return nil
	}
	home, words := isFile(filepath.Join(s.Dir, "index.html")), "nothing names another"
	built, sources := generator.Built(s.Dir), generator.Sources(s.Dir)
	certain := sources == "" && (home || len(built) == 0) || home && len(built) == 0 && sources != "node_modules"
	switch s.Docroot = "."; {
	case len(built) == 1 && !home && !newer(filepath.Join(s.Dir, sources), filepath.Join(s.Dir, built[0], "index.html")):
		s.Docroot, certain, words = built[0], true, "the only directory with a built site"
	case isDirectory(filepath.Join(s.Dir, "public")):
		s.Docroot, certain = "public", sources == "" || len(built) == 1 && built[0] == "public"
	}
	if !certain {
		message := "no docroot is configured, and no known generator is in this directory"
		if sources != "" {
			message += ", which is not a built site, since it has " + sources
		}
		hint := buildFirst
		if len(built) > 0 {
			hint = "name the built site: sitelink check " + strings.Join(built, ", or sitelink check ")
		}
		s.uncertain = text.Usage(message, hint+"; docroot in sitelink.toml keeps it")
	}
	return []Evidence{{Question: AskDocroot, Value: s.Abs(s.Docroot), Words: words}}
}

// newer reports whether a file, or one of those directly in a directory, is newer than
// another file.
func newer(name, than string) bool {
	old, err := os.Stat(than)
	if err != nil {
		return true
	}
	names := []string{name}
	entries, _ := os.ReadDir(name)
	for _, e := range entries[:min(len(entries), maxFiles)] {
		names = append(names, filepath.Join(name, e.Name()))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err == nil && info.Mode().IsRegular() && info.ModTime().After(old.ModTime())
	})
}
