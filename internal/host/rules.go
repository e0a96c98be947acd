package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
	"github.com/sitelink/sitelink/internal/weburl"
)

// maxRuleBytes bounds a rule file: Netlify and Cloudflare refuse far smaller
// ones.
const maxRuleBytes = 16 << 20

// parseRules begins to read the rule files whose names are known, those at the
// top of the docroot and those of the project, while the docroot is walked; what
// it returns waits for them. With 10,000 rules that saves a tenth of the time of
// a site of 10,000 pages.
func (s *Host) parseRules() (parsed func() []*redirect.File) {
	result := make(chan []*redirect.File, 1)
	go func() {
		var files []*redirect.File
		if !s.opt.NoRuleFiles {
			files = s.topFiles()
		}
		result <- files
	}()
	return func() []*redirect.File { return <-result }
}

// readRules takes the rules of the profile's host: those given, those parsed, and
// those of directories. A file that cannot be read is a fault of the docroot.
func (s *Host) readRules(dir *docroot.Dir, parsed []*redirect.File) {
	s.faults = append(s.faults, s.ruleReads...)
	files := append(slices.Clone(s.opt.Rules), parsed...)
	if !s.opt.NoRuleFiles && s.profile.Rules == RulesHtaccess {
		files = append(files, s.directoryFiles(dir)...)
	}
	s.ruleFiles = files
	s.settle(files)
	set := redirect.New(s.address(), files...)
	if set.Len() > 0 {
		s.rules = set
	}
}

// checkRules begins to judge the rules while the pages are read. They ask what
// the files answer, without the rules.
func (s *Host) checkRules() {
	s.ruleFaults = sync.OnceValue(func() []redirect.Fault {
		set := s.rules
		if set == nil {
			set = redirect.New(s.address(), s.ruleFiles...)
		}
		return set.Check(s.existence())
	})
	if s.rules != nil {
		go s.ruleFaults()
	}
}

// existence returns a function, for one goroutine, that tells whether the files
// answer a path, whatever the rules say. Most destinations of rules are plain
// paths of pages, and most sources of them lie in directories that are no more:
// for both the tree is enough. With 10,000 rules on 10,000 pages that takes 4 ms in
// place of 18.
func (s *Host) existence() func(path string) bool {
	quick := PathResolver{h: s, PlainBase: s.profile.TrailingSlash == Keep}
	strict := s.profile.Fallback == "" && !s.profile.AnyCase
	var buf []byte
	return func(path string) bool {
		if !strings.HasPrefix(path, "//") && strings.IndexByte(path, '?') < 0 && strings.IndexByte(path, '#') < 0 {
			buf = append(buf[:0], path...)
			if state, _, _, ok := quick.Fast(buf); ok {
				return state.Answers()
			}
			if strict && lacksDirectory(s.tree, buf) {
				return false
			}
		}
		return s.filesAnswer(path)
	}
}

// filesAnswer tells what [Site.existence] tells, by all that the profile knows.
func (s *Host) filesAnswer(path string) bool {
	q := asking{s: s, p: &s.profile}
	a := q.follow(path, "")
	return a.State.Answers() || a.State == StateBehindSymlink
}

// address is the address of the site for its rules, empty if it is not known.
func (s *Host) address() redirect.Options {
	if s.bases[0].unknown() {
		return redirect.Options{}
	}
	return redirect.Options{Scheme: s.bases[0].scheme, Host: s.bases[0].host}
}

// topFiles reads the files that the host asks, in its order.
func (s *Host) topFiles() (files []*redirect.File) {
	take := func(f *redirect.File) {
		if f != nil {
			files = append(files, f)
		}
	}
	inDocroot := func(name string, parse ruleParser) { take(s.ruleFile(s.root, name, name, parse)) }
	inProject := func(name string, parse ruleParser) {
		if s.opt.Project != "" {
			full := filepath.Join(s.opt.Project, name)
			if f := s.ruleFile(s.opt.Project, name, s.projectName(full, name), parse); f != nil {
				take(f)
				return
			}
		}
		inDocroot(name, parse)
	}
	headers := func(cloudflare bool) ruleParser {
		return func(name string, data []byte) *redirect.File { return redirect.Headers(name, data, cloudflare) }
	}
	switch s.profile.Rules {
	case RulesNetlify:
		inDocroot("_redirects", redirect.Netlify)
		inProject("netlify.toml", redirect.NetlifyTOML)
		inDocroot("_headers", headers(false))
	case RulesCloudflare:
		inDocroot("_redirects", redirect.Cloudflare)
		inDocroot("_headers", headers(true))
	case RulesVercel:
		inProject("vercel.json", redirect.Vercel)
	case RulesFirebase:
		inProject("firebase.json", func(name string, data []byte) *redirect.File { return redirect.Firebase(name, data, "") })
	}
	return files
}

// ruleParser is one of the readers of package redirect.
type ruleParser func(name string, data []byte) *redirect.File

// ruleFile reads a file at the top of a directory and never beyond it; nil if
// there is none. shown is its name in reports.
func (s *Host) ruleFile(dir, name, shown string, parse ruleParser) *redirect.File {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil // the walk says what is wrong with the docroot
	}
	defer root.Close()
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil // opening a pipe would wait for its writer
	}
	data, _, err := docroot.ReadRoot(root, name, nil, maxRuleBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		s.ruleReads = append(s.ruleReads, docroot.FileFault{Path: shown, Err: disk.Cause(err)})
		return nil
	}
	return parse(shown, data)
}

// directoryFiles reads the .htaccess files.
func (s *Host) directoryFiles(dir *docroot.Dir) (files []*redirect.File) {
	for id := range s.tree.Nodes {
		n := &s.tree.Nodes[id]
		if n.Kind != docroot.KindFile || string(s.tree.NameOf(n)) != ".htaccess" {
			continue
		}
		name := s.tree.Path(docroot.NodeID(id))
		data, _, err := dir.Read(append(s.tree.AppendPath(nil, n.Real), 0), nil, maxRuleBytes)
		if err != nil {
			s.faults = append(s.faults, docroot.FileFault{Path: name, Err: docroot.FileError(err)})
			continue
		}
		files = append(files, redirect.Htaccess("/"+s.tree.Path(n.Parent), name, data))
	}
	return files
}

// projectName is the path of a file of the project relative to the docroot, by
// which reports name files.
func (s *Host) projectName(full, name string) string {
	project, err := filepath.Abs(full)
	if err != nil {
		return name
	}
	docroot, err := filepath.Abs(s.root)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(docroot, project)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// Rules returns the redirect rules of the host, nil if there are none.
func (s *Host) Rules() *redirect.Set { return s.rules }

// RuleFiles returns the rule files that were read, and so what they say of
// headers, in the order in which the host asks them.
func (s *Host) RuleFiles() []*redirect.File { return s.ruleFiles }

// RuleFaults returns what is wrong with the redirect rules, sorted by file and
// line.
func (s *Host) RuleFaults() []redirect.Fault { return s.ruleFaults() }

// lacksDirectory tells whether a path, as it is requested, leads through a
// directory that is not there under that name. It errs on the side of no: where the
// path is not plain, or leads through a link, or "." or ".." stand in it.
func lacksDirectory(t *docroot.Tree, path []byte) bool {
	if !IsPlainPath(path) || bytes.Contains(path, []byte("/.")) {
		return false
	}
	at := docroot.NodeID(0)
	for path = bytes.TrimPrefix(path, slash); ; {
		name, rest, more := bytes.Cut(path, slash)
		if len(name) == 0 || !more || len(rest) == 0 {
			return false
		}
		next := t.Child(at, name)
		if next == docroot.NoNode {
			return true
		}
		if n := &t.Nodes[next]; n.Kind != docroot.KindDir || n.Real != next {
			return false
		}
		at, path = next, rest
	}
}

// localSettings are what the .htaccess file of a directory says of it and of
// all directories below.
type localSettings struct {
	index   []string
	listing *bool
	slash   *bool
}

// settle applies what rule files say of addresses beside their rules: to the
// profile what holds for the whole site, to directories what .htaccess files
// say.
func (s *Host) settle(files []*redirect.File) {
	for _, f := range files {
		set := &f.Settings
		if set.CleanURLs != nil || set.TrailingSlash != nil {
			s.profile = s.profile.WithURLs(set.CleanURLs != nil && *set.CleanURLs, set.TrailingSlash)
		}
		for _, pattern := range set.Ignore {
			if name, ok := ignoredName(pattern); ok {
				s.profile.Deny = append(s.profile.Deny[:len(s.profile.Deny):len(s.profile.Deny)], name)
				s.profile.Denied = 404
			}
		}
		if set.Index == nil && set.Listing == nil && set.DirectorySlash == nil {
			continue
		}
		id, ok := s.Lookup(strings.Trim(set.Dir, "/"))
		if !ok {
			continue
		}
		if s.local == nil {
			s.local = map[docroot.NodeID]*localSettings{}
		}
		s.local[id] = &localSettings{set.Index, set.Listing, set.DirectorySlash}
	}
}

// ignoredName turns Firebase's patterns for what is not deployed into names,
// where they mean that: "firebase.json", "**/.*", "**/node_modules/**".
func ignoredName(pattern string) (name string, ok bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(pattern, "**/"), "/**")
	return name, name != "" && !strings.Contains(name, "/") && !strings.Contains(name, "**")
}

// indexNames are the default index files of a directory.
func (q *asking) indexNames(dir docroot.NodeID) []string {
	if l := q.s.localOf(dir, func(l *localSettings) bool { return l.index != nil }); l != nil {
		return l.index
	}
	return q.s.index
}

// lists tells whether a directory without index file is listed.
func (q *asking) lists(dir docroot.NodeID) bool {
	if l := q.s.localOf(dir, func(l *localSettings) bool { return l.listing != nil }); l != nil {
		return *l.listing
	}
	return q.s.autoindex == AutoindexList
}

// bare says what a directory does without its slash. With DirectorySlash Off
// Apache does not look for its index file: it is listed or refused.
func (q *asking) bare(dir docroot.NodeID) Way {
	if l := q.s.localOf(dir, func(l *localSettings) bool { return l.slash != nil }); l != nil && !*l.slash {
		return Refuse
	}
	return q.p.Directory
}

// localOf returns the nearest settings, from the directory upwards, that say
// what is asked for.
func (s *Host) localOf(dir docroot.NodeID, says func(*localSettings) bool) *localSettings {
	if s.local == nil {
		return nil
	}
	for at := dir; at != docroot.NoNode; at = s.tree.Nodes[at].Parent {
		if l := s.local[at]; l != nil && says(l) {
			return l
		}
	}
	return nil
}

// maxRewrites is how often one request is rewritten: Apache's limit.
const maxRewrites = 10

// rule asks the redirect rules of the host. ok is false when none of them
// decides. A rule that may or may not apply decides only where nothing else
// answers.
func (q *asking) rule(path, query string, stage redirect.Stage, rewrites int) (a Answer, ok bool) {
	at := q.s.address()
	req := redirect.Request{Scheme: at.Scheme, Host: at.Host, Path: path, Query: strings.TrimPrefix(query, "?"), Stage: stage, Entry: q.entry}
	if rewrites == 0 {
		q.original = path + query
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
		if maybe == nil || stage == redirect.BeforeFiles && !q.nothingAt(path, query) {
			return Answer{}, false
		}
		q.step(place(maybe), "may apply: "+strings.Join(maybe.Conditions, ", "))
		return Answer{State: StateConditional, Node: docroot.NoNode, Note: place(maybe)}, true
	}
	return q.apply(hit, path, query, rewrites), true
}

// nothingAt tells whether no file answers.
func (q *asking) nothingAt(path, query string) bool {
	quiet := asking{s: q.s, p: q.p}
	a := quiet.files(path, query)
	return a.move == "" && nothing(&a)
}

// apply answers by a rule that holds.
func (q *asking) apply(hit redirect.Hit, path, query string, rewrites int) Answer {
	r := hit.Rule
	switch r.Kind {
	case redirect.Redirect:
		to := q.ownPath(hit.To, path)
		q.step(place(r), fmt.Sprintf("redirects (%d) to %s", r.Status, to))
		return Answer{State: StateViaRedirect, Node: docroot.NoNode, Note: place(r), move: to}
	case redirect.Proxy:
		q.step(place(r), "another server or a program answers: "+hit.To)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: place(r)}
	case redirect.Rewrite:
		return q.rewrite(r, hit.To, path, rewrites)
	}
	q.step(place(r), fmt.Sprintf("answers with status %d", r.Status))
	if r.Status >= http.StatusOK && r.Status < http.StatusBadRequest {
		return Answer{State: StateProxied, Node: docroot.NoNode, Status: r.Status, Note: place(r)}
	}
	return Answer{State: StateMissingFile, Node: docroot.NoNode, Status: r.Status, Note: place(r)}
}

// rewrite answers from another path without a redirect.
func (q *asking) rewrite(r *redirect.Rule, to, path string, rewrites int) Answer {
	to = q.ownPath(to, path)
	if !strings.HasPrefix(to, "/") {
		q.step(place(r), "another server answers: "+to)
		return Answer{State: StateProxied, Node: docroot.NoNode, Note: place(r)}
	}
	q.step(place(r), "is answered from "+to)
	toPath, toQuery := cutQuery(to)
	if r.Again && toPath != path {
		if rewrites == maxRewrites {
			return Answer{State: StateRedirectLoop, Node: docroot.NoNode, Status: http.StatusInternalServerError, Note: place(r)}
		}
		if a, ok := q.rule(toPath, toQuery, redirect.BeforeFiles, rewrites+1); ok {
			return a
		}
	}
	a := q.files(toPath, toQuery)
	if nothing(&a) && a.Note == "" {
		a.Note = place(r) + " leads to " + toPath
	}
	return a
}

// entry tells the rules what lies at a decoded path.
func (q *asking) entry(path string) redirect.Entry {
	id, ok := q.s.Lookup(path)
	if !ok {
		return redirect.Nothing
	}
	switch q.s.tree.Nodes[q.s.tree.Nodes[id].Real].Kind {
	case docroot.KindFile:
		return redirect.FileEntry
	case docroot.KindDir:
		return redirect.DirEntry
	}
	return redirect.Nothing
}

// ownPath turns the destination of a rule into a path and query below the base
// path when it is on the site's own host, else into an absolute URL. from is
// the path that was asked for.
func (q *asking) ownPath(to, from string) string {
	b := q.s.bases[0]
	base, err := weburl.Parse("http://" + b.host + b.path + from)
	if err != nil {
		return to
	}
	u, err := base.Resolve(to)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return to
	}
	own, is, below := q.s.own(u)
	if !is || !below {
		return u.WithoutFragment()
	}
	path := own.root + u.Path()[len(own.path):]
	if path == own.root {
		path += "/"
	}
	if u.HasQuery() {
		path += "?" + u.Query()
	}
	return path
}

func place(r *redirect.Rule) string { return fmt.Sprintf("%s:%d", r.Source.File, r.Source.Line) }

// markRuled lets the slow path decide about every file and directory whose
// address a rule may take before the host looks for files.
func (s *Host) markRuled() {
	if s.rules == nil {
		return
	}
	t := s.tree
	var buf []byte
	for id := range t.Nodes {
		n := &t.Nodes[id]
		if n.Kind != docroot.KindFile && n.Kind != docroot.KindDir {
			continue
		}
		// A path is made for each file: this one is looked at and forgotten.
		buf = append(t.AppendPath(append(buf[:0], '/'), docroot.NodeID(id)), '/')
		path := unsafe.String(&buf[0], len(buf))
		if !IsPlainPath(buf) {
			path = (&url.URL{Path: path}).EscapedPath()
		}
		bare := path[:max(len(path)-1, 1)]
		asks := s.rules.MayMatch(bare)
		switch {
		case n.Kind == docroot.KindDir && id != 0:
			asks = asks || s.rules.MayMatch(path)
		case strings.HasSuffix(bare, ".html"):
			asks = asks || s.rules.MayMatch(strings.TrimSuffix(bare, ".html"))
		}
		if asks {
			n.Flags |= flagAsk
		}
	}
}
