package project

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/host"
)

// published looks at the files of the docroot itself, if no deploy file names the host and
// no workflow does or several do: those that only one host reads, then the others, the
// surest first.
func (s *survey) published() (all []Evidence) {
	docroot := s.Abs(s.Docroot)
	if a := &s.Answers[AskHost]; a.Value == "" && (len(a.Against) == 0 || a.Against[0].Line > 0) { // steps of workflows
		dirs := []string{docroot}
		for _, r := range s.Roots { // Hugo writes such files into the directory of each host
			dirs = append(dirs, filepath.Join(docroot, filepath.FromSlash(r.Dir)))
		}
		for _, dir := range dirs {
			if all = s.hostOf(dir); len(all) > 0 {
				break
			}
		}
	}
	// The file CNAME of GitHub Pages has the host name of the site.
	dirs, above := []string{docroot}, s.dirs
	if s.Generator != nil {
		above = append([]string{s.Generator.Dir, filepath.Join(s.Generator.Dir, filepath.FromSlash(s.Generator.Source))}, above...)
	}
	for _, dir := range above {
		for _, sub := range []string{"", "static", "public", "docs", "source", "content", "src"} {
			dirs = append(dirs, filepath.Join(dir, sub))
		}
	}
	for _, dir := range dirs {
		host := s.pagesHost(dir)
		if host == "" {
			continue
		}
		name := filepath.Join(dir, "CNAME")
		if len(all) == 0 && s.Answers[AskHost].Value == "" {
			all = append(all, Evidence{Question: AskHost, Value: "github-pages", File: name, Words: host})
		}
		base := s.Answers[AskBase].Value
		if base == "" || strings.HasPrefix(base, "/") {
			s.BaseURLs, s.BasePath = []string{"https://" + host + cmp.Or(base, "/")}, ""
			s.Answers[AskBase] = Answer{}
			base = s.BaseURLs[0]
		} else if on := "://" + strings.TrimPrefix(host, "www."); !strings.Contains(strings.Replace(base, "://www.", "://", 1)+"/", on+"/") {
			base = "https://" + host + "/"
		}
		return append(all, Evidence{Question: AskBase, Value: base, File: name, Line: 1, Words: host})
	}
	return all
}

// hostOf returns the evidence for the host that the files in a published directory are.
func (s *survey) hostOf(dir string) (all []Evidence) {
	one := func(host, name string, line int, words string) []Evidence {
		return []Evidence{{Question: AskHost, Value: host, File: filepath.Join(dir, name), Line: line, Words: words}}
	}
	for _, c := range s.deploys(dir) { // some projects publish these files
		return c.publish[:1]
	}
	for _, name := range []string{"_worker.js", "_routes.json"} {
		if isFile(filepath.Join(dir, name)) {
			return one("cloudflare-pages", name, 0, name)
		}
	}
	// Netlify and Cloudflare Pages both read _redirects and _headers: the first line that only
	// one of them understands decides. Where there is none it is Netlify, which reports what
	// Cloudflare's fallback for single-page applications would hide.
	// An address that one of those who read _redirects gives away is clearer.
	name := ""
	for address := range strings.FieldsSeq(s.Answers[AskBase].Value) {
		k, _ := host.KindByName(host.NameAt(address))
		if slices.ContainsFunc(k.Files, func(f host.RuleFile) bool { return f.Name == "_redirects" }) {
			return nil
		}
	}
	for _, f := range []struct {
		name  string
		judge func(line string) string
	}{{"_redirects", redirectDialect}, {"_headers", headerDialect}} {
		data := s.read(filepath.Join(dir, f.name))
		if data == nil {
			continue
		}
		name = cmp.Or(name, f.name)
		n := 0
		for line := range bytes.Lines(data) {
			n++
			if host := f.judge(string(line)); host != "" {
				return one(host, f.name, n, strings.TrimSpace(string(line)))
			}
		}
	}
	switch {
	case name != "":
		return one("netlify", name, 0, "Cloudflare Pages reads it too")
	case s.read(filepath.Join(dir, ".htaccess")) != nil:
		return one("apache", ".htaccess", 0, "")
	case s.pagesHost(dir) != "":
		return one("github-pages", "CNAME", 0, "")
	}
	// Some generators always write .nojekyll: it means nothing in a project that is not on
	// GitHub.
	if isFile(filepath.Join(dir, ".nojekyll")) && slices.ContainsFunc(s.dirs, func(above string) bool { return isDirectory(filepath.Join(above, ".github")) }) {
		return one("github-pages", ".nojekyll", 0, "")
	}
	return nil
}

// pagesHost returns the host name that the file CNAME of a directory gives a site on
// GitHub Pages, "" for none.
func (s *survey) pagesHost(dir string) string {
	if name := strings.TrimSpace(string(s.read(filepath.Join(dir, "CNAME")))); isHostName(name) {
		return name
	}
	return ""
}

// redirectDialect names the one host that understands a line of _redirects;
// empty when both do, or neither.
func redirectDialect(line string) string {
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0][0] == '#' {
		return ""
	}
	from := fields[0]
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		return "netlify" // rules for one domain
	}
	if star := strings.IndexByte(from, '*'); star >= 0 && star < len(from)-1 {
		return "cloudflare-pages" // Netlify takes "*" at the end only
	}
	for i, f := range fields[1:] {
		if !strings.HasPrefix(f, "/") && !strings.Contains(f, "://") && strings.Contains(f, "=") {
			return "netlify" // a query parameter or a condition
		}
		status, force := strings.CutSuffix(f, "!")
		if n, err := strconv.Atoi(status); err == nil && i > 0 && (force || n >= 400) {
			return "netlify"
		}
	}
	return ""
}

// headerDialect does the same for a line of _headers.
func headerDialect(line string) string {
	switch text := strings.TrimSpace(line); {
	case strings.HasPrefix(text, "! "):
		return "cloudflare-pages" // takes a header away
	case len(text) >= 11 && strings.EqualFold(text[:11], "Basic-Auth:"):
		return "netlify"
	}
	return ""
}
