// Package config reads the configuration: command-line flags, SITELINK_*
// environment variables and the file sitelink.toml.
//
// The struct [Config] is the one definition of what can be configured. The tags
// of its fields name each key, its default, the values it accepts and its help
// text; the file, the variables, the flags, shell completion and the hints in
// error messages are all derived from them. A test compares the struct with
// the manual.
//
// The package opens the configuration file and nothing else. It prints nothing
// and never exits.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/text"
)

// Config holds the checked value of every key.
//
// A field with the tag toml is a key of sitelink.toml, or a table if it is a
// struct or a slice of structs. The other tags are:
//
//	flag     the key also has a flag and a SITELINK_* variable; the tag's value
//	         names the flag's argument in the help
//	rare     ok, if the help leaves the flag out; the manual has it
//	help     the help text of the flag: lower case, no full stop
//	default  the value when the key is not set, in the form of a flag
//	unset    the same for a person, if the default is not a fixed value
//	words    the only values accepted
//	empty    ok, if the empty string is a value
//	min, max the limits of a number, a size or a time
//	kind     file or directory, for the name of one
//	check    the entry of checks that validates each value
type Config struct {
	// File is the configuration file, relative to [Input.Dir], or "" without
	// one. The paths in the other fields are relative to that directory too.
	File string
	// Found is true if File was found, not named. Such a file comes with the
	// checkout, which may be hostile: its paths must stay inside the repository.
	Found bool

	Docroot string `toml:"docroot" kind:"directory" flag:"DIR" unset:"the generator's output directory, else public if it exists, else ." help:"directory to check; it is served as the root of the site"`
	// Generator names the generator of the site, "" for the one that is recognised.
	Generator      string    `toml:"generator" check:"generator"`
	BaseURLs       []string  `toml:"base-url" check:"base-url" flag:"URL" unset:"from the generator's configuration" help:"address at which the docroot is published; links to it count as internal, with http or https"`
	Profile        string    `toml:"profile" check:"profile" flag:"NAME" default:"generic" unset:"detected, else generic" help:"hosting profile, which decides how paths are answered, such as netlify, github-pages or nginx; sitelink profile lists them all; detected from files such as _redirects or CNAME"`
	Index          []string  `toml:"index" check:"file-name" flag:"NAME" unset:"the profile's list" help:"name of a directory's index file; replaces the profile's list, and the first file that exists answers"`
	Autoindex      string    `toml:"autoindex" rare:"ok" words:"list,error" flag:"ANSWER" unset:"the profile's" help:"answer for a directory without an index file: list (a listing, reported as a warning) or error"`
	Base           string    `toml:"base" rare:"ok" words:"html5,document-order" flag:"RULE" default:"html5" help:"how base elements apply: html5 (as in browsers) or document-order (each one applies to what follows it)"`
	Tags           string    `toml:"tags" rare:"ok" words:"modern,linklint" flag:"TABLE" default:"modern" help:"which elements hold links: modern (everything browsers follow today) or linklint (what Linklint follows)"`
	Maps           []MapRule `toml:"map" rare:"ok" flag:"RULE" unset:"none" help:"rewrite link paths: PREFIX removes leading segments, /a=/b replaces /a with /b"`
	PageExtensions []string  `toml:"page-extensions" rare:"ok" check:"extension" flag:"EXT" unset:"html, htm, shtml, xhtml" help:"file name extension of HTML pages, such as php; replaces the default list, and xhtml is parsed as XML"`
	// MaxPageBytes is at most 2 GiB: offsets in a page are kept in 32 bits.
	MaxPageBytes int64 `toml:"max-page-size" rare:"ok" min:"1B" max:"2GiB" flag:"SIZE" default:"1GiB" help:"report pages that are larger than this instead of reading them"`

	Check `toml:"check"`

	// Ignores holds the rules of the file, then those of SITELINK_IGNORE, then
	// those of --ignore: a flag for one run does not bring back what the project
	// has accepted.
	Ignores []Ignore `toml:"ignore" flag:"RULE" unset:"none" help:"accept findings that match RULE: a URL pattern, or fields such as page=blog/**,code=missing-file that must all match"`

	// ScriptFragments says which fragments scripts serve, in addition to what the
	// check finds out.
	ScriptFragments []ScriptFragment `toml:"script-fragments"`

	// Host holds the keys of the table [host] in the order of the file; see
	// [Input.HostKeys].
	Host      []HostSetting `toml:"host"`
	Redirects []Redirect    `toml:"redirect"`
	Sites     []Site        `toml:"site"`
	Hook      Hook          `toml:"hook"`
	Templates Templates     `toml:"templates"`
	Outgoing  Outgoing      `toml:"outgoing"`
	Incoming  Incoming      `toml:"incoming"`
	Fetch     Fetch         `toml:"fetch"`
	External  External      `toml:"external"`

	// Callable are networks that may be connected to, beside those of [fetch]: not a
	// key.
	Callable []netip.Prefix

	// Pages are patterns of the pages to judge, relative to the docroot: not a key.
	Pages []string
	// Server is the address of a running site, with a slash at its end, that is checked in place
	// of a docroot, and Start the page of it that was named, below Server: not keys. Asked are
	// more addresses below Server.
	Server, Start string
	Asked         []string

	places   map[string]string
	withheld []withheldKey
}

// Check is the table [check]: how one run works and reports.
type Check struct {
	Jobs            int      `toml:"jobs" max:"1024" flag:"N" default:"0" help:"number of workers; 0 means one per processor"`
	From            []string `toml:"from" check:"linkset" flag:"LINKSET" unset:"none" help:"check only the pages of LINKSET that links reach from its start: /sub/@ means pages below /sub/, reached from /sub/; @ matches any text, # any text without a slash"`
	Skip            []string `toml:"skip" check:"linkset" flag:"LINKSET" unset:"none" help:"do not check the links on pages of LINKSET; links to these pages are still checked"`
	Limit           int      `toml:"limit" flag:"N" default:"0" help:"check the links of at most N pages; 0 means all"` // LL-23
	Orphans         bool     `toml:"orphans" flag:"" help:"also report files that no page links to, and pages that no chain of links reaches"`
	Fragments       bool     `toml:"fragments" flag:"" default:"true" help:"check fragments and the names of image maps; --fragments=false turns this off"`
	ScriptFragments string   `toml:"script-fragments" rare:"ok" words:"warn,error,silent" flag:"HOW" default:"warn" help:"fragments that a script of the page serves: warn (once per page), error (each one) or silent"`
	FailOn          string   `toml:"fail-on" words:"error,warning,never" flag:"LEVEL" default:"error" help:"exit 1 for findings of this level: error, warning (any finding) or never"`
	Source          string   `toml:"source" rare:"ok" words:"auto,off" flag:"WHEN" default:"auto" help:"report positions in your source files: auto (when the project is found) or off"`
	Formats         []Format `toml:"format" words:"text,json,jsonl,markdown,github,sarif,junit,gitlab,checkstyle,html" flag:"NAME[=FILE]" default:"text" help:"format of the report: text, json, jsonl, markdown, github, sarif, junit, gitlab, checkstyle or html; NAME=FILE writes it to FILE"`
	GroupBy         string   `toml:"group-by" words:"cause,page,target,code,owner" flag:"WHAT" default:"cause" help:"group findings by cause (one entry for all findings with one cause), page, target, code, or owner (from CODEOWNERS), in the formats text and markdown"`
	All             bool     `toml:"all" flag:"" help:"list every cause; without it, the format text lists the worst and counts the rest"`
	Show            string   `toml:"show" words:"findings,all" flag:"WHAT" default:"findings" help:"list findings, or all links (formats text and jsonl)"`
	// Output is "" or "-" for standard output.
	Output          string `toml:"output" kind:"file" flag:"FILE" unset:"-" help:"write the report to FILE, replacing it atomically; - means standard output"`
	Baseline        string `toml:"baseline" kind:"file" flag:"FILE" unset:"none" help:"report only findings that FILE does not accept (see sitelink baseline)"`
	BaselineRef     string `toml:"baseline-ref" rare:"ok" flag:"REF" unset:"none" help:"read the baseline from this git commit, such as origin/main"`
	BaselineDocroot string `toml:"baseline-docroot" rare:"ok" kind:"directory" flag:"DIR" unset:"none" help:"report only findings that DIR, another build of the site, does not have"`
	// Since is a commit, a directory or a file; see [Config.Named].
	Since    string `toml:"since" flag:"WHAT" unset:"the record of the last deploy, if there is one" help:"report addresses and ids that WHAT has and the site does not: a commit, which is built, the directory of an older build, or a record that deploy wrote"`
	Gone     string `toml:"gone" words:"warn,error,off" flag:"HOW" default:"warn" help:"addresses and ids that are gone: warn, error, or off (compare only with --since)"`
	Anchors  string `toml:"anchors" rare:"ok" words:"all,headings" flag:"WHICH" default:"all" help:"ids that count as gone: all, or only those of headings"`
	Log      string `toml:"log" kind:"file" flag:"FILE" unset:"none" help:"count the requests for addresses that are gone in FILE, an access log in common or combined format; - means standard input"`
	Color    string `toml:"color" words:"auto,always,never" flag:"WHEN" default:"auto" help:"use color: auto (on terminals), always or never"`
	Progress string `toml:"progress" rare:"ok" words:"auto,true,false" flag:"WHEN" default:"auto" help:"show progress on standard error: auto (on terminals), true or false"`
}

// Hook is the table [hook]: what "sitelink hook run" does before a push. Only
// the file sets it, because git writes the command line of a hook.
type Hook struct {
	// Build is the shell command that builds the site, "" if the site is
	// committed or its generator builds it.
	Build string `toml:"build"`
	// Branches are patterns of the remote branches to check; empty means all.
	Branches []string `toml:"branches" check:"branch"`
	// Baseline is "remote" if only findings that the remote's commit does not
	// have block a push.
	Baseline string `toml:"baseline" words:"remote,none" default:"remote"`
	// Timeout limits the check, with the build. git has opened its connection before the
	// check starts, and servers close one that is idle for some minutes.
	Timeout time.Duration `toml:"timeout" min:"1ms" max:"24h" default:"15m"`
}

// Templates is the table [templates]: the addresses that pages advertise in
// their heads, and which pages do so. Only the file sets it, so that
// "sitelink inject", the build and "sitelink check" agree.
type Templates struct {
	// Pingback and Webmention are absolute URIs as they are published, or "" for
	// none; see [Input.Endpoint].
	Pingback   string `toml:"pingback" check:"endpoint"`
	Webmention string `toml:"webmention" check:"endpoint"`
	// Pages and Exclude are patterns of page paths in the docroot, without a
	// leading slash. No Pages means all.
	Pages   []string `toml:"pages" check:"page-pattern"`
	Exclude []string `toml:"exclude" check:"page-pattern"`
	// Kinds are the kinds of pages that advertise endpoints: home is the site's
	// first page, page is a page of content, and list is a list of pages such as
	// a section, a tag or the second page of an archive. Error pages and pages
	// that only redirect have no kind and never advertise.
	Kinds []string `toml:"kinds" words:"home,page,list" default:"home,page"`
	// Headers is true if the host sends the endpoints in headers, by a
	// configuration that sitelink does not read.
	Headers bool `toml:"headers"`
}

// Outgoing is the table [outgoing]: which sites are notified of links, and how.
type Outgoing struct {
	// Enabled makes "sitelink notify" send without --send.
	Enabled bool `toml:"enabled"`
	// Ledger is a file, git:REF, or a postgres:// address.
	Ledger string `toml:"ledger" default:".sitelink/ledger.jsonl" flag:"LEDGER" help:"use LEDGER, the record of notices: a file, git:REF or postgres://..."`
	// Pages and Exclude are patterns of page paths in the docroot.
	Pages   []string `toml:"pages" check:"page-pattern"`
	Exclude []string `toml:"exclude" check:"page-pattern"`
	// Allow and Deny are patterns of hosts or whole addresses.
	Allow []string `toml:"allow" check:"target-pattern"`
	Deny  []string `toml:"deny" check:"target-pattern"`
	// Content is a CSS selector, "" for the rules of package outgoing.
	Content string `toml:"content" check:"selector"`
	// Rel holds link types. Links with one of them do not count.
	Rel []string `toml:"rel" default:"nofollow,ugc,sponsored"`
	// Updates says which links are announced again when their page changed.
	Updates string `toml:"updates" words:"announced,all,never" default:"announced"`
	// Protocols are in the order of preference. "link" asks every host whether
	// it supports LINK; hosts in LinkPeers are not asked.
	Protocols []string `toml:"protocols" words:"webmention,pingback,link,websub" default:"webmention,pingback,websub"`
	// LinkPeers are hosts that are known to support LINK and UNLINK.
	LinkPeers []string `toml:"link-peers" check:"peer"`
	// Contact is an address for the User-Agent, "" for the base URL.
	Contact string `toml:"contact"`
	// Pace is the shortest time between two requests to one host.
	Pace time.Duration `toml:"pace" max:"24h" default:"1s" flag:"TIME" help:"wait at least TIME between two requests to one host, such as 500ms"`
	// Live is how long the site may take after a deploy to show its pages.
	Live time.Duration `toml:"live" max:"24h" default:"10m" flag:"TIME" help:"wait at most TIME for a page to be live"`
	// MaxNotices limits the notices that one run may send; 0 means no limit.
	MaxNotices int `toml:"max-notices" default:"200" flag:"N" help:"ask before sending more than N notices; 0 means no limit"`
}

// Incoming is the table [incoming]: the receiver that "sitelink serve" runs.
type Incoming struct {
	// Listen is an address such as 127.0.0.1:8035.
	Listen string `toml:"listen" check:"listen" default:"127.0.0.1:8035" flag:"ADDR" help:"listen on ADDR"`
	// Docroots are those of several sites, in the order of their base URLs.
	Docroots []string `toml:"docroots" check:"not-blank"`
	// Store is a file, or a postgres:// address.
	Store string `toml:"store" default:".sitelink/mentions.db" flag:"STORE" help:"use STORE for mentions: a file or postgres://..."`
	// AllowAddress are networks that pages may be fetched from although they are
	// not public, at any port.
	AllowAddress []netip.Prefix `toml:"allow-address" flag:"CIDR" unset:"none" help:"fetch pages from the network CIDR although it is not public, at any port"`
	// TrustedProxies are networks of proxies that are trusted to set
	// ProxyHeader.
	TrustedProxies []netip.Prefix `toml:"trusted-proxies"`
	ProxyHeader    string         `toml:"proxy-header" words:"X-Forwarded-For,Forwarded" default:"X-Forwarded-For"`
	// Operations is an address for /healthz and /metrics, which no other then has.
	Operations string `toml:"operations" check:"listen"`
	// RateAddress and RateSource limit the notices that one address sends, and
	// those about the pages of one host, per minute; 0 means no limit.
	RateAddress int `toml:"rate-address" default:"60" flag:"N" help:"accept at most N notices per minute from one address; 0 means no limit"`
	RateSource  int `toml:"rate-source" default:"60" flag:"N" help:"accept at most N notices per minute about one other host; 0 means no limit"`
	// Recheck is the time between two looks at the source of a mention.
	Recheck time.Duration `toml:"recheck" min:"1m" max:"87600h" default:"720h" flag:"TIME" help:"look at each source again after TIME"`
	// Retention is how long mentions that are rejected, denied or gone are kept.
	Retention time.Duration `toml:"retention" min:"24h" max:"87600h" default:"2160h"`
	// Closed are patterns of page paths in the docroot that take no notices.
	Closed []string `toml:"closed" check:"page-pattern"`
	// Rules is a file with the rules of moderation, "" for those in the store.
	Rules string `toml:"rules" kind:"file"`
	// Moderation is the address of the web page for decisions, "" for none.
	Moderation string `toml:"moderation" check:"https-url"`
	// MailServer, with its port, sends mails about held mentions from MailFrom to
	// MailTo, and logs in as MailUser.
	MailServer string   `toml:"mail-server" check:"listen"`
	MailFrom   string   `toml:"mail-from" check:"not-blank"`
	MailTo     []string `toml:"mail-to" check:"not-blank"`
	MailUser   string   `toml:"mail-user" check:"not-blank"`
	// Webhook is called when mentions are held.
	Webhook string `toml:"webhook" check:"https-url"`
	// ReportEvery is the least time between two mails, and two calls of the webhook.
	ReportEvery time.Duration `toml:"report-every" min:"1s" max:"744h" default:"15m"`
	// Pages serves the docroot's files too.
	Pages bool `toml:"pages" flag:"" help:"also serve the files of the docroots"`
	// LinkOnly supports LINK only of the methods of the draft.
	LinkOnly bool `toml:"link-only"`
}

// Fetch is the table [fetch]: what requests to other hosts may do.
type Fetch struct {
	// AllowAddress are networks that may be dialled although they are not
	// public.
	AllowAddress []netip.Prefix `toml:"allow-address" flag:"CIDR" unset:"none" help:"allow connections to the network CIDR although it is not public"`
	// Timeout limits one request with its redirects.
	Timeout time.Duration `toml:"timeout" min:"1s" max:"24h" default:"30s"`
	// Proxy uses the proxy that the environment names.
	Proxy bool `toml:"proxy"`
}

// External is the table [external]: how links to other sites are checked, if a flag
// asks for it.
type External struct {
	// StatusCache is a file, relative to the root of the project, git:REF, or a
	// postgres:// address.
	StatusCache string `toml:"status-cache" check:"not-blank" default:".sitelink/status.jsonl" flag:"CACHE" help:"remember other sites in CACHE: a file, git:REF or postgres://..."`
	// PerHost limits the requests to one host at a time.
	PerHost int `toml:"per-host" rare:"ok" min:"1" max:"64" default:"4" flag:"N" help:"send at most N requests to one host at a time"`
	// Pace is the shortest time between two requests to one host.
	Pace time.Duration `toml:"pace" max:"24h" default:"1s" flag:"TIME" help:"wait at least TIME between two requests to one host"`
	// Budget and MaxRequests limit a run; 0 means no limit.
	Budget      time.Duration `toml:"budget" max:"24h" default:"0s" flag:"TIME" help:"stop asking after TIME, such as 2m; 0s means no limit"`
	MaxRequests int           `toml:"max-requests" rare:"ok" default:"0" flag:"N" help:"send at most N requests; 0 means no limit"`
	// After Strikes failures, StrikeInterval apart, a link counts as dead, if its host may
	// only be down.
	Strikes        int           `toml:"strikes" min:"1" max:"100" default:"3" flag:"N" help:"call a link dead after N failures of its host"`
	StrikeInterval time.Duration `toml:"strike-interval" rare:"ok" max:"8760h" default:"24h" flag:"TIME" help:"count failures that are at least TIME apart"`
	// MaxAge is the age up to which a verdict is reused; the default depends on its kind.
	MaxAge time.Duration `toml:"max-age" max:"8760h" unset:"by verdict" flag:"TIME" help:"ask again for what was asked before TIME; 0s asks for everything"`
	// ArchiveAPI is the address of an availability API like the Internet Archive's.
	ArchiveAPI string `toml:"archive-api" check:"not-blank" default:"https://archive.org/wayback/available"`
	// Skip are patterns of hosts or whole addresses that are not asked.
	Skip  []string       `toml:"skip" check:"target-pattern"`
	Hosts []ExternalHost `toml:"host"`
}

// Networks returns the networks that may be connected to although they are not public.
// A configuration that was found comes with the checkout, which must not lead sitelink
// into a private network: there, a flag has to name them.
func (c *Config) Networks() ([]netip.Prefix, error) {
	if n := c.Fetch.AllowAddress; len(n) > 0 && c.Found && !c.Given("fetch.allow-address") {
		return nil, text.Usage(fmt.Sprintf("allow-address in [fetch]: %s is not used, because --config does not name the configuration", n[0]),
			"name the network with --allow-address or the file with --config")
	}
	return append(slices.Clone(c.Fetch.AllowAddress), c.Callable...), nil
}

// Given reports whether a flag or a variable gave a key its value.
func (c *Config) Given(key string) bool {
	place := c.Place(key)
	return place != "" && (c.File == "" || !strings.HasPrefix(place, c.File+":"))
}

// Named reports whether the user gave a key its value, by a flag or a variable, or
// named the configuration file.
func (c *Config) Named(key string) bool { return c.Given(key) || c.File != "" && !c.Found }

// Place returns what set a key that has a flag, by its [Key.ID], for messages:
// "sitelink.toml:3", "SITELINK_PROFILE" or "--profile". It is "" for a key that has
// its default.
func (c *Config) Place(key string) string { return c.places[key] }

// Input describes where the configuration comes from.
type Input struct {
	// Dir is the directory of the run: the search for a file starts there, and
	// paths are relative to it. "" is the working directory.
	Dir string
	// File is the file to read; if empty, Load searches for one.
	File string
	// Getenv returns an environment variable; nil means that there are none.
	// An empty variable counts as unset.
	Getenv func(string) string
	// Flags are the flags that the user gave, in any order. Keys are those beside
	// [Keys] that the command uses: their variables count too.
	Flags []Setting
	Keys  []Key
	// Places names the place of keys in Flags that were not given on the command
	// line, for messages: "pages.txt:3: --limit".
	Places map[string]string
	// Generators, Profiles and Codes are the words that the keys generator, profile and
	// code accept; nil accepts any.
	Generators, Profiles, Codes []string
	// HostKeys are the keys of the table [host].
	HostKeys []HostKey
	// Linkset returns what is wrong with a linkset; nil accepts any.
	Linkset func(text string) error
	// Endpoint returns an address in the form in which it is published, or what
	// is wrong with it; nil accepts any.
	Endpoint func(text string) (string, error)
	// Selector and Peer return what is wrong with a CSS selector and with an
	// entry of link-peers; nil accepts any.
	Selector, Peer func(text string) error
}

// Setting is one key, by its [Key.ID], with the texts given for it: one, or several
// for a list.
type Setting struct {
	Key    string
	Values []string
}

// Load reads the file, the environment and the flags; all of them are optional.
// A flag overrides a variable, a variable overrides the file.
//
// Every fault of the configuration is an [*Error]; Load joins them, up to a
// limit, into the error that it returns. An error of another type means that
// the file could not be read.
func Load(input Input) (*Config, error) {
	l := newLoader(input)
	if err := l.file(); err != nil {
		return nil, err
	}
	inFile := l.cfg.Place("base-url")
	if input.Getenv != nil {
		for _, k := range append(Keys(), input.Keys...) {
			if text := input.Getenv(k.Env()); text != "" {
				l.set(k, l.field(k), k.split(text), &Error{Name: k.Env()})
			}
		}
	}
	for _, s := range input.Flags {
		k, ok := Lookup(s.Key)
		if !ok {
			panic(fmt.Sprintf("flag --%s has no key", s.Key)) // the command made its flags from Keys
		}
		l.set(k, l.field(k), s.Values, &Error{Name: cmp.Or(input.Places[s.Key], "--"+k.Name)})
	}
	l.dropSites(inFile)
	l.confine()
	if len(l.errs) > 0 {
		return nil, errors.Join(l.errs...)
	}
	l.cfg.implyProfile()
	return l.cfg, nil
}

// maxErrors limits the list of faults: more than 20 do not help.
const maxErrors = 20

// maxMessageBytes limits a message that quotes what the user wrote.
const maxMessageBytes = 300

// loader collects the configuration and the faults of one Load.
type loader struct {
	input Input
	cfg   *Config
	errs  []error
	// paths are the keys with paths whose value comes from the file.
	paths map[string]confinedPath
	// patternBytes is the size of all patterns so far, see addPattern.
	patternBytes int
}

// newLoader returns a loader of a configuration with the defaults.
func newLoader(input Input) *loader {
	l := &loader{cfg: &Config{places: map[string]string{}}, paths: map[string]confinedPath{}}
	l.defaults(root, reflect.ValueOf(l.cfg).Elem())
	l.input = input // not earlier: defaults need no validation
	return l
}

func (l *loader) defaults(t *table, v reflect.Value) {
	for _, k := range t.keys {
		if k.Kind == subtable {
			l.defaults(k.table, v.Field(k.index))
		} else if text, ok := k.tag.Lookup("default"); ok {
			if err := l.assign(k, v.Field(k.index), k.split(text), ""); err != nil {
				panic("the default of " + k.Name + ": " + err.Error()) // every test loads the defaults
			}
		}
	}
}

// field returns the field of a key at the top level or in a table of it.
func (l *loader) field(k Key) reflect.Value {
	v := reflect.ValueOf(l.cfg).Elem()
	if k.Table != "" {
		t, _ := root.key(k.Table)
		v = v.Field(t.index)
	}
	return v.Field(k.index)
}

func (l *loader) fail(e *Error) {
	if len(e.Msg) > maxMessageBytes {
		e.Msg = strings.ToValidUTF8(e.Msg[:maxMessageBytes], "") + "..."
	}
	if len(l.errs) < maxErrors {
		l.errs = append(l.errs, e)
	}
}

// set validates the texts given for a key and stores them in field. at is the
// place of the key. It reports whether the texts are valid.
func (l *loader) set(k Key, field reflect.Value, texts []string, at *Error) bool {
	withheld := at.Line > 0 && l.cfg.Found && foundKeys[k.path()] == named
	if withheld {
		field = reflect.New(field.Type()).Elem() // its faults are reported all the same
		l.cfg.withheld = append(l.cfg.withheld, withheldKey{k.Table, k.Name, at.place()})
	}
	if err := l.assign(k, field, texts, at.place()); err != nil {
		e := *at
		e.Msg = err.Error()
		e.Hint, _ = text.Hint(err)
		if e.Line > 0 {
			e.Msg = k.Name + ": " + e.Msg // a flag or variable is named by its place
		}
		l.fail(&e)
		return false
	}
	if k.HasFlag {
		l.cfg.places[k.ID()] = at.place()
	}
	if at.Line == 0 { // a flag or a variable comes before what the file cannot set
		l.cfg.withheld = slices.DeleteFunc(l.cfg.withheld, func(w withheldKey) bool { return w.table == k.Table && w.name == k.Name })
	}
	delete(l.paths, k.path())
	if at.Line > 0 && foundKeys[k.path()] == inside {
		l.paths[k.path()] = confinedPath{k, field, at}
	}
	return true
}

// dropSites lets an address of the whole docroot, given for one run, override
// the [[site]] tables. inFile is the place of base-url in the file, "" if it is
// not there.
func (l *loader) dropSites(inFile string) {
	if len(l.cfg.Sites) == 0 || l.cfg.Place("base-url") == "" {
		return
	}
	if inFile != "" {
		l.fail(&Error{Name: inFile, Msg: "base-url is the address of the whole docroot and cannot be combined with [[site]] tables",
			Hint: `remove it, and write a [[site]] table with root = "" for the rest of the docroot`})
	}
	l.cfg.Sites = nil
}

// implyProfile makes the linklint profile read pages as Linklint does. Keys
// that the user set keep their values. The profile itself brings the list of
// index files.
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
