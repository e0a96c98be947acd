package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sitelink/sitelink/outgoing/ledger"
)

// ledger looks at what was told to whom. A ledger in a repository or database
// is not asked: doctor needs no network.
func (d *doctor) ledger(ctx context.Context) diagnosis {
	one := diagnosis{Name: "ledger", State: healthy}
	if d.cfg == nil {
		one.State, one.Text = notSet, "not looked at: the configuration is wrong"
		return one
	}
	name, err := ledgerName(d.cfg)
	if err != nil {
		one.State, one.Text = wrong, err.Error()
		return one
	}
	if !ledgerIsFile(name) {
		one.Text, one.Command = shownLedger(d.cfg), "sitelink ledger show"
		return one
	}
	if _, err := os.Stat(name); err != nil {
		one.State, one.Text, one.Command = notSet, "none: nobody is told of the site's links", "sitelink diff"
		return one
	}
	store, err := ledger.OpenFile(name, ledger.FileOptions{ReadOnly: true})
	if err != nil {
		one.State, one.Text, one.Command = wrong, err.Error(), "sitelink ledger verify"
		return one
	}
	defer store.Close()
	if faults := store.Warnings(); len(faults) > 0 {
		one.State, one.Text, one.Command = wrong, fmt.Sprintf("%s: %s", name, countOf(len(faults), "odd line")), "sitelink ledger verify"
		return one
	}
	snap, err := store.Load(ctx)
	if err != nil {
		one.State, one.Text, one.Command = wrong, err.Error(), "sitelink ledger verify"
		return one
	}
	open := 0
	for i := range snap.Notices {
		if snap.Notices[i].Open() {
			open++
		}
	}
	one.Text = fmt.Sprintf("%s: %s, %s", name, countOf(len(snap.Pages), "page"), countOf(len(snap.Links), "link"))
	if open > 0 {
		one.Text += ", " + countOf(open, "notice") + " still to be delivered"
		one.Command = "sitelink notify --due --send"
	}
	return one
}
