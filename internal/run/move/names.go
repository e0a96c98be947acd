package move

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sitelink/sitelink/internal/destination"
	"github.com/sitelink/sitelink/internal/docroot"
	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/source"
	"github.com/sitelink/sitelink/internal/text"
)

// pages are the pages of a site by their content files.
type pages struct {
	byFile    map[string]*page // slash path below the root
	byAddress map[string]*page // see address
	content   []mount          // directories of content
	static    []mount          // directories that are published unchanged
	layouts   []mount          // directories of templates
}

// page is a page that is made from a file.
type page struct {
	file    string // slash path below the root
	address string // path on the host, decoded
	rooted  string // the same below the base URL
}

// mount is a directory of sources.
type mount struct {
	dir    string // slash path below the root
	target string // where its files are in the tree of content, or in the docroot
	lang   string // of all its files, "" if that is not known
}

// rel returns the path of a file in the tree that the mount belongs to.
func (mt mount) rel(file string) (string, bool) {
	if file == mt.dir {
		return cmp.Or(mt.target, "."), true
	}
	if mt.dir == "." {
		return path.Join(mt.target, file), true
	}
	rest, ok := strings.CutPrefix(file, mt.dir+"/")
	return path.Join(mt.target, rest), ok
}

func (m *mover) generator() generator.Name {
	if g := m.shadow.project.Generator; g != nil {
		return g.Generator
	}
	return generator.None
}

// belowRoot returns the slash path of a file of the copy below its root.
func (m *mover) belowRoot(name string) (string, bool) {
	rel, _ := filepath.Rel(m.shadow.root, filepath.FromSlash(name)) // "" is not local
	if !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// readPages reads the pages of the copy.
func (m *mover) readPages(ctx context.Context) (*pages, error) {
	p := &pages{byFile: map[string]*page{}, byAddress: map[string]*page{}}
	g := m.shadow.project.Generator
	switch {
	case g == nil:
		dir, _ := m.belowRoot(filepath.ToSlash(m.shadow.project.Abs(m.shadow.project.Docroot)))
		p.static = []mount{{dir: dir}}
	case g.Generator.Traits().Modules:
		m.readMounts(p)
	default:
		dir, _ := m.belowRoot(filepath.ToSlash(g.Dir))
		p.content, p.static = []mount{{dir: dir}}, []mount{{dir: dir}}
	}
	m.pages = p
	list, err := m.listPages(ctx)
	for _, f := range list {
		p.byFile[f.file] = f
		p.byAddress[f.address] = f
	}
	return p, err
}

// readMounts reads the directories of a Hugo project.
func (m *mover) readMounts(p *pages) {
	g := m.shadow.project.Generator
	hugo, _ := g.Hugo(g.Env) // it has been built
	for _, module := range hugo.Modules {
		for _, mt := range module.Mounts {
			dir := filepath.FromSlash(mt.Source)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(filepath.FromSlash(module.Dir), dir)
			}
			below, ok := m.belowRoot(filepath.ToSlash(dir))
			if !ok {
				continue
			}
			for kind, to := range map[string]*[]mount{"content": &p.content, "static": &p.static, "layouts": &p.layouts} {
				if rest, ok := strings.CutPrefix(mt.Target+"/", kind+"/"); ok {
					*to = append(*to, mount{below, strings.Trim(rest, "/"), mt.Lang})
				}
			}
		}
	}
}

// listPages returns the pages that the generator makes from files.
func (m *mover) listPages(ctx context.Context) ([]*page, error) {
	g := m.shadow.project.Generator
	if g == nil {
		return nil, nil
	}
	if !g.Generator.Traits().Modules {
		return m.pagesByName(ctx)
	}
	built := m.before.audit.Project
	sources, err := source.Open(ctx, source.Options{Project: g.Dir, Docroot: built.Abs(built.Docroot), Generator: g.Generator, Env: g.Env, Args: g.Args})
	if err != nil {
		return nil, err
	}
	defer sources.Close()
	dir, _ := m.belowRoot(filepath.ToSlash(g.Dir))
	var all []*page
	for _, f := range sources.Content() {
		file := path.Join(dir, f.File)
		if path.IsAbs(f.File) {
			var ok bool
			if file, ok = m.belowRoot(f.File); !ok {
				continue
			}
		}
		if f.Listed {
			address := strings.TrimSuffix(m.before.audit.Site.BasePath(), "/") + "/" + f.Path
			all = append(all, &page{file: file, address: address, rooted: m.rooted(address)})
		}
	}
	return all, nil
}

// hostPath returns the path at which the site answers an address of its own. The sites
// of languages with hosts of their own are directories of one docroot.
func (m *mover) hostPath(u *url.URL) string {
	s := m.before.audit.Site
	for _, r := range s.Roots() {
		if base, _ := url.Parse(r.Base); base.Host == u.Host { // it is an address
			return path.Join("/", r.Dir) + "/" + strings.TrimPrefix(strings.TrimPrefix(u.Path, strings.TrimSuffix(base.Path, "/")), "/")
		}
	}
	return u.Path
}

// rooted returns a path below the base URL.
func (m *mover) rooted(address string) string {
	if rest, ok := strings.CutPrefix(address, m.before.audit.Site.BasePath()); ok {
		return "/" + strings.TrimPrefix(rest, "/")
	}
	return address
}

// treeOf returns the innermost content directory that holds a file.
func (p *pages) treeOf(file string) mount {
	var best mount
	for _, mt := range p.content {
		if _, ok := mt.rel(file); ok && len(mt.dir) >= len(best.dir) {
			best = mt
		}
	}
	return best
}

// resolveNames finds the files that the user names. address is the address that NEW
// asks for, "" if NEW is a file.
func (m *mover) resolveNames() (from, to, address string, err error) {
	if from, err = m.resolveOld(m.opt.Old); err != nil {
		return "", "", "", err
	}
	if base := path.Base(from); isBundleFile(base) { // the bundle or section is meant
		from = path.Dir(from)
	}
	isDir := m.isDir(from)
	if u, urlErr := url.Parse(m.opt.New); urlErr == nil && m.isAddress(m.opt.New) {
		isNew := m.hostPath(u)
		if to, err = m.fileFor(from, isNew, isDir); err != nil {
			return "", "", "", err
		}
		return from, to, isNew, nil
	}
	if to, err = m.resolveNew(from, isDir); err != nil {
		return "", "", "", err
	}
	if from == to {
		return "", "", "", text.Usage(m.opt.Old+" and "+m.opt.New+" are the same", "give it another name")
	}
	return from, to, "", nil
}

func isBundleFile(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	return (stem == "index" || stem == "_index") && generator.IsMarkdown(base)
}

// isAddress reports whether a name is an address of the site rather than a path.
func (m *mover) isAddress(name string) bool {
	return strings.HasPrefix(name, "/") && !strings.HasPrefix(filepath.ToSlash(name), filepath.ToSlash(m.shadow.original.Root)+"/") || strings.Contains(name, "://")
}

// sourcePath returns the slash path below the root of a path that the user wrote.
func (m *mover) sourcePath(name string) (string, error) {
	p := m.shadow.original
	rel, _ := filepath.Rel(p.Root, p.Abs(filepath.FromSlash(name))) // "" is not local
	if !filepath.IsLocal(rel) || rel == "." {
		return "", text.Usage(name+" is outside of the project "+p.Root, "name a file of the project, or an address of the site")
	}
	return filepath.ToSlash(rel), nil
}

// resolveOld finds a file or directory by its path, or by an address.
func (m *mover) resolveOld(name string) (string, error) {
	if !m.isAddress(name) {
		file, err := m.sourcePath(name)
		if err != nil {
			return "", err
		}
		// The name may be that of a file in the working directory, or in a directory of
		// content.
		all := []string{file}
		if g := m.shadow.project.Generator; g != nil {
			dir, _ := m.belowRoot(filepath.ToSlash(g.Dir))
			all = append(all, path.Join(dir, filepath.ToSlash(name)))
		}
		for _, mt := range slices.Concat(m.pages.content, m.pages.static) {
			all = append(all, path.Join(mt.dir, filepath.ToSlash(name)))
		}
		for _, f := range all {
			if _, err := os.Lstat(m.shadow.at(f)); err == nil {
				return f, m.movable(name, f)
			}
		}
		return "", text.Usage("there is no "+name, "name a page, a section or a static file by its path or by its address, such as /docs/install/")
	}
	u, err := url.Parse(name)
	if err != nil {
		return "", text.Usage(fmt.Sprintf("%q is not an address", name), "")
	}
	address := m.hostPath(u)
	for _, form := range []string{address, address + "/", strings.TrimSuffix(address, "index.html"), m.before.audit.Site.BasePath() + strings.TrimSuffix(address, "/") + "/"} {
		if f := m.pages.byAddress[form]; f != nil {
			return f.file, nil
		}
	}
	rel := strings.Trim(m.rooted(address), "/")
	for _, mt := range slices.Concat(m.pages.static, m.pages.content) {
		if below, ok := strings.CutPrefix(rel, mt.target); ok {
			file := path.Join(mt.dir, strings.TrimPrefix(below, "/"))
			if _, err := os.Lstat(m.shadow.at(file)); err == nil && rel != "" {
				return file, nil
			}
		}
	}
	return "", text.Usage("no page, section or static file has the address "+name, "name the source file instead")
}

// movable refuses files that have no address.
func (m *mover) movable(name, file string) error {
	for _, mt := range slices.Concat(m.pages.content, m.pages.static) {
		if file == mt.dir {
			return text.Usage(name+" is a whole source directory", "name a section in it")
		}
		if _, ok := mt.rel(file); ok {
			return nil
		}
	}
	return text.Usage(name+" is not a page, a section or a static file", "mv moves what has an address: files in the directories of content and static files")
}

// resolveNew returns the new file for a path that the user wrote.
func (m *mover) resolveNew(from string, isDir bool) (string, error) {
	to, err := m.sourcePath(m.opt.New)
	if err != nil {
		return "", err
	}
	inOld := !m.exists(path.Dir(to))
	for _, mt := range slices.Concat(m.pages.content, m.pages.static) { // as OLD, below a directory of content
		if _, ok := mt.rel(to); ok {
			inOld = false
		}
	}
	if oldName, _ := m.sourcePath(m.opt.Old); inOld && strings.HasSuffix(from, oldName) && !m.isAddress(m.opt.Old) {
		to = strings.TrimSuffix(from, oldName) + to
	}
	if isBundleFile(path.Base(to)) && isDir {
		to = path.Dir(to)
	}
	if strings.HasSuffix(m.opt.New, "/") && !isDir || m.isDir(to) {
		to = path.Join(to, path.Base(from)) // as the command mv does
	}
	switch ext := path.Ext(from); {
	case isDir && generator.IsMarkdown(to):
		return "", text.Usage(fmt.Sprintf("%s is a directory, and %s a file", m.opt.Old, m.opt.New), "give the directory a new name")
	case !isDir && generator.IsMarkdown(from) && path.Ext(to) == "":
		to += ext
	}
	if err := m.movable(m.opt.New, to); err != nil {
		return "", err
	}
	return to, nil
}

func (m *mover) isDir(file string) bool {
	info, err := os.Lstat(m.shadow.at(file))
	return err == nil && info.IsDir()
}

// exists reports whether the project has a file or directory, by its old name.
func (m *mover) exists(file string) bool {
	_, err := os.Lstat(m.path(file))
	return err == nil
}

// path returns the path of a file in the copy, by its old name.
func (m *mover) path(file string) string {
	if m.renamed {
		file = m.plan.Set.NewName(file)
	}
	return m.shadow.at(file)
}

// fileFor returns the file that gives a page, section or static file an address.
func (m *mover) fileFor(from, address string, isDir bool) (string, error) {
	rooted := strings.Trim(m.rooted(address), "/")
	if rooted == "" {
		return "", text.Usage(m.opt.New+" is the home page", "choose another address")
	}
	_, isPage := m.pages.byFile[from]
	for _, mt := range m.pages.static {
		if _, ok := mt.rel(from); ok && !isPage && !generator.IsMarkdown(from) && (!isDir || mt != m.pages.treeOf(from)) {
			return path.Join(mt.dir, strings.TrimPrefix(rooted, mt.target)), nil
		}
	}
	// The address must follow from the name, as content/a.md has /a/.
	mt := m.pages.treeOf(from)
	name, _ := mt.rel(from)
	old := ""
	for _, f := range m.pages.byFile {
		if f.file == from || isDir && path.Dir(f.file) == from && isBundleFile(path.Base(f.file)) {
			old = strings.Trim(f.rooted, "/")
		}
	}
	stem := name
	if !isDir {
		stem = strings.TrimSuffix(name, path.Ext(name))
	} else if old == "" {
		old = name
	}
	stem = strings.ReplaceAll(stem, " ", "-")
	at := max(0, len(old)-len(stem))
	rest, below := strings.CutPrefix(rooted, old[:at])
	if !below || !strings.EqualFold(old[at:], stem) {
		return "", text.Usage("the address of "+from+" does not follow from its name: front matter or the configuration sets it", "name the new file instead of the address, or set the address there")
	}
	to := path.Join(mt.dir, strings.TrimPrefix(rest, mt.target))
	if !isDir {
		to += path.Ext(name)
	}
	return to, nil
}

func samePath(a, b string) bool { return strings.Trim(a, "/") == strings.Trim(b, "/") }

// noteTranslations names the translations of a page, which stay.
func (m *mover) noteTranslations(from string) {
	dir, base := path.Split(from)
	stem, _, _ := strings.Cut(base, ".")
	entries, _ := os.ReadDir(m.shadow.at(path.Clean(dir)))
	for _, e := range entries {
		name := e.Name()
		if other, _, _ := strings.Cut(name, "."); other == stem && name != base && generator.IsMarkdown(name) && generator.IsMarkdown(base) {
			m.note("%s may be a translation of %s: it keeps its name", path.Join(dir, name), from)
		}
	}
}

// datePrefix is a date before the name of a post.
var datePrefix = text.Regexp(`^\d{4}-\d{1,2}-\d{1,2}-`)

// pagesByName finds the pages of a generator that lists none, by the names of content
// files and built pages. After the move it builds the copy for that.
func (m *mover) pagesByName(ctx context.Context) ([]*page, error) {
	v := m.before
	if m.renamed {
		var err error
		if v, err = m.shadow.publish(ctx, "renamed"); err != nil {
			return nil, explainBuild(err, "the site cannot be built after the move, so nothing was changed", "something names the old file")
		}
		defer v.audit.Close()
	}
	byName := map[string][]string{} // built pages by their last name
	for name := range v.files() {
		if path.Ext(name) == ".html" {
			logical := destination.Logical(name, "")
			byName[path.Base(logical)] = append(byName[path.Base(logical)], name)
		}
	}
	var all []*page
	home := "" // the uppermost index file that makes no page by its name, as docs/index.md
	root := m.shadow.at(m.pages.content[0].dir)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := d.Name()
		if d.IsDir() {
			rel, _ := filepath.Rel(root, name) // both are clean
			if m.generator().Foreign(os.DirFS(root), filepath.ToSlash(rel)) || base == "_layouts" || base == "_includes" {
				return fs.SkipDir
			}
			return nil
		}
		isPage := generator.IsMarkdown(base) || path.Ext(base) == ".html" || path.Ext(base) == ".astro" && strings.Contains(filepath.ToSlash(name), "/pages/")
		if base[0] == '.' || !isPage {
			return nil
		}
		file, _ := m.belowRoot(filepath.ToSlash(name))
		rel, _ := m.pages.content[0].rel(file)
		logical := destination.Logical(strings.TrimSuffix(rel, ".astro"), "")
		stem := datePrefix().ReplaceAllString(path.Base(logical), "")
		if built, ok := nearestPath(path.Join(path.Dir(logical), stem), byName[stem]); ok {
			address := v.addressOf(built)
			all = append(all, &page{file: file, address: address, rooted: m.rooted(address)})
		} else if isIndex := strings.HasPrefix(base, "index."); isIndex && (home == "" || strings.Count(file, "/") < strings.Count(home, "/")) {
			home = file
		}
		return nil
	})
	address := v.addressOf("index.html")
	if home != "" && !slices.ContainsFunc(all, func(p *page) bool { return p.address == address }) {
		all = append(all, &page{file: home, address: address, rooted: m.rooted(address)})
	}
	return all, err
}

// nearestPath returns the path that has most of its last names in common with another,
// if there is only one.
func nearestPath(want string, paths []string) (string, bool) {
	best, most, tied := "", -1, false
	for _, p := range paths {
		a, b := strings.Split(want, "/"), strings.Split(destination.Logical(p, ""), "/")
		n := 0
		for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
			n++
		}
		if n > most {
			best, most, tied = p, n, false
		} else if n == most {
			tied = true
		}
	}
	return best, most > 0 && !tied
}

// files returns the docroot paths of a version's files.
func (v *version) files() map[string]docroot.NodeID {
	t := v.audit.Site.Tree()
	all := map[string]docroot.NodeID{}
	for i := range t.Len() {
		if id := docroot.NodeID(i); t.Kind(id) == docroot.KindFile {
			all[t.Path(id)] = id
		}
	}
	return all
}
