package generator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// hugoEnv returns variables that keep Hugo from writing outside a project while
// it prints its configuration: it makes its caches and the directory that it
// publishes to even then. Variables override the configuration files. They leave
// out the information of git, for which Hugo would run it.
func (r Runner) hugoEnv(dir, temporary string, args []string) []string {
	env := []string{
		"HUGO_CACHEDIR=" + filepath.Join(temporary, "cache"), "HUGO_RESOURCEDIR=" + filepath.Join(temporary, "resources"),
		"HUGO_ENABLEGITINFO=false",
		// Modules come from the cache only. Hugo sets Go's variables of these names from
		// its own, and from the configuration without them.
		"HUGO_MODULE_PROXY=off", "HUGO_MODULE_NOPROXY=none", "HUGO_MODULE_PRIVATE=none", "HUGO_MODULE_AUTH=off",
		"GOPROXY=off", "GONOPROXY=none", "GOPRIVATE=none", "GONOSUMDB=none", "GOSUMDB=off", "GOAUTH=off", "GOINSECURE=",
		"GOFLAGS=-mod=mod", "GOVCS=*:off", "GOTOOLCHAIN=local",
	}
	// Hugo refuses names of caches that its version does not know, so only those
	// that the project configures are named.
	names := map[string]bool{}
	hugoDocuments(dir, func(table string, doc map[string]any) {
		caches := tableOf(doc["caches"])
		if table == "caches" {
			caches = doc
		}
		for name := range caches {
			names[strings.ToLower(name)] = true
		}
	})
	for name := range names {
		if name != "modules" {
			env = append(env, "HUGO_CACHES_"+strings.ToUpper(name)+"_DIR=:cacheDir/"+name)
		}
	}
	env = append(env, "HUGO_CACHES_MODULES_DIR="+cmp.Or(r.hugoModules(), ":cacheDir/modules"))
	if !slices.Equal(args[:min(1, len(args))], []string{"config"}) || slices.Contains(args, "mounts") || r.outsidePublishDir(dir) != "" {
		env = append(env, "HUGO_PUBLISHDIR="+filepath.Join(temporary, "public"))
	}
	return env
}

// hugoNeeds matches the variables that Hugo, go and the version managers that start
// them need, and those with which the user configures them.
var hugoNeeds = text.Regexp(`(?i)^(PATH|PATHEXT|HOME|USER|USERPROFILE|(LOCAL)?APPDATA|PROGRAMDATA|SYSTEMDRIVE|SYSTEMROOT|WINDIR|COMSPEC|` +
	`XDG_CACHE_HOME|XDG_CONFIG_HOME|TMPDIR|TE?MP|LANG|LC_\w+|TZ|GIT_\w+|GO\w+|HUGO\w+|ASDF_\w+|MISE_\w+)=`)

// The policy that replaces the section [security] of a project: what its content
// adapters, which "hugo list" executes, may do.
const (
	nothing = "none"
	onlyGo  = "^go$" // reads the modules
)

// oldestHeld is the minor version of the oldest Hugo that these variables hold, the first one with [security].
const oldestHeld = 91

var hugoVersion = text.Regexp(`\bv0\.(\d+)`)

// heldHugo has the paths of the programs that are at least as new.
var heldHugo sync.Map

// holds makes sure that Hugo is one that the variables hold, or is trusted.
func (r Runner) holds(ctx context.Context) error {
	program := r.Programs["hugo"]
	if _, known := heldHugo.Load(program); known || r.Trusted || program == "" {
		return nil
	}
	out, _ := r.Output(ctx, os.TempDir(), "hugo", "version") // not in the project
	if m := hugoVersion().FindStringSubmatch(string(out)); m != nil {
		minor, _ := strconv.Atoi(m[1])
		if minor < oldestHeld {
			return fmt.Errorf("hugo version: %s is too old: only 0.%d and later can be kept from running and fetching what a project names", m[0], oldestHeld)
		}
	}
	heldHugo.Store(program, true)
	return nil
}

// held makes sure that content adapters are held to the policy of [Runner.Output] in
// all languages: a table such as [languages.en.security] overrides the variables.
// Only Hugo knows which of its files it reads and how it merges them, so it is asked
// what applies.
func (p Project) held(ctx context.Context, run Runner, modules []HugoModule) error {
	if run.Trusted || !hasAdapters(modules) {
		return nil
	}
	languages := map[string]bool{"": true}
	note := func(doc map[string]any) {
		for name := range tableOf(doc["languages"]) {
			languages[name] = true
		}
	}
	for _, m := range modules {
		hugoDocuments(m.Dir, func(table string, doc map[string]any) {
			for _, key := range slices.Backward(strings.FieldsFunc(table, func(r rune) bool { return r == '.' })) {
				doc = map[string]any{key: doc}
			}
			note(doc)
		})
	}
	for asked := 0; asked < len(languages); {
		for _, lang := range slices.Sorted(maps.Keys(languages)) {
			if !languages[lang] {
				continue
			}
			args := []string{"config", "--format", "json"}
			if lang != "" {
				args = append(args, "--lang", lang)
			}
			out, err := run.Output(ctx, p.Dir, "hugo", args...)
			if err != nil {
				return err
			}
			c, err := hugoJSON(out)
			if err != nil {
				return err
			}
			policy := tableOf(c["security"])
			for _, allowed := range []any{tableOf(policy["exec"])["allow"], tableOf(policy["http"])["urls"], tableOf(policy["funcs"])["getenv"]} {
				if list, ok := allowed.([]any); ok && len(list) == 1 {
					allowed = list[0]
				}
				if allowed != nothing && allowed != onlyGo {
					return errors.New("hugo list all: not started: a table [languages.*.security] would let content adapters run programs, connect or read variables")
				}
			}
			languages[lang] = false
			asked++
			note(c)
		}
	}
	return nil
}

// hasAdapters reports whether there may be content adapters, _content.gotmpl.
func hasAdapters(modules []HugoModule) (found bool) {
	for _, m := range modules {
		for _, mt := range m.Mounts {
			dir := filepath.FromSlash(mt.Source)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(m.Dir, dir)
			}
			if !strings.HasPrefix(strings.ToLower(slashed(mt.Target)), "content") {
				continue
			}
			_ = filepath.WalkDir(dir+string(filepath.Separator), func(_ string, d fs.DirEntry, err error) error {
				if err == nil && (strings.EqualFold(filepath.Ext(d.Name()), ".gotmpl") || d.Type()&fs.ModeSymlink != 0) {
					found = true
					return fs.SkipAll
				}
				return nil // Hugo does not read what cannot be listed either
			})
		}
	}
	return found
}

// hugoModules returns the directory of modules that builds have downloaded, in
// the user's own cache of Hugo, "" for none.
func (r Runner) hugoModules() string {
	caches := []string{r.getenv("HUGO_CACHEDIR")}
	if caches[0] == "" {
		user := cmp.Or(r.getenv("XDG_CACHE_HOME"), filepath.Join(r.getenv("HOME"), ".cache"))
		if dir, err := os.UserCacheDir(); err == nil && r.getenv("HOME") == "" {
			user = dir
		}
		caches = []string{filepath.Join(user, "hugo_cache"), filepath.Join(os.TempDir(), "hugo_cache_"+r.getenv("USER")), filepath.Join(os.TempDir(), "hugo_cache")}
	}
	for _, cache := range caches {
		modules := filepath.Join(cache, "modules")
		if info, err := os.Stat(modules); cache != "" && err == nil && info.IsDir() {
			return modules
		}
	}
	return ""
}

// hugoDocuments calls f with each configuration file of a project, of all
// environments, and the table that its name stands for, "" for the whole.
func hugoDocuments(dir string, f func(table string, doc map[string]any)) {
	for _, name := range hugoFiles(dir) {
		if doc, err := readDocument(Project{Dir: dir}, name); err == nil {
			f(documentTable(name), doc)
		}
	}
}

// hugoFiles returns the names that configuration files of a project can have, of all
// environments.
func hugoFiles(dir string) []string {
	names := slices.Concat(hugoNewFiles, hugoOldFiles)
	environments, _ := os.ReadDir(filepath.Join(dir, "config"))
	for _, environment := range environments {
		files, _ := os.ReadDir(filepath.Join(dir, "config", environment.Name()))
		for _, file := range files {
			names = append(names, "config/"+environment.Name()+"/"+file.Name())
		}
	}
	return names
}

// documentTable returns the table that a file in the directory config holds.
func documentTable(name string) string {
	if !strings.HasPrefix(name, "config/") {
		return ""
	}
	base := filepath.Base(name)
	table := strings.ToLower(strings.TrimSuffix(base, filepath.Ext(base)))
	if table == "hugo" || table == "config" {
		return ""
	}
	return table
}

// outsidePublishDir returns the directory that a project's files name for the
// site if it is outside the project, "" otherwise.
func (r Runner) outsidePublishDir(dir string) (publish string) {
	if r.getenv("HUGO_PUBLISHDIR") != "" { // the user's
		return ""
	}
	hugoDocuments(dir, func(table string, doc map[string]any) {
		name := textOf(doc["publishdir"])
		if table != "" || name == "" {
			return
		}
		path := filepath.FromSlash(name)
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, where := system.Outside(dir, path); where != "" {
			publish = name
		}
	})
	return publish
}
