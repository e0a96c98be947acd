package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func loadHook(t *testing.T, text string) (Hook, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sitelink.toml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Request{File: file})
	if err != nil {
		return Hook{}, err
	}
	return cfg.Hook, nil
}

func TestHook(t *testing.T) {
	got, err := loadHook(t, `hook = { build = "hugo", branches = ["main", "release-*"], baseline = "remote", timeout = "1m30s" }`)
	if err != nil || got.Build != "hugo" || !slices.Equal(got.Branches, []string{"main", "release-*"}) || got.Baseline != "remote" || got.Timeout != 90*time.Second {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"[hook]\nbild = 'x'":        `:2:1: unknown key "bild" in [hook]`,
		"[[hook]]\nbuild = 'x'":     ":1:3: hook: must be a table, not a list",
		"hook = 'x'":                ":1:1: hook: must be a table, not a string",
		"[hook]\nbuild = ''":        ":2:1: build: the value is empty",
		"[hook]\nbuild = 3":         ":2:1: build: must be a string, not the number 3",
		"[hook]\nbranches = ['[']":  ":2:1: branches: must be the name of a branch, or a pattern",
		"[hook]\nbaseline = 'main'": `:2:1: baseline: must be remote or none, not "main"`,
		"[hook]\ntimeout = 60":      `:2:1: timeout: must be a time such as "90s" or "5m", not the number 60`,
		"[hook]\ntimeout = '-1s'":   `:2:1: timeout: must be a time from 1ms to 24h, not "-1s"`,
		"[hook]\ntimeout = '25h'":   ":2:1: timeout: must be a time",
		"[hok]\nbuild = 'x'":        `:1:2: unknown table "hok"`,
	} {
		if _, err := loadHook(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// docs/reference/configuration.md lists exactly the keys of [hook].
func TestManualListsTheHookKeys(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, want []string
	for _, row := range manualRows(t, string(text), "The push hook", "key") {
		documented = append(documented, strings.Trim(row[0], "`"))
		if row[0] != "`timeout`" {
			continue
		}
		if d, err := time.ParseDuration(strings.Trim(row[2], "`")); err != nil || d != newLoader(Request{}).cfg.Hook.Timeout {
			t.Errorf("documented timeout %s", row[2])
		}
	}
	hook, _ := root.key("hook")
	want = hook.table.names()
	if !slices.Equal(documented, want) {
		t.Errorf("documented %q, keys %q", documented, want)
	}
}
