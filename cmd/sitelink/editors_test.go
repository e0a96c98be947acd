package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/sitelink/sitelink/internal/testkit"
)

// TestEditorSettings reads the settings of the editors that no test can start, with the
// keys that the editors document: a key that they do not know fails.
func TestEditorSettings(t *testing.T) {
	read := func(name string, into any) {
		f := testkit.Must(os.Open(filepath.Join("..", "..", "editors", filepath.FromSlash(name))))(t)
		defer f.Close()
		if err := toml.NewDecoder(f).DisallowUnknownFields().Decode(into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	// https://docs.helix-editor.com/languages.html
	var helix struct {
		LanguageServer map[string]struct {
			Command              string
			Args                 []string
			Config, Environment  map[string]any
			Timeout              int
			RequiredRootPatterns []string `toml:"required-root-patterns"`
		} `toml:"language-server"`
		Language []struct {
			Name            string
			LanguageServers []string `toml:"language-servers"`
		}
	}
	read("helix/languages.toml", &helix)
	if s := helix.LanguageServer["sitelink"]; s.Command != "sitelink" || !slices.Equal(s.Args, []string{"lsp"}) {
		t.Errorf("Helix starts %+v", s)
	}
	for _, l := range helix.Language {
		if l.Name == "" || !slices.Contains(l.LanguageServers, "sitelink") {
			t.Errorf("Helix does not use sitelink for %+v", l)
		}
	}
	// https://zed.dev/docs/extensions/developing-extensions
	var zed struct {
		ID, Name, Version, Description, Repository string
		SchemaVersion                              int `toml:"schema_version"`
		Authors                                    []string
		LanguageServers                            map[string]struct {
			Name      string
			Languages []string
		} `toml:"language_servers"`
	}
	read("zed/extension.toml", &zed)
	if zed.ID == "" || zed.Name == "" || zed.Version == "" || zed.SchemaVersion != 1 || len(zed.Authors) == 0 || len(zed.LanguageServers["sitelink"].Languages) == 0 {
		t.Errorf("the extension for Zed lacks something: %+v", zed)
	}
}
