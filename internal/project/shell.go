package project

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sitelink/sitelink/internal/generator"
	"github.com/sitelink/sitelink/internal/host"
	"github.com/sitelink/sitelink/internal/text"
)

// place is where commands are: a file and line, and the directory in which they run.
type place struct {
	file string
	line int
	dir  string
}

// commands reads the commands that a value has: a text, or a list of them that run one
// after another.
func (s *survey) commands(c *claim, v value, file, dir string, depth int) {
	for _, one := range v.list() {
		at := place{file, one.line(), dir}
		if one.node != nil && one.node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			at.line++ // the text begins below its key
		}
		dir = s.shell(c, one.text(), at, depth)
	}
}

// shell reads lines of a shell: what they build and publish. It follows cd, scripts of
// package.json and targets of make, and runs nothing. It returns the directory at the end.
func (s *survey) shell(c *claim, script string, at place, depth int) (dir string) {
	if depth > maxDepth/3 {
		return at.dir
	}
	for line := range strings.Lines(strings.ReplaceAll(script, "\\\n", " \x00")) {
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&|()", r) }) {
			words := shellWords(strings.ReplaceAll(part, "\x00", ""))
			switch {
			case len(words) == 0:
			case len(words) > 1 && (words[0] == "cd" || words[0] == "pushd"):
				at.dir = cmp.Or(s.dirOf(at.dir, words[1]), at.dir)
			default:
				s.run(c, words, at, depth)
			}
		}
		at.line += 1 + strings.Count(line, "\x00")
	}
	return at.dir
}

// shellWords splits a command into words, without quotes, assignments before it, and a
// comment.
func shellWords(command string) (words []string) {
	for word := range strings.FieldsSeq(command) {
		if strings.HasPrefix(word, "#") {
			break
		}
		word = strings.Trim(word, `"'`)
		if len(words) == 0 && strings.Contains(word, "=") && !strings.HasPrefix(word, "-") {
			continue
		}
		words = append(words, strings.ReplaceAll(strings.ReplaceAll(word, `="`, "="), `='`, "="))
	}
	return words
}

// wrappers are programs that run another one, as a person types them.
var wrappers = text.Regexp(`^(?:(?:sudo|time|exec|env|cross-env|npx|bunx|pnpx|(?:pnpm|yarn|npm) (?:exec|dlx)|bun x|bundle exec|poetry run|uv run|uvx|pipenv run|pdm run|hatch run|rye run|python3? -m|pipx run|@)(?: --?[\w-]+(?:=\S+)?)* )+`)

// variable matches a variable before the name of a program: ${BIN}mkdocs.
var variable = text.Regexp(`^\$(?:\{\w+\}|\w+/)`)

// run reads one command. The words of a package manager lead to a script of the project.
func (s *survey) run(c *claim, words []string, at place, depth int) {
	if s.commandsRead++; s.commandsRead > maxCommands {
		return
	}
	line := strings.Join(words, " ")
	if words = strings.Fields(wrappers().ReplaceAllString(variable().ReplaceAllString(line, "")+" ", "")); len(words) == 0 {
		return
	}
	file := words[0]
	if words[0] = path.Base(file); (words[0] == "bash" || words[0] == "sh") && len(words) > 1 {
		file = words[1]
	}
	if strings.Contains(file, "/") {
		if name := s.dirOf(at.dir, file); name != "" && isFile(name) { // a script of the project
			first, _, _ := strings.Cut(string(s.read(name)), "\n")
			if s.commandsRead += followed; strings.HasSuffix(name, ".sh") || strings.HasPrefix(first, "#!") && strings.Contains(first, "sh") {
				s.shell(c, string(s.read(name)), place{name, 1, at.dir}, depth+1)
			}
			return
		}
	}
	for kind, p := range host.Each(func(k *host.Kind) []host.Publisher { return k.Publishers }) {
		name := strings.Fields(p.Command)
		if len(words) < len(name) || !slices.Equal(words[:len(name)], name) {
			continue
		}
		rest := words[len(name):]
		if p.Only != "" && !slices.ContainsFunc(rest, func(w string) bool { return strings.HasSuffix(w, p.Only) }) {
			continue
		}
		c.publish = append(c.publish, Evidence{Question: AskHost, Value: kind, File: at.file, Line: at.line, Words: p.Command})
		for i, w := range rest {
			flag, value, joined := strings.Cut(w, "=")
			switch {
			case slices.Contains(strings.Fields(p.Flags), flag) && !joined && i+1 < len(rest):
				value = rest[i+1]
			case slices.Contains(strings.Fields(p.Flags), flag) && joined:
			case p.Flags == "first" && i == 0, p.Flags == "last" && (i == 0 || i == len(rest)-1 && strings.HasPrefix(rest[0], "-")):
				value = w
			default:
				continue
			}
			if dir := s.dirOf(at.dir, value); dir != "" && !strings.HasPrefix(value, "-") && !strings.Contains(value, ":") {
				c.publish = append(c.publish, Evidence{Question: AskDocroot, Value: dir, Dir: at.dir, File: at.file, Line: at.line, Words: line})
			}
		}
	}
	if g, out, ok := generator.OfCommand(at.dir, words); ok {
		out = s.dirOf(at.dir, out)
		by := Evidence{Question: AskGenerator, Value: string(g.Generator), Dir: g.Dir, File: at.file, Line: at.line, Words: line}
		s.made = append(s.made, made{g, out, by})
		c.build = append(c.build, by, Evidence{Question: AskBuild, Value: line, Dir: at.dir, File: at.file, Line: at.line, Words: line})
		if out != "" {
			c.build = append(c.build, Evidence{Question: AskDocroot, Value: out, Dir: at.dir, File: at.file, Line: at.line, Words: line})
		}
		return
	}
	switch words[0] {
	case "mv", "cp", "rsync", "ln":
		c.moves = true
	case "npm", "yarn", "pnpm", "bun", "turbo", "nx":
		s.script(c, words, at, depth)
	case "make", "task", "just":
		s.target(c, words, at, depth)
	}
}

// Limits for a checkout that may be hostile: of the commands that are read, of the targets of
// one call of make, and of the bytes of a command and of a variable in it. To follow a script
// of package.json or a target costs as much as many commands.
const (
	maxCommands = 10_000
	followed    = 50
	maxTargets  = 20
	maxCommand  = 16 << 10
	maxVariable = 1 << 10
)

// script follows a script of package.json: npm run build, yarn workspace docs build.
func (s *survey) script(c *claim, words []string, at place, depth int) {
	dir, name := at.dir, ""
	for i := 1; i < len(words); i++ {
		flag, value, joined := strings.Cut(words[i], "=")
		if !joined && i+1 < len(words) {
			value = words[i+1]
		}
		switch {
		case slices.Contains([]string{"--prefix", "-C", "--cwd", "--dir"}, flag):
			dir = s.dirOf(at.dir, value)
		case slices.Contains([]string{"--filter", "-F", "-w", "--workspace", "workspace"}, flag):
			dir = s.workspace(at.dir, value)
		case flag == "run" || strings.HasPrefix(flag, "-"):
			continue
		default:
			if name == "" {
				name = words[i]
			}
			continue
		}
		if !joined {
			i++
		}
	}
	if s.commandsRead += followed; dir == "" || name == "" || s.commandsRead > maxCommands {
		return
	}
	file, built, published := filepath.Join(dir, "package.json"), len(c.build), len(c.publish)
	v, _ := s.document(file)
	v.get("scripts").each(func(key string, script value) {
		if key == name || key == "pre"+name || key == "post"+name {
			s.commands(c, script, file, dir, depth+1)
		}
	})
	if words[0] == "turbo" || words[0] == "nx" || len(c.publish) > published {
		return
	}
	c.typed(built, strings.Join(words, " "), at.dir)
}

// typed replaces the builds from the n-th by a command that a person can type: only a script
// finds its programs, and only make has its variables. It must do no more than build.
func (c *claim) typed(n int, command, dir string) {
	if strings.HasSuffix(command, "deploy") || strings.HasSuffix(command, "publish") {
		return
	}
	for i := range c.build[n:] {
		if e := &c.build[n+i]; e.Question == AskBuild {
			e.Value, e.Dir = command, dir
		}
	}
}

// workspace returns the directory of a package of a monorepo, by the name of the package or
// of its directory, or "".
func (s *survey) workspace(root, name string) string {
	name = strings.Trim(name, ".{}/^")
	for _, sub := range generator.Workspaces(root) {
		dir := filepath.Join(root, filepath.FromSlash(sub))
		if v, _ := s.document(filepath.Join(dir, "package.json")); sub == name || path.Base(sub) == name || v.get("name").text() == name {
			return dir
		}
	}
	return ""
}

// makeLine matches an assignment or the head of a rule of a makefile.
var makeLine = text.Regexp(`^(?:([A-Za-z_]\w*)\s*[:?]?=\s*(.*)|([^\s:=#][^:=#]*):([^=].*)?)$`)

var makeVariable = regexp.MustCompile(`\$\((\w+)\)|\$\{(\w+)\}|\$@`)

// target follows the target of a Makefile, with the variables that it assigns.
func (s *survey) target(c *claim, words []string, at place, depth int) {
	dir, names := at.dir, []string{}
	for i := 1; i < len(words); i++ {
		if words[i] == "-C" && i+1 < len(words) {
			dir = s.dirOf(at.dir, words[i+1])
			i++
		} else if !strings.HasPrefix(words[i], "-") && !strings.Contains(words[i], "=") {
			if names = append(names, words[i]); len(names) == maxTargets {
				break
			}
		}
	}
	if s.commandsRead += followed; dir == "" || depth > maxDepth/3 || s.commandsRead > maxCommands {
		return
	}
	if words[0] == "task" {
		for _, base := range []string{"Taskfile.yml", "Taskfile.yaml"} {
			file := filepath.Join(dir, base)
			v, _ := s.document(file)
			v.get("tasks").each(func(name string, task value) {
				for _, cmd := range append(task.get("cmds").list(), task.get("deps").list()...) {
					switch next := cmd.get("task").text(); {
					case !slices.Contains(names, name):
					case next != "":
						s.target(c, []string{"task", next}, place{file, cmd.line(), dir}, depth+1)
					default:
						if cmd.text() == "" {
							cmd = cmd.get("cmd")
						}
						s.commands(c, cmd, file, dir, depth+1)
					}
				}
			})
		}
		return
	}
	last := ""
	for _, base := range []string{"GNUmakefile", "Makefile", "makefile", "justfile", "Justfile"} {
		if strings.EqualFold(base, last) {
			continue // the same file, where names have no case
		}
		file := filepath.Join(dir, base)
		variables, n := map[string]string{"CURDIR": ".", "PWD": "."}, 0
		var made []string // those of names that the rule makes
		for line := range strings.Lines(string(s.read(file))) {
			n, last = n+1, base
			line = strings.TrimRight(line, "\r\n")
			if m := makeLine().FindStringSubmatch(line); m != nil {
				if m[1] != "" && len(m[2]) <= maxVariable {
					variables[m[1]] = strings.TrimSpace(m[2])
				}
				made = nil
				for rule := range strings.FieldsSeq(m[3]) {
					all := rule == "%" && at.file != "" // the usual names of [survey.scripts] may not be called
					made = append(made, slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name != rule && !all || slices.Contains(made, name) })...)
				}
				for _, name := range made {
					for need := range strings.FieldsSeq(m[4]) {
						if !strings.ContainsAny(need, "$./%") && need != name && !strings.HasPrefix(need, "#") {
							s.target(c, []string{words[0], need}, place{file, n, dir}, depth+1)
						}
					}
				}
				continue
			}
			if strings.TrimLeft(line, " \t") == line {
				continue
			}
			for _, name := range made {
				written := strings.TrimLeft(strings.TrimSpace(line), "@-+")
				command, built := written, len(c.build)
				for range 3 { // a variable may name others
					if len(command) > maxCommand {
						return
					}
					command = makeVariable.ReplaceAllStringFunc(command, func(v string) string {
						if v == "$@" {
							return name
						}
						return cmp.Or(variables[strings.Trim(v, "${()}")], " ")
					})
				}
				if s.shell(c, command, place{file, n, dir}, depth+1); command != written {
					c.typed(built, words[0]+" "+name, dir)
				}
			}
		}
	}
}

// scripts is what the project's own scripts build and publish: those of package.json, of a
// Makefile and of a Taskfile with usual names.
func (s *survey) scripts() (all []Evidence) {
	dirs := slices.Clone(s.dirs)
	if g := s.generatorOf(s.own); g != nil && g.Source != "" {
		dirs = append(dirs, filepath.Join(g.Dir, filepath.FromSlash(g.Source)))
	}
	for _, dir := range dirs {
		var claims []*claim
		for _, words := range [][]string{
			{"npm", "run", "deploy"}, {"npm", "run", "build"}, {"npm", "run", "docs:build"}, {"npm", "run", "build:docs"}, {"npm", "run", "docs"},
			{"make", "deploy", "publish", "html", "docs", "site", "build", "dirhtml"}, {"task", "deploy", "docs", "site", "build"},
		} {
			c := &claim{}
			s.run(c, words, place{dir: dir}, 0)
			for _, p := range host.Each(func(k *host.Kind) []host.Publisher { return k.Publishers }) {
				c.publish = slices.DeleteFunc(c.publish, func(e Evidence) bool { return p.Stock && e.Words == p.Command })
			}
			claims = append(claims, c)
		}
		g, npm := s.generatorOf(dir), true
		if g != nil {
			pkg, _, _, _ := g.Generator.Install("")
			npm = pkg != ""
		}
		file := filepath.Join(dir, "package.json")
		if v, _ := s.document(file); npm && v.get("scripts.build").text() != "" { // with what no row knows
			claims = append(claims, &claim{build: []Evidence{{Question: AskBuild, Value: "npm run build", Dir: dir, File: file, Line: v.get("scripts.build").line()}}})
		}
		if all = s.settle(claims); len(all) > 0 {
			break
		}
	}
	return all
}
