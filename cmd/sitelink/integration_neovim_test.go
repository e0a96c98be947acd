//go:build integration && linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// neovimSteps drive the editor on a project of Hugo: see testdata/neovim/drive.lua.
const neovimSteps = `return function(t)
  local root = vim.env.SITELINK_SITE
  t.start(root, { options = { build = true } })
  t.open(root .. "/content/posts/two.md")
  t.result.saved = t.diagnostics(function(all) return #all == 1 end)

  t.append("See [x](/posts/on")
  t.result.completion = t.ask("textDocument/completion", "(/posts/on", 10, {}, function(r) return r and r.items and #r.items > 0 end)
  t.replace("See [x](/posts/on", "See [x](/posts/ONE/#start-here) and [y](/no/)")
  t.result.typed = t.diagnostics(function(all) return #all == 3 end)
  t.result.hover = t.ask("textDocument/hover", "/posts/one/", 2, {}, function(r) return r ~= nil and r ~= vim.NIL end)

  local range = t.result.typed[2]
  t.result.actions = t.ask("textDocument/codeAction", "/posts/ONE/", 2, {
    context = { diagnostics = {} },
    range = { start = { line = range.line, character = range.from }, ["end"] = { line = range.line, character = range.to } },
  }, function(r) return r and #r > 0 end)
  t.apply(t.result.actions[1].edit)
  t.result.fixed = t.text()
  t.replace(" and [y](/no/)", "")
  vim.cmd("write")

  t.open(root .. "/content/posts/one.md")
  local edit = t.ask("textDocument/rename", "Start here", 1, { newName = "Begin here" }, function(r) return r ~= nil and r ~= vim.NIL end)
  t.apply(edit)
  vim.cmd("wall")
  -- The build after the save knows the new id.
  t.open(root .. "/content/posts/two.md")
  t.result.renamed = t.text()
  t.wait_file(root .. "/.sitelink/public/posts/one/index.html", "begin-here")

  local moved = t.request("workspace/willRenameFiles", { files = { {
    oldUri = vim.uri_from_fname(root .. "/content/posts/one.md"), newUri = vim.uri_from_fname(root .. "/content/posts/first.md"),
  } } })
  t.apply(moved)
  vim.cmd("wall")
  t.result.moved = t.text()
  t.result.alias = t.read(root .. "/content/posts/one.md")
end
`

// TestNeovim drives the language server with Neovim on a project that Hugo builds.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("sitelink")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml":                    "baseURL = 'https://example.org/'\ndisableKinds = ['taxonomy', 'term', 'RSS']\n",
		"layouts/_default/single.html": "<!DOCTYPE html><html><head><title>{{ .Title }}</title></head><body>{{ .Content }}</body></html>",
		"layouts/_default/list.html":   "<!DOCTYPE html><html><head><title>{{ .Title }}</title></head><body>{{ range .Pages }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ end }}</body></html>",
		"content/posts/one.md":         "---\ntitle: First post\n---\n\n## Start here\n\nText.\n",
		"content/posts/two.md":         "---\ntitle: Second post\n---\n\nBack to [one](/posts/one/#start-here), [gone](/posts/gone/).\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	steps, result := filepath.Join(work, "steps.lua"), filepath.Join(work, "result.json")
	if err := os.WriteFile(steps, []byte(neovimSteps), 0o644); err != nil {
		t.Fatal(err)
	}
	drive, err := filepath.Abs("testdata/neovim/drive.lua")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nvim, "--headless", "-u", "NONE", "-i", "NONE", "-S", drive)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SITELINK_BINARY="+program, "SITELINK_SITE="+dir, "SITELINK_DRIVE="+steps, "SITELINK_RESULT="+result,
		"HOME="+work, "XDG_CACHE_HOME="+filepath.Join(work, "cache"), "XDG_DATA_HOME="+work, "XDG_STATE_HOME="+work)
	late := time.AfterFunc(10*time.Minute, func() { cmd.Process.Kill() })
	out, runErr := cmd.CombinedOutput()
	late.Stop()
	text, err := os.ReadFile(result)
	if err != nil {
		t.Fatalf("%v %v\n%s", err, runErr, out)
	}
	var r struct {
		Error        string
		Saved, Typed []struct {
			Text, Code string
			Severity   int
		}
		Completion struct {
			Items []struct{ Label, Detail string }
		}
		Hover                        struct{ Contents struct{ Value string } }
		Actions                      []struct{ Title string }
		Fixed, Renamed, Moved, Alias string
	}
	if err := json.Unmarshal(text, &r); err != nil || r.Error != "" {
		t.Fatalf("%v %s\n%s\n%s", err, r.Error, out, text)
	}
	if len(r.Saved) != 1 || r.Saved[0].Text != "/posts/gone/" || r.Saved[0].Code != "missing-directory" || r.Saved[0].Severity != 1 {
		t.Errorf("diagnostics of the saved text: %+v", r.Saved)
	}
	if len(r.Typed) != 3 || r.Typed[1].Text != "/posts/ONE/#start-here" || r.Typed[1].Code != "wrong-case" || r.Typed[2].Text != "/no/" {
		t.Errorf("diagnostics while typing: %+v", r.Typed)
	}
	if len(r.Completion.Items) == 0 || r.Completion.Items[0].Label != "/posts/one/" || r.Completion.Items[0].Detail != "First post" {
		t.Errorf("completion: %+v", r.Completion)
	}
	if !strings.Contains(r.Hover.Contents.Value, "**First post**") {
		t.Errorf("hover: %s", r.Hover.Contents.Value)
	}
	if len(r.Actions) == 0 || r.Actions[0].Title != "Change to /posts/one/#start-here" || !strings.Contains(r.Fixed, "See [x](/posts/one/#start-here)") {
		t.Errorf("code actions: %+v\n%s", r.Actions, r.Fixed)
	}
	if strings.Count(r.Renamed, "(/posts/one/#begin-here)") != 2 {
		t.Errorf("after the heading was renamed: %s", r.Renamed)
	}
	if strings.Count(r.Moved, "(/posts/first/#begin-here)") != 2 || !strings.Contains(r.Alias, "/posts/one/") {
		t.Errorf("after the page was moved: %s\n%s", r.Moved, r.Alias)
	}
}
