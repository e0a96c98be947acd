package project

import (
	"cmp"
	"context"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Sources are the files that a build of a generator's project reads, as far as its
// directory and its configuration show. These are the files below the directory, and below
// other directories of the repository that a symbolic link leads to or the configuration
// names ("../docs"), without what tools and builds write. Sources are not safe for
// concurrent use.
type Sources struct {
	g    *Generator
	root string   // of the repository
	dirs []string // none is in another
	also []string // more files, absolute
	// known is what the last listing saw, and sums are the contents of those that changed.
	known map[string]stamp
	sums  map[string]uint64
	// builds counts the builds in succession during which a file changed.
	builds map[string]int
}

// outsideDir matches a path out of the project's directory in a configuration.
var outsideDir = text.Regexp(`(?:\.\./)+[\w@][\w@./-]*`)

// Sources returns the sources of the project, nil if it has no generator. also are more
// files on which findings depend.
func (p *Project) Sources(also ...string) *Sources {
	if p.Generator == nil {
		return nil
	}
	s := &Sources{g: p.Generator, root: p.Root, also: also, sums: map[string]uint64{}, builds: map[string]int{}}
	s.add(p.Generator.Dir)
	for _, name := range p.Generator.Configs {
		file := filepath.Join(p.Generator.Dir, filepath.FromSlash(name))
		text, _ := system.Read(file, 1<<20) // one that cannot be read names nothing
		for _, dir := range outsideDir().FindAll(text, -1) {
			at := filepath.Join(filepath.Dir(file), filepath.FromSlash(string(dir)))
			if _, where := system.Outside(p.Root, at); where == "" && isDirectory(at) {
				s.add(at)
			}
		}
	}
	return s
}

// OutsideContent returns the directories with sources outside of that of the configuration, as
// slash paths relative to it.
func (p *Project) OutsideContent() (dirs []string) {
	s := p.Sources()
	if s == nil {
		return nil
	}
	for _, dir := range s.dirs[1:] {
		if rel, err := filepath.Rel(p.Generator.Dir, dir); err == nil {
			dirs = append(dirs, filepath.ToSlash(rel))
		}
	}
	return dirs
}

// add adds a directory, unless it is the root of others or in one of them.
func (s *Sources) add(dir string) {
	if !slices.ContainsFunc(s.dirs, func(known string) bool { return system.Within(dir, known) || system.Within(known, dir) }) {
		s.dirs = append(s.dirs, dir)
	}
}

// skips reports whether a directory below root, or a file, has nothing that an author edits.
func (s *Sources) skips(root, name string, isDir bool) bool {
	rel, err := filepath.Rel(root, name)
	if err != nil || rel == "." {
		return false
	}
	rel = filepath.ToSlash(rel)
	// The names in the generator's row are relative to the directory of its configuration.
	own := rel
	if root == s.g.Dir && s.g.Source != "" {
		own = strings.TrimPrefix(rel, s.g.Source+"/")
	}
	if !isDir {
		return slices.Contains(s.g.Generator.Traits().Caches, own) || name == s.g.Lock()
	}
	return name == s.g.Docroot || (s.g.Generator.Foreign(os.DirFS(root), rel) || s.g.Generator.Foreign(os.DirFS(root), own)) &&
		!slices.ContainsFunc(s.g.Configs, func(config string) bool { return root == s.g.Dir && strings.HasPrefix(config, rel+"/") })
}

// Has reports whether a file is one of the sources, by its absolute name.
func (s *Sources) Has(name string) bool {
	return slices.ContainsFunc(s.dirs, func(dir string) bool {
		if !system.Within(name, dir) || s.skips(dir, name, false) {
			return false
		}
		for at := filepath.Dir(name); at != dir; at = filepath.Dir(at) {
			if s.skips(dir, at, true) {
				return false
			}
		}
		return true
	})
}

// list returns the stamps of all sources by their absolute names, and adds the directories
// that symbolic links lead to. usual leaves out directories with other names than
// contentDirs.
func (s *Sources) list(usual bool) map[string]stamp {
	all := map[string]stamp{}
	for i := 0; i < len(s.dirs); i++ { // it grows
		root := s.dirs[i]
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil: // counts as missing
				return nil
			case d.IsDir() && (s.skips(root, name, true) || usual && filepath.Dir(name) == s.g.Dir &&
				!slices.Contains(contentDirs, d.Name()) && !strings.HasPrefix(s.g.Source+"/", d.Name()+"/")):
				return fs.SkipDir
			case d.IsDir() || temporary(d.Name()) || s.skips(root, name, false):
				return nil
			}
			if info, err := d.Info(); err == nil {
				all[name] = stampOf(name, info)
			}
			if d.Type()&fs.ModeSymlink != 0 {
				at, err := filepath.EvalSymlinks(name)
				if _, where := system.Outside(s.root, name); err == nil && where == "" && isDirectory(at) {
					s.add(at)
				}
			}
			return nil
		})
	}
	return all
}

var sumSeed = maphash.MakeSeed()

// Changed returns the sources that changed since the last call, sorted. One that was
// written with the bytes that it had has not changed, as far as they are known.
func (s *Sources) Changed() (names []string) {
	const largest = 4 << 20 // bytes that are compared
	now := s.list(false)
	for _, name := range s.also {
		if info, err := os.Stat(name); err == nil {
			now[name] = stampOf(name, info)
		}
	}
	for name, at := range now {
		if at == s.known[name] {
			continue
		}
		if text, err := system.Read(name, largest); err == nil {
			sum, known := s.sums[name]
			if s.sums[name] = maphash.Bytes(sumSeed, text); known && sum == s.sums[name] {
				continue
			}
		}
		names = append(names, name)
	}
	for name := range s.known {
		if _, ok := now[name]; !ok {
			names = append(names, name)
			delete(s.sums, name)
		}
	}
	s.known = now
	slices.Sort(names)
	return names
}

// Built is called when a build has ended. It returns the sources that changed meanwhile, so
// that another build must follow, and in how many builds in succession they did. What
// changes in three of them the build itself writes: it is in written, and no reason to
// build again.
func (s *Sources) Built() (changed, written []string, times int) {
	all := s.Changed()
	for name := range s.builds {
		if !slices.Contains(all, name) {
			delete(s.builds, name)
		}
	}
	const most = 3
	for _, name := range all {
		if s.builds[name]++; s.builds[name] >= most {
			written = append(written, name)
			continue
		}
		changed, times = append(changed, name), max(times, s.builds[name])
	}
	return changed, written, times
}

// Watch returns a channel that receives when sources may have changed, until ctx ends, and
// why they are listed at intervals instead of waiting for events, see [Watcher.Polls].
func (s *Sources) Watch(ctx context.Context, opt WatchOptions) (wake <-chan struct{}, polls error) {
	s.Changed() // from now on
	changed := make(chan struct{}, 1)
	opt.Also = s.also
	for _, dir := range s.dirs {
		opt.Skip = func(name string) bool { return s.skips(dir, name, true) }
		w, err := Watch(dir, opt)
		if err != nil {
			continue // it is gone
		}
		opt.Also, polls = nil, cmp.Or(polls, w.Polls())
		go func() {
			defer w.Close()
			for {
				if _, err := w.Next(ctx); err != nil {
					return
				}
				select {
				case changed <- struct{}{}:
				default:
				}
			}
		}()
	}
	return changed, polls
}

// contentDirs are where generators read what a site is made of.
var contentDirs = []string{
	"content", "layouts", "data", "static", "assets", "i18n", "themes", "config", "templates", "sass", "src", "docs", "blog", "pages", "posts", "_posts",
	"_includes", "_layouts", "_data", "_pages", "_drafts", "source", "input",
}

// Newest returns the source that was changed last, and when: among the configuration, files
// in the usual directories, and documents beside the configuration. Others need not be part
// of the site, such as README.md and the code of a program.
func (s *Sources) Newest() (name string, edited time.Time) {
	for file, at := range s.list(true) {
		own := filepath.Dir(file) == s.g.Dir
		rel := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(file, s.g.Dir)), "/")
		switch {
		case at.mode&fs.ModeType != 0 || time.Unix(0, at.time).Before(edited):
		case own && !slices.Contains(s.g.Configs, rel) && (s.g.Generator.Traits().OwnFiles || !document().MatchString(rel)):
		default:
			name, edited = file, time.Unix(0, at.time)
		}
	}
	return name, edited
}

// document matches the names of files that a page is made of. README.md and the like are
// about the repository.
var document = text.Regexp(`[a-z0-9].*\.(md|markdown|mdx|rst|html|njk|liquid)$`)
