//go:build integration && linux

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/outgoing/ledger"
	"github.com/sitelink/sitelink/outgoing/ledger/pg"
)

// The full form is SITELINK_KILL_RUNS=200.
func TestNotifyKilledPostgres(t *testing.T) {
	address := testkit.StartPostgres(t).Address("")
	work := ownProject(t, t.TempDir())
	killShared(t, work, address, func() {
		out, err := exec.Command("psql", "-q", address+"&user=sitelink", "-c", "SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public").CombinedOutput()
		if err != nil {
			t.Fatalf("psql: %v\n%s", err, out)
		}
	}, func() (all []string) {
		// The server may still carry out the last statement of the killed run.
		for waited := 0; ; waited++ {
			out, err := exec.Command("psql", "-qAt", address+"&user=sitelink", "-c",
				"SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()").CombinedOutput()
			if err != nil || waited > 600 {
				t.Fatalf("psql: %v\n%s", err, out)
			}
			if strings.TrimSpace(string(out)) == "0" {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		store := testkit.Must(pg.Open(t.Context(), address, pg.Options{ReadOnly: true}))(t)
		defer store.Close()
		snap := testkit.Must(store.Load(t.Context()))(t)
		for _, n := range snap.Notices {
			if n.State == ledger.InFlight {
				all = append(all, n.Source+" "+n.Target)
			}
		}
		return all
	})
}
