package repotest

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// homeless are names that say nothing about what a package is for, so that
// everything ends up in it.
var homeless = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "models", "base", "lib"}

func TestNames(t *testing.T) {
	clause := regexp.MustCompile(`(?m)^package (\w+)$`)
	for _, name := range goFiles(t) {
		match := clause.FindStringSubmatch(readFile(t, name))
		if match == nil {
			t.Errorf("%s has no package clause on a line of its own", name)
			continue
		}
		pkg := strings.TrimSuffix(match[1], "_test")
		if slices.Contains(homeless, pkg) || slices.Contains(homeless, path.Base(path.Dir(name))) {
			t.Errorf("%s: package %s; name it for what it does", name, pkg)
		}
		if strings.ToLower(pkg) != pkg || strings.Contains(pkg, "_") {
			t.Errorf("%s: package name %s is not one lower-case word", name, pkg)
		}
		if !strings.Contains(name, "/") {
			t.Errorf("%s: the root of the repository holds no Go file", name)
		}
	}
}

// TestMakefile keeps the Makefile a table of contents: few targets, one line
// each, and each one's command also in CONTRIBUTING.md for those without make.
func TestMakefile(t *testing.T) {
	const most = 8
	rule := regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):(.*)$`)
	rules := rule.FindAllStringSubmatch(readFile(t, "Makefile"), -1)
	if len(rules) == 0 || len(rules) > most {
		t.Fatalf("the Makefile has %d targets, want 1 to %d", len(rules), most)
	}
	guide := readFile(t, "CONTRIBUTING.md")
	for _, rule := range rules {
		command := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rule[2]), ";"))
		if command == "" {
			t.Errorf("target %s has no command on its own line", rule[1])
		}
		if !strings.Contains(guide, "make "+rule[1]+" ") && !strings.Contains(guide, "make "+rule[1]+"`") {
			t.Errorf("CONTRIBUTING.md does not name make %s", rule[1])
		}
	}
}
