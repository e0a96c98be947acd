package host

import (
	"fmt"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// Request says what answers a link on a page at the root of the docroot, so
// that people can name a target as they would link to it: a site path, a path
// in the docroot, or a URL. The error says why link is none of these.
func (s *Host) Request(link string) (Resolved, error) {
	base, err := weburl.Parse("http://" + s.bases[0].host + s.bases[0].path + "/")
	if err != nil {
		return Resolved{}, fmt.Errorf("base URL: %w", err)
	}
	u, err := base.Resolve(link)
	if err != nil {
		return Resolved{}, fmt.Errorf("%q is no URL: %w", link, err)
	}
	res := s.Resolve(u, nil)
	res.Fragment = u.Fragment()
	return res, nil
}

// BaseURL returns the first address at which the docroot is published, as it
// was given; "" when there is none.
func (s *Host) BaseURL() string {
	if s.bases[0].unknown() {
		return ""
	}
	return s.opt.BaseURLs[0]
}

// Authority returns the host of the first base URL, with its port when that is
// not the scheme's own; "" when there is none.
func (s *Host) Authority() string {
	if s.bases[0].unknown() {
		return ""
	}
	return s.bases[0].host
}

// RulePaths returns the paths that redirect rules name in full, without
// pattern, in the order of the rules: what the host answers beside its files.
func (s *Host) RulePaths() []string {
	if s.rules == nil {
		return nil
	}
	var paths []string
	for _, r := range s.rules.Rules() {
		if path := r.Pattern; strings.HasPrefix(path, "/") && !strings.ContainsAny(path, `*:(){}[]|^$\?+`) {
			paths = append(paths, string(weburl.PercentDecode(nil, path)))
		}
	}
	return paths
}
