// Package host works out how a static site's host answers a request: with which
// file of the docroot, with which status, after which redirects. It combines a
// [Profile], which describes how a kind of host behaves, the site's redirect
// rules, and the names in the docroot. It reads rule files and home pages, and
// no other files.
package host

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/weburl"
)

// Options describe a host. The zero value is a site at the root of an
// unknown host that follows the generic profile.
type Options struct {
	// BaseURLs are the addresses at which the docroot is published, such as
	// https://example.org/sub/. Each is absolute, http or https. The path of the
	// first one is the base path.
	BaseURLs []string
	// BasePath is the base path, such as /sub/, of a site without BaseURLs and
	// Roots.
	BasePath string
	// Roots replace BaseURLs for directories that are published at addresses of
	// their own.
	Roots []Root
	// Profile says how the host answers; the zero value is [Generic].
	Profile Profile
	// ProfileFrom names the file that decided the profile; empty if the user
	// chose the profile.
	ProfileFrom string
	// Form is how the site writes the addresses of its pages; "" if that is not known.
	Form weburl.Form
	// Index, when not empty, replaces the index files of the profile (LL-80).
	Index []string
	// Autoindex says what answers a directory without index file.
	Autoindex Autoindex
	// Maps replace the beginnings of paths (LL-90, LL-91).
	Maps []MapRule
	// Rules are redirect rules that apply before those of the rule files.
	Rules []*redirect.File
	// Project is the directory of rule files outside the docroot, such as
	// netlify.toml; empty for none. Show, if not nil, names a file of it in answers, from
	// its path as seen from the docroot.
	Project string
	Show    func(path string) string
	// Repository is the address of the docroot on a [Forge], such as
	// https://github.com/me/site, or "" if it is not known. Branches are the branches that
	// the files of the docroot belong to. Tracked returns the paths that the forge has, of
	// files and their directories; nil for all.
	Repository string
	Branches   []string
	Tracked    func(ctx context.Context) (map[string]bool, error)
	// Input is the path of a file that need not exist, "" for none.
	Input string
	// Crawled, if not nil, has the answers of a server; there is no docroot then.
	Crawled *Crawled
	// NoRuleFiles: rule files are not read.
	NoRuleFiles bool
	// Jobs is the number of workers; 0 means one per processor.
	Jobs int
}

// Host answers requests for the files of a docroot. It is immutable and safe
// for concurrent use, except that package site sets flags of its tree while it
// loads.
type Host struct {
	root    string // as given
	real    string // absolute
	tree    *docroot.Tree
	opt     Options
	profile Profile
	index   []string
	// foldIndex: names of index files match in any letter case (LL-81).
	foldIndex bool
	autoindex Autoindex
	maps      []MapRule
	addresses
	rules     *redirect.Set
	ruleFiles []*redirect.File
	ruleReads []docroot.FileFault // rule files that cannot be read
	// ruleFaults returns what is wrong with the rules, computed once.
	ruleFaults func() []redirect.Fault
	// local holds the settings of .htaccess files, by directory.
	local  map[docroot.NodeID]*localSettings
	faults []docroot.FileFault
	// indexOf holds, by node, the index file of a directory, or NoNode if only
	// a full look-up finds the answer.
	indexOf []docroot.NodeID
	// movedTo holds, by node, the path of each page that the host moves to
	// another directory; nil if it moves none.
	movedTo map[docroot.NodeID]string
	// severalPages: the site has more than one page, so it is no single-page application.
	severalPages bool
	// permissions: permission bits say what a server may read.
	permissions bool
	// deep is where the last long path led, see [request.walk].
	deep *atomic.Pointer[deepWalk]
}

// Load lists the docroot and reads the rule files of its host. The error says
// that the docroot cannot be read or that an option is invalid, or is the cause
// of ctx.
func Load(ctx context.Context, root string, opt Options) (*Host, error) {
	s := &Host{root: root, opt: opt, deep: new(atomic.Pointer[deepWalk])}
	if err := s.configure(); err != nil {
		return nil, err
	}
	if opt.Crawled != nil {
		return opt.Crawled.load(s)
	}
	parsed := s.parseRules()
	var tracked map[string]bool
	if opt.Tracked != nil {
		var err error
		if tracked, err = opt.Tracked(ctx); err != nil {
			return nil, err
		}
	}
	w, err := docroot.List(ctx, root, opt.Jobs, tracked, opt.Input)
	if err != nil {
		return nil, err
	}
	s.tree, s.real, s.faults, s.permissions = w.Tree, w.Real, w.Faults, w.Permissions && s.profile.Forge == nil
	s.addServers(s.findServers())
	s.readRules(parsed())
	s.findIndexes()
	s.markAddresses()
	s.markRuled()
	s.checkRules()
	return s, nil
}

// configure resolves the options.
func (h *Host) configure() error {
	h.profile = h.opt.Profile
	if h.profile.Name == "" {
		h.profile = Generic
	}
	h.index, h.foldIndex = h.profile.Index, h.profile.FoldIndex
	if len(h.opt.Index) > 0 {
		h.index = h.opt.Index
	}
	if h.foldIndex {
		for _, name := range h.index {
			if name != strings.ToLower(name) {
				h.foldIndex = false
			}
		}
	}
	if h.autoindex = h.opt.Autoindex; h.autoindex == AutoindexProfile {
		h.autoindex = h.profile.Autoindex
	}
	// mapped needs paths with a slash in front and none at the end, the longest first.
	out := make([]MapRule, 0, len(h.opt.Maps))
	clean := func(p string) string { return "/" + strings.Trim(p, "/") }
	for _, m := range h.opt.Maps {
		m = MapRule{clean(m.From), clean(m.To)}
		if m.To == "/" {
			m.To = ""
		}
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b MapRule) int { return cmp.Compare(len(b.From), len(a.From)) })
	h.maps = out
	if h.profile.Forge != nil {
		return h.setForge()
	}
	return h.setBases(&h.opt)
}

// WithTree returns the same host for another version of its tree, which must
// hold the same names.
func (h *Host) WithTree(t *docroot.Tree) *Host {
	other := *h
	other.tree = t
	return &other
}

// SameServers reports whether hugo server serves the docroot at the same
// addresses as when h was loaded.
func (h *Host) SameServers() bool {
	return slices.Equal(h.findServers(), h.servers)
}

// Root returns the docroot as passed to Load.
func (h *Host) Root() string { return h.root }

// Profile returns the profile in use.
func (h *Host) Profile() Profile { return h.profile }

// ProfileFrom names the file that decided the profile; empty if the user chose
// it.
func (h *Host) ProfileFrom() string { return h.opt.ProfileFrom }

// Tree returns the names of the docroot.
func (h *Host) Tree() *docroot.Tree { return h.tree }

// Files returns the number of files.
func (h *Host) Files() int { return h.tree.Files }

// IndexNames returns the names of index files, in the order in which the host
// tries them.
func (h *Host) IndexNames() []string { return h.index }

// Answer returns the host's answer for a path below the base path. path is
// decoded and begins with a slash.
func (h *Host) Answer(path string) Answer {
	return h.AnswerRequest(escapePath(path), "")
}

// Autoindex says what a directory without index file answers.
type Autoindex uint8

const (
	// AutoindexProfile leaves it to the profile.
	AutoindexProfile Autoindex = iota
	// AutoindexList: the host sends a listing. The link is a warning, and all
	// files of the directory count as linked (LL-78, LL-79).
	AutoindexList
	// AutoindexError: the host refuses; the link is an error.
	AutoindexError
)

// BaseRule selects how <base href> is read.
type BaseRule uint8

const (
	// BaseProfile leaves it to the profile; html5 if the profile does not say.
	BaseProfile BaseRule = iota
	// BaseHTML5: the first base element with href applies to the whole page, as
	// in browsers.
	BaseHTML5
	// BaseDocumentOrder: each base element applies to what follows it (LL-35).
	BaseDocumentOrder
)

// MapRule is one --map option. In a path that begins with the segments of From,
// these are replaced by To, or removed if To is empty.
type MapRule struct {
	From, To string
}

// Real returns the absolute path of the docroot, with symbolic links resolved.
func (h *Host) Real() string { return h.real }

// Permissions reports whether permission bits say what the host may read.
func (h *Host) Permissions() bool { return h.permissions }

// ListsDirectories reports whether the host lists directories without index
// file.
func (h *Host) ListsDirectories() bool { return h.autoindex == AutoindexList }

// IndexOf returns the index file of a directory. It returns NoNode if the
// directory has none, or if only a full look-up finds the answer.
func (h *Host) IndexOf(dir docroot.NodeID) docroot.NodeID { return h.indexOf[dir] }

// Charset returns the encoding that the host's Content-Type header gives for
// HTML and CSS; empty if it gives none.
func (h *Host) Charset() string { return h.profile.Charset }

// Faults returns the directories and rule files that cannot be read.
func (h *Host) Faults() []docroot.FileFault { return h.faults }

// As returns the site at a host of another profile, which reads its own rule files. The docroot
// is listed again.
func (h *Host) As(ctx context.Context, p Profile) (*Host, error) {
	opt := h.opt
	opt.Profile, opt.ProfileFrom = p, ""
	return Load(ctx, h.root, opt)
}
