package project

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
)

// findHost finds the profile: the configured one, else that of the host whose files
// exist.
func (p *Project) findHost() {
	p.Profile = cmp.Or(p.Config.Profile, host.Generic.Name)
	if p.Config.Place("profile") != "" {
		return
	}
	profile, because, candidates := DetectHost(p.dirs, p.Abs(p.Docroot))
	for _, r := range p.Roots { // Hugo writes such files into the directory of each host
		if because == "" && r.Dir != "" {
			profile, because, candidates = detectHost(nil, os.DirFS(filepath.Join(p.Abs(p.Docroot), r.Dir)))
			if because != "" {
				because += ", in " + r.Dir
			}
		}
	}
	switch {
	case profile != "":
		p.Profile, p.ProfileFrom = profile, because
	case because != "":
		p.HostConflict, p.hostCandidates = because, candidates
		p.warn("the host is ambiguous: " + because + "; only what these hosts have in common applies; choose one with --profile NAME")
	}
}

// DetectHost looks for the files of a host in dirs, the nearest first, and then
// in the docroot. It returns the profile and the file that identifies it; when files
// contradict each other, profile is "", because names them, and candidates are the
// profiles.
func DetectHost(dirs []string, docroot string) (profile, because string, candidates []string) {
	var top fs.FS
	for _, dir := range dirs {
		top = os.DirFS(dir)
		if profile, because, candidates = detectHost(top, nil); because != "" {
			return profile, because, candidates
		}
	}
	return detectHost(top, os.DirFS(docroot))
}

// RuleFiles are the rule files of hosts that are not in the docroot.
var RuleFiles = []string{"netlify.toml", "vercel.json", "firebase.json", "staticwebapp.config.json"}

// ruleDir returns the nearest of dirs that holds rule files of a host, "" for
// none.
func ruleDir(dirs []string) string {
	for _, dir := range dirs {
		for _, name := range RuleFiles {
			if lexists(filepath.Join(dir, name)) {
				return dir
			}
		}
	}
	return ""
}

// SiteOptions returns the options for loading the docroot.
func (p *Project) SiteOptions() site.Options {
	cfg := p.Config
	opt := site.Options{
		BaseURLs:       p.BaseURLs,
		BasePath:       p.BasePath,
		Roots:          p.Roots,
		RefNotFound:    p.refNotFound,
		ProfileFrom:    p.ProfileFrom,
		HostUnknown:    p.Config.Place("profile") == "" && p.ProfileFrom == "" && p.HostConflict == "" && len(cfg.Host) == 0,
		Project:        p.RuleDir,
		Index:          cfg.Index,
		PageExtensions: cfg.PageExtensions,
		MaxPageBytes:   cfg.MaxPageBytes,
		Jobs:           cfg.Jobs,
	}
	if p.Generator != nil {
		opt.Generator, opt.RelativeURLs = string(p.Generator.Generator), p.Generator.RelativeURLs
		opt.ServerPort = p.Generator.Generator.Port()
	}
	opt.Profile, _ = host.ProfileByName(p.Profile)
	if len(p.hostCandidates) > 0 {
		opt.Profile = host.SharedProfile(p.hostCandidates)
	}
	for _, set := range cfg.Host {
		if err := opt.Profile.Set(set.Key, set.Values); err != nil {
			panic("host key " + set.Key + ": " + err.Error()) // the configuration has checked it
		}
	}
	if len(cfg.Host) > 0 {
		opt.Profile.Name += ", changed"
	}
	switch cfg.Autoindex {
	case "list":
		opt.Autoindex = host.AutoindexList
	case "error":
		opt.Autoindex = host.AutoindexError
	}
	switch cfg.Base {
	case "html5":
		opt.Base = host.BaseHTML5
	case "document-order":
		opt.Base = host.BaseDocumentOrder
	}
	if cfg.Tags == "linklint" {
		opt.Tags = scan.Linklint
	}
	for _, m := range cfg.Maps {
		opt.Maps = append(opt.Maps, host.MapRule{From: m.From, To: m.To})
	}
	if len(cfg.Redirects) > 0 {
		// Messages name the configuration file as seen from the docroot.
		rules := make([]redirect.GenericRule, 0, len(cfg.Redirects))
		for _, r := range cfg.Redirects {
			rules = append(rules, redirect.GenericRule{From: r.From, To: r.To, Status: r.Status, Force: r.Force, Line: r.Line})
		}
		opt.Rules = append(opt.Rules, redirect.Generic(p.fromDocroot(cfg.Redirects[0].File), rules))
	}
	return opt
}
