package generator

import (
	"cmp"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// hugoNewFiles are the names of Hugo's configuration. hugoOldFiles are the only
// names before Hugo 0.110; Hugo still reads them.
var hugoNewFiles = []string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json"}

var hugoOldFiles = []string{"config.toml", "config.yaml", "config.yml", "config.json"}

var hugoRow = row{
	name: Hugo, title: "Hugo", usual: "hugo", build: "hugo --destination OUT", docroots: []string{"public"},
	install: "see https://gohugo.io/installation/",
	ci:      "curl -sSfL https://github.com/gohugoio/hugo/releases/download/v%[1]s/hugo_extended_%[1]s_linux-amd64.tar.gz | SUDO tar -xz -C /usr/local/bin hugo",
	Traits: Traits{
		Port: 1313, OwnFiles: true, Leaves: true, Caches: []string{"resources"}, Version: "0.162.0", VersionVariable: "HUGO_VERSION", Templates: GoTemplates, Modules: true, Refs: true, SectionFile: "_index", AliasKey: "aliases", AllPages: []string{"--buildDrafts", "--buildFuture", "--buildExpired"},
		Drafts: &Drafts{Values: []string{"draft: true"}, Dates: []string{"publishdate", "pubdate", "published", "date"}, Expiry: []string{"expirydate", "unpublishdate"}},
	},
	files: slices.Concat(hugoNewFiles, hugoOldFiles),
	// One in the project, then those of the default and of the production environment.
	configs: func(tree fs.FS, names []string) []string {
		return append(firstOf(tree, names), hugoConfigDir(tree, "config", "production")...)
	},
	// Not --panicOnWarning: it panics in another goroutine, and of 600 builds of one
	// site on a busy machine 17 ended with status 0 before the panic took effect
	// (0.162). Older versions apply it to some warnings only, and it hides all but
	// the first.
	strict:     []string{"--printPathWarnings"},
	warning:    "WARN ",
	lock:       ".hugo_build.lock",
	baseFlags:  []string{"-b", "--baseURL"},
	form:       weburl.SlashForm,
	outFlags:   []string{"-d", "--destination"},
	quietFlags: []string{"--quiet"}, configFlags: []string{"--config"},
	own: strings.Fields("--themesDir= --theme= -t= --environment= -e= --configDir= --contentDir= -c= --layoutDir= -l= --ignoreVendorPaths= --disableKinds= --renderSegments= " +
		"--buildDrafts -D --buildFuture -F --buildExpired -E --minify"),
}

// hugoConfigDir returns the files in the directories of the default and of another
// environment.
func hugoConfigDir(tree fs.FS, dir, environment string) (found []string) {
	for _, name := range []string{"_default", environment} {
		fs.WalkDir(tree, path.Join(dir, name), func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains(hugoExtensions, strings.ToLower(path.Ext(name))) {
				found = append(found, name)
			}
			return nil
		})
	}
	return found
}

var hugoExtensions = []string{".toml", ".yaml", ".yml", ".json"}

// HugoSite is what the files of a Hugo project say about it. Hugo is not started.
type HugoSite struct {
	Settings
	// Modules are the project itself, and then its themes and other modules.
	Modules []HugoModule

	dir    string
	env    []string
	config map[string]any // with that of modules, as far as Hugo merges it
}

// Hugo reads the configuration of a Hugo project and the names of its modules. env has
// the variables of the build, args its arguments after those of p: both override the files. After an
// error, which names the file and the line, the site is the one without that file.
func (p Project) Hugo(env []string, args ...string) (*HugoSite, error) {
	args = slices.Concat(p.Args, args)
	h := &HugoSite{dir: absolute(p.Dir, flagOr(args, "", "--source", "-s")), env: env}
	environment := flagOr(args, cmp.Or(lookupVariable(env, "HUGO_ENVIRONMENT"), lookupVariable(env, "HUGO_ENV"), "production"), "-e", "--environment")
	tree := os.DirFS(h.dir)
	names := firstOf(tree, hugoRow.files)
	if value, ok := flagValue(args, "--config"); ok {
		names = nil
		for name := range strings.SplitSeq(value, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	configDir := filepath.ToSlash(flagOr(args, "config", "--configDir"))
	names = append(names, hugoConfigDir(tree, path.Clean(configDir), environment)...)
	var err error
	h.config, h.From, err = readHugo(h.dir, names, configDir)
	if from := setVariables(h.config, env); from != "" {
		h.From = from
	}
	if base, ok := flagValue(args, hugoRow.baseFlags...); ok {
		h.config["baseurl"], h.From = base, "--baseURL"
	}
	for key, flags := range map[string][]string{"themesdir": {"--themesDir"}, "theme": {"-t", "--theme"}, "contentdir": {"-c", "--contentDir"}, "layoutdir": {"-l", "--layoutDir"}} {
		if value, ok := flagValue(args, flags...); ok {
			h.config[key] = value
		}
	}
	_, ignoreVendor := flagValue(args, "--ignoreVendorPaths")
	h.readModules(environment, ignoreVendor)
	h.Settings = h.settings()
	if h.config["uglyurls"] == true {
		h.Form = weburl.FileForm
		for _, name := range names {
			if place := keyPlace(Project{Dir: h.dir}, name, "uglyURLs"); place != name {
				h.FormFrom = place
			}
		}
	}
	return h, err
}

// readHugo reads configuration files as Hugo merges them, and returns the last one that
// says where the site is, else the first. Hugo would wait for what a pipe never says; a
// file that cannot be read counts as empty.
func readHugo(dir string, names []string, configDir string) (all map[string]any, from string, err error) {
	all = map[string]any{}
	for _, name := range names {
		at := Project{Dir: dir}
		file := name
		if !fs.ValidPath(name) { // named by an argument
			file = absolute(dir, name)
			at.Dir, file = filepath.Dir(file), filepath.Base(file)
		}
		d, fault := readDocument(at, file)
		if fault != nil {
			err = cmp.Or(err, fault)
			continue
		}
		if rest, ok := strings.CutPrefix(name, configDir+"/"); ok {
			d = hugoTable(path.Base(rest), d)
		}
		if from == "" || d["baseurl"] != nil || d["publishdir"] != nil {
			from = name
		}
		merge(all, d)
	}
	return all, from, err
}

// hugoTable returns the tables that a file in a config directory stands for: params.toml
// holds the table [params], and menus.en.toml [languages.en.menus].
func hugoTable(name string, d map[string]any) map[string]any {
	stem := strings.ToLower(strings.TrimSuffix(name, path.Ext(name)))
	if stem == "hugo" || stem == "config" {
		return d
	}
	stem, lang, _ := strings.Cut(stem, ".")
	keys := []string{stem}
	if lang != "" {
		keys = []string{"languages", lang}
		if stem == "menus" || stem == "menu" || stem == "params" {
			keys = append(keys, stem)
		}
	}
	var value any = d
	if inner, ok := d[stem]; ok && len(d) == 1 { // a list cannot be a whole file
		value = inner
	}
	for _, key := range slices.Backward(keys) {
		value = map[string]any{key: value}
	}
	return value.(map[string]any)
}

// setVariables sets the values of variables such as HUGO_BASEURL, or
// HUGOxPARAMSxMY_KEY with another delimiter, and returns the name of the last one that
// says where the site is.
func setVariables(config map[string]any, env []string) (from string) {
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		rest, ok := strings.CutPrefix(name, "HUGO")
		if !ok || len(rest) < 2 || value == "" {
			continue
		}
		keys := strings.Split(strings.ToLower(rest[1:]), strings.ToLower(rest[:1]))
		at := config
		for _, key := range keys[:len(keys)-1] {
			if at[key] == nil {
				at[key] = map[string]any{}
			}
			at = tableOf(at[key])
			if at == nil {
				break
			}
		}
		last := keys[len(keys)-1]
		var set any = value
		if b, err := strconv.ParseBool(value); err == nil && len(value) > 1 {
			set = b
		}
		if at != nil && tableOf(at[last]) == nil {
			at[last] = set
		}
		if slices.Contains([]string{"baseurl", "publishdir", "defaultcontentlanguage"}, last) && len(keys) == 1 {
			from = name
		}
	}
	return from
}

// settings returns what the configuration says about the built site.
func (h *HugoSite) settings() Settings {
	s := Settings{Docroot: slashed(textOf(h.config["publishdir"])), Roots: []Root{{Base: tidyBase(textOf(h.config["baseurl"]))}}, Form: hugoRow.form, From: h.From}
	s.RefNotFound, s.HeadingIDs = textOf(h.config["reflinksnotfoundurl"]), hugoHeadingIDs(h.config)
	s.RelativeURLs = h.config["relativeurls"] == true
	languages := tableOf(h.config["languages"])
	s.Languages = hugoLanguages(languages, textOf(h.config["defaultcontentlanguage"]), h.config["disablelanguages"])
	var roots []Root
	for _, lang := range s.Languages {
		if base := textOf(tableOf(languages[lang])["baseurl"]); base != "" {
			roots = append(roots, Root{Dir: lang, Base: tidyBase(base), Language: lang})
		}
	}
	if len(roots) > 0 && len(roots) == len(s.Languages) {
		s.Roots = roots
	}
	return s
}

// hugoHeadingIDs returns how Hugo makes ids of headings. The setting is autoIDType since
// 0.144, and was autoHeadingIDType before.
func hugoHeadingIDs(c map[string]any) HeadingIDs {
	parser := tableOf(tableOf(tableOf(c["markup"])["goldmark"])["parser"])
	if parser["autoheadingid"] == false {
		return NoHeadingIDs
	}
	ids := HeadingIDs(strings.ToLower(cmp.Or(textOf(parser["autoidtype"]), textOf(parser["autoheadingidtype"]))))
	if ids == GitHubIDs {
		return ""
	}
	return ids
}

// lookupVariable returns the value of a variable; the last one of a name counts.
func lookupVariable(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// absolute returns the path of a file that is named relative to a directory.
func absolute(dir, name string) string {
	if name = filepath.FromSlash(name); filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
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
	off := strings.Fields(strings.Join(textsOf(disabled), " "))
	var names []string
	weight := map[string]float64{}
	for name, v := range languages {
		of := tableOf(v)
		if of == nil || of["disabled"] == true || slices.Contains(off, name) {
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
	weight[cmp.Or(first, "en")] = math.Inf(-1)
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[a], weight[b]), strings.Compare(a, b))
	})
	return names
}
