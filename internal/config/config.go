// Package config finds out what the user wants: command-line flags, then
// SITELINK_* variables, then sitelink.toml, then defaults.
//
// File names and texts enter, a [Config] of checked values leaves. One table,
// [Keys], defines every key: its flag, its variable, its place in the file,
// its values and its help. The package opens the configuration file and
// nothing else, prints nothing and never exits. docs/reference/configuration.md is its
// manual, held to the table by a test.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config holds the value of every key, checked. Enumerations stay the words
// that the user writes; the command turns them into the options of a package.
type Config struct {
	// File is the file that was read, relative to the working directory; ""
	// when there is none.
	File string

	// Docroot is "" when the user names none.
	Docroot  string
	BaseURLs []string
	Profile  string
	// Index is empty for the profile's own list.
	Index []string
	// Autoindex is "" for the profile's own answer.
	Autoindex string
	Base      string
	Tags      string
	Maps      []MapRule
	// DefaultCharset is "" for the profile's own.
	DefaultCharset string
	// PageExtensions is empty for the default list.
	PageExtensions []string
	MaxPageBytes   int64

	// Jobs is 0 for one worker per processor.
	Jobs int
	// From and Skip are linksets; Limit is 0 for no limit.
	From, Skip      []string
	Limit           int
	Orphans         bool
	Fragments       bool
	ScriptFragments string
	FailOn          string
	// Source is "auto" or "off".
	Source string
	// Formats are the reports to write, at least one.
	Formats []Format
	GroupBy string
	Show    string
	// Output is "" or "-" for standard output.
	Output   string
	Color    string
	Progress string
	// Baseline, BaselineRef and BaselineDocroot are "" when the user names none.
	Baseline        string
	BaselineRef     string
	BaselineDocroot string

	// Ignores are the rules of the file, then those of SITELINK_IGNORE, then
	// those of --ignore.
	Ignores []Ignore

	// Host are the keys of the table [host], in the order of the file.
	Host []HostSetting
	// Redirects are the [[redirect]] tables.
	Redirects []Redirect
	// Sites are the [[site]] tables.
	Sites []Site
	// Hook is the table [hook].
	Hook Hook
	// Templates is the table [templates].
	Templates Templates
	// Outgoing and Fetch are the tables [outgoing] and [fetch].
	Outgoing Outgoing
	Fetch    Fetch

	places map[string]string
}

// MapRule is one value of map: a leading From becomes To, or goes when To is
// empty. Both begin with a slash.
type MapRule struct {
	From, To string
}

// Place tells who set a key, for messages: "sitelink.toml:3",
// "SITELINK_PROFILE", "--profile"; "" when it has its default.
func (c *Config) Place(key string) string { return c.places[key] }

// Request says where configuration comes from.
type Request struct {
	// File is read instead of searching for one, when not empty.
	File string
	// Getenv reads a variable of the environment; nil means there is none.
	// An empty variable counts as unset.
	Getenv func(string) string
	// Flags are the flags that the user gave, in any order.
	Flags []Setting
	// Places name keys of Flags in messages that stand elsewhere than on the
	// command line: "pages.txt:3: --limit".
	Places map[string]string
	// Profiles and Codes are the words that the keys profile and code accept.
	Profiles, Codes []string
	// HostKeys are the keys of the table [host].
	HostKeys []HostKey
	// Linkset says what is wrong with a linkset; nil accepts any.
	Linkset func(text string) error
	// Endpoint returns an address as it is published, or what is wrong with
	// it; nil takes any as it is.
	Endpoint func(text string) (string, error)
	// Selector says what is wrong with a CSS selector, Peer with an entry of
	// link-peers; nil accepts any.
	Selector, Peer func(text string) error
}

// Setting is one key with the texts given for it: one, or for a list several.
type Setting struct {
	Key    string
	Values []string
}

// Load reads the file, the environment and the flags. It needs none of them.
//
// Every fault of the configuration is an [*Error]; all of them, up to a limit,
// are joined into the error that is returned. An error of another type means
// that the file could not be read.
func Load(req Request) (*Config, error) {
	l := loader{req: req, cfg: defaults()}
	if err := l.file(); err != nil {
		return nil, err
	}
	inFile := l.cfg.Place("base-url")
	l.environment()
	l.flags()
	l.sites(inFile)
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	l.cfg.implyProfile()
	return l.cfg, nil
}

// maxErrors bounds the list of faults: who sees 20 of them reads the manual.
const maxErrors = 20

// maxMessageBytes bounds a message that quotes what the user wrote.
const maxMessageBytes = 300

// loader carries the faults of one Load.
type loader struct {
	req  Request
	cfg  *Config
	errs []error
}

func (l *loader) fail(e *Error) {
	if len(e.Msg) > maxMessageBytes {
		e.Msg = strings.ToValidUTF8(e.Msg[:maxMessageBytes], "") + "..."
	}
	if len(l.errs) < maxErrors {
		l.errs = append(l.errs, e)
	}
}

func defaults() *Config {
	c := &Config{Fragments: true, MaxPageBytes: 1 << 30, places: map[string]string{}}
	c.Profile, c.Base, c.Tags = "generic", "html5", "modern"
	c.ScriptFragments, c.FailOn, c.GroupBy, c.Show = "warn", "error", "page", "findings"
	c.Formats = []Format{{Name: "text"}}
	c.Color, c.Progress, c.Source = "auto", "auto", "auto"
	c.Templates.Kinds = []string{"home", "page"}
	c.Outgoing = Outgoing{
		Ledger: ".sitelink/ledger.jsonl", Rel: []string{"nofollow", "ugc", "sponsored"},
		Protocols: slices.Clone(DefaultProtocols), Pace: time.Second, Live: 10 * time.Minute, Deadline: time.Hour, MaxNotices: 200,
	}
	c.Fetch.Timeout = 30 * time.Second
	return c
}

// implyProfile gives the linklint profile the readings that Linklint has. What
// the user says explicitly stands. Its list of index files comes with the
// profile itself.
func (c *Config) implyProfile() {
	if c.Profile != "linklint" {
		return
	}
	imply := func(key string, field *string, value string) {
		if c.places[key] == "" {
			*field = value
		}
	}
	imply("tags", &c.Tags, "linklint")
	imply("base", &c.Base, "document-order")
	imply("autoindex", &c.Autoindex, "list")
}

func (l *loader) environment() {
	if l.req.Getenv == nil {
		return
	}
	for _, k := range keys {
		if text := l.req.Getenv(k.Env()); text != "" {
			l.set(k, k.split(text), &Error{Name: k.Env()})
		}
	}
}

func (l *loader) flags() {
	for _, s := range l.req.Flags {
		k, ok := Lookup(s.Key)
		if !ok {
			panic(fmt.Sprintf("flag --%s has no key", s.Key)) // the command made its flags from Keys
		}
		l.set(k, s.Values, &Error{Name: cmp.Or(l.req.Places[s.Key], "--"+s.Key)})
	}
}

// set gives k its values; at says where they stand and becomes the fault when
// they are wrong.
func (l *loader) set(k Key, values []string, at *Error) {
	if err := k.apply(l, values, at.place()); err != nil {
		e := *at
		e.Msg, e.Hint = err.Error(), hintOf(err)
		if e.Line > 0 {
			e.Msg = k.Name + ": " + e.Msg // a flag or variable is named by its place
		}
		l.fail(&e)
		return
	}
	l.cfg.places[k.Name] = at.place()
}
