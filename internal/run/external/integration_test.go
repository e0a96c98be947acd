//go:build integration

package external

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/check/remote"
	"github.com/sitelink/sitelink/internal/testkit"
)

// A status cache in a database, and one in a ref of git, that --status-cache names keep
// what a run learned for the next one, and for fix.
func TestSharedCaches(t *testing.T) {
	for _, name := range []string{testkit.StartPostgres(t).Schema(), "git:refs/sitelink/status"} {
		kind, _, _ := strings.Cut(name, ":")
		t.Run(kind, func(t *testing.T) {
			p := withCache(t, "flag", name)
			for _, args := range [][]string{{"init", "-q", "."}, {"init", "-q", "--bare", "remote.git"}, {"remote", "add", "origin", filepath.Join(p.Root, "remote.git")}} {
				testkit.Git(t, p.Root, args...)
			}
			if all, err := Records(t.Context(), p, nil); err != nil || len(all) != 0 {
				t.Errorf("before: %v, %v", all, err)
			}
			for i, url := range []string{"https://a.example/", "https://b.example/"} {
				c := testkit.Must(Open(t.Context(), p, Options{Warn: func(s string) { t.Error(s) }}))(t)
				c.cache.Put(record(url, remote.NotFound, 404, i+1))
				testkit.Check(t, c.Close())
			}
			all, err := Records(t.Context(), p, nil)
			if err != nil || len(all) != 2 || all[1].Strikes != 2 {
				t.Errorf("%+v, %v", all, err)
			}
		})
	}
}
