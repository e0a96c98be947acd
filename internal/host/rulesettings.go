package host

import (
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/redirect"
)

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
