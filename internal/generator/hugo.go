package generator

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sitelink/sitelink/internal/text"
)

// hugoNewFiles are the names of Hugo's configuration. hugoOldFiles are the only
// names before Hugo 0.110; Hugo still reads them.
var hugoNewFiles = []string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"}

var hugoOldFiles = []string{"config.toml", "config.yaml", "config.yml", "config.json"}

var hugoRow = row{
	name: Hugo, title: "Hugo", port: 1313, usual: "hugo", build: "hugo --destination OUT", docroots: []string{"public"},
	install: "see https://gohugo.io/installation/", version: "0.162.0",
	ci:       "curl -sSfL https://github.com/gohugoio/hugo/releases/download/v%[1]s/hugo_extended_%[1]s_linux-amd64.tar.gz | SUDO tar -xz -C /usr/local/bin hugo",
	files:    slices.Concat(hugoNewFiles, hugoOldFiles),
	configs:  hugoConfigs,
	settings: hugoSettings,
	// Not --panicOnWarning: it panics in another goroutine, and of 600 builds of one
	// site on a busy machine 17 ended with status 0 before the panic took effect
	// (0.162). Older versions apply it to some warnings only, and it hides all but
	// the first.
	strict:     []string{"--printPathWarnings"},
	warning:    "WARN ",
	ownFiles:   true, // README.md and the like at its root are not among them
	baseFlags:  []string{"-b", "--baseURL"},
	outFlags:   []string{"-d", "--destination"},
	quietFlags: []string{"--quiet"},
}

// hugoConfigs returns the files that Hugo reads: one in the project, then those in
// the directories of the default and the production environment.
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

// hugoSettings asks Hugo for its configuration, and reads the files if that does
// not work.
func hugoSettings(ctx context.Context, p Project, run Runner, args []string) (Settings, error) {
	note := ""
	// Older versions take no --baseURL here; the variable works in all of them.
	if base, ok := flagValue(args, "-b", "--baseURL"); ok {
		run = run.With("HUGO_BASEURL=" + base)
	}
	if env, ok := flagValue(args, "-e", "--environment"); ok {
		run = run.With("HUGO_ENVIRONMENT=" + env)
	}
	var where []string
	for _, flags := range [][]string{{"--config"}, {"--configDir"}, {"--ignoreVendorPaths"}, {"--themesDir"}, {"--source", "-s"}} {
		if value, ok := flagValue(args, flags...); ok {
			where = append(where, flags[0]+"="+value)
		}
	}
	if run.Programs["hugo"] != "" {
		defer TidyHugo(p.Dir)()
		s, err := askHugo(ctx, p, run, where)
		if publish := run.outsidePublishDir(p.Dir); publish != "" && err == nil {
			s.Docroot = publish // Hugo was given another
		}
		if err == nil || ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		note = err.Error() + "; the configuration files are read instead"
	}
	s, err := readHugo(p, run)
	if note != "" {
		s.Notes = append(s.Notes, note)
	}
	return s, err
}

// askHugo reads the configuration that Hugo prints: JSON from 0.112.4 on, one
// language at a time; lines before that.
func askHugo(ctx context.Context, p Project, run Runner, where []string) (Settings, error) {
	out, err := run.Output(ctx, p.Dir, "hugo", append([]string{"config", "--format", "json"}, where...)...)
	if err != nil {
		if ctx.Err() != nil || !strings.Contains(err.Error(), "unknown flag") {
			return Settings{}, err
		}
		if err := run.holds(ctx); err != nil {
			return Settings{}, err
		}
		return askOldHugo(ctx, p, run, where)
	}
	heldHugo.Store(run.Programs["hugo"], true)
	c, err := hugoJSON(out)
	if err != nil {
		return Settings{}, err
	}
	s := oneRoot(textOf(c["publishdir"]), textOf(c["baseurl"]), "hugo config")
	s.RefNotFound, s.HeadingIDs = textOf(c["reflinksnotfoundurl"]), hugoHeadingIDs(c, true)
	s.RelativeURLs = c["relativeurls"] == true
	s.Languages = hugoLanguages(tableOf(c["languages"]), textOf(c["defaultcontentlanguage"]), c["disablelanguages"])
	if len(s.Languages) < 2 {
		return s, nil
	}
	// Either all languages have an address of their own or none has; Hugo refuses
	// anything else. So the second language shows whether to ask for the others.
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

// hugoHeadingIDs returns how Hugo makes ids of headings. The setting is autoIDType since
// 0.144, and was autoHeadingIDType before. What Hugo prints lacks values that are false.
func hugoHeadingIDs(c map[string]any, printed bool) HeadingIDs {
	parser := tableOf(tableOf(tableOf(c["markup"])["goldmark"])["parser"])
	if made, ok := parser["autoheadingid"].(bool); ok && !made || !ok && printed && len(parser) > 0 {
		return NoHeadingIDs
	}
	ids := HeadingIDs(strings.ToLower(cmp.Or(textOf(parser["autoidtype"]), textOf(parser["autoheadingidtype"]))))
	if ids == GitHubIDs {
		return ""
	}
	return ids
}

// hugoJSON reads the object in an output that may begin with warnings.
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

// oldHugoLine matches a line such as publishdir = "public", or, for a project
// whose configuration is YAML or JSON, publishdir: "public".
var oldHugoLine = text.Regexp(`^(\w+)(?: =|:) (.*)$`)

// askOldHugo reads the lines that versions before 0.112.4 print. They print nested
// values in a form that cannot be read back, so the languages come from the files.
func askOldHugo(ctx context.Context, p Project, run Runner, where []string) (Settings, error) {
	out, err := run.Output(ctx, p.Dir, "hugo", append([]string{"config"}, where...)...)
	if err != nil {
		return Settings{}, err
	}
	c := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if m := oldHugoLine().FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			value := m[2]
			if text, err := strconv.Unquote(value); err == nil {
				value = text
			}
			c[strings.ToLower(m[1])] = value
		}
	}
	if c["publishdir"] == "" {
		return Settings{}, errors.New("read hugo config: no publishdir in its output")
	}
	s := oneRoot(c["publishdir"], c["baseurl"], "hugo config")
	s.RefNotFound, s.RelativeURLs = c["reflinksnotfoundurl"], c["relativeurls"] == "true"
	err = multihostFiles(p, run, &s)
	return s, err
}

// multihostFiles reads the languages from the configuration files, and the roots if
// each language has one.
func multihostFiles(p Project, run Runner, s *Settings) error {
	files, err := readHugo(p, run)
	if err != nil {
		return err
	}
	s.Languages, s.HeadingIDs = files.Languages, files.HeadingIDs
	if files.Multihost() {
		s.Roots = files.Roots
	}
	return nil
}

// readHugo reads the keys that say where the site is, as Hugo does: from the file
// of the project, the config directories, then variables.
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
	s := oneRoot(textOf(all["publishdir"]), textOf(all["baseurl"]), from)
	s.RefNotFound, s.HeadingIDs = textOf(all["reflinksnotfoundurl"]), hugoHeadingIDs(all, false)
	s.RelativeURLs = all["relativeurls"] == true
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

// hugoEnvironment returns the files of the environment that Hugo builds for.
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

// hugoKeys returns the tables that a file in a config directory stands for:
// languages.en.toml holds the table [languages.en].
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

// merge copies from over into, table by table.
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

// hugoLanguages returns the languages that are built: the default one first, the
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
			weight[name] = 1e9 // Hugo sorts those without a weight last
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

// HugoPage is a page of `hugo list all`: one that is made from a file.
type HugoPage struct {
	// File is the content file, a slash path relative to the project or absolute.
	File string
	// Permalink is the page's address.
	Permalink *url.URL
	Draft     bool
	// Publish and Expiry are zero if the page has none.
	Publish, Expiry time.Time
}

// PublishedAt reports whether a build at that time makes the page.
func (p *HugoPage) PublishedAt(t time.Time) bool {
	return !p.Draft && !p.Publish.After(t) && (p.Expiry.IsZero() || p.Expiry.Year() <= 1 || p.Expiry.After(t))
}

// HugoPages asks Hugo for the pages of the project that are made from files.
// modules are those that [Project.HugoModules] returns; without any, it asks for them.
func (p Project) HugoPages(ctx context.Context, run Runner, modules []HugoModule) (pages []HugoPage, err error) {
	defer TidyHugo(p.Dir)()
	if len(modules) == 0 && !run.Trusted {
		if modules, err = p.HugoModules(ctx, run); err != nil {
			return nil, err
		}
	}
	if err := p.held(ctx, run, modules); err != nil {
		return nil, err
	}
	out, err := run.Output(ctx, p.Dir, "hugo", "list", "all")
	if err != nil {
		return nil, err
	}
	return ReadHugoList(out)
}

// ReadHugoList reads the CSV of `hugo list all`. It skips warnings between the
// lines, and lines that are not rows.
func ReadHugoList(out []byte) (pages []HugoPage, err error) {
	start := bytes.Index(out, []byte("path,"))
	for start > 0 && out[start-1] != '\n' {
		next := bytes.Index(out[start+1:], []byte("path,"))
		if next < 0 {
			start = -1
			break
		}
		start += 1 + next
	}
	if start < 0 {
		return nil, errors.New("read hugo list all: no header \"path,...\" in its output")
	}
	r := csv.NewReader(bytes.NewReader(out[start:]))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read hugo list all: %w", err)
	}
	header = slices.Clone(header)
	link := slices.Index(header, "permalink")
	if link < 0 {
		return nil, errors.New("read hugo list all: no column permalink")
	}
	draft, publish, expiry := slices.Index(header, "draft"), slices.Index(header, "publishDate"), slices.Index(header, "expiryDate")
	date := func(row []string, i int) (t time.Time) {
		if i >= 0 {
			t, _ = time.Parse(time.RFC3339, row[i])
		}
		return t
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return pages, nil
		}
		if err != nil || len(row) != len(header) || row[0] == "" {
			continue
		}
		u, err := url.Parse(strings.Clone(row[link]))
		if err != nil {
			continue
		}
		pages = append(pages, HugoPage{slashed(strings.Clone(row[0])), u, draft >= 0 && row[draft] == "true", date(row, publish), date(row, expiry)})
	}
}

// HugoModule is one of the modules of a Hugo project: the project itself, a
// theme, or another.
type HugoModule struct {
	// Path is its name, "project" for the project itself; Dir is its directory.
	Path, Dir string
	Mounts    []HugoMount
}

// HugoMount maps a directory of a module into the tree that Hugo builds from.
type HugoMount struct {
	// Source is relative to the module, or absolute. Lang is empty if the mount is
	// for all languages or for several.
	Source, Target, Lang string
}

// HugoModules asks Hugo for the modules of the project and their mounts.
func (p Project) HugoModules(ctx context.Context, run Runner) ([]HugoModule, error) {
	if err := run.holds(ctx); err != nil {
		return nil, err
	}
	defer TidyHugo(p.Dir)()
	out, err := run.Output(ctx, p.Dir, "hugo", "config", "mounts")
	if err != nil {
		return nil, err
	}
	return ReadHugoMounts(out)
}

// ConfiguredModules returns the project and the themes in it with their usual
// directories, and with the mounts and content directories that their
// configuration files name, which may be outside the project. HugoModules knows
// more, but asks Hugo.
func (p Project) ConfiguredModules() []HugoModule {
	all := []HugoModule{{Path: "project", Dir: p.Dir}}
	themes, _ := os.ReadDir(filepath.Join(p.Dir, "themes"))
	for _, theme := range themes {
		all = append(all, HugoModule{Path: theme.Name(), Dir: filepath.Join(p.Dir, "themes", theme.Name())})
	}
	for i := range all {
		m := &all[i]
		var content []HugoMount
		for _, name := range []string{"static", "layouts", "data", "i18n", "assets"} {
			m.Mounts = append(m.Mounts, HugoMount{name, name, ""})
		}
		add := func(source, target, lang string) {
			switch mount := (HugoMount{slashed(path.Clean(source)), path.Clean(target), lang}); {
			case source == "" || target == "":
			case strings.HasPrefix(mount.Target+"/", "content/"):
				content = append(content, mount)
			default:
				m.Mounts = append(m.Mounts, mount)
			}
		}
		hugoDocuments(m.Dir, func(table string, doc map[string]any) {
			if table != "" {
				doc = map[string]any{table: doc}
			}
			add(textOf(doc["contentdir"]), "content", "")
			languages := tableOf(doc["languages"])
			for _, lang := range slices.Sorted(maps.Keys(languages)) {
				add(textOf(tableOf(languages[lang])["contentdir"]), "content", lang)
			}
			mounts, _ := tableOf(doc["module"])["mounts"].([]any)
			for _, mount := range mounts {
				of := lowered(tableOf(mount))
				add(textOf(of["source"]), textOf(of["target"]), textOf(of["lang"]))
			}
		})
		slices.SortStableFunc(content, func(a, b HugoMount) int { return strings.Compare(a.Source, b.Source) })
		content = slices.CompactFunc(content, func(a, b HugoMount) bool { return a.Source == b.Source && a.Target == b.Target })
		// Of nested directories, the outer one has the same files, without their language.
		if !slices.ContainsFunc(content, func(mt HugoMount) bool { return strings.HasPrefix(mt.Source+"/", "content/") }) {
			content = append(content, HugoMount{"content", "content", ""})
		}
		m.Mounts = append(m.Mounts, content...)
	}
	return all
}

// ReadHugoMounts reads the JSON objects of `hugo config mounts`, one per module.
// Warnings may come before them.
func ReadHugoMounts(out []byte) (all []HugoModule, err error) {
	start := 0
	for line := range bytes.Lines(out) {
		if c := bytes.TrimSpace(line); len(c) > 0 && c[0] == '{' {
			break
		}
		start += len(line)
	}
	dec := json.NewDecoder(bytes.NewReader(out[start:]))
	for {
		var printed struct {
			Path, Dir string
			Mounts    []struct {
				HugoMount
				// In place of Lang from 0.153 on.
				Sites struct{ Matrix struct{ Languages []string } }
			}
		}
		if err := dec.Decode(&printed); err != nil {
			if errors.Is(err, io.EOF) && len(all) > 0 {
				return all, nil
			}
			return nil, fmt.Errorf("read hugo config mounts: %w", err)
		}
		m := HugoModule{Path: printed.Path, Dir: printed.Dir}
		for _, mt := range printed.Mounts {
			if languages := mt.Sites.Matrix.Languages; mt.Lang == "" && len(languages) == 1 {
				mt.Lang = languages[0]
			}
			m.Mounts = append(m.Mounts, mt.HugoMount)
		}
		all = append(all, m)
	}
}

// TidyHugo records what is in a project before Hugo is asked about it, and returns
// a function that removes the empty directories and the lock that Hugo then made:
// a check leaves the project as it was.
func TidyHugo(dir string) func() {
	had := map[string]bool{}
	places := []string{".", "resources", "resources/_gen"}
	for _, place := range places {
		for _, e := range list(dir, place) {
			had[e] = true
		}
	}
	return func() {
		for i := len(places) - 1; i >= 0; i-- { // the deepest first
			for _, e := range list(dir, places[i]) {
				if !had[e] {
					removeEmpty(filepath.Join(dir, filepath.FromSlash(e)))
				}
			}
		}
	}
}

// list returns the names in a directory of the project, relative to the project.
func list(dir, place string) (names []string) {
	entries, _ := os.ReadDir(filepath.Join(dir, filepath.FromSlash(place)))
	for _, e := range entries {
		names = append(names, filepath.ToSlash(filepath.Join(place, e.Name())))
	}
	return names
}

// removeEmpty removes a directory that holds only directories, or an empty lock of
// Hugo.
func removeEmpty(name string) {
	info, err := os.Lstat(name)
	switch {
	case err != nil:
		return
	case info.Mode().IsRegular():
		if info.Size() == 0 && info.Name() == ".hugo_build.lock" {
			os.Remove(name)
		}
		return
	case !info.IsDir():
		return
	}
	var dirs []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return fs.ErrExist
		}
		dirs = append(dirs, path)
		return nil
	})
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		os.Remove(dirs[i]) // fails if something was written into it meanwhile
	}
}
