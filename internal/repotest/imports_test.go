package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// apart are packages that never import each other, and what only the command
// may import.
var apart = [][2]string{
	{"check", "outgoing"}, {"outgoing", "check"},
	{"internal", "cmd"}, {"check", "hook"}, {"outgoing", "hook"},
}

// TestImports compares the imports between our packages with a golden file, so
// that a new arrow shows in review. Imports point one way: from the command
// down to the URL type. docs/design/architecture.md draws them.
func TestImports(t *testing.T) {
	var table strings.Builder
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{range .Imports}}{{.}} {{end}}", "./...") {
		fields := strings.Fields(line)
		pkg := short(fields[0])
		var ours []string
		for _, imported := range fields[1:] {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			imported = short(imported)
			ours = append(ours, imported)
			for _, pair := range apart {
				if strings.HasPrefix(pkg+"/", pair[0]+"/") && strings.HasPrefix(imported+"/", pair[1]+"/") {
					t.Errorf("%s imports %s: packages below %s never import %s", pkg, imported, pair[0], pair[1])
				}
			}
		}
		slices.Sort(ours)
		table.WriteString(strings.TrimSpace(pkg+": "+strings.Join(ours, " ")) + "\n")
	}
	compareGolden(t, "imports.golden", table.String())
}

// filepathUsers may import path/filepath, because they pass names to the operating
// system: names that the user typed, or of files on disk. Everywhere else
// a path is a slash path relative to the docroot, on every platform: that is
// what URLs are made of, what reports show and what two machines can compare.
var filepathUsers = []string{
	"internal/run/lsp",
	"cmd/sitelink",
	"examples/blog", "docs/site",
	"hook",
	"hook/githook",
	"incoming/store",
	"internal/run/notify",
	"internal/run/audit", "internal/run/build",
	"internal/config",
	"internal/destination",
	"internal/generator", "internal/git",
	"internal/run/inject", "internal/run/move",
	"internal/run/commits",
	"internal/project",
	"internal/run/receive",
	"internal/run/setup",
	"internal/system",
	"check/remote", "internal/run/external", "outgoing/ledger",
}

// filepathFiles are single files of other packages that may do so as well: they
// walk the docroot on its disk, ask it for permissions, and look where a
// symbolic link leaves it.
var filepathFiles = []string{
	"internal/source/hugo.go", // names of directories as Hugo prints them
	"internal/testkit/browser.go",
	"internal/testkit/docroot.go",
	"internal/testkit/postgres.go",
	"internal/testkit/hostroot_linux.go",
	"internal/docroot/list.go",

	"internal/host/outside.go",
	"internal/host/rules.go",
	"internal/site/load.go",
	"internal/site/update.go",
	"internal/run/fix/fix.go", // compares files with the docroot
	"internal/report/text.go", // names files as seen from the working directory
}

func TestNoFilepath(t *testing.T) {
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") ||
			slices.Contains(filepathUsers, path.Dir(name)) || slices.Contains(filepathFiles, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, readFile(t, name), parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"path/filepath"` {
				t.Errorf("%s imports path/filepath; paths inside the docroot are slash paths", name)
			}
		}
	}
}

// waysOut are the files that open connections. What sitelink asks of other hosts goes
// through package fetch, with its guard; the others reach a server that the user chose.
var waysOut = []string{
	"internal/fetch/client.go",
	"internal/fetch/lenient.go",   // reads from the connections of client.go
	"incoming/moderation/mail.go", // the mail server of the configuration
	"incoming/server/systemd.go",  // systemd's socket
	"internal/testkit/wordpress.go",
}

// TestWaysOut: no other file dials, looks up names or has an HTTP client of its own.
func TestWaysOut(t *testing.T) {
	dialing := map[string][]string{
		"net":        {"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Resolver", "DefaultResolver", "LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupMX", "LookupNS", "LookupSRV", "LookupTXT", "LookupPort"},
		"net/http":   {"Get", "Head", "Post", "PostForm", "Client", "DefaultClient", "Transport", "DefaultTransport"},
		"crypto/tls": {"Dial", "DialWithDialer", "Dialer", "Client"},
		"net/smtp":   {"Dial", "SendMail", "NewClient"},
		"net/rpc":    {"Dial", "DialHTTP"},
	}
	found := map[string]bool{}
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "bench/") || strings.HasPrefix(name, "examples/") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, readFile(t, name), parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		names := map[string][]string{} // what dials, by the name of its package in the file
		for _, spec := range file.Imports {
			pkg, _ := strconv.Unquote(spec.Path.Value)
			local := path.Base(pkg)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			names[local] = dialing[pkg]
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := s.X.(*ast.Ident); ok && slices.Contains(names[pkg.Name], s.Sel.Name) {
				found[name] = true
				if !slices.Contains(waysOut, name) {
					t.Errorf("%s uses %s.%s: connections to other hosts are opened by internal/fetch, with its guard", name, pkg.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
	for _, name := range waysOut {
		if !found[name] {
			t.Errorf("%s opens no connection; remove it from the list", name)
		}
	}
}

// descriptionReaders have the files that describe a project in their rows, or read them for
// the description; the other files do something else with one of those names.
var descriptionReaders = []string{
	"internal/project/", "internal/generator/", "internal/host/", "internal/testkit/", "bench/",
	"internal/config/config.go",      // its help
	"internal/run/commits/unread.go", // that modules are elsewhere, whatever the file says
	"internal/run/setup/survey.go",   // the version of an installed program
	"internal/run/setup/ci.go",       // writes it
	"internal/run/setup/ciyaml.go",   // which program installs what a file lists
}

// TestOneReader: a file that says who builds and publishes a project has one reader, and what
// else wants to know asks the description.
func TestOneReader(t *testing.T) {
	named := regexp.MustCompile(`"[^"]*\b(package\.json|pnpm-workspace\.yaml|Gemfile|pyproject\.toml|Makefile|netlify\.toml|vercel\.json|firebase\.json|wrangler\.\w+|readthedocs\.ya?ml|render\.yaml|amplify\.yml|` +
		`gitlab-ci\.yml|CNAME|mkdocs\.yml|conf\.py|_config\.yml|hugo\.toml|book\.toml)\b`)
	for _, name := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(descriptionReaders, func(allowed string) bool { return strings.HasPrefix(name, allowed) }) {
			continue
		}
		for line := range strings.Lines(readFile(t, name)) {
			code, _, _ := strings.Cut(line, "//")
			if m := named.FindStringSubmatch(code); m != nil {
				t.Errorf("%s names %s; project.Answers reads it", name, m[1])
			}
		}
	}
}
