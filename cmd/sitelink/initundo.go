package main

import (
	"context"
	"strings"

	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/setup"
)

// initUndo takes out what init put in.
func (a *app) initUndo(ctx context.Context, dryRun bool) error {
	around, record, err := a.openRecord(ctx)
	if err != nil {
		return err
	}
	if record.Empty() {
		return a.print("nothing to undo: init wrote nothing into " + visible(fromHere(around.dir)) + "\n")
	}
	if dryRun {
		return a.print(wouldUndo(around, record))
	}
	if record.Inject() {
		err := a.inject(&config.Config{}, around.dir, injectFlags{undo: true})
		if err == nil {
			err = record.SetInject(false)
		}
		if err != nil {
			return err
		}
	}
	var said strings.Builder
	if record.Hook() {
		if around.repo == nil {
			return explainHook(around.noRepo)
		}
		_, err := around.repo.Uninstall(ctx)
		if err == nil {
			err = around.repo.RemoveData(ctx)
		}
		if err != nil {
			return explainHook(err)
		}
		if err := record.SetHook(false); err != nil {
			return err
		}
		said.WriteString("removed the hook before a push\n")
	}
	removed, left, err := record.Undo()
	for _, name := range removed {
		said.WriteString("removed " + visible(around.shown(name)) + "\n")
	}
	for _, name := range left {
		said.WriteString("left    " + visible(around.shown(name)) + ": it was changed since; delete it by hand\n")
	}
	if printErr := a.print(said.String()); err == nil {
		err = printErr
	}
	if err == nil && len(left) > 0 {
		err = errFindings
	}
	return err
}

// wouldUndo says what initUndo would do.
func wouldUndo(around *surroundings, record *setup.Record) string {
	var said strings.Builder
	if record.Inject() {
		said.WriteString("would do     sitelink inject --undo\n")
	}
	if record.Hook() {
		said.WriteString("would remove the hook before a push\n")
	}
	remove, leave, err := record.Changed()
	if err != nil {
		said.WriteString("cannot be read: " + visible(err.Error()) + "\n")
	}
	for _, name := range remove {
		said.WriteString("would remove " + visible(around.shown(name)) + "\n")
	}
	for _, name := range leave {
		said.WriteString("would leave  " + visible(around.shown(name)) + ": it was changed since\n")
	}
	return said.String()
}

func explainRecord(err error) error {
	return &failure{err, "mend it, or delete it: then init knows no more what it wrote"}
}
