package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// waitLock waits as [WaitLock] does; waited tells whether somebody held the lock.
func waitLock(ctx context.Context, name string) (waited bool, err error) {
	err = WaitLock(ctx, name, func() { waited = true })
	return waited, err
}

// WaitLock waits until nobody holds the lock of that name. waiting is called once
// if somebody does. A lock that is not there, or not ours to ask for, is held by
// nobody, and so is the one without a name. The error is the cause of ctx.
//
// Hugo locks .hugo_build.lock in this way while it builds, and for each batch
// of changes of its server.
func WaitLock(ctx context.Context, name string, waiting func()) error {
	if name == "" {
		return nil
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	done := make(chan struct{})
	go func() { // asking for it cannot be interrupted
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
