package repotest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture checks docs/design/architecture.md against the code: it names
// every package that does not serve tests only, and every package and pkg.Name that it names exists.
func TestArchitecture(t *testing.T) {
	const document = "docs/design/architecture.md"
	packages := []string{"bench"}
	names := map[string]bool{"os": true, "openat2": true}
	for _, line := range goList(t, "-f", "{{.ImportPath}} {{.Name}}", "./...") {
		importPath, name, _ := strings.Cut(line, " ")
		packages = append(packages, short(importPath))
		names[name] = true
	}
	named := regexp.MustCompile(`^(?:cmd|internal|check|incoming|outgoing|templates|hook|site|examples|docs|bench)(?:/[a-z]+)*$`)
	qualified := regexp.MustCompile(`^([a-z]+)\.[A-Z]\w*`)
	var found []string
	for _, match := range quoted.FindAllStringSubmatch(fenced.ReplaceAllString(readFile(t, document), ""), -1) {
		word := match[1]
		if named.MatchString(word) && !strings.Contains(word, "testdata") {
			found = append(found, word)
			if !slices.Contains(packages, word) {
				t.Errorf("%s names `%s`, which is not a package", document, word)
			}
		}
		if name := qualified.FindStringSubmatch(word); name != nil && !names[name[1]] {
			t.Errorf("%s names `%s`; there is no package %s", document, word, name[1])
		}
	}
	for _, name := range packages {
		forTests := strings.HasPrefix(path.Base(name), "test") || strings.HasSuffix(name, "test")
		if !forTests && !slices.Contains(found, name) {
			t.Errorf("%s does not name package `%s`", document, name)
		}
	}
}
