package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sitelink/sitelink/hook/githook"
	"github.com/sitelink/sitelink/internal/fault"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/setup"
)

// overview is what "sitelink" alone does: in a project it prints what it found
// and what to type next. Elsewhere it prints the short help and returns a usage
// error.
func overview(c *cli, cmd *cobra.Command) error {
	cfg, err := c.configure(cmd, nil, "")
	if err != nil {
		return err
	}
	p, err := c.findRoot(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	built := p.CheckDocroot() == nil
	_, err = os.Stat(filepath.Join(p.Abs(p.Docroot), "index.html"))
	if p.Generator == nil && cfg.File == "" && (!built || err != nil) {
		fmt.Fprint(c.env.Stderr, help(cmd, true, c.helpWidth())+"\n")
		return fault.Usage("no command given, and no project found in this directory", "sitelink check DIR checks a built site")
	}
	repo, hook := githook.Status{}, false
	if r, err := githook.Open(cmd.Context(), githook.Git{Env: os.Environ()}.In(p.Dir)); err == nil {
		if status, err := r.Status(cmd.Context()); err == nil {
			repo, hook = status, true
		}
	}
	var b strings.Builder
	row := func(name, text string) { fmt.Fprintf(&b, "  %-10s %s\n", name, visible(text)) }
	fmt.Fprintf(&b, "sitelink found this project in %s:\n\n", visible(p.Root))
	row("generator", generatorText(p))
	row("config", cmp.Or(filepath.ToSlash(cfg.File), "none"))
	row("docroot", docrootText(p, built))
	row("base URL", baseText(p))
	row("host", hostText(p))
	if hook {
		row("git hook", strings.TrimPrefix(setup.HookStatus(repo), "pre-push: "))
	} else {
		row("git hook", "no git repository")
	}

	b.WriteString("\nWhat to type next:\n\n")
	next := func(command, text string) { fmt.Fprintf(&b, "  %-22s %s\n", command, text) }
	switch builds := p.Generator != nil && p.Generator.Builds(); {
	case built:
		next("sitelink check", "check the links of "+visible(p.Docroot))
	case builds:
		next("sitelink build", "build the site and check it")
	default:
		next("sitelink check DIR", "check the built site in DIR")
	}
	if built {
		next("sitelink watch", "check again whenever the built site changes")
	}
	if cfg.File == "" {
		next("sitelink init", "write a configuration, and set up hook and CI")
	} else if hook && repo.Method == githook.NotInstalled {
		next("sitelink hook install", "check every push")
	}
	next("sitelink doctor", "show what is missing or wrong in detail")
	next("sitelink --help", "list all commands")
	return c.print(b.String())
}

func generatorText(p *project.Project) string {
	if p.Generator == nil {
		return "none found"
	}
	text := p.Generator.Title()
	if len(p.Generator.Configs) > 0 {
		text += " (" + p.Show(p.Generator.Configs[0]) + ")"
	}
	return text
}

func docrootText(p *project.Project, built bool) string {
	text := p.Docroot
	if place := p.Config.Place("docroot"); place != "" {
		text += " (" + place + ")"
	}
	if !built {
		text += ", not built yet"
	}
	return text
}

func baseText(p *project.Project) string {
	urls := p.BaseURLs
	for _, r := range p.Roots {
		urls = append(urls, r.Base)
	}
	return cmp.Or(strings.Join(urls, ", "), "not known; set base-url in sitelink.toml")
}

func hostText(p *project.Project) string {
	profile, place := p.Config.Profile, p.Config.Place("profile")
	switch {
	case place != "":
		return profile + " (" + place + ")"
	case p.HostConflict != "":
		return "unclear: " + p.HostConflict
	case p.Profile != "" && p.ProfileFrom != "":
		return p.Profile + " (" + p.ProfileFrom + ")"
	}
	return profile + " (no host recognized)"
}
