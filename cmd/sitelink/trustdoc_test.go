//go:build unix

package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sitelink/sitelink/internal/testkit"
)

// trusted is the table of commands in docs/reference/security.md. The commands of
// [readOnly] prove its rows.
var trusted = [][]string{
	{"sitelink", "git", "nothing", "nothing"},
	{"check", "git", "a URL that you type", "reports"},
	{"notify --dry-run", "git", "ledger", "cache, tombstones"},
	{"links", "nothing", "a URL that you type", "nothing"},
	{"explain", "nothing", "a URL that you type", "nothing"},
	{"doctor", "git", "nothing", "nothing"},
	{"profile", "nothing", "nothing", "nothing"},
	{"verify", "nothing", "the host of the site", "nothing"},
	{"watch", "git", "nothing", "nothing"},
	{"lsp", "git", "nothing", "nothing"},
	{"baseline show", "nothing", "nothing", "nothing"},
	{"baseline write, baseline update", "git", "a URL that you type", "the baseline"},
	{"ledger show, ledger verify, ledger export", "git", "ledger", "nothing"},
	{"ledger compact, ledger verify --repair", "git", "ledger", "ledger"},
	{"ledger merge", "nothing", "nothing", "the second file that it is given"},
	{"notify, notify --send", "git", "ledger, other sites", "ledger, cache, tombstones"},
	{"external", "git", "other sites", "status cache"},
	{"external status", "git", "nothing", "status cache"},
	{"serve", "git", "other sites, mail, webhook", "store"},
	{"mentions list, mentions show, mentions login", "git", "nothing", "store"},
	{"mentions approve, mentions deny, mentions block, mentions unblock, mentions import", "git", "nothing", "store, rules"},
	{"mentions export", "git", "nothing", "the directory that it is given"},
	{"init, init --undo", "git", "nothing", "the project, its hook"},
	{"inject --check, inject --undo", "git", "nothing", "templates"},
	{"hook status", "git", "nothing", "nothing"},
	{"hook install, hook uninstall", "git", "nothing", "the hook"},
	{"completion, version, help", "nothing", "nothing", "nothing"},
	{"fix --undo, mv --undo", "git", "nothing", "the files that were changed"},
	{"fix, mv", "everything the project names", "what those programs do", "the build"},
	{"inject", "everything the project names", "what those programs do", "the build, templates"},
	{"fix --write, mv --write", "everything the project names", "what those programs do", "the build, the files that it lists"},
	{"check --build, watch --build, lsp --build, hook run, check --since COMMIT", "everything the project names", "what those programs do", "the build"},
	{"deploy", "everything the project names", "what those programs do, ledger, other sites", "the build, ledger, cache, tombstones"},
}

// refused is its second table: what a checkout cannot do, with the attacks that
// try it, or the test.
var refused = [][]string{
	{"name a file outside the repository, or in .git, in a configuration that --config does not name", "output,output above,output in .git,format,baseline,docroot,ledger"},
	{"lead there by a symbolic link: output, baseline, ledger, docroot, public, rule files, CODEOWNERS, sitelink.toml", "output link,public,sitelink.toml,sitelink-baseline.jsonl,netlify.toml,CODEOWNERS"},
	{"lead there by .sitelink, or by a link in it", ".sitelink,.sitelink/cache,.sitelink/ledger.jsonl"},
	{"stop a command with a pipe or a device in place of a ledger, a baseline, a record, a log, a report, a configuration or a page", "pipe as record,pipe as log,pipe as ledger,pipe as journal,pipe as baseline,pipe as configuration,pipes in the docroot,TestPipes"},
	{"stop git with a pipe or a device in place of a file of .git, or of one that its configuration includes", "pipe as HEAD,pipe as git's configuration,pipe as git's index,pipe in git's configuration,TestGitWaits"},
	{"take the baseline of --baseline-ref from another repository: a nested or bare one, a submodule, a .git that leads elsewhere, alternates outside", "committed bare repository,submodule,.git file outside,alternates"},
	{"build a commit by since, or name a directory, a record or a log outside the repository", "since a commit,since outside,log outside"},
	{"choose a ledger in PostgreSQL, or at an address or path of git", "ledger in PostgreSQL,ledger at a URL,ledger at a path"},
	{"lead external or notify into a private network by allow-address", "enabled,TestExternalUsage"},
	{"lead verify into a private network by base-url", "TestVerify"},
	{"choose a status cache in PostgreSQL or a ref of git", "TestExternalUsage"},
	{"have external send variables, by header of [[external.host]]", "TestExternalLogin"},
	{"write to a ledger in a ref of git", "TestFoundLedgerRef"},
	{"read the ledger of a remote inside the checkout, or with a program of the checkout", "ledger of a remote inside,ledger of a remote with a program"},
	{"set mail-server, mail-from, mail-to, mail-user, webhook or allow-address of the receiver", "mail server"},
	{"decide by committed state what fix --undo, mv --undo or init --undo write", "committed journal,committed record of init"},
	{"have Hugo run programs, connect or read variables: by content adapters, [security] or modules", "hugo content adapter,hugo content adapter in a language,hugo content adapter of another name,hugo module without a proxy"},
	{"send notices by enabled = true when you do not want it", "enabled"},
}

// TestSecurityDocument compares the tables of the document with those above, and
// makes sure that the tests they name exist.
func TestSecurityDocument(t *testing.T) {
	text := testkit.Read(t, "../../docs/reference/security.md")
	var tables [][][]string
	inTable := false
	for line := range strings.Lines(string(text)) {
		cells, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		switch {
		case !isRow:
			inTable = false
		case !inTable:
			tables, inTable = append(tables, nil), true // the header
		case !strings.HasPrefix(cells, "---"):
			var row []string
			for cell := range strings.SplitSeq(strings.TrimSuffix(cells, "|"), "|") {
				row = append(row, strings.ReplaceAll(strings.TrimSpace(cell), "`", ""))
			}
			tables[len(tables)-1] = append(tables[len(tables)-1], row)
		}
	}
	if len(tables) != 2 {
		t.Fatalf("%d tables, want 2", len(tables))
	}
	if !slices.EqualFunc(tables[0], trusted, slices.Equal) {
		t.Errorf("the first table has\n%q\nwant\n%q", tables[0], trusted)
	}
	if len(tables[1]) != len(refused) {
		t.Fatalf("the second table has %d rows, want %d", len(tables[1]), len(refused))
	}
	tests := ""
	for _, name := range []string{"external_test.go", "trust_test.go", "verify_test.go"} {
		text := testkit.Read(t, name)
		tests += string(text)
	}
	for i, row := range tables[1] {
		if row[0] != refused[i][0] {
			t.Errorf("row %d: %q, want %q", i, row[0], refused[i][0])
		}
		for name := range strings.SplitSeq(refused[i][1], ",") {
			known := strings.Contains(tests, "\nfunc "+name+"(t *testing.T)")
			for _, a := range attacks {
				known = known || a.name == name
			}
			if !known {
				t.Errorf("no attack is named %q", name)
			}
		}
	}
	// Each command has a row, and no row names another one.
	root, _ := documentedCommands()
	missing := map[string]bool{"sitelink": true}
	for _, c := range root.Commands() {
		for _, of := range append(c.Commands(), c) {
			if of.Runnable() && !of.Hidden && (!of.HasSubCommands() || of.Name() == "external") {
				missing[strings.TrimPrefix(of.CommandPath(), "sitelink ")] = true
			}
		}
	}
	known := maps.Clone(missing)
	for _, row := range trusted {
		for name := range strings.SplitSeq(row[0], ", ") {
			name, _, _ = strings.Cut(name, " --")
			if !known[name] {
				t.Errorf("there is no command %q", name)
			}
			delete(missing, name)
		}
	}
	for name := range missing {
		t.Errorf("no row says what %q starts, connects to and writes", name)
	}
	// Each command that does not build runs in every hostile checkout.
	for _, row := range trusted {
		for name := range strings.SplitSeq(row[0], ", ") {
			if strings.HasPrefix(row[1], "everything") && name != "fix" && name != "mv" {
				continue
			}
			words := strings.Fields(name)
			ran := slices.Contains([]string{"sitelink", "watch", "serve"}, name) // the overview has no words; TestHostileWatch
			for _, line := range slices.Concat(readOnly, building) {
				fields := strings.Fields(line)
				all := len(fields) > 0
				for _, w := range words {
					all = all && slices.Contains(fields, w)
				}
				ran = ran || all
			}
			if !ran {
				t.Errorf("no test runs %q in hostile checkouts", name)
			}
		}
	}
}
