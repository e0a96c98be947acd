package site

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/redirect"
)

// maxRuleBytes bounds a rule file: Netlify and Cloudflare refuse far smaller
// ones.
const maxRuleBytes = 16 << 20

// readRules reads the rule files of the profile's host, those of the docroot and
// those of the project. A file that cannot be read is a fault of the docroot.
func (s *Site) readRules(dir *docroot) {
	files := slices.Clone(s.opt.Rules)
	if !s.opt.NoRuleFiles {
		files = append(files, s.hostFiles(dir)...)
	}
	s.ruleFiles = files
	s.settle(files)
	set := redirect.New(s.address(), files...)
	if set.Len() > 0 {
		s.rules = set
	}
}

// address is the address of the site for its rules, empty if it is not known.
func (s *Site) address() redirect.Options {
	if len(s.opt.BaseURLs) == 0 {
		return redirect.Options{}
	}
	scheme, _, _ := strings.Cut(s.opt.BaseURLs[0], ":")
	return redirect.Options{Scheme: strings.ToLower(scheme), Host: s.bases[0].host}
}

// hostFiles reads the files that the host asks, in its order.
func (s *Site) hostFiles(dir *docroot) (files []*redirect.File) {
	inDocroot := func(name string, parse func(name string, data []byte) *redirect.File) {
		id := s.tree.child(0, []byte(name))
		if id == NoNode || s.tree.nodes[id].kind != KindFile {
			return
		}
		if data, ok := s.ruleBytes(dir, id); ok {
			files = append(files, parse(name, data))
		}
	}
	inProject := func(name string, parse func(name string, data []byte) *redirect.File) {
		if f := s.projectFile(name, parse); f != nil {
			files = append(files, f)
		} else {
			inDocroot(name, parse)
		}
	}
	headers := func(cloudflare bool) func(string, []byte) *redirect.File {
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
	case RulesHtaccess:
		for id := range s.tree.nodes {
			n := &s.tree.nodes[id]
			if n.kind != KindFile || string(s.tree.nameOf(n)) != ".htaccess" {
				continue
			}
			if data, ok := s.ruleBytes(dir, NodeID(id)); ok {
				files = append(files, redirect.Htaccess("/"+s.tree.Path(n.parent), s.tree.Path(NodeID(id)), data))
			}
		}
	}
	return files
}

// ruleBytes reads a rule file of the docroot.
func (s *Site) ruleBytes(dir *docroot, id NodeID) ([]byte, bool) {
	data, _, err := dir.read(s.tree.Path(s.tree.nodes[id].real), nil, maxRuleBytes)
	if err != nil {
		s.faults = append(s.faults, FileFault{Path: s.tree.Path(id), Err: fileError(err)})
		return nil, false
	}
	return data, true
}

// projectFile reads a rule file that lies in the project's directory; nil if
// there is none.
func (s *Site) projectFile(name string, parse func(name string, data []byte) *redirect.File) *redirect.File {
	if s.opt.Project == "" {
		return nil
	}
	full := filepath.Join(s.opt.Project, name)
	shown := s.projectName(full, name)
	data, err := readBounded(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		s.faults = append(s.faults, FileFault{Path: shown, Err: reason(err)})
		return nil
	}
	return parse(shown, data)
}

// projectName is the path of a file of the project relative to the docroot, by
// which reports name files.
func (s *Site) projectName(full, name string) string {
	project, err := filepath.Abs(full)
	if err != nil {
		return name
	}
	rel, err := filepath.Rel(s.real, project)
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRuleBytes+1))
	if err == nil && len(data) > maxRuleBytes {
		err = fmt.Errorf("larger than %d MiB", maxRuleBytes>>20)
	}
	return data, err
}

// Rules returns the redirect rules of the host, nil if there are none.
func (s *Site) Rules() *redirect.Set { return s.rules }

// RuleFiles returns the rule files that were read, and so what they say of
// headers, in the order in which the host asks them.
func (s *Site) RuleFiles() []*redirect.File { return s.ruleFiles }

// RuleFaults returns what is wrong with the redirect rules, sorted by file and
// line.
func (s *Site) RuleFaults() []redirect.Fault {
	set := s.rules
	if set == nil {
		set = redirect.New(s.address(), s.ruleFiles...)
	}
	// The rules ask what the files answer, without them.
	q := asking{s: s, p: &s.profile}
	return set.Check(func(path string) (int, bool) {
		a := q.follow(path, "")
		return a.Status, a.State.Answers() || a.State == StateBehindSymlink
	})
}
