package main

import (
	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/scan"
	"github.com/sitelink/sitelink/internal/site"
)

// siteOptions and checkOptions turn the words of the configuration, which are
// checked, into the options of the packages.
func siteOptions(cfg *config.Config) site.Options {
	opt := site.Options{
		BaseURLs:       cfg.BaseURLs,
		Index:          cfg.Index,
		DefaultCharset: cfg.DefaultCharset,
		PageExtensions: cfg.PageExtensions,
		MaxPageBytes:   cfg.MaxPageBytes,
		Jobs:           cfg.Jobs,
	}
	opt.Profile, _ = site.ProfileByName(cfg.Profile)
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
		opt.Autoindex = site.AutoindexList
	case "error":
		opt.Autoindex = site.AutoindexError
	}
	switch cfg.Base {
	case "html5":
		opt.Base = site.BaseHTML5
	case "document-order":
		opt.Base = site.BaseDocumentOrder
	}
	if cfg.Tags == "linklint" {
		opt.Tags = scan.Linklint
	}
	for _, m := range cfg.Maps {
		opt.Maps = append(opt.Maps, site.MapRule{From: m.From, To: m.To})
	}
	return opt
}

func checkOptions(cfg *config.Config) check.Options {
	opt := check.Options{
		NoFragments: !cfg.Fragments, Jobs: cfg.Jobs, From: cfg.From, Skip: cfg.Skip, Limit: cfg.Limit, Orphans: cfg.Orphans,
	}
	opt.More = endpointFindings(cfg)
	opt.Ignore = endpointIgnores(cfg)
	switch cfg.ScriptFragments {
	case "error":
		opt.ScriptFragments = check.ScriptError
	case "silent":
		opt.ScriptFragments = check.ScriptSilent
	}
	for _, r := range cfg.Ignores {
		opt.Ignore = append(opt.Ignore, check.Ignore{
			URL: r.URL, Page: r.Page, Fragment: r.Fragment, Code: check.Code(r.Code), Reason: r.Reason, Origin: r.Origin,
		})
	}
	return opt
}
