package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// hugoOldFiles are the names that Hugo alone had before 0.110 and still reads.
var hugoOldFiles = []string{"config.toml", "config.yaml", "config.yml", "config.json"}

var hugoRow = row{
	name: Hugo, title: "Hugo", usual: "hugo", docroot: "public",
	files:    append([]string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"}, hugoOldFiles...),
	configs:  hugoConfigs,
	settings: hugoSettings,
	command: func(_ Project, _ Runner, out string) Command {
		return args([]string{"hugo"}, "--destination", out)
	},
	// Not --panicOnWarning: the panic comes in a goroutine whose end the main one
	// waits for, and of 600 builds of one site on a busy machine 17 had ended with
	// status 0 before it took effect (0.162). Older versions do not know it for all
	// warnings, and it hides all but the first.
	strict:     []string{"--printPathWarnings"},
	warning:    "WARN ",
	baseFlags:  []string{"-b", "--baseURL"},
	outFlags:   []string{"-d", "--destination"},
	quietFlags: []string{"--quiet"},
}

// hugoConfigs lists what Hugo reads: one file of the project, and then the
// directories of the default and the production environment.
func hugoConfigs(tree fs.FS, names []string) []string {
	found := firstOf(tree, names)
	for _, dir := range []string{"config/_default", "config/production"} {
		files, _ := fs.ReadDir(tree, dir)
		for _, f := range files {
			switch strings.ToLower(path.Ext(f.Name())) {
			case ".toml", ".yaml", ".yml", ".json":
				found = append(found, path.Join(dir, f.Name()))
			}
		}
	}
	return found
}

// hugoSettings asks Hugo, and reads the files where that does not work.
func hugoSettings(ctx context.Context, p Project, run Runner, args []string) (Settings, error) {
	note := ""
	// Older ones take no --baseURL here: the variable means the same to all.
	if base, ok := given(args, "-b", "--baseURL"); ok {
		run = run.With("HUGO_BASEURL=" + base)
	}
	if env, ok := given(args, "-e", "--environment"); ok {
		run = run.With("HUGO_ENVIRONMENT=" + env)
	}
	var where []string
	for _, flags := range [][]string{{"--config"}, {"--configDir"}, {"--ignoreVendorPaths"}, {"--themesDir"}, {"--source", "-s"}} {
		if value, ok := given(args, flags...); ok {
			where = append(where, flags[0]+"="+value)
		}
	}
	if run.Programs["hugo"] != "" {
		defer TidyHugo(p.Dir)()
		s, err := askHugo(ctx, p, run, where)
		if err == nil || ctx.Err() != nil {
			return s, contextCause(ctx)
		}
		note = err.Error() + "; the configuration files are read instead"
	}
	s, err := readHugo(p, run)
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	return s, err
}

func contextCause(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// askHugo takes the configuration that Hugo prints: as JSON from 0.112.4 on, one
// language at a time, before that as lines.
func askHugo(ctx context.Context, p Project, run Runner, where []string) (Settings, error) {
	out, err := run.Output(ctx, p.Dir, "hugo", append([]string{"config", "--format", "json"}, where...)...)
	if err != nil {
		if ctx.Err() != nil || !strings.Contains(err.Error(), "unknown flag") {
			return Settings{}, err
		}
		return askOldHugo(ctx, p, run, where)
	}
	c, err := hugoJSON(out)
	if err != nil {
		return Settings{}, err
	}
	s := single(textOf(c["publishdir"]), textOf(c["baseurl"]), "hugo config")
	s.RefNotFound = textOf(c["reflinksnotfoundurl"])
	s.Languages = hugoLanguages(tableOf(c["languages"]), textOf(c["defaultcontentlanguage"]), c["disablelanguages"])
	if len(s.Languages) < 2 {
		return s, nil
	}
	// Either all languages have an address of their own, or none has: Hugo
	// refuses anything else. So the second tells whether others must be asked.
	roots := []Root{{Dir: s.Languages[0], Base: s.Roots[0].Base, Language: s.Languages[0]}}
	for _, lang := range s.Languages[1:] {
		out, err := run.Output(ctx, p.Dir, "hugo", append([]string{"config", "--format", "json", "--lang", lang}, where...)...)
		if err != nil {
			if strings.Contains(err.Error(), "unknown flag") {
				err = multihostFiles(p, run, &s)
				return s, err
			}
			return Settings{}, err
		}
		of, err := hugoJSON(out)
		if err != nil {
			return Settings{}, err
		}
		base := tidyBase(textOf(of["baseurl"]))
		if len(roots) == 1 && base == roots[0].Base {
			return s, nil
		}
		roots = append(roots, Root{Dir: lang, Base: base, Language: lang})
	}
	s.Roots = roots
	return s, nil
}

// hugoJSON reads the object in an output that may have warnings before it.
func hugoJSON(out []byte) (map[string]any, error) {
	start := 0
	for line := range bytes.Lines(out) {
		if bytes.HasPrefix(line, []byte("{")) {
			break
		}
		start += len(line)
	}
	var c map[string]any
	if err := json.NewDecoder(bytes.NewReader(out[start:])).Decode(&c); err != nil {
		return nil, fmt.Errorf("read hugo config: %w", err)
	}
	return lowered(c), nil
}

// askOldHugo reads lines such as publishdir = "public". What is nested in them is
// printed in a way that cannot be read back: the files tell the languages.
func askOldHugo(ctx context.Context, p Project, run Runner, where []string) (Settings, error) {
	out, err := run.Output(ctx, p.Dir, "hugo", append([]string{"config"}, where...)...)
	if err != nil {
		return Settings{}, err
	}
	c := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, " = "); ok {
			if text, err := strconv.Unquote(strings.TrimSpace(value)); err == nil {
				value = text
			}
			c[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(value)
		}
	}
	if c["publishdir"] == "" {
		return Settings{}, errors.New("read hugo config: no publishdir in its output")
	}
	s := single(c["publishdir"], c["baseurl"], "hugo config")
	s.RefNotFound = c["reflinksnotfoundurl"]
	err = multihostFiles(p, run, &s)
	return s, err
}

// multihostFiles takes the languages from the configuration files, and the roots
// if each language has one.
func multihostFiles(p Project, run Runner, s *Settings) error {
	files, err := readHugo(p, run)
	if err != nil {
		return err
	}
	s.Languages = files.Languages
	if files.Multihost() {
		s.Roots = files.Roots
	}
	return nil
}

// readHugo reads the configuration files as Hugo does, as far as they say where
// the site is: one of the project, the directories of config, then variables.
func readHugo(p Project, run Runner) (Settings, error) {
	all := map[string]any{}
	from := ""
	for _, name := range hugoEnvironment(p, run) {
		d, err := readDocument(p, name)
		if err != nil {
			return Settings{}, err
		}
		from = name
		for _, key := range slices.Backward(hugoKeys(name)) {
			d = map[string]any{key: d}
		}
		merge(all, d)
	}
	for _, key := range []string{"baseURL", "publishDir", "defaultContentLanguage"} {
		if v := run.getenv("HUGO_" + strings.ToUpper(key)); v != "" {
			all[strings.ToLower(key)], from = v, "HUGO_"+strings.ToUpper(key)
		}
	}
	s := single(textOf(all["publishdir"]), textOf(all["baseurl"]), from)
	s.RefNotFound = textOf(all["reflinksnotfoundurl"])
	languages := tableOf(all["languages"])
	s.Languages = hugoLanguages(languages, textOf(all["defaultcontentlanguage"]), all["disablelanguages"])
	var roots []Root
	for _, lang := range s.Languages {
		if base := textOf(tableOf(languages[lang])["baseurl"]); base != "" {
			roots = append(roots, Root{Dir: lang, Base: tidyBase(base), Language: lang})
		}
	}
	if len(roots) > 0 && len(roots) == len(s.Languages) {
		s.Roots = roots
	}
	return s, nil
}

// hugoEnvironment lists the files of the environment that Hugo builds for.
func hugoEnvironment(p Project, run Runner) []string {
	env := run.getenv("HUGO_ENVIRONMENT")
	if env == "" {
		env = run.getenv("HUGO_ENV")
	}
	if env == "" || env == "production" || !fs.ValidPath(env) {
		return p.Configs
	}
	names := slices.DeleteFunc(slices.Clone(p.Configs), func(name string) bool { return strings.HasPrefix(name, "config/production/") })
	files, _ := fs.ReadDir(os.DirFS(p.Dir), path.Join("config", env))
	for _, f := range files {
		switch strings.ToLower(path.Ext(f.Name())) {
		case ".toml", ".yaml", ".yml", ".json":
			names = append(names, path.Join("config", env, f.Name()))
		}
	}
	return names
}

// hugoKeys returns the tables that a file of a config directory stands for:
// languages.en.toml holds what [languages.en] would.
func hugoKeys(name string) []string {
	if !strings.HasPrefix(name, "config/") {
		return nil
	}
	stem := strings.ToLower(strings.TrimSuffix(path.Base(name), path.Ext(name)))
	if stem == "hugo" || stem == "config" {
		return nil
	}
	return strings.Split(stem, ".")
}

// merge puts what from says over what into says, table by table.
func merge(into, from map[string]any) {
	for k, v := range from {
		if sub, ok := v.(map[string]any); ok {
			if old, ok := into[k].(map[string]any); ok {
				merge(old, sub)
				continue
			}
		}
		into[k] = v
	}
}

// hugoLanguages returns the languages that are built, the default one first, the
// others by weight and name.
func hugoLanguages(languages map[string]any, first string, disabled any) []string {
	off := map[string]bool{}
	switch v := disabled.(type) {
	case []any:
		for _, lang := range v {
			off[textOf(lang)] = true
		}
	case string:
		for lang := range strings.FieldsSeq(v) {
			off[lang] = true
		}
	}
	var names []string
	weight := map[string]float64{}
	for name, v := range languages {
		of := tableOf(v)
		if of == nil || of["disabled"] == true || off[name] {
			continue
		}
		names = append(names, name)
		switch w := of["weight"].(type) {
		case int64:
			weight[name] = float64(w)
		case int:
			weight[name] = float64(w)
		case float64:
			weight[name] = w
		}
		if weight[name] == 0 {
			weight[name] = 1e9 // Hugo puts those without one last
		}
	}
	if first == "" {
		first = "en"
	}
	slices.SortFunc(names, func(a, b string) int {
		switch {
		case a == first:
			return -1
		case b == first:
			return 1
		case weight[a] != weight[b]:
			if weight[a] < weight[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}
