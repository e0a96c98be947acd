//go:build integration && linux

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// neovimSteps drive the editor on the site of kind: see testdata/neovim/drive.lua.
const neovimSteps = `return function(t)
  local root = vim.env.SITELINK_SITE
  local user = root .. "/content/docs/user/"
  t.start(root, { options = { build = true } })
  t.open(user .. "known-issues.md")
  t.result.saved = t.diagnostics(function(all) return #all == 1 end)

  t.append("See [x](/docs/user/quick")
  t.result.completion = t.ask("textDocument/completion", "(/docs/user/quick", 13, {}, function(r) return r and r.items and #r.items > 0 end)
  t.replace("See [x](/docs/user/quick", "See [x](/docs/user/Quick-Start/#installation) and [y](/no/)")
  t.result.typed = t.diagnostics(function(all) return #all == 3 end)
  t.result.hover = t.ask("textDocument/hover", "/docs/user/Quick-Start/", 2, {}, function(r) return r ~= nil and r ~= vim.NIL end)

  local range = t.result.typed[2]
  t.result.actions = t.ask("textDocument/codeAction", "/docs/user/Quick-Start/", 2, {
    context = { diagnostics = {} },
    range = { start = { line = range.line, character = range.from }, ["end"] = { line = range.line, character = range.to } },
  }, function(r) return r and #r > 0 end)
  t.apply(t.result.actions[1].edit)
  t.result.fixed = t.text()
  t.replace(" and [y](/no/)", "")
  vim.cmd("write")

  t.open(user .. "quick-start.md")
  local edit = t.ask("textDocument/rename", "## Building Images", 3, { newName = "Making Images" }, function(r) return r ~= nil and r ~= vim.NIL end)
  t.apply(edit)
  vim.cmd("wall")
  t.result.renamed = t.text()
  t.result.linking = t.read(root .. "/content/docs/contributing/development.md")
  -- The build after the save knows the new id.
  t.wait_file(root .. "/.sitelink/public/docs/user/quick-start/index.html", "making-images")

  local moved = t.request("workspace/willRenameFiles", { files = { {
    oldUri = vim.uri_from_fname(user .. "ingress.md"), newUri = vim.uri_from_fname(user .. "controllers.md"),
  } } })
  t.apply(moved)
  vim.cmd("wall")
  t.result.moved = t.read(user .. "using-wsl2.md")
  t.result.alias = t.read(user .. "ingress.md")
end
`

// TestNeovim drives the language server with Neovim on a real site that Hugo builds.
func TestNeovim(t *testing.T) {
	site := newModuleSite(t, "sigs.k8s.io/kind", "site")
	site.commit("v0.17.0")
	program := testkit.Must(exec.LookPath("sitelink"))(t)
	drive := testkit.Must(filepath.Abs("testdata/neovim/drive.lua"))(t)
	work := t.TempDir()
	steps, result := filepath.Join(work, "steps.lua"), filepath.Join(work, "result.json")
	testkit.Write(t, steps, neovimSteps)
	out := runEditor(t, site.dir, []string{"SITELINK_BINARY=" + program, "SITELINK_SITE=" + site.dir, "SITELINK_DRIVE=" + steps, "SITELINK_RESULT=" + result},
		"nvim", "--headless", "-u", "NONE", "-i", "NONE", "-S", drive)
	var r struct {
		Error        string
		Saved, Typed []struct {
			Text, Code string
			Severity   int
		}
		Completion struct {
			Items []struct{ Label, Detail string }
		}
		Hover                                 struct{ Contents struct{ Value string } }
		Actions                               []struct{ Title string }
		Fixed, Renamed, Linking, Moved, Alias string
	}
	text := readFile(t, result)
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Error != "" {
		t.Fatalf("%v %s\n%s\n%s", err, r.Error, out, text)
	}
	if len(r.Saved) != 1 || r.Saved[0].Text != "#nonamd64-architectures" || r.Saved[0].Code != "missing-fragment" || r.Saved[0].Severity != 1 {
		t.Errorf("diagnostics of the saved text: %+v", r.Saved)
	}
	if len(r.Typed) != 3 || r.Typed[1].Text != "/docs/user/Quick-Start/#installation" || r.Typed[1].Code != "server-dependent" || r.Typed[2].Text != "/no/" {
		t.Errorf("diagnostics while typing: %+v", r.Typed)
	}
	if len(r.Completion.Items) == 0 || r.Completion.Items[0].Label != "/docs/user/quick-start/" || r.Completion.Items[0].Detail != "Quick Start" {
		t.Errorf("completion: %+v", r.Completion)
	}
	if !strings.Contains(r.Hover.Contents.Value, "**Quick Start**") || !strings.Contains(r.Hover.Contents.Value, "/docs/user/quick-start/") {
		t.Errorf("hover: %s", r.Hover.Contents.Value)
	}
	if len(r.Actions) == 0 || r.Actions[0].Title != "Change to /docs/user/quick-start/#installation" || !strings.Contains(r.Fixed, "See [x](/docs/user/quick-start/#installation)") {
		t.Errorf("code actions: %+v\n%s", r.Actions, r.Fixed)
	}
	if !strings.Contains(r.Renamed, "[building images](#making-images)") || !strings.Contains(r.Linking, "(/docs/user/quick-start/#making-images)") {
		t.Errorf("after the heading was renamed: %s\n%s", r.Renamed, r.Linking)
	}
	if !strings.Contains(r.Moved, "(/docs/user/controllers/#setting-up-an-ingress-controller)") || !strings.Contains(r.Alias, "/docs/user/ingress/") {
		t.Errorf("after the page was moved: %s\n%s", r.Moved, r.Alias)
	}
}
