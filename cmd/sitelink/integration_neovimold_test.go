//go:build integration && linux

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestNeovimOlder runs the guide's settings for older versions in the Neovim of this machine,
// such as Debian's 0.7, and reads what it shows of a broken link in each of two projects.
func TestNeovimOlder(t *testing.T) {
	nvim := testkit.Must(exec.LookPath("nvim"))(t)
	guide := string(testkit.Read(t, "../../docs/guide/editors.md"))
	_, settings, ok := strings.Cut(guide, "Older versions, from 0.7:\n\n```lua\n")
	settings, _, _ = strings.Cut(settings, "```")
	if !ok {
		t.Fatal("the guide has no settings for older versions")
	}
	base := t.TempDir()
	init := filepath.Join(base, "init.lua")
	testkit.Write(t, init, settings)
	for _, dir := range []string{"one", "two/sub"} {
		testkit.Write(t, filepath.Join(base, dir, "hugo.toml"), "title = 't'\n")
		testkit.Write(t, filepath.Join(base, dir, "content", "a.md"), "---\ntitle: a\n---\n[b](/gone/)\n")
		testkit.Write(t, filepath.Join(base, dir, "public", "a", "index.html"), "<!doctype html><title>a</title><a href=/gone/>b</a>")
	}
	testkit.Write(t, filepath.Join(base, "two", ".git", "config"), "")
	wait := `lua vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end); for _, d in ipairs(vim.diagnostic.get(0)) do io.stdout:write(d.lnum .. ":" .. d.col .. " " .. d.code .. "\n") end`
	cmd := exec.Command(nvim, "--headless", "-u", init, filepath.Join(base, "one", "content", "a.md"), "-c", wait,
		"-c", "edit "+filepath.Join(base, "two", "sub", "content", "a.md"), "-c", wait, "-c", "qa!")
	out, err := cmd.CombinedOutput()
	if want := "3:4 missing-directory\n"; err != nil || strings.Count(string(out), want) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}
