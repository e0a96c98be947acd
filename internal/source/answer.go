package source

import (
	"cmp"
	"encoding/binary"
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/generator"
)

// answer is what Hugo said about a project, and what it depends on. It is kept
// between runs, see [Options.Cache], and holds as long as settings, and the
// names and the front matter of all content files, are the same. For other
// generators, it has only the files.
type answer struct {
	// settings is a hash of the configuration, the environment and Hugo.
	settings uint64
	// files are the content files, sorted by name.
	files   []pageFile
	modules []generator.HugoModule
	// pages is the list of pages. byName reports that the names of the files
	// say the same; then pages may be nil.
	pages  []generator.HugoPage
	byName bool
	// failed is the error of Hugo, if it failed; then failure identifies the
	// project with all its files.
	failed  string
	failure uint64
}

// configExtensions are the extensions of the files, at the top of a project or
// module, that decide what Hugo mounts and where it publishes.
var configExtensions = []string{".toml", ".yaml", ".yml", ".json", ".mod", ".sum", ".work"}

// maxConfigFile is the size in bytes of the largest file that settings reads.
// Larger ones, such as the lock files of npm, are no configuration of Hugo.
const maxConfigFile = 256 << 10

// settings returns a hash of all that decides about mounts and addresses,
// except the content files: the program, its environment, the configuration
// files and the directories of the project and its modules.
func (m *Map) settings(modules []generator.HugoModule) uint64 {
	var h hashed
	h.text(m.opt.Hugo)
	if info, err := os.Stat(m.opt.Hugo); err == nil {
		changed, inode := fileChange(info)
		h.number(uint64(info.Size()))
		h.number(uint64(info.ModTime().UnixNano()))
		h.number(uint64(changed.UnixNano()))
		h.number(inode)
	}
	for _, v := range m.opt.Env {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "HUGO") || strings.HasPrefix(name, "GO") || slices.Contains([]string{"HOME", "XDG_CACHE_HOME", "TZ"}, name) {
			h.text(v)
		}
	}
	for _, month := range []time.Month{time.January, time.July} { // dates in addresses are local
		_, offset := time.Date(2025, month, 1, 0, 0, 0, 0, time.Local).Zone()
		h.number(uint64(offset))
	}
	m.hashConfig(&h, m.project)
	for _, module := range modules {
		dir := slashed(module.Dir)
		h.text(m.portable(dir))
		if dir == slashed(m.opt.Project) || dir == resolved(m.opt.Project) {
			continue
		}
		if root, err := os.OpenRoot(module.Dir); err == nil {
			m.hashConfig(&h, root.FS())
			root.Close()
		}
	}
	return h.sum()
}

// hashConfig adds the configuration files of a project or module, the names of
// its directories, and which of the directories exist that its configuration
// names: Hugo mounts only those.
func (m *Map) hashConfig(h *hashed, tree fs.FS) {
	named := func(dir string) {
		info, err := os.Stat(path.Join(slashed(m.opt.Project), slashed(dir)))
		h.text(dir + " " + strconv.FormatBool(err == nil && info.IsDir()))
	}
	config := func(name string) {
		text, err := disk.ReadFS(tree, name, maxConfigFile)
		if err != nil {
			return
		}
		h.text(name)
		h.text(string(text))
		for _, k := range slices.Concat(mountKey.FindAllSubmatch(text, -1), contentDirKey.FindAllSubmatch(text, -1)) {
			for _, value := range k[1:] {
				if len(value) > 0 && len(value) < 1<<10 {
					named(strings.TrimSpace(string(value)))
				}
			}
		}
	}
	entries, _ := fs.ReadDir(tree, ".")
	for _, e := range entries {
		switch {
		case e.IsDir():
			h.text(e.Name() + "/")
		case slices.Contains(configExtensions, strings.ToLower(path.Ext(e.Name()))):
			config(e.Name())
		}
	}
	fs.WalkDir(tree, "config", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			config(name)
		}
		return nil
	})
	config("_vendor/modules.txt")
}

// hashed makes a hash of texts and numbers.
type hashed struct{ all []byte }

func (h *hashed) text(s string) {
	h.all = binary.AppendUvarint(h.all, uint64(len(s)))
	h.all = append(h.all, s...)
}
func (h *hashed) number(n uint64) { h.all = binary.LittleEndian.AppendUint64(h.all, n) }
func (h *hashed) sum() uint64     { return xxhash.Sum64(h.all) }

// answerVersion begins the file of an answer. Count it up when the meaning of
// the file changes.
const answerVersion = "sitelink sources 2\n"

// maxAnswer is the size in bytes of the largest file that is read, maxAnswers
// how many projects have one.
const (
	maxAnswer  = 256 << 20
	maxAnswers = 64
)

// cacheFile returns the name of the file with this extension that is kept for the
// project, "" for none.
func (m *Map) cacheFile(ext string) string {
	if m.opt.Cache == "" {
		return ""
	}
	return path.Join(slashed(m.opt.Cache), strconv.FormatUint(xxhash.Sum64String(m.identity()), 16)+ext)
}

// The extensions of kept files: what Hugo said, and the positions of links.
const (
	answerExt = ".hugo"
	placesExt = ".places"
)

// readAnswer returns the answer of an earlier run. It is empty if there is
// none, and if its file is damaged.
func (m *Map) readAnswer() *answer {
	d := m.readCache(answerExt, answerVersion)
	a := d.answer()
	if d.failed {
		return &answer{}
	}
	if info, err := os.Stat(m.cacheFile(answerExt)); a.failed != "" && (err != nil || time.Since(info.ModTime()) > failureHolds) {
		a.failed, a.settings = "", 0
	}
	for i := range a.modules {
		module := &a.modules[i]
		module.Dir = m.local(module.Dir)
		for k := range module.Mounts {
			module.Mounts[k].Source = m.local(module.Mounts[k].Source)
		}
	}
	for i := range a.pages {
		a.pages[i].File = m.local(a.pages[i].File)
	}
	return a
}

// failureHolds is how long Hugo is not asked again after it failed: the reason may
// be outside of the project.
const failureHolds = time.Hour

// identity returns the directory by which the cache knows the project.
func (m *Map) identity() string { return resolved(cmp.Or(m.opt.Identity, m.opt.Project)) }

// portable returns the name of a file in the project in a form that is the same for
// a copy of the project, local turns it back.
func (m *Map) portable(name string) string {
	for _, project := range []string{slashed(m.opt.Project), resolved(m.opt.Project)} {
		if rest, ok := strings.CutPrefix(slashed(name), strings.TrimSuffix(project, "/")); ok && (rest == "" || rest[0] == '/') {
			return inProject + rest
		}
	}
	return name
}

func (m *Map) local(name string) string {
	if rest, ok := strings.CutPrefix(name, inProject); ok {
		return strings.TrimSuffix(resolved(m.opt.Project), "/") + rest
	}
	return name
}

// inProject begins the portable names of files in the project.
const inProject = "\x00"

// readCache opens a file that is kept for the project. The decoder has failed if
// there is none, or if it is not as it was written.
func (m *Map) readCache(ext, version string) *decoder {
	none := &decoder{failed: true}
	name := m.cacheFile(ext)
	if name == "" {
		return none
	}
	text, err := disk.Read(name, maxAnswer)
	if err != nil || len(text) < len(version)+8 || string(text[:len(version)]) != version {
		return none
	}
	body, sum := text[:len(text)-8], binary.LittleEndian.Uint64(text[len(text)-8:])
	if xxhash.Sum64(body) != sum {
		return none
	}
	d := &decoder{text: body[len(version):]}
	if d.string() != m.identity() {
		return none
	}
	return d
}

// writeCache writes a file that is kept for the project. Errors are ignored: the
// next run finds out again.
func (m *Map) writeCache(ext, version string, write func(e *encoder)) {
	name := m.cacheFile(ext)
	if name == "" || os.MkdirAll(m.opt.Cache, 0o700) != nil {
		return
	}
	e := encoder{text: []byte(version)}
	e.string(m.identity())
	write(&e)
	if len(e.text) > maxAnswer-8 {
		return
	}
	text := binary.LittleEndian.AppendUint64(e.text, xxhash.Sum64(e.text))
	if _, err := os.Lstat(name); err != nil {
		m.forgetAnswers(ext)
	}
	disk.WriteFile(name, text, 0o600)
}

// manyChanges is how many content files must have new stamps for the answer to
// be written again only because of them.
const manyChanges = 20

// keepAnswer writes the answer if it says more than the old one.
func (m *Map) keepAnswer(old *answer) {
	now := m.answer
	changed := old.settings != now.settings || old.failed != now.failed || old.failure != now.failure || len(old.files) != len(now.files)
	n := 0
	for i := 0; i < len(now.files) && !changed; i++ {
		a, b := &old.files[i], &now.files[i]
		if a.stamp != b.stamp {
			n++
		}
		changed = a.name != b.name || a.matter != b.matter || a.keys != b.keys || n > manyChanges
	}
	if changed {
		m.writeAnswer()
	}
}

// writeAnswer keeps the answer for later runs.
func (m *Map) writeAnswer() {
	m.writeCache(answerExt, answerVersion, func(e *encoder) { e.answer(m.answer, m.portable) })
}

// forgetAnswers removes the oldest files with an extension, so that there is
// room for another.
func (m *Map) forgetAnswers(ext string) {
	entries, _ := os.ReadDir(m.opt.Cache)
	type file struct {
		name    string
		changed time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ext) {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return b.changed.Compare(a.changed) })
	for i := maxAnswers - 1; i < len(files); i++ {
		os.Remove(path.Join(slashed(m.opt.Cache), files[i].name))
	}
}

// encoder writes an answer, decoder reads it.
type encoder struct{ text []byte }

func (e *encoder) number(n uint64) { e.text = binary.AppendUvarint(e.text, n) }
func (e *encoder) string(s string) { e.number(uint64(len(s))); e.text = append(e.text, s...) }
func (e *encoder) bool(b bool) {
	if b {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) answer(a *answer, portable func(string) string) {
	e.number(a.settings)
	e.bool(a.byName)
	e.number(uint64(len(a.files)))
	for i := range a.files {
		f := &a.files[i]
		e.string(f.name)
		e.number(f.stamp)
		e.number(f.matter)
		e.number(f.sum)
		e.number(f.keys)
		e.bool(f.moves)
		e.bool(f.computes)
	}
	e.string(a.failed)
	e.number(a.failure)
	e.number(uint64(len(a.modules)))
	for _, module := range a.modules {
		e.string(module.Path)
		e.string(portable(module.Dir))
		e.number(uint64(len(module.Mounts)))
		for _, mt := range module.Mounts {
			e.string(portable(mt.Source))
			e.string(mt.Target)
			e.string(mt.Lang)
		}
	}
	e.bool(a.pages != nil)
	e.number(uint64(len(a.pages)))
	for i := range a.pages {
		p := &a.pages[i]
		e.string(portable(p.File))
		e.string(p.Permalink.String())
		e.bool(p.Draft)
		e.string(p.Publish.Format(time.RFC3339))
		e.string(p.Expiry.Format(time.RFC3339))
	}
}

type decoder struct {
	text   []byte
	failed bool
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.text)
	if size <= 0 {
		d.failed, d.text = true, nil
		return 0
	}
	d.text = d.text[size:]
	return n
}

func (d *decoder) string() string {
	n := d.number()
	if n > uint64(len(d.text)) {
		d.failed, d.text = true, nil
		return ""
	}
	s := string(d.text[:n])
	d.text = d.text[n:]
	return s
}

func (d *decoder) bool() bool { return d.number() == 1 }

// count returns how many elements follow, each at least one byte long.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.text)) {
		d.failed, d.text = true, nil
		return 0
	}
	return int(n)
}

func (d *decoder) answer() *answer {
	a := &answer{settings: d.number(), byName: d.bool()}
	a.files = make([]pageFile, d.count())
	for i := range a.files {
		a.files[i] = pageFile{name: d.string(), stamp: d.number(), matter: d.number(), sum: d.number(), keys: d.number(), moves: d.bool(), computes: d.bool()}
	}
	a.failed, a.failure = d.string(), d.number()
	a.modules = make([]generator.HugoModule, d.count())
	for i := range a.modules {
		module := generator.HugoModule{Path: d.string(), Dir: d.string()}
		module.Mounts = make([]generator.HugoMount, d.count())
		for k := range module.Mounts {
			module.Mounts[k] = generator.HugoMount{Source: d.string(), Target: d.string(), Lang: d.string()}
		}
		a.modules[i] = module
	}
	listed := d.bool()
	n := d.count()
	if listed {
		a.pages = make([]generator.HugoPage, 0, n)
	}
	for range n {
		p := generator.HugoPage{File: d.string()}
		link, draft, publish, expiry := d.string(), d.bool(), d.string(), d.string()
		var err error
		if p.Permalink, err = url.Parse(link); err != nil {
			d.failed = true
			return a
		}
		p.Draft = draft
		p.Publish, _ = time.Parse(time.RFC3339, publish)
		p.Expiry, _ = time.Parse(time.RFC3339, expiry)
		a.pages = append(a.pages, p)
	}
	return a
}
