package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// waitLock waits until nobody holds the lock of that name; waited tells
// whether somebody did. A lock that is not there, or not ours to ask for, is
// held by nobody.
//
// Hugo locks .hugo_build.lock in this way while it builds, and for each batch
// of changes of its server.
func waitLock(ctx context.Context, name string) (waited bool, err error) {
	if name == "" {
		return false, nil
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
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
		return false, nil
	case <-time.After(instant):
	}
	select {
	case <-done:
		return true, nil
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
}
