//go:build integration && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
)

// emacsSteps drive Emacs without a screen: they load editors/emacs/sitelink.el, open a
// page with a broken link, and print what Flymake shows of it. Then they repair the link
// by the code action of the server, and print the text.
const emacsSteps = `
(require 'eglot)
(require 'flymake)
(load (getenv "SITELINK_EL"))
(defun sitelink-wait (what ready)
  (let ((end (time-add nil 120)))
    (while (not (funcall ready))
      (when (time-less-p end nil) (error "timeout: %s" what))
      (accept-process-output nil 0.05))))
(define-derived-mode markdown-mode text-mode "Markdown")
(setq eglot-sync-connect 60 eglot-confirm-server-initiated-edits nil)
(setq project-find-functions (list (lambda (_) (cons 'transient (getenv "SITELINK_SITE")))))
(find-file (expand-file-name "content/posts/two.md" (getenv "SITELINK_SITE")))
(markdown-mode)
(apply #'eglot (eglot--guess-contact))
(sitelink-wait "diagnostics" (lambda () (flymake-start) (= 2 (length (flymake-diagnostics)))))
(dolist (d (sort (flymake-diagnostics) (lambda (a b) (< (flymake-diagnostic-beg a) (flymake-diagnostic-beg b)))))
  (princ (format "diagnostic: %s %s %s\n" (flymake-diagnostic-type d)
                 (buffer-substring (flymake-diagnostic-beg d) (flymake-diagnostic-end d)) (flymake-diagnostic-text d))))
(goto-char (point-min))
(search-forward "/posts/ONE")
(let ((actions (eglot-code-actions (point) (point) "quickfix")))
  (eglot--dbind ((CodeAction) edit) (aref (vconcat actions) 0)
    (eglot--apply-workspace-edit edit)))
(princ (format "text: %s\n" (buffer-string)))
(set-buffer-modified-p nil)
(eglot-shutdown (eglot-current-server))
(princ "end\n")
`

// TestEmacs drives the language server with Emacs and the settings in editors/emacs.
func TestEmacs(t *testing.T) {
	settings := testkit.Must(filepath.Abs(filepath.Join("..", "..", "editors", "emacs", "sitelink.el")))(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"hugo.toml":                   "baseURL = 'https://example.org/'\n",
		"content/posts/one.md":        "---\ntitle: First post\n---\n\nText.\n",
		"content/posts/two.md":        "---\ntitle: Second post\n---\n\nBack to [one](/posts/ONE/), [gone](/posts/gone/).\n",
		"public/index.html":           "<!DOCTYPE html><html><head><title>Home</title></head><body></body></html>",
		"public/posts/one/index.html": "<!DOCTYPE html><html><head><title>One</title></head><body><p>Text.</p></body></html>",
		"public/posts/two/index.html": "<!DOCTYPE html><html><head><title>Two</title></head><body><p>Back to <a href=\"/posts/ONE/\">one</a>, <a href=\"/posts/gone/\">gone</a>.</p></body></html>",
	} {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	steps := filepath.Join(t.TempDir(), "steps.el")
	testkit.Write(t, steps, emacsSteps)
	out := runEditor(t, dir, []string{"SITELINK_SITE=" + dir, "SITELINK_EL=" + settings}, "emacs", "--batch", "-l", steps)
	for _, want := range []string{
		"diagnostic: eglot-error /posts/ONE/ ", "diagnostic: eglot-error /posts/gone/ ", "Back to [one](/posts/one/), [gone](/posts/gone/).", "\nend\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// runEditor runs an editor without a screen and without the user's settings in a
// directory, and returns what it prints.
func runEditor(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"), "XDG_DATA_HOME="+home, "XDG_STATE_HOME="+home)
	cmd.Env = append(cmd.Env, env...)
	late := time.AfterFunc(10*time.Minute, func() { cmd.Process.Kill() })
	defer late.Stop()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}
