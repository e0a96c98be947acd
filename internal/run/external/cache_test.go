package external

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/testkit"
)

// withCache returns a project below a new directory. by says what names its status
// cache: a configuration that was found or named, or a flag.
func withCache(t *testing.T, by, name string) *project.Project {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "sub")
	testkit.Check(t, os.Mkdir(dir, 0o777))
	t.Chdir(dir)
	cfg := &config.Config{}
	cfg.External.StatusCache = name
	switch by {
	case "found":
		cfg.File, cfg.Found = "../sitelink.toml", true
	case "named":
		cfg.File = "../sitelink.toml"
	case "flag":
		var err error
		if cfg, err = config.Load(config.Input{Flags: []config.Setting{{Key: "external.status-cache", Values: []string{name}}}}); err != nil {
			t.Fatal(err)
		}
		cfg.File, cfg.Found = "../sitelink.toml", true
	}
	return &project.Project{Dir: dir, Root: root, Config: cfg}
}

func TestCacheName(t *testing.T) {
	const address = "postgres://me:s3cret@db.example/links"
	for _, c := range []struct {
		by, name string
		want     string // ROOT stands for the root of the project
		wantErr  string
	}{
		{"default", ".sitelink/status.jsonl", "ROOT/.sitelink/status.jsonl", ""},
		{"found", "data/s.jsonl", "ROOT/data/s.jsonl", ""},
		{"found", "sub/s.jsonl", "s.jsonl", ""},
		{"found", "../s.jsonl", "", "status-cache in [external]: "},
		{"found", "/elsewhere/s.jsonl", "", "status-cache in [external]: "},
		{"found", address, "", "postgres://me:xxxxx@db.example/links is not used, because --config does not name the configuration"},
		{"found", "redis://me:s3cret@db.example/", "", `unknown kind of status cache: "redis://me:xxxxx@db.example/"`},
		{"found", "git:refs/sitelink/status", "", "git:refs/sitelink/status is not used, because --config does not name the configuration"},
		{"flag", "git:refs/sitelink/status", "git:refs/sitelink/status", ""},
		{"named", "../s.jsonl", "ROOT/../s.jsonl", ""},
		{"named", "/elsewhere/s.jsonl", "/elsewhere/s.jsonl", ""},
		{"named", address, address, ""},
		{"flag", "s.jsonl", "s.jsonl", ""},
		{"flag", "../../s.jsonl", "../../s.jsonl", ""},
		{"flag", address, address, ""},
		{"flag", "postgresql" + strings.TrimPrefix(address, "postgres"), "postgresql" + strings.TrimPrefix(address, "postgres"), ""},
	} {
		t.Run(c.by+" "+filepath.Base(c.name), func(t *testing.T) {
			p := withCache(t, c.by, c.name)
			got, err := cacheName(p)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("error %v", err)
				}
				return
			}
			want := filepath.FromSlash(c.want)
			if rest, ok := strings.CutPrefix(c.want, "ROOT/"); ok {
				want = filepath.Join(p.Root, filepath.FromSlash(rest))
			}
			if err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

// A run opens its cache where the configuration says, a reader changes nothing.
func TestOpen(t *testing.T) {
	p := withCache(t, "found", "data/s.jsonl")
	if all, err := Records(t.Context(), p, nil); err != nil || len(all) > 0 {
		t.Errorf("no cache: %v, %v", all, err)
	}
	if _, err := os.Stat(filepath.Join(p.Root, "data")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reader made a directory: %v", err)
	}
	c := testkit.Must(Open(t.Context(), p, Options{}))(t)
	c.cache.Put(record("https://a.example/", remote.NotFound, 404, 1))
	testkit.Check(t, c.Close())
	if all, err := Records(t.Context(), p, nil); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	newer := `{"sitelink":"status-cache","schema":99}` + "\n"
	name := filepath.Join(p.Root, "data", "s.jsonl")
	testkit.Check(t, os.WriteFile(name, []byte(newer), 0o666))
	if _, err := Open(t.Context(), p, Options{}); !errors.Is(err, remote.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
	if got, _ := os.ReadFile(name); string(got) != newer {
		t.Errorf("changed to %q", got)
	}
	// fix goes on without a database that the checkout names; a check does not.
	p = withCache(t, "found", "postgres://db.example/x")
	var warnings []string
	if all, err := Records(t.Context(), p, func(s string) { warnings = append(warnings, s) }); err != nil || len(all) > 0 || len(warnings) != 1 {
		t.Errorf("%v, %v, warnings %q", all, err, warnings)
	}
	if _, err := Open(t.Context(), p, Options{}); err == nil {
		t.Error("a found configuration chose a database")
	}
	p = withCache(t, "flag", "postgres://me:s3cret@db.example/x")
	if _, err := Prune(t.Context(), p, nil, check.Options{}, nil); err == nil || !strings.Contains(err.Error(), "other sites share the status cache postgres://me:xxxxx@") {
		t.Errorf("prune: %v", err)
	}
}

// TestLockRun: a second run with the same file says that it waits, and goes on when the
// first has ended, or stops when it is interrupted.
func TestLockRun(t *testing.T) {
	p := withCache(t, "default", ".sitelink/status.jsonl")
	silent := func(text string) { t.Errorf("told %q", text) }
	first := testkit.Must(LockRun(t.Context(), p, silent))(t)
	ctx, interrupt := context.WithCancel(t.Context())
	if _, err := LockRun(ctx, p, func(string) { interrupt() }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	var told string
	second, err := LockRun(t.Context(), p, func(text string) {
		told = text
		first.Close()
	})
	if err != nil || !strings.HasSuffix(told, "status.jsonl; this one waits until it has ended") {
		t.Errorf("told %q, %v", told, err)
	}
	second.Close()
	if lock, err := LockRun(t.Context(), withCache(t, "flag", "postgres://me@db.example/links"), silent); lock != nil || err != nil {
		t.Errorf("a database: %v", err)
	}
}
