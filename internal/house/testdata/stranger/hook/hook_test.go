// Package hook_test uses package hook as a program outside of this repository
// would.
package hook_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/hook"
)

func TestCheck(t *testing.T) {
	docroot := t.TempDir()
	if err := os.WriteFile(filepath.Join(docroot, "index.html"), []byte(`<a href="/gone/">x</a>`), 0o644); err != nil {
		t.Fatal(err)
	}
	result, err := hook.Check(context.Background(), hook.Site{Docroot: docroot, BaseURL: "https://blog.example/"})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Findings) != 1 || result.Findings[0].Code != check.MissingDirectory {
		t.Errorf("findings: %+v, want one %s", result.Findings, check.MissingDirectory)
	}
}
