package watch

import (
	"context"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// waitLock is [WaitLock]; waited reports whether the lock was held.
func waitLock(ctx context.Context, name string) (waited bool, err error) {
	err = WaitLock(ctx, name, func() { waited = true })
	return waited, err
}

// WaitLock waits until no process holds the lock file of that name. It calls
// waiting once if it has to wait. It returns at once if name is empty, or if the
// file does not exist or cannot be locked. The error is the cause of ctx.
//
// Hugo holds a lock on .hugo_build.lock while it builds, and while its server
// handles a batch of changes.
func WaitLock(ctx context.Context, name string, waiting func()) error {
	if name == "" {
		return nil
	}
	if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil // a link or a pipe is not Hugo's
	}
	done := make(chan struct{})
	go func() { // locking cannot be interrupted
		defer close(done)
		if unlock, err := lockedfile.MutexAt(name).Lock(); err == nil {
			unlock()
		}
	}()
	const instant = 20 * time.Millisecond
	select {
	case <-done:
		return nil
	case <-time.After(instant):
	}
	waiting()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
