package host

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxRuleBytes is the largest size of a rule file. Netlify and Cloudflare
// refuse far smaller ones.
const maxRuleBytes = 16 << 20

// parseRules starts reading the rule files with known names, those at the top
// of the docroot and those of the project, while the docroot is listed. The
// function it returns waits for them. With 10,000 rules this saves a tenth of
// the time of a site of 10,000 pages.
func (h *Host) parseRules() (parsed func() []*redirect.File) {
	result := make(chan []*redirect.File, 1)
	base, roots := h.BasePath(), h.bases[1:] // addServers changes the bases
	go func() {
		var files []*redirect.File
		if !h.opt.NoRuleFiles {
			files = h.topFiles(base, roots)
		}
		result <- files
	}()
	return func() []*redirect.File { return <-result }
}

// readRules collects the rules of the host: those from the options, those
// parsed, and those of directories. A file that cannot be read is a fault of
// the docroot.
func (h *Host) readRules(parsed []*redirect.File) {
	files := make([]*redirect.File, 0, len(h.opt.Rules)+len(parsed))
	for _, f := range h.opt.Rules {
		files = append(files, f.Below(h.BasePath(), ""))
	}
	files = append(files, parsed...)
	for _, r := range rulesOf(h.profile.Rules) {
		if r.Anywhere && !h.opt.NoRuleFiles {
			files = append(files, h.directoryFiles(&r)...)
		}
	}
	h.faults = append(h.faults, h.ruleReads...)
	h.ruleFiles = files
	// Settings for the whole site apply to the profile, those of .htaccess files to
	// directories.
	for _, f := range files {
		set := &f.Settings
		h.profile = h.profile.WithURLs(set.CleanURLs, set.TrailingSlash)
		if set.Plain {
			h.index, h.profile.Page, h.profile.PageFile, h.profile.PageSlash, h.profile.IndexFile, h.profile.IndexName = nil, Missing, Serve, Missing, Serve, Missing
		}
		h.profile.Fallback = cmp.Or(set.Fallback, h.profile.Fallback)
		for _, pattern := range set.Ignore {
			if name, ok := ignoredName(pattern); ok {
				h.profile.Deny = append(h.profile.Deny[:len(h.profile.Deny):len(h.profile.Deny)], name)
				h.profile.Denied = 404
			}
		}
		if set.Index == nil && set.Listing == nil && set.DirectorySlash == nil {
			continue
		}
		dir, _ := h.belowBase(set.Dir)
		id, _ := h.Lookup(dir) // of the file
		if h.local == nil {
			h.local = map[docroot.NodeID]*localSettings{}
		}
		h.local[id] = &localSettings{set.Index, set.Listing, set.DirectorySlash}
	}
	page := func(n docroot.Node) bool { return bytes.HasSuffix(h.tree.NameOf(&n), []byte(".html")) }
	i := slices.IndexFunc(h.tree.Nodes, page)
	h.severalPages = i >= 0 && slices.ContainsFunc(h.tree.Nodes[i+1:], page)
	if set := h.newRules(); set.Len() > 0 {
		h.rules = set
	}
}

// newRules joins the rules of all files. Absolute destinations on the hosts of roots are
// on the site.
func (h *Host) newRules() *redirect.Set {
	opt := h.address()
	opt.Roots, opt.Show = map[string]string{}, h.shown
	if h.Rooted() {
		for _, b := range h.bases[1:] {
			if above, ok := b.above(); ok {
				opt.Roots[b.host] = above
			}
		}
	}
	return redirect.New(opt, h.ruleFiles...)
}

// checkRules starts checking the rules while the pages are read. The check
// needs what the files answer without the rules.
func (h *Host) checkRules() {
	h.ruleFaults = sync.OnceValue(func() []redirect.Fault {
		set := h.rules
		if set == nil {
			set = h.newRules()
		}
		return set.Check(h.filesAnswer)
	})
	if h.rules != nil {
		go h.ruleFaults()
	}
}

// filesAnswer reports whether the files answer a path of the host, ignoring the rules.
// Another site may answer what is not below the base path.
func (h *Host) filesAnswer(path string) bool {
	path, own := h.belowBase(path)
	if !own {
		return true
	}
	q := request{h: h, p: &h.profile}
	a := q.follow(path, "")
	return a.State.Answers() || a.State == StateBehindSymlink
}

// address returns the address of the site for its rules, empty if not known.
func (h *Host) address() redirect.Options {
	if h.bases[0].unknown() {
		return redirect.Options{}
	}
	return redirect.Options{Scheme: h.bases[0].scheme, Host: h.bases[0].host}
}

// topFiles reads the rule files in the order in which the host applies them.
func (h *Host) topFiles(base string, roots []baseURL) (files []*redirect.File) {
	// Directories with hosts of their own are deployed one by one, unless there are rules
	// for all of the docroot, such as those of Netlify that send each host to its directory.
	var ofRoots []*redirect.File
	defer func() {
		if !slices.ContainsFunc(files, func(f *redirect.File) bool { return len(f.Rules) > 0 }) {
			files = append(files, ofRoots...)
		}
	}()
	take := func(f *redirect.File, r *RuleFile) {
		switch {
		case f == nil:
		case r.Based:
			files = append(files, f)
		default:
			files = append(files, f.Below(base, ""))
		}
	}
	inDocroot := func(r *RuleFile) {
		take(h.ruleFile(h.root, r.Name, r.Name, "/", r), r)
		for _, b := range roots {
			if b.root == "" || b.path != "" {
				continue // not the top of its host
			}
			if f := h.ruleFile(filepath.Join(h.root, b.root), r.Name, b.root[1:]+"/"+r.Name, "/", r); f != nil {
				ofRoots = append(ofRoots, f.Below(b.root, b.origin()))
			}
		}
	}
	for _, r := range rulesOf(h.profile.Rules) {
		switch full := filepath.Join(h.opt.Project, r.Name); {
		case r.Anywhere: // directoryFiles reads it
			continue
		case r.InProject && h.opt.Project != "":
			if f := h.ruleFile(h.opt.Project, r.Name, h.projectName(full, r.Name), "/", &r); f != nil {
				take(f, &r)
				continue
			}
		}
		inDocroot(&r)
	}
	return files
}

// ruleFile reads a file in a directory, without leaving it; nil if the file
// does not exist. shown is its name in reports, at its directory as a URL path.
func (h *Host) ruleFile(dir, name, shown, at string, r *RuleFile) *redirect.File {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil // listing the docroot reports this
	}
	defer root.Close()
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil // opening a pipe would block
	}
	data, _, err := docroot.ReadRoot(root, name, nil, maxRuleBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		h.ruleReads = append(h.ruleReads, docroot.FileFault{Path: shown, Err: system.Cause(err)})
		return nil
	}
	return r.Read(at, shown, data)
}

// directoryFiles reads the rule files of all directories.
func (h *Host) directoryFiles(r *RuleFile) (files []*redirect.File) {
	for id := range h.tree.Nodes {
		n := &h.tree.Nodes[id]
		if n.Kind != docroot.KindFile || string(h.tree.NameOf(n)) != r.Name {
			continue
		}
		at := "/" + h.tree.Path(n.Parent)
		above, origin := "", ""
		if b := h.baseOf(at); h.Rooted() {
			if dir, ok := b.above(); ok {
				above, origin = dir, b.origin()
			}
		}
		if f := h.ruleFile(h.real, h.tree.Path(n.Real), h.tree.Path(docroot.NodeID(id)), decodeLenient(h.BasePath())+at[len(above):], r); f != nil {
			files = append(files, f.Below(above, origin))
		}
	}
	return files
}

// projectName returns the path of a file of the project relative to the
// docroot, the form in which reports name files.
func (h *Host) projectName(full, name string) string {
	project, _ := filepath.Abs(full)
	docroot, _ := filepath.Abs(h.root)
	rel, err := filepath.Rel(docroot, project)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// Rules returns the redirect rules of the host, nil if there are none.
func (h *Host) Rules() *redirect.Set { return h.rules }

// Headers returns the headers that the rules of the host send, in the order of the rules.
func (h *Host) Headers() (headers []redirect.HeaderRule) {
	for _, f := range h.ruleFiles {
		headers = append(headers, f.Headers...)
	}
	return headers
}

// RuleFaults returns what is wrong with the redirect rules, sorted by file and
// line.
func (h *Host) RuleFaults() []redirect.Fault { return h.ruleFaults() }

// localSettings are the settings of a .htaccess file, which apply to its
// directory and all below.
type localSettings struct {
	index   []string
	listing *bool
	slash   *bool
}

// ignoredName turns Firebase's patterns for files that are not deployed into
// names, if they mean that: "firebase.json", "**/.*", "**/node_modules/**".
func ignoredName(pattern string) (name string, ok bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(pattern, "**/"), "/**")
	return name, name != "" && !strings.Contains(name, "/") && !strings.Contains(name, "**")
}

// indexNames returns the names of index files for a directory.
func (q *request) indexNames(dir docroot.NodeID) []string {
	if l := q.h.localOf(dir, func(l *localSettings) bool { return l.index != nil }); l != nil {
		return l.index
	}
	return q.h.index
}

// listsDirectory reports whether the host lists a directory without index file.
func (q *request) listsDirectory(dir docroot.NodeID) bool {
	if l := q.h.localOf(dir, func(l *localSettings) bool { return l.listing != nil }); l != nil {
		return *l.listing
	}
	return q.h.autoindex == AutoindexList
}

// withoutSlash returns what happens to a request for a directory without its
// slash. With DirectorySlash Off, Apache does not look for the index file: it
// lists the directory or refuses.
func (q *request) withoutSlash(dir docroot.NodeID) Way {
	if l := q.h.localOf(dir, func(l *localSettings) bool { return l.slash != nil }); l != nil && !*l.slash {
		return Refuse
	}
	return q.p.Directory
}

// localOf returns the nearest settings, from the directory upwards, that says
// accepts.
func (h *Host) localOf(dir docroot.NodeID, says func(*localSettings) bool) *localSettings {
	if h.local == nil {
		return nil
	}
	for at := dir; at != docroot.NoNode; at = h.tree.Nodes[at].Parent {
		if l := h.local[at]; l != nil && says(l) {
			return l
		}
	}
	return nil
}

// maxRewrites is how often one request can be rewritten: Apache's limit.
const maxRewrites = 10

// rule applies the redirect rules of the host. ok is false if none of them
// decides. A conditional rule decides only if nothing else answers.
func (q *request) rule(path, query string, stage redirect.Stage, rewrites int) (a Answer, ok bool) {
	at := q.h.address()
	req := redirect.Request{Scheme: at.Scheme, Host: at.Host, Path: q.h.BasePath() + path, Query: strings.TrimPrefix(query, "?"), Stage: stage, Entry: q.entry}
	if rewrites == 0 {
		q.original = req.Path + query
	} else {
		req.Original = q.original
	}
	hit, ok := q.rules.Match(req)
	var maybe *redirect.Rule
	for ok && hit.Rule.Conditional {
		if maybe == nil {
			maybe = hit.Rule
		}
		hit, ok = q.rules.Next(req, hit)
	}
	if !ok {
		if maybe == nil || stage == redirect.BeforeFiles && !q.missingAt(path, query) {
			return Answer{}, false
		}
		q.step(q.h.origin(maybe), "applies only under conditions: ", strings.Join(maybe.Conditions, ", "))
		return Answer{State: StateConditional, Node: docroot.NoNode, Note: q.h.origin(maybe)}, true
	}
	a = q.apply(hit, path, query, rewrites)
	if maybe != nil && isMissing(&a) && a.location == "" {
		return Answer{State: StateConditional, Node: docroot.NoNode, Note: q.h.origin(maybe)}, true
	}
	return a, true
}

// missingAt reports whether no file answers.
func (q *request) missingAt(path, query string) bool {
	quiet := request{h: q.h, p: q.p}
	a := quiet.fromFiles(path, query)
	return a.location == "" && isMissing(&a)
}

// apply answers by a matching rule.
func (q *request) apply(hit redirect.Hit, path, query string, rewrites int) Answer {
	r := hit.Rule
	switch r.Kind {
	case redirect.Redirect:
		to := q.ownPath(hit.To, path)
		q.step(q.h.origin(r), fmt.Sprintf("redirects (%d) to %s", r.Status, q.h.onHost(to)))
		return Answer{State: StateViaRedirect, Node: docroot.NoNode, Note: q.h.origin(r), location: to,
			Temporary: r.Status == http.StatusFound || r.Status == http.StatusSeeOther || r.Status == http.StatusTemporaryRedirect}
	case redirect.Proxy:
		q.step(q.h.origin(r), "forwards the request to another server or a program: ", hit.To)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: q.h.origin(r)}
	case redirect.Rewrite:
		return q.rewrite(r, hit.To, path+query, rewrites)
	}
	q.step(q.h.origin(r), fmt.Sprintf("answers with status %d", r.Status))
	if r.Status < http.StatusBadRequest {
		return Answer{State: StateProxied, Node: docroot.NoNode, Status: r.Status, Note: q.h.origin(r)}
	}
	return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: r.Status, Note: q.h.origin(r)}
}

// rewrite answers from another path, without a redirect.
func (q *request) rewrite(r *redirect.Rule, to, from string, rewrites int) Answer {
	path, query := cutQuery(from)
	if len(to) > redirect.MaxAddress {
		return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusInternalServerError, Note: tooLong(q.h.origin(r))}
	}
	to = q.ownPath(to, path)
	if !strings.HasPrefix(to, "/") {
		q.step(q.h.origin(r), "forwards the request to another server: ", to)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: q.h.origin(r)}
	}
	q.step(q.h.origin(r), "serves ", q.h.onHost(to), " instead, without a redirect")
	toPath, toQuery := cutQuery(to)
	if r.Again && toPath != path {
		if rewrites == maxRewrites {
			return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusInternalServerError, Note: q.h.origin(r)}
		}
		if a, ok := q.rule(toPath, toQuery, redirect.BeforeFiles, rewrites+1); ok {
			return a
		}
	}
	if toQuery == "" {
		toQuery = query // if the host redirects from there
	}
	a := q.fromFiles(toPath, toQuery)
	if q.p.Rules == RulesFirebase {
		// The destination is the name of a file, not an address.
		if id, ok := q.h.Lookup(decodeLenient(toPath)); !ok || q.h.tree.Nodes[id].Kind != docroot.KindFile {
			a = Answer{State: StateMissingFile, Node: docroot.NoNode, Status: http.StatusNotFound}
		} else if a.location != "" {
			a = q.file(id, false)
		}
	}
	if isMissing(&a) && a.Note == "" {
		a.Note = q.h.origin(r) + " leads to " + q.h.onHost(toPath)
	}
	return a
}

// entry returns what kind of entry is at a decoded path of the host, for the rules.
func (q *request) entry(path string) redirect.EntryKind {
	path, own := q.h.belowBase(path)
	id, ok := q.h.Lookup(path)
	if !own || !ok {
		return redirect.Nothing
	}
	switch q.h.tree.Nodes[q.h.tree.Nodes[id].Real].Kind {
	case docroot.KindFile:
		return redirect.FileEntry
	case docroot.KindDir:
		return redirect.DirEntry
	}
	return redirect.Nothing
}

// ownPath turns the destination of a rule into a path and query below the base
// path if it is on the site's own host, or else into an absolute URL. from is
// the requested path.
func (q *request) ownPath(to, from string) string {
	b := q.h.bases[0]
	base, err := weburl.Parse(b.origin() + b.path + from)
	if err != nil {
		return to
	}
	u, err := base.Resolve(to)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return to
	}
	own := q.h.ownBase(u)
	if own == nil {
		return u.WithoutFragment()
	}
	path, below := own.below(u.Path())
	if !below {
		return u.WithoutFragment()
	}
	path = own.root + cmp.Or(path, "/")
	if u.HasQuery() {
		path += "?" + u.Query()
	}
	return path
}

// origin names the place of a rule, whose file may be outside of the docroot.
func (h *Host) origin(r *redirect.Rule) string {
	return fmt.Sprintf("%s:%d", h.shown(r.Source.File), r.Source.Line)
}

// shown is what answers and messages call a rule file, from the docroot.
func (h *Host) shown(file string) string {
	if strings.HasPrefix(file, "../") && h.opt.Show != nil {
		return h.opt.Show(file)
	}
	return file
}

// markRuled marks every file and directory with an address that a rule may
// match before the host looks for files, so that [Host.Resolve] decides about
// them.
func (h *Host) markRuled() {
	if h.rules == nil {
		return
	}
	t := h.tree
	for id := range t.Nodes {
		path := h.BasePath() + escapePath("/"+t.Path(docroot.NodeID(id)))
		if h.rules.MayMatch(path) || h.rules.MayMatch(path+"/") || h.rules.MayMatch(strings.TrimSuffix(path, ".html")) {
			t.Nodes[id].Flags |= flagAsk
		}
	}
}
