package house

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// mayImport says which of our packages each package may import. "*" stands for
// all. A package that is missing here fails the test: a new one is a decision
// that belongs into this table and into docs/architecture.md.
//
// The arrows point one way, from the command down to the URL type. check knows
// nothing of reports, and nothing below cmd/sitelink knows of configuration.
var mayImport = map[string][]string{
	"check":                  {"internal/redirect", "internal/scan", "internal/site", "internal/weburl"},
	"check/baseline":         {"check"},
	"cmd/sitelink":           {"*"},
	"examples/blog":          {"hook", "hook/mdlink", "templates"},
	"hook":                   {"check", "internal/disk", "internal/report", "internal/site"},
	"hook/mdlink":            {"check", "hook", "internal/scan"},
	"internal/config":        {"internal/disk"},
	"internal/disk":          {},
	"internal/fetch":         {"internal/weburl"},
	"internal/generator":     {"internal/disk"},
	"internal/hostcases":     {},
	"internal/house":         {},
	"internal/inject":        {"internal/disk", "internal/generator", "internal/layout", "templates", "internal/statedir"},
	"internal/layout":        {},
	"internal/owners":        {"internal/disk"},
	"internal/redirect":      {"internal/weburl"},
	"internal/report":        {"check", "outgoing", "outgoing/deliver", "outgoing/ledger", "outgoing/precheck", "outgoing/preview"},
	"internal/scan":          {"internal/weburl"},
	"internal/setup":         {"internal/disk", "internal/statedir"},
	"internal/site":          {"internal/disk", "internal/redirect", "internal/scan", "internal/weburl"},
	"internal/source":        {"internal/disk", "internal/generator", "internal/scan", "internal/site"},
	"internal/statedir":      {"internal/disk"},
	"internal/testchrome":    {},
	"internal/testrocks":     {},
	"internal/testwordpress": {},
	"internal/testwp":        {},
	"internal/watch":         {"internal/disk"},
	"internal/weburl":        {},
	"outgoing":               {"internal/scan", "internal/site", "internal/weburl", "outgoing/ledger"},
	"outgoing/answer":        {"internal/fetch", "outgoing", "outgoing/ledger"},
	"outgoing/deliver":       {"internal/fetch", "internal/weburl", "outgoing", "outgoing/ledger"},
	"outgoing/explain":       {"internal/fetch", "outgoing", "outgoing/ledger", "outgoing/precheck"},
	"outgoing/ledger":        {"internal/disk", "internal/weburl", "internal/statedir"},
	"outgoing/ledger/pg":     {"outgoing/ledger"},
	"outgoing/linkmethod":    {"internal/fetch", "internal/weburl", "outgoing", "outgoing/answer", "outgoing/ledger"},
	"outgoing/pingback":      {"internal/fetch", "outgoing", "outgoing/answer", "outgoing/ledger", "outgoing/precheck"},
	"outgoing/precheck":      {"internal/fetch", "internal/weburl", "outgoing/answer", "outgoing/ledger"},
	"outgoing/preview":       {"internal/fetch", "outgoing", "outgoing/ledger", "outgoing/precheck"},
	"outgoing/webmention":    {"internal/fetch", "internal/weburl", "outgoing", "outgoing/answer", "outgoing/ledger"},
	"outgoing/websub":        {"internal/fetch", "internal/weburl", "outgoing", "outgoing/answer", "outgoing/ledger"},
	"templates":              {"internal/layout", "internal/scan"},
}

func TestImports(t *testing.T) {
	var table strings.Builder
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{range .Imports}}{{.}} {{end}}", "./...") {
		fields := strings.Fields(line)
		pkg := short(fields[0])
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("package %s is not in the import table", pkg)
			continue
		}
		var ours []string
		for _, imported := range fields[1:] {
			if imported != module && !strings.HasPrefix(imported, module+"/") {
				continue
			}
			imported = short(imported)
			ours = append(ours, imported)
			if !slices.Contains(allowed, "*") && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s, which the import table does not allow", pkg, imported)
			}
		}
		slices.Sort(ours)
		table.WriteString(strings.TrimSpace(pkg+": "+strings.Join(ours, " ")) + "\n")
	}
	compareGolden(t, "imports.golden", table.String())
}

// filepathUsers may import path/filepath, because they speak with the operating
// system about names that the user typed or that lie on a disk. Everywhere else
// a path is a slash path relative to the docroot, on every platform: that is
// what URLs are made of, what reports show and what two machines can compare.
var filepathUsers = []string{
	"cmd/sitelink",
	"examples/blog",
	"hook",
	"internal/config",
	"internal/disk",
	"internal/generator",
	"internal/setup",
	"internal/statedir",
	"outgoing/ledger",
}

// filepathFiles are single files of other packages that may do so as well: they
// walk the docroot on its disk, ask it for permissions, and look where a
// symbolic link leaves it.
var filepathFiles = []string{
	"internal/hostcases/docroot_linux.go",
	"internal/site/list.go",
	"internal/site/load.go",
	"internal/site/outside.go",
	"internal/site/rulefiles.go",
	"internal/site/update.go",
	"internal/site/walk.go",
	"internal/watch/notify.go",
	"internal/watch/poll.go",
	"internal/watch/watch.go",
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
