package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/system"
)

// answer is what Hugo said about a project. It is kept between runs, see
// [Options.Cache]. The modules hold as long as Settings is the same, the pages as
// long as Matter is the same too.
type answer struct {
	// Project is the directory that the paths begin with.
	Project string
	// Settings is a hash of the configuration, the environment and Hugo. Matter is
	// one of the names and the front matter of all content files, 0 if the pages
	// depend on more.
	Settings, Matter uint64
	Modules          []generator.HugoModule
	Pages            []generator.HugoPage
}

// askHugo indexes the content with what Hugo says about mounts and pages. It
// starts Hugo only for what an earlier answer does not say.
func (src *sources) askHugo(ctx context.Context) error {
	project := generator.Project{Dir: src.opt.Project}
	run := generator.Runner{Programs: map[string]string{"hugo": src.opt.Hugo}, Env: src.opt.Env, Timeout: src.opt.Timeout}
	old := src.readAnswer()
	now := &src.answer
	now.Modules, now.Settings = old.Modules, src.settings(old.Modules)
	known := now.Settings == old.Settings
	if !known {
		var err error
		if now.Modules, err = project.HugoModules(ctx, run); err != nil {
			return err
		}
		now.Settings = src.settings(now.Modules)
	}
	src.openMounts(now.Modules, true)
	src.indexContent()
	if now.Matter = src.content.matterSum(ctx); known && now.Matter == old.Matter && now.Matter != 0 {
		now.Pages = old.Pages
	} else {
		var err error
		if now.Pages, err = project.HugoPages(ctx, run, now.Modules); err != nil {
			return err
		}
		src.keepAnswer()
	}
	var listed []listedPage
	for _, p := range now.Pages {
		file, _ := src.inProject(p.File)
		listed = append(listed, listedPage{file, p.Permalink.Host, p.Permalink.Path})
	}
	src.addListed(listed)
	src.content.matter = func() map[string][]int { return nil } // the list has it all
	return nil
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
func (src *sources) settings(modules []generator.HugoModule) uint64 {
	h := xxhash.New()
	if info, err := os.Stat(src.opt.Hugo); err == nil {
		fmt.Fprintln(h, src.opt.Hugo, info.Size(), info.ModTime().UnixNano())
	}
	for _, v := range src.opt.Env {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "HUGO") || strings.HasPrefix(name, "GO") || slices.Contains([]string{"HOME", "XDG_CACHE_HOME", "TZ"}, name) {
			fmt.Fprintf(h, "%q\n", v)
		}
	}
	hashConfig(h, src.project, src.opt.Project)
	for _, module := range modules {
		dir, ok := src.inProject(module.Dir)
		fmt.Fprintf(h, "%q\n", dir)
		if ok && dir == "." {
			continue
		}
		if root, err := os.OpenRoot(module.Dir); err == nil {
			hashConfig(h, root.FS(), module.Dir)
			root.Close()
		}
	}
	return h.Sum64()
}

// hashConfig adds the configuration files of a project or module, the names of
// its directories, and which of the directories exist that its configuration
// names: Hugo mounts only those.
func hashConfig(h *xxhash.Digest, tree fs.FS, dir string) {
	for _, module := range (generator.Project{Dir: dir}).ConfiguredModules() {
		for _, mt := range module.Mounts {
			source := slashed(mt.Source)
			if !isAbsolute(source) {
				source = path.Join(slashed(module.Dir), source)
			}
			info, err := os.Stat(source)
			fmt.Fprintln(h, err == nil && info.IsDir())
		}
	}
	config := func(name string) {
		text, err := system.ReadFS(tree, name, maxConfigFile)
		if err != nil {
			return
		}
		fmt.Fprintf(h, "%q %q\n", name, text)
	}
	entries, _ := fs.ReadDir(tree, ".")
	for _, e := range entries {
		switch {
		case e.IsDir():
			fmt.Fprintf(h, "%q/\n", e.Name())
		case slices.Contains(configExtensions, strings.ToLower(path.Ext(e.Name()))):
			config(e.Name())
		}
	}
	fs.WalkDir(tree, "config", func(name string, _ fs.DirEntry, _ error) error {
		config(name)
		return nil
	})
	config("_vendor/modules.txt")
}

// matterOf returns the part of a content file that decides its address: the
// front matter, or all of a file whose front matter is not understood.
func matterOf(name string, text []byte) []byte {
	start := bytes.TrimLeft(bytes.TrimPrefix(text, bom), " \t\r\n")
	plain := isMarkdown(name) || strings.EqualFold(path.Ext(name), ".html")
	opens := slices.ContainsFunc([]string{"---", "+++", "{", "#+"}, func(fence string) bool { return bytes.HasPrefix(start, []byte(fence)) })
	if plain && !opens {
		return nil
	}
	if end := frontMatter(text); plain && end > 0 {
		return text[:end]
	}
	return text
}

// maxAnswer is the size in bytes of the largest answer that is read, answerHolds
// how long an answer stays when another project gets one.
const (
	maxAnswer   = 256 << 20
	answerHolds = 30 * 24 * time.Hour
)

// answerFile returns the name of the file with the answer, "" for none.
func (src *sources) answerFile() string {
	if src.opt.Cache == "" {
		return ""
	}
	return path.Join(slashed(src.opt.Cache), strconv.FormatUint(xxhash.Sum64String(resolved(cmp.Or(src.opt.Identity, src.opt.Project))), 16)+".hugo")
}

// readAnswer returns the answer of an earlier run, an empty one if there is none.
// Its paths are those of this project, also if it is that of a copy.
func (src *sources) readAnswer() (a answer) {
	text, _ := system.Read(src.answerFile(), maxAnswer)
	if gob.NewDecoder(bytes.NewReader(text)).Decode(&a) != nil {
		return answer{}
	}
	move := func(name *string) {
		if rest, ok := strings.CutPrefix(*name, a.Project); ok && (rest == "" || rest[0] == '/') {
			*name = resolved(src.opt.Project) + rest
		}
	}
	for i := range a.Modules {
		move(&a.Modules[i].Dir)
		for k := range a.Modules[i].Mounts {
			move(&a.Modules[i].Mounts[k].Source)
		}
	}
	for i := range a.Pages {
		move(&a.Pages[i].File)
	}
	return a
}

// keepAnswer writes the answer, and removes those that are older than answerHolds.
// Errors are ignored: the next run asks again.
func (src *sources) keepAnswer() {
	name := src.answerFile()
	if os.MkdirAll(src.opt.Cache, 0o700) != nil {
		return
	}
	src.answer.Project = resolved(src.opt.Project)
	var text bytes.Buffer
	if gob.NewEncoder(&text).Encode(src.answer) == nil {
		system.WriteFile(name, text.Bytes(), 0o600)
	}
	entries, _ := os.ReadDir(src.opt.Cache)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > answerHolds {
			os.Remove(path.Join(slashed(src.opt.Cache), e.Name()))
		}
	}
}
