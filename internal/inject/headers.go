package inject

import (
	"fmt"
	"path"
	"slices"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/templates"
)

// staticDirs are the directories that generators copy into the docroot.
var staticDirs = map[generator.Name]string{
	generator.Hugo: "static", generator.Zola: "static", generator.Docusaurus: "static", generator.Astro: "public", generator.MkDocs: "docs",
}

// headerFiles has the files that can contain header rules, each with a rule that
// can remove one.
var headerFiles = func() map[string]templates.HeaderRule {
	files := map[string]templates.HeaderRule{}
	for _, profile := range []string{"netlify", "cloudflare-pages", "vercel", "firebase", "apache"} {
		for _, r := range templates.HeaderRules(profile, templates.Endpoints{Pingback: "https://x.example/", Webmention: "https://x.example/"}) {
			files[r.File] = r
		}
	}
	return files
}()

// headers returns an edit that makes the host send the endpoints, for templates
// that cannot be changed. It takes the file that exists, otherwise the first
// that the host reads. ok is false if the host reads no such file, or if the
// project does not publish it.
func (p *project) headers() (e edit, ok bool) {
	var candidates []string
	for _, r := range p.opt.Headers {
		name := r.File
		if r.InDocroot {
			dir, known := staticDirs[p.opt.Generator]
			if !known {
				continue
			}
			name = path.Join(dir, name)
		}
		if r.File != "" {
			candidates = append(candidates, name)
		}
	}
	if len(candidates) == 0 {
		return edit{}, false
	}
	chosen := candidates[0]
	for _, name := range candidates {
		if bare, _ := p.bareHeaders(name); bare != nil {
			chosen = name
			break
		}
	}
	for _, r := range p.opt.Headers {
		if r.File == path.Base(chosen) {
			return edit{path: chosen, header: &r, how: "headers X-Pingback and Link, for all pages"}, true
		}
	}
	return edit{}, false
}

// bareHeaders returns a file of a host without sitelink's rule, nil if there is
// no such file or if sitelink created it.
func (p *project) bareHeaders(name string) ([]byte, error) {
	f, err := p.file(name)
	if err != nil || f.text == nil {
		return nil, err
	}
	rule := headerFiles[path.Base(name)]
	bare, err := rule.Remove(f.text)
	if err != nil {
		return nil, err
	}
	if known := p.record.of(name); len(bare) == 0 && (known.Path != "" && known.Before == "" || known.Path == "" && len(f.text) > 0) {
		return nil, nil
	}
	if bare == nil {
		bare = []byte{}
	}
	return bare, nil
}

// changeHeaders returns the change of a file of a host; see [project.change].
func (p *project) changeHeaders(name string, e edit, want bool) (c Change, entry fileRecord, refused *Refusal, err error) {
	f, err := p.file(name)
	if err != nil {
		return c, entry, nil, err
	}
	bare, err := p.bareHeaders(name)
	c = Change{Path: name, Before: f.text, mode: f.mode, rank: 1}
	switch {
	case err == nil && !want:
		c.After = bare
		return c, entry, nil, nil
	case err == nil && f.refusal != "":
		err = fmt.Errorf("%s: %s", name, f.refusal)
	case err == nil:
		// Insert keeps a rule at the place to which the user moved it.
		c.After, err = e.header.Insert(f.text)
	}
	if err != nil {
		r := &Refusal{Path: name, Reason: err.Error(), Next: "remove the rule and its marks by hand"}
		if want {
			r.Next, r.Paste = "paste this rule "+e.header.Where, e.header.Text
		}
		return c, entry, r, nil
	}
	return c, fileRecord{Path: name, Language: "html", Before: sum(bare), After: sum(c.After)}, nil, nil
}

// isHeaderFile reports whether a file of this name contains header rules.
func isHeaderFile(name string) bool {
	_, ok := headerFiles[path.Base(name)]
	return ok
}

// searchHeaders returns the files of hosts with sitelink's rule, for a project
// without a record.
func (p *project) searchHeaders() []string {
	var found []string
	dirs := []string{"."}
	for _, dir := range staticDirs {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	for file := range headerFiles {
		for _, dir := range dirs {
			name := path.Join(dir, file)
			f, err := p.file(name)
			if err != nil || f.text == nil || f.refusal != "" {
				continue
			}
			rule := headerFiles[file]
			if bare, err := rule.Remove(f.text); err == nil && string(bare) != string(f.text) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found
}
