package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/outgoing/ledger"
)

// ledgerName returns the ledger of the configuration, a file as a path from
// the working directory.
func ledgerName(cfg *config.Config) (string, error) {
	name := cfg.Outgoing.Ledger
	if strings.HasPrefix(name, "git:") || strings.Contains(name, "://") || filepath.IsAbs(name) {
		return name, nil
	}
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, filepath.FromSlash(name)), nil
}

// readLedger returns what the ledger holds, without writing anything.
func (a *app) readLedger(ctx context.Context, cfg *config.Config) (*ledger.Snapshot, error) {
	name, err := ledgerName(cfg)
	if err != nil {
		return nil, err
	}
	store, err := ledger.OpenFile(name, ledger.FileOptions{ReadOnly: true, Note: a.ui.warning})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer store.Close()
	return store.Load(ctx)
}
