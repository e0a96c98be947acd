package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/project"
	"github.com/sitelink/sitelink/internal/run/audit"
	"github.com/sitelink/sitelink/internal/testkit"
	"github.com/sitelink/sitelink/internal/text"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// inProject writes a site with the address https://example.net/ into a new working
// directory, and finds it.
func inProject(t *testing.T, toml string, pages map[string]string) *project.Project {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", t.TempDir())
	write := func(name, text string) {
		testkit.Write(t, name, text)
	}
	write("sitelink.toml", toml)
	for name, text := range pages {
		write(filepath.Join("public", name), text)
	}
	cfg := testkit.Must(config.Load(config.Input{}))(t)
	p := testkit.Must(project.Find(t.Context(), dir, project.Options{Config: cfg}))(t)
	return p
}

const base = "base-url = 'https://example.net/'\n"

var pages = map[string]string{"index.html": "<html><body><article class=h-entry><div class=e-content><a href=https://example.com/>x</a></div></article>"}

// Without a ledger the plan records the links and sends nothing.
func TestCompareFirst(t *testing.T) {
	p := inProject(t, base, pages)
	snap := testkit.Must(ReadLedger(t.Context(), p, nil))(t)
	c := testkit.Must(CompareForSending(t.Context(), p, snap, false, audit.Options{}))(t)
	if !c.Plan.First || len(c.Plan.Due()) != 0 || len(c.Plan.Change.Pages) != 1 {
		t.Errorf("plan %+v", c.Plan)
	}
}

// The address of the site is needed, and the ledger must belong to it.
func TestCompareRefuses(t *testing.T) {
	p := inProject(t, "", pages)
	_, err := Compare(t.Context(), p, &ledger.Snapshot{New: true}, audit.Options{})
	if hint, usage := text.Hint(err); !usage || !strings.Contains(hint, "--base-url") {
		t.Errorf("without an address: %v, hint %q", err, hint)
	}
	p = inProject(t, base, pages)
	_, err = CompareForSending(t.Context(), p, &ledger.Snapshot{Base: "https://example.org/"}, false, audit.Options{})
	if hint, _ := text.Hint(err); err == nil || !strings.Contains(hint, "--record") {
		t.Errorf("with the ledger of another site: %v, hint %q", err, hint)
	}
}

// A baseline withdraws the notices that are still open.
func TestCompareBaseline(t *testing.T) {
	p := inProject(t, base, pages)
	open := ledger.Notice{State: ledger.Retry, Next: time.Now()}
	snap := &ledger.Snapshot{Base: "https://example.net/", Notices: []ledger.Notice{open}}
	c := testkit.Must(CompareForSending(t.Context(), p, snap, true, audit.Options{}))(t)
	if n := c.Plan.Change.Notices; len(n) != 1 || n[0].State != ledger.Skipped || len(c.Plan.Due()) != 0 {
		t.Errorf("notices %+v", n)
	}
}

// The ledger of the configuration is below the root, and named as the user would
// write it, without a password.
func TestLedgerName(t *testing.T) {
	p := inProject(t, base, pages)
	if got := LedgerName(p); filepath.ToSlash(got) != ".sitelink/ledger.jsonl" {
		t.Errorf("ledger %s", got)
	}
	p.Config.Outgoing.Ledger = "postgres://me:secret@db.example/x"
	if got := ShowLedger(p); strings.Contains(got, "secret") || IsFile(LedgerName(p)) {
		t.Errorf("ledger %s", got)
	}
	p.Config.Outgoing.Ledger = "ftp://example.net/ledger"
	if _, err := OpenLedger(t.Context(), p, LedgerOptions{ReadOnly: true}); err == nil {
		t.Error("no error for a ledger by FTP")
	}
}

func TestTombstones(t *testing.T) {
	p := inProject(t, base, pages)
	c := testkit.Must(Compare(t.Context(), p, &ledger.Snapshot{New: true}, audit.Options{}))(t)
	c.Plan.Unanswered = []string{"https://example.net/gone/", "https://example.net/old", "https://example.net/"}
	n, err := WriteTombstones(c.Site, c.Plan)
	if err != nil || len(n) != 2 { // the home page exists
		t.Errorf("%q, %v", n, err)
	}
	for _, name := range []string{"public/gone/index.html", "public/old.html"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
