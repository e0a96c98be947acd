package setup

import (
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/generator"
)

// nodeVersion is that of Node.js for servers.
const nodeVersion = "22"

// tools is how a server gets what builds a site.
type tools struct {
	// steps are steps of GitHub Actions, image is an image for GitLab, and
	// install are lines of the shell for both, after either.
	steps []string
	image string
	// A word SUDO in them is sudo where the runner is not root.
	install []string
	// cache is the variable that names the directory of what was downloaded, for GitLab.
	cache string
}

// tools returns what the project's generator needs, and whether the project is
// built at all.
func (p *Facts) tools() (t tools, builds bool) {
	npm := tools{
		steps: []string{"- uses: actions/setup-node@v5\n  with:\n    node-version: " + nodeVersion}, image: "node:" + nodeVersion, install: []string{p.installPackages()},
		cache: "npm_config_cache",
	}
	// The actions keep what was downloaded by the file that pins it, and fail without one.
	keep := func(t *tools, by, file string) {
		t.steps[0] += "\n    cache: " + by
		if p.Below != "" {
			t.steps[0] += "\n    cache-dependency-path: " + scalar(path.Join(p.Below, file))
		}
	}
	if npm.install[0] == "npm ci" && p.has("package-lock.json") {
		keep(&npm, "npm", "package-lock.json")
	}
	_, pip, text, line := generator.Name(p.Generator).Install(p.Version)
	switch {
	case p.buildLine() == "":
		return t, false
	case p.Script != "":
		t = npm
		if line != "" {
			t.install = append([]string{line}, t.install...)
		}
	case strings.HasPrefix(text, "gem "):
		t = tools{steps: []string{"- uses: ruby/setup-ruby@v1\n  with:\n    ruby-version: '3.3'"}, image: "ruby:3.3", install: []string{p.install()}}
	case pip != "":
		t = tools{steps: []string{"- uses: actions/setup-python@v5\n  with:\n    python-version: '3.13'"}, image: "python:3.13", install: []string{p.install()}, cache: "PIP_CACHE_DIR"}
		if strings.HasSuffix(p.Python, "requirements.txt") || p.Python == "pyproject.toml" {
			keep(&t, "pip", p.Python)
		}
	case line != "":
		t = tools{image: "debian:12", install: []string{line}}
	default: // programs of npm
		t = npm
	}
	return t, true
}

// install is the line of the shell that installs what builds the project, or says where to read
// about it.
func (p *Facts) install() string {
	npm, pip, text, _ := generator.Name(p.Generator).Install("")
	switch {
	case npm != "":
		return p.installPackages()
	case pip != "":
		return strings.TrimSpace(strings.ReplaceAll(p.python().install, "PACKAGES", strings.Join(p.Packages, " ")))
	case strings.HasPrefix(text, "gem ") && p.has("Gemfile"):
		return "bundle install"
	}
	return text
}

// installPackages installs what package.json names. It uses the program that
// wrote the lock file there or, in a monorepo, above.
func (p *Facts) installPackages() string {
	depth := len(strings.FieldsFunc(p.Below, func(r rune) bool { return r == '/' }))
	for _, lock := range []struct{ file, install string }{
		{"pnpm-lock.yaml", "corepack enable && pnpm install --frozen-lockfile"},
		{"yarn.lock", "corepack enable && yarn install --frozen-lockfile"},
		{"bun.lock", "npm install --global bun && bun install --frozen-lockfile"},
		{"bun.lockb", "npm install --global bun && bun install --frozen-lockfile"},
		{"package-lock.json", "npm ci"},
		{"npm-shrinkwrap.json", "npm ci"},
	} {
		for up := range depth + 1 {
			if p.has(strings.Repeat("../", up) + lock.file) {
				return lock.install
			}
		}
	}
	return "npm install"
}

// pythonFile is a file that lists packages of Python.
type pythonFile struct {
	name, says string
	// install is the line of the shell that installs them, in which PACKAGES are the
	// generator and what its configuration needs, as far as the file lacks them; run goes
	// in front of its command.
	install, run string
}

var pythonFiles = []pythonFile{
	{"uv.lock", "", "pip install uv && uv sync --all-groups", "uv run "},
	{"poetry.lock", "", "pip install poetry && poetry install --all-groups", "poetry run "},
	{"Pipfile", "", "pip install pipenv && pipenv install --dev", "pipenv run "},
	{"requirements.txt", "", "pip install -r requirements.txt PACKAGES", ""},
	{"docs/requirements.txt", "", "pip install -r docs/requirements.txt PACKAGES", ""},
	{"pyproject.toml", "[project]", "pip install . PACKAGES", ""}, // else it only configures tools
}

// python returns how the packages of a project are installed.
func (p *Facts) python() pythonFile {
	for _, f := range pythonFiles {
		if f.name == p.Python {
			return f
		}
	}
	return pythonFile{install: "pip install PACKAGES"}
}

// lines returns the lines that install, with or without sudo.
func (t tools) lines(sudo bool) []string {
	word := ""
	if sudo {
		word = "sudo "
	}
	out := make([]string, len(t.install))
	for i, line := range t.install {
		out[i] = strings.ReplaceAll(line, "SUDO ", word)
	}
	return out
}

func github(_ Server, p *Facts) Advice {
	var b strings.Builder
	b.WriteString("# " + madeBy + "\n")
	branches := make([]string, len(p.Branches))
	for i, name := range p.Branches {
		branches[i] = scalar(name)
	}
	b.WriteString("name: links\non:\n  push:\n    branches: [" + strings.Join(branches, ", ") + "]\n  pull_request:\npermissions:\n  contents: read\njobs:\n  links:\n    runs-on: ubuntu-latest\n")
	if p.Below != "" {
		b.WriteString("    defaults:\n      run:\n        working-directory: " + scalar(p.Below) + "\n")
	}
	b.WriteString("    steps:\n")
	step := func(text string) {
		for line := range strings.Lines(text + "\n") {
			b.WriteString("      " + line)
		}
	}
	step("- uses: actions/checkout@v5\n  with:\n    submodules: recursive\n    fetch-depth: 0 # for the dates of pages")
	if t, builds := p.tools(); builds {
		for _, s := range t.steps {
			step(s)
		}
		for _, line := range t.lines(true) {
			step("- run: " + scalar(line))
		}
		build := "- run: " + scalar(p.buildLine())
		if p.Plugin {
			build += "\n  env:\n    " + standBack + ": . # the plugin leaves the check to the next step"
		}
		step(build)
	}
	b.WriteString("      - uses: sitelink/sitelink@" + p.Release + "\n        with:\n          docroot: " + scalar(p.fromRoot(p.docrootOr("."))) + "\n")
	if p.Below != "" {
		b.WriteString("          args: |\n            --config\n            " + p.fromRoot(ConfigName) + "\n")
	}
	return Advice{File: &File{p.toRoot(".github/workflows/sitelink.yml"), b.String()}}
}

func gitlab(_ Server, p *Facts) Advice {
	var b strings.Builder
	b.WriteString("# " + madeBy + "\n")
	enter := ""
	if p.Below != "" {
		enter = "    - cd " + shellWord(p.Below) + "\n"
	}
	script := func(lines ...string) {
		b.WriteString("  script:\n" + enter)
		for _, line := range lines {
			b.WriteString("    - " + scalar(line) + "\n")
		}
	}
	check := strings.TrimRight(" check "+shellWord(p.Docroot), " ") + " --format text --format gitlab=links.json --format junit=links.xml"
	t, builds := p.tools()
	lines := t.lines(false)
	if t.image == "debian:12" {
		lines = append([]string{"apt-get update && apt-get install -y --no-install-recommends ca-certificates curl git"}, lines...)
	}
	lines = append(lines, p.buildInShell())
	job := func(name string) {
		b.WriteString(name + ":\n  image: " + t.image + "\n  variables:\n    GIT_SUBMODULE_STRATEGY: recursive\n    GIT_DEPTH: 0\n")
		if t.cache != "" {
			b.WriteString("    " + t.cache + ": $CI_PROJECT_DIR/.cache\n  cache:\n    key: sitelink\n    paths: [.cache]\n")
		}
	}
	if builds && p.Own != "" { // the packages have sitelink
		job("sitelink")
		script(append(lines, p.Own+check)...)
	} else {
		if builds {
			job("sitelink-build")
			script(lines...)
			b.WriteString("  artifacts:\n    paths: [" + scalar(p.fromRoot(p.docrootOr("."))) + "]\n    expire_in: 1 day\n\n")
		}
		b.WriteString("sitelink:\n  image:\n    name: ghcr.io/sitelink/sitelink:" + p.Release + "\n    entrypoint: [\"\"]\n")
		if builds {
			b.WriteString("  needs: [sitelink-build]\n")
		}
		script("sitelink" + check)
	}
	b.WriteString("  artifacts:\n    when: always\n    reports:\n      codequality: " + scalar(p.fromRoot("links.json")) + "\n      junit: " + scalar(p.fromRoot("links.xml")) + "\n")

	if root := p.toRoot(".gitlab-ci.yml"); !p.has(root) {
		return Advice{File: &File{root, b.String()}}
	}
	const own = ".gitlab/sitelink.yml"
	return Advice{File: &File{p.toRoot(own), b.String()}, Where: ".gitlab-ci.yml", Add: "include:\n  - local: " + path.Join("/", own) + "\n"}
}

// scalar is a text as a value of YAML on one line.
func scalar(text string) string {
	plain := text != "" && strings.Trim(text, " ") == text && !strings.ContainsAny(text[:1], "!&*-?|>@`%\"'#,[]{}:.0123456789~=<") &&
		!strings.ContainsAny(text, "\"\\\t\n{}[],") && !strings.Contains(text, ": ") && !strings.Contains(text, " #") && !strings.HasSuffix(text, ":")
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	}
	odd := func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
	if plain && !strings.ContainsFunc(text, odd) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

// shellWord makes one word of the shell of a path.
func shellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
