package generator

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestHugoEnv checks which variables keep Hugo from writing outside a project. The
// test of hostile checkouts runs Hugo with them.
func TestHugoEnv(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		testkit.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	t.Setenv("TMPDIR", t.TempDir())
	run := Runner{Env: []string{"HOME=" + home}}
	has := func(args []string, want string) bool { return slices.Contains(run.hugoEnv(dir, "/tmp/x", args), want) }
	config := []string{"config"}
	write("hugo.toml", "cacheDir = '/elsewhere'\npublishDir = '../public'\n[caches.getJSON]\ndir = '/elsewhere'\n")
	write("config/staging/caches.yaml", "images:\n  dir: /elsewhere\n")
	for _, want := range []string{"HUGO_CACHEDIR=/tmp/x/cache", "HUGO_RESOURCEDIR=/tmp/x/resources", "HUGO_ENABLEGITINFO=false",
		"HUGO_CACHES_GETJSON_DIR=:cacheDir/getjson", "HUGO_CACHES_IMAGES_DIR=:cacheDir/images", "HUGO_CACHES_MODULES_DIR=:cacheDir/modules",
		"HUGO_MODULE_PROXY=off", "HUGO_MODULE_NOPROXY=none", "HUGO_MODULE_PRIVATE=none", "GOPROXY=off", "GONOPROXY=none", "GOVCS=*:off",
		"HUGO_PUBLISHDIR=/tmp/x/public"} {
		if !has(config, want) {
			t.Errorf("hugo config runs without %s", want)
		}
	}
	if got := run.outsidePublishDir(dir); got != "../public" {
		t.Errorf("publishDir outside the project: %q", got)
	}

	// An ordinary project keeps its own directory, and the modules that builds
	// have downloaded.
	write("hugo.toml", "publishDir = 'docs'\n")
	if has(config, "HUGO_PUBLISHDIR=/tmp/x/public") || !has([]string{"list", "all"}, "HUGO_PUBLISHDIR=/tmp/x/public") ||
		!has([]string{"config", "mounts"}, "HUGO_PUBLISHDIR=/tmp/x/public") {
		t.Error("only hugo config needs the project's publishDir")
	}
	modules := filepath.Join(home, ".cache", "hugo_cache", "modules")
	testkit.Check(t, os.MkdirAll(modules, 0o755))
	if !has(config, "HUGO_CACHES_MODULES_DIR="+modules) {
		t.Error("downloaded modules are not found")
	}
}
