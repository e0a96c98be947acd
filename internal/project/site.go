package project

import (
	"path/filepath"

	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// RuleFiles are the rule files of hosts that are not in the docroot.
var RuleFiles = host.RuleNames(true)

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
	kind, _ := host.KindByName(p.Profile)
	opt := site.Options{
		BaseURLs:       p.BaseURLs,
		BasePath:       p.BasePath,
		Roots:          p.Roots,
		RefNotFound:    p.refNotFound,
		ProfileFrom:    p.ProfileFrom,
		HostUnknown:    cfg.Place("profile") == "" && kind.Unknown != "" && len(p.Answers[AskHost].Against) == 0 && len(cfg.Host) == 0,
		Project:        p.RuleDir,
		Show:           func(name string) string { return filepath.ToSlash(p.Show(filepath.Join(p.Abs(p.Docroot), name))) },
		Index:          cfg.Index,
		PageExtensions: cfg.PageExtensions,
		MaxPageBytes:   cfg.MaxPageBytes,
		Jobs:           cfg.Jobs,
	}
	opt.Form, opt.Generator = weburl.Form(p.Answers[AskForm].Value), p.Answers[AskGenerator].Value
	if p.Generator != nil {
		opt.Generator, opt.RelativeURLs = string(p.Generator.Generator), p.Generator.RelativeURLs
		opt.ServerPort = p.Generator.Generator.Traits().Port
	}
	opt.Profile, _ = host.ProfileByName(p.Profile)
	if r := p.repository; r != nil {
		opt.Input, opt.InputText = p.input, p.inputText
		opt.Repository, opt.Branches = r.address, r.branches
		if r.tracked != nil {
			opt.Tracked = r.list
		}
	}
	if a := p.Answers[AskHost]; a.Value == "" && len(a.Against) > 0 && cfg.Place("profile") == "" {
		var names []string
		for _, e := range a.Against {
			names = append(names, e.Value)
		}
		opt.Profile = host.SharedProfile(names)
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
