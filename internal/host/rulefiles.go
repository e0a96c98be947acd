package host

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
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
