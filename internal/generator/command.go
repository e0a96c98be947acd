package generator

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/system"
)

// Command is a command line that builds a site.
type Command struct {
	// Args are the program, by its path or name, and its arguments.
	Args []string
	// Env is [system.OutVariable] and [Traits.Env], in addition to the caller's variables.
	Env []string
	// Warning is the beginning of the lines of its output that are warnings, for a
	// strict build with a generator that cannot fail at warnings itself; else "".
	Warning string
}

// String returns the command as a person would type it.
func (c Command) String() string {
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = arg
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// Builds reports whether there is a command that builds the project.
func (p Project) Builds() bool { return rowOf(p.Generator).build != "" }

// Command returns the command that builds the project into the directory out, an
// absolute path, with the flags of the project's own command and more arguments. Run it in
// p.Dir. With strict it warns about pages that share an address and fails at warnings; where
// the generator cannot do so, [Command.Warning] is set.
func (p Project) Command(out string, strict bool, more []string) Command {
	r := rowOf(p.Generator)
	var c Command
	switch {
	case r.command != nil:
		c = r.command(p, out)
	case !strings.Contains(r.build, "OUT"):
		docroot := p.Docroot
		if s, err := r.read(p); err == nil {
			docroot = cmp.Or(s.Docroot, docroot)
		}
		script := ""
		if _, npm := r.program("npm"); npm && local(p, p.Generator.Program())[0] == "yarn" {
			script = "yarn run "
		} else if npm {
			script = "npx --no-install "
		}
		script += r.build + ` "$@"`
		if out != filepath.Join(p.Dir, filepath.FromSlash(docroot)) {
			script += " && mkdir -p " + Command{Args: []string{out}}.String() + " && cp -R " + Command{Args: []string{"./" + docroot + "/.", out}}.String()
		}
		c = Command{Args: []string{"sh", "-c", script, "sh"}}
	default:
		words := strings.Fields(r.build)
		c.Args = words[:1]
		if _, npm := r.program("npm"); npm {
			c.Args = local(p, words[0])
		}
		for _, word := range words[1:] {
			c.Args = append(c.Args, p.fill(word, out))
		}
	}
	c.Args = append(c.Args, p.Args...)
	if strict {
		c.Args, c.Warning = append(c.Args, r.strict...), r.warning
	}
	c.Args, c.Env = append(c.Args, more...), append(slices.Clone(r.Env), system.OutVariable+"="+out)
	return c
}

// LeaveOut returns a configuration for a build into another directory: it is the project's
// own, and leaves out dir, where the project's own builds go, which the generator would take
// for input. file is the name for it, and flag goes before its path; "" if dir is no input.
func (p Project) LeaveOut(dir string) (file, text, flag string) {
	if r := rowOf(p.Generator); r.leaveOut != nil {
		return r.leaveOut(p, dir)
	}
	return "", "", ""
}

// Copied returns what such a build makes of dir if nothing can leave it out: a path below the
// directory that is built into, or "".
func (p Project) Copied(dir string) string {
	if r := rowOf(p.Generator); r.copies {
		content := cmp.Or(p.ownContent(), append(r.content, "")[0])
		if below, err := filepath.Rel(filepath.Join(p.Source, content), dir); err == nil && filepath.IsLocal(below) && below != "." {
			return below
		}
	}
	return ""
}

// wrapped returns a leaveOut for configurations that are programs: text wraps CONFIG, and
// leaves out DIR.
func wrapped(file, text string) func(p Project, dir string) (string, string, string) {
	return func(p Project, dir string) (string, string, string) {
		config := ""
		if len(p.Configs) > 0 {
			var err error
			if config, err = filepath.Abs(filepath.Join(p.Dir, filepath.FromSlash(p.Configs[0]))); err != nil {
				return "", "", ""
			}
		}
		return file, strings.NewReplacer("CONFIG", strconv.Quote(config), "DIR", strconv.Quote(dir)).Replace(text), "--config="
	}
}

// jekyllLeaveOut adds dir to all that the project's configurations exclude. Jekyll itself reads
// no name that begins with an underscore or a dot.
func jekyllLeaveOut(p Project, dir string) (file, text, flag string) {
	if strings.HasPrefix(dir, "_") || strings.HasPrefix(dir, ".") {
		return "", "", ""
	}
	flag = "--config="
	exclude := []any{}
	for _, name := range p.Configs {
		if d, err := readDocument(p, name); err == nil {
			all, _ := d["exclude"].([]any)
			exclude, flag = append(exclude, all...), flag+name+","
		}
	}
	data, err := json.Marshal(map[string][]any{"exclude": append(exclude, dir+"/")})
	if err != nil {
		return "", "", ""
	}
	return "leave-out.yml", string(data) + "\n", flag
}

// eleventyLeavesOut is a configuration of Eleventy, of any version and of both kinds of modules.
//
//go:embed leave-out.cjs
var eleventyLeavesOut string

// lumeLeavesOut: Lume leaves out only where it builds, and names that begin with an underscore.
//
//go:embed leave-out.mjs
var lumeLeavesOut string

// Installed reports whether the program that builds the project is on this machine.
func (p Project) Installed() bool {
	r := rowOf(p.Generator)
	program := p.Generator.Program()
	if _, npm := r.program("npm"); npm && local(p, program)[0] != "npx" {
		return true
	}
	if r.command != nil {
		program = p.Command("", false, nil).Args[0]
	}
	return onPath(program)
}

func onPath(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// UsualCommand is what people type to build the project: "hugo", "npx astro
// build".
func (p Project) UsualCommand() string {
	r := rowOf(p.Generator)
	usual := cmp.Or(r.usual, r.build)
	if _, npm := r.program("npm"); npm {
		usual = "npx " + usual
	}
	if _, err := fs.Stat(os.DirFS(p.Dir), "Gemfile"); p.Generator == Jekyll && err == nil {
		usual = "bundle exec " + usual
	}
	return strings.TrimSuffix(p.fill(usual, p.Docroot), " .")
}

// fill replaces the words of a row's command that stand for the project's own.
func (p Project) fill(command, out string) string {
	r := rowOf(p.Generator)
	content := p.ownContent()
	if content == "" && len(r.content) > 0 {
		content = r.content[len(r.content)-1]
	}
	below := out
	if rel, err := filepath.Rel(p.Dir, out); err == nil {
		below = filepath.ToSlash(rel)
	}
	config := append([]string{"pelicanconf.py"}, p.Configs...) // the last overrides the others
	return strings.NewReplacer("SOURCE", cmp.Or(p.Source, "."), "CONTENT", content, "CONFIG", config[len(config)-1], "BUILDER", p.Builder, "RELATIVE-OUT", below, "OUT", out).Replace(command)
}

// Install says how to install a generator's program. npm and pip are the packages that
// have it. text is for a person. If no registry has the program, ci is the line of the
// shell that installs a version on a server, with SUDO for sudo where the user is not
// root. An empty version is a default.
func (n Name) Install(version string) (npm, pip, text, ci string) {
	r := rowOf(n)
	npm, isNPM := r.program("npm")
	pip, isPip := r.program("pip")
	gem, isGem := r.program("gem")
	switch ci = r.ci; {
	case isNPM:
		return npm, "", "", ci
	case isPip:
		pip = Command{Args: []string{pip}}.String() // quoted, if it names extras
		return "", pip, "", ci
	case isGem:
		return "", "", "gem install " + gem, ci
	case r.Version != "":
		ci = fmt.Sprintf(ci, cmp.Or(version, r.Version))
	}
	return "", "", r.install, ci
}

// Program is the name of the program that builds the project.
func (n Name) Program() string {
	program, _, _ := strings.Cut(rowOf(n).build, " ")
	return program
}

// local returns how to call a program of npm: the one that the project has
// installed, by yarn if only yarn knows where (Plug'n'Play), else npx without permission
// to download it.
func local(p Project, name string) []string {
	program := filepath.Join("node_modules", ".bin", name)
	if _, err := fs.Stat(os.DirFS(p.Dir), filepath.ToSlash(program)); err == nil {
		if abs, err := filepath.Abs(filepath.Join(p.Dir, program)); err == nil {
			return []string{abs}
		}
	}
	for dir, last := p.Dir, ""; dir != last; dir, last = filepath.Dir(dir), dir {
		if _, err := os.Stat(filepath.Join(dir, ".pnp.cjs")); err == nil {
			return []string{"yarn", "run", name}
		}
	}
	return []string{"npx", "--no-install", name}
}

// flagValue returns the value of the last of args that is one of flags: "--flag
// value", "--flag=value", or for one letter "-fvalue".
func flagValue(args []string, flags ...string) (value string, ok bool) {
	for i, arg := range args {
		name, after, joined := strings.Cut(arg, "=")
		switch {
		case slices.Contains(flags, name) && joined:
			value, ok = after, true
		case slices.Contains(flags, arg) && i+1 < len(args):
			value, ok = args[i+1], true
		default:
			for _, f := range flags {
				if len(f) == 2 && len(arg) > 2 && strings.HasPrefix(arg, f) {
					value, ok = strings.TrimPrefix(arg[2:], "="), true
				}
			}
		}
	}
	return value, ok
}

// withBaseFlag returns s for a build with these arguments: an address among them
// overrides the configuration.
func (s Settings) withBaseFlag(args []string, flags []string) Settings {
	base, ok := flagValue(args, flags...)
	if !ok || len(s.Roots) != 1 {
		return s
	}
	if old := s.Roots[0].Base; strings.HasPrefix(base, "/") && old != "" && !strings.HasPrefix(old, "/") {
		scheme, rest, _ := strings.Cut(old, "://") // only the path differs
		host, _, _ := strings.Cut(rest, "/")
		base = joinBase(scheme+"://"+host, base)
	}
	s.Roots = []Root{{Base: tidyBase(base)}}
	return s
}

// OutputFlag returns the flag among args that chooses where the site is built, ""
// for none.
func (p Project) OutputFlag(args []string) string {
	for _, f := range rowOf(p.Generator).outFlags {
		if _, ok := flagValue(args, f); ok {
			return f
		}
	}
	return ""
}

// QuietFlag returns the flag among args that hides the warnings that a strict
// build has to see, "" for none.
func (p Project) QuietFlag(args []string) string {
	for _, f := range rowOf(p.Generator).quietFlags {
		if slices.Contains(args, f) || slices.Contains(args, f+"=true") {
			return f
		}
	}
	return ""
}

// OfCommand returns the project that a command builds when it runs in dir, and the
// directory that it names for the site, "" if it names none. ok is false if it is not the
// build of a known generator.
func OfCommand(dir string, words []string) (p Project, out string, ok bool) {
	for i := range rows {
		r := &rows[i]
		build := strings.Fields(r.build)
		rest := words[1:]
		switch verb := build[1:]; {
		case words[0] != build[0] || slices.Contains(rest, "--serve") || slices.Contains(rest, "--help"):
			continue
		case r.command == nil && len(verb) > 0 && strings.Trim(verb[0], "abcdefghijklmnopqrstuvwxyz") == "":
			if len(rest) == 0 || rest[0] != verb[0] {
				continue
			}
			rest = rest[1:]
		case len(verb) > 0 && verb[0] == "CONTENT" && (len(rest) == 0 || strings.HasPrefix(rest[0], "-")):
			continue
		case r.name == Jekyll && (len(rest) == 0 || rest[0] != "build" && rest[0] != "b"):
			continue
		case r.name == Hugo && len(rest) > 0 && rest[0] != "build" && !strings.HasPrefix(rest[0], "-"):
			continue // another command
		}
		p, ok = Detect(dir, r.name)
		if r.name == Vite && !ok || r.name == "sveltekit" && !ok {
			continue // vite bundles what is no site
		}
		source := flagOr(rest, "", "-s", "--source", "--root")
		var plain []string // the words that are neither flags nor their values
		for i, w := range rest {
			if !strings.HasPrefix(w, "-") && (i == 0 || !strings.HasPrefix(rest[i-1], "-") || strings.Contains(rest[i-1], "=")) {
				plain = append(plain, w)
			}
		}
		if slices.Contains(build, "SOURCE") && len(plain) > 0 {
			source = plain[0]
		}
		out, _ = flagValue(rest, r.outFlags...)
		builder := ""
		if r.dirBuilder != "" { // sphinx-build -b BUILDER SOURCE OUT, or -M BUILDER SOURCE OUT/..
			builder = flagOr(rest, flagOr(rest, path.Base(r.docroots[0]), "-M"), "-b", "--builder")
			if !slices.ContainsFunc(r.docroots, func(docroot string) bool { return path.Base(docroot) == builder }) {
				continue
			}
			if len(plain) > 1 {
				if out = plain[1]; flagOr(rest, "", "-M") != "" {
					out += "/" + builder
				}
			}
		}
		if config := flagOr(rest, "", "-f", "--config-file"); config != "" && source == "" {
			source = path.Dir(config)
		}
		if strings.ContainsAny(source, "$`{") || path.IsAbs(source) {
			source = ""
		}
		if source = path.Clean(source); source != "." && (!ok || p.Source != source) {
			if at, below := Detect(absolute(dir, source), r.name); below {
				p, ok = at, true
			} else if !ok {
				p = r.project(dir, source, "")
			}
		} else if !ok {
			p = r.project(dir, "", "")
		}
		if builder != "" {
			p = r.project(p.Dir, p.Source, builder)
		}
		from := dir
		if r.name == Hugo { // it sees all paths from its source
			if from = p.Dir; out != "" && !path.IsAbs(out) {
				out = path.Join(source, out)
			}
		}
		p.takeFlags(rest, from)
		return p, out, true
	}
	return Project{}, "", false
}

// takeFlags takes over the flags of the project's own command that change what is built, with
// names of files as seen from a directory. It leaves out values that only a shell knows, and
// configuration files that do not exist in the project.
func (p *Project) takeFlags(words []string, from string) {
	const most = 20
	r, tree := rowOf(p.Generator), os.DirFS(p.Dir)
	for i, word := range words {
		flag, value, joined := strings.Cut(word, "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch known := value != "" && !strings.HasPrefix(value, "-") && !strings.ContainsAny(value, "$`{~"); {
		case slices.Contains(r.own, flag) && (known || !joined):
			p.Args = append(p.Args, word)
		case known && slices.Contains(r.own, flag+"="):
			p.Args = append(p.Args, flag, value)
		}
	}
	names, ok := flagValue(words, r.configFlags...)
	if !ok {
		return
	}
	var configs []string
	for _, name := range strings.SplitN(names, ",", most) {
		file, err := filepath.Rel(p.Dir, absolute(from, name))
		found := firstOf(tree, []string{filepath.ToSlash(file)})
		if err != nil || found == nil {
			return
		}
		configs = append(configs, found...)
	}
	flag := r.configFlags[0] + "=" + strings.Join(configs, ",")
	if r.configs != nil {
		configs = append(configs, r.configs(tree, nil)...)
	}
	if !slices.Equal(configs, p.Configs) {
		p.Configs, p.Args = configs, append(p.Args, flag)
	}
}

// flagOr is [flagValue] with a default.
func flagOr(args []string, otherwise string, flags ...string) string {
	if value, ok := flagValue(args, flags...); ok {
		return value
	}
	return otherwise
}
