package inject

import (
	"fmt"
	"path"
	"slices"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/templates"
)

// staticDirs are the directories that generators publish as they are.
var staticDirs = map[generator.Name]string{
	generator.Hugo: "static", generator.Zola: "static", generator.Docusaurus: "static", generator.Astro: "public", generator.MkDocs: "docs",
}

// headerFiles are all files that rules for headers may be written into, each
// with a rule that knows how to take one out.
var headerFiles = func() map[string]templates.HeaderRule {
	files := map[string]templates.HeaderRule{}
	for _, profile := range []string{"netlify", "cloudflare-pages", "vercel", "firebase", "apache"} {
		for _, r := range templates.HeaderRules(profile, templates.Endpoints{Pingback: "https://x.example/", Webmention: "https://x.example/"}) {
			files[r.File] = r
		}
	}
	return files
}()

// headers plans to let the host send the endpoints, for templates that are out
// of reach: in the file that is there, else in the first that the host reads. ok
// is false when the host has no such file, or none that the project publishes.
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

// bareHeaders returns a file of a host without our rule; nil when there is none
// but for us.
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
	if known := p.record.sumOf(name); len(bare) == 0 && (known.Path != "" && known.Before == "" || known.Path == "" && len(f.text) > 0) {
		return nil, nil
	}
	if bare == nil {
		bare = []byte{}
	}
	return bare, nil
}

// changeHeaders works out a file of a host; see [project.change].
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
		// Inserted into the file as it is: where the user has moved the rule to,
		// it stays.
		c.After, err = e.header.Insert(f.text)
	}
	if err != nil {
		r := &Refusal{Path: name, Reason: err.Error()}
		if want {
			r.Paste, r.Where = e.header.Text, e.header.Where
		} else {
			r.Where = "the rule between its marks: take it out by hand"
		}
		return c, entry, r, nil
	}
	return c, fileRecord{Path: name, Language: "html", Before: sum(bare), After: sum(c.After)}, nil, nil
}

// isHeaderFile reports whether marks in a file of that name are those of a rule.
func isHeaderFile(name string) bool {
	_, ok := headerFiles[path.Base(name)]
	return ok
}

// searchHeaders looks for files of hosts with our rule, without a record.
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
