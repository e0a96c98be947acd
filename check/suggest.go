package check

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/scan"

	isite "github.com/sitelink/sitelink/internal/site"
	"github.com/sitelink/sitelink/internal/weburl"
)

// suggestAtOnce is suggest for the codes that need nothing but the finding. There
// can be many of them, so the workers that describe links do it.
func suggestAtOnce(s *isite.Site, f *Finding) {
	switch cmp.Or(f.was, f.Code) {
	case ViaRedirect:
		f.Suggestion = behindRedirect(s, f)
	case WrongCase:
		f.Suggestion = replacePath(s, f, s.Href(f.node))
	}
}

// suggest fills in what the author most likely meant, for the findings where
// something near exists. Those of suggestAtOnce have their suggestion already.
func suggest(ctx context.Context, s *isite.Site, opt Options, parts [][]Finding) error {
	byTarget := map[isite.PageID][]*Finding{}
	var files *fileIndex
	for _, part := range parts {
		for i := range part {
			f := &part[i]
			switch cmp.Or(f.was, f.Code) {
			case MissingFragment, MissingMap:
				if target, ok := s.PageOf(f.node); ok {
					byTarget[target] = append(byTarget[target], f)
				}
			case MissingFile, MissingDirectory, MissingIndex:
				if files == nil {
					files = newFileIndex(s)
				}
				f.Suggestion = slip(f.Raw)
				if f.Suggestion == "" && isMarkdownPath(f.Raw) {
					f.Suggestion = files.ofMarkdown(f)
				}
				if href := files.nearest(f.Target); href != "" && f.Suggestion == "" {
					if got := replacePath(s, f, href); got != f.Raw {
						f.Suggestion = got
					}
				}
			}
		}
	}
	targets := slices.Sorted(maps.Keys(byTarget))
	return readers(ctx, s, opt, len(targets), func(r *isite.Reader, i int) error {
		var ids, names vocabulary
		err := r.Anchors(targets[i], func(name []byte, kind scan.AnchorKind) {
			if kind == scan.AnchorMap {
				names.add(string(name))
			} else {
				ids.add(string(name))
			}
		})
		if err != nil {
			return nil // the findings stand without advice
		}
		near := map[string]string{}
		for _, f := range byTarget[targets[i]] {
			known := &ids
			if f.Code == MissingMap {
				known = &names
			}
			want := string(weburl.PercentDecode(nil, f.Fragment))
			key := string(f.Code) + want
			got, ok := near[key]
			if !ok {
				got = known.nearest(want)
				near[key] = got
			}
			if got != "" {
				before, _, _ := strings.Cut(f.Raw, "#")
				f.Suggestion = before + "#" + encodeFragment(got)
			}
		}
		return nil
	})
}

// behindRedirect returns what to write in place of a link that goes through a
// redirect or an alias page.
func behindRedirect(s *isite.Site, f *Finding) string {
	to := f.Final
	if target, ok := s.PageOf(f.node); ok && to == "" {
		to = s.Page(target).Alias()
	}
	switch {
	case !strings.HasPrefix(to, "/"):
		return to // elsewhere, or unknown
	case strings.ContainsAny(to, "?#"):
		if f.Fragment != "" || strings.Contains(f.Raw, "?") {
			return "" // two claims, and nobody knows which one counts
		}
		return to
	}
	return replacePath(s, f, to)
}

// slip mends a link that lacks its scheme: an e-mail address or a host name.
func slip(raw string) string {
	raw = strings.TrimSpace(raw)
	if strings.HasPrefix(strings.ToLower(raw), "www.") {
		return "https://" + raw
	}
	if user, host, ok := strings.Cut(raw, "@"); ok && user != "" && strings.Contains(host, ".") && !strings.ContainsAny(raw, "/?# ") {
		return "mailto:" + raw
	}
	return ""
}

// encodeFragment percent-encodes what cannot stand in a fragment.
func encodeFragment(id string) string {
	u, err := weburl.Parse("http://h/#" + strings.ReplaceAll(id, "%", "%25"))
	if err != nil {
		return id
	}
	return u.Fragment()
}

// nearest returns the site path of the file most likely meant by a target
// that nothing answers, or "".
func (x *fileIndex) nearest(target string) string {
	raw, _, _ := strings.Cut(target, "?")
	if got, ok := x.memo[raw]; ok {
		return got
	}
	got := ""
	p := strings.TrimPrefix(string(weburl.PercentDecode(nil, raw)), x.s.BasePath())
	p = strings.Trim(path.Clean("/"+p), "/")
	if found := x.near(p); found != "" {
		if n, ok := x.s.Lookup(found); ok {
			got = x.s.Href(n)
		}
	}
	x.memo[raw] = got
	return got
}

func (x *fileIndex) near(p string) string {
	if p == "" {
		return ""
	}
	dir, name := path.Split(p)
	has := func(p string) bool { n, ok := x.s.Lookup(p); return ok && x.s.Tree().Kind(n) == docroot.KindFile }
	// The usual slips: the extension, the slash, the index.
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, try := range []string{p, p + ".html", p + ".htm", p + "/index.html", dir + stem, dir + stem + "/index.html",
		dir + stem + ".html", dir + stem + ".htm"} {
		if try != "" && has(try) {
			return try
		}
	}
	if got := x.names(dir).nearest(name); got != "" {
		return dir + got
	}
	// The same name elsewhere: the place that shares most of the path.
	same := x.named(name)
	best, bestShared := "", -1
	for _, c := range same {
		if shared := sharedSegments(p, c); shared > bestShared {
			best, bestShared = c, shared
		}
	}
	if len(same) > 8 && bestShared == 0 {
		return "" // a name such as index.html says nothing
	}
	return best
}

// sharedSegments counts the leading and trailing directories that two paths
// have in common.
func sharedSegments(a, b string) int {
	x, y := strings.Split(path.Dir(a), "/"), strings.Split(path.Dir(b), "/")
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] && x[n] != "." {
		n++
	}
	m := 0
	for m < len(x)-n && m < len(y)-n && x[len(x)-1-m] == y[len(y)-1-m] {
		m++
	}
	return n + m
}

// replacePath writes href, a site path, in place of the path of a link, in
// the manner in which the link was written: relative to the page, from the
// root, or absolute.
func replacePath(s *isite.Site, f *Finding, href string) string {
	if s.Rooted() {
		return rootedPath(s, f, href)
	}
	raw := strings.TrimSpace(f.Raw)
	k := strings.IndexAny(raw, "?#")
	tail := ""
	if k >= 0 {
		raw, tail = raw[:k], raw[k:]
	}
	if i := strings.Index(raw, "://"); i >= 0 {
		host, _, _ := strings.Cut(raw[i+3:], "/")
		return raw[:i+3] + host + href + tail
	}
	if strings.HasPrefix(raw, "//") {
		host, _, _ := strings.Cut(raw[2:], "/")
		return "//" + host + href + tail
	}
	if strings.HasPrefix(raw, "/") || raw == "" || f.based {
		return href + tail
	}
	return relative(s.BasePath()+"/"+f.Page, href) + tail
}

// relative returns the shortest relative reference from one site path to another.
func relative(from, to string) string {
	x := strings.Split(strings.TrimSuffix(path.Dir(from), "/"), "/")
	y := strings.Split(to, "/")
	n := 0
	for n < len(x) && n < len(y)-1 && x[n] == y[n] {
		n++
	}
	out := strings.Repeat("../", len(x)-n) + strings.Join(y[n:], "/")
	if out == "" {
		return "./"
	}
	first, _, _ := strings.Cut(out, "/")
	if strings.Contains(first, ":") {
		return "./" + out // or it would be a scheme
	}
	return out
}
