package project

import (
	"os"
	"path/filepath"
	"strings"
)

// deployFile is a file that tells a host what to publish. Directories in it are relative
// to its own.
type deployFile struct {
	name, host string
	// sites is the key of a table or a list of tables, one for each site; "" for a file
	// that is about one site. A file without the key says nothing.
	sites string
	// The keys of the directory of the project, of what is published and of the command
	// that builds it, see [value.get].
	dir, docroot, build string
	// only are keys one of which must be there; "" for none.
	only string
}

var deployFiles = []deployFile{
	{name: "netlify.toml", host: "netlify", dir: "build.base", docroot: "build.publish", build: "build.command"},
	{name: "vercel.json", host: "vercel", docroot: "outputDirectory", build: "buildCommand"},
	{name: ".vercel/project.json", host: "vercel"},
	{name: "firebase.json", host: "firebase", sites: "hosting", docroot: "public"},
	{name: "staticwebapp.config.json", host: "azure-static-web-apps"},
	// Without one of the keys it is a Worker without files.
	{name: "wrangler.toml", host: "cloudflare-pages", docroot: "assets.directory pages_build_output_dir", build: "build.command", only: "assets pages_build_output_dir"},
	{name: "wrangler.json", host: "cloudflare-pages", docroot: "assets.directory pages_build_output_dir", build: "build.command", only: "assets pages_build_output_dir"},
	{name: "wrangler.jsonc", host: "cloudflare-pages", docroot: "assets.directory pages_build_output_dir", build: "build.command", only: "assets pages_build_output_dir"},
}

// deployed is what the files say that tell hosts what to publish: those of the nearest
// directory that has one, else the workflows.
func (s *survey) deployed() []Evidence {
	for _, dir := range s.dirs {
		if all := s.deploys(dir); len(all) > 0 {
			return all
		}
	}
	return nil
}

// deploys reads the deploy files of a directory.
func (s *survey) deploys(dir string) (all []Evidence) {
	for _, f := range deployFiles {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		v, ok := s.document(name)
		if !ok || f.only != "" && v.get(f.only).node == nil {
			continue
		}
		sites := []value{v}
		if f.sites != "" {
			if v = v.get(f.sites); v.node == nil {
				continue
			}
			sites = v.list()
		}
		for _, site := range sites {
			all = append(all, s.site(f, name, site)...)
		}
	}
	return all
}

// site returns what a deploy file says about one site.
func (s *survey) site(f deployFile, name string, v value) []Evidence {
	return []Evidence{{Question: AskHost, Value: f.host, File: name}}
}

// deployers are what workflows use to publish, and where.
var deployers = []struct{ text, profile string }{
	{"actions/deploy-pages@", "github-pages"},
	{"peaceiris/actions-gh-pages@", "github-pages"},
	{"JamesIves/github-pages-deploy-action@", "github-pages"},
	{"cloudflare/pages-action@", "cloudflare-pages"},
	{"pages deploy", "cloudflare-pages"},
	{"nwtgck/actions-netlify@", "netlify"},
	{"netlify deploy", "netlify"},
	{"FirebaseExtended/action-hosting-deploy@", "firebase"},
	{"firebase deploy", "firebase"},
	{"Azure/static-web-apps-deploy@", "azure-static-web-apps"},
	{"swa deploy", "azure-static-web-apps"},
	{"amondnet/vercel-action@", "vercel"},
	{"vercel deploy", "vercel"},
	{"jakejarvis/s3-sync-action@", "s3"},
	{"aws s3 sync", "s3"},
}

// workflows looks for the steps that publish, in the order of file names.
func (s *survey) workflows() (all []Evidence) {
	for _, dir := range s.dirs {
		workflows := filepath.Join(dir, ".github", "workflows")
		files, _ := os.ReadDir(workflows)
		for _, f := range files[:min(len(files), maxFiles)] {
			name := filepath.Join(workflows, f.Name())
			if ext := filepath.Ext(name); ext != ".yml" && ext != ".yaml" {
				continue
			}
			n := 0
			for line := range strings.Lines(string(s.read(name))) {
				n++
				code, _, _ := strings.Cut(line, "#")
				for _, by := range deployers {
					if strings.Contains(code, by.text) {
						all = append(all, Evidence{Question: AskHost, Value: by.profile, File: name, Line: n, Words: strings.TrimSuffix(by.text, "@")})
					}
				}
			}
		}
		for _, name := range []string{"hugo.toml", "hugo.yaml", "config.toml", "config.yaml"} { // hugo deploy
			v, _ := s.document(filepath.Join(dir, name))
			for _, target := range v.get("deployment.targets").list() {
				if url := target.get("url URL"); strings.HasPrefix(url.text(), "s3://") {
					all = append(all, Evidence{Question: AskHost, Value: "s3", File: filepath.Join(dir, name), Line: url.line(), Words: url.text()})
				}
			}
		}
		if len(all) > 0 {
			break
		}
	}
	return all
}
