package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sitelink/sitelink/internal/disk"
)

// ErrLocked is the error of a ledger that another process works with.
var ErrLocked = errors.New("locked by another process")

// lock holds the lock file of a ledger. The lock is the operating system's: it
// goes with its process, however that ends. The file stays, and names the
// holder.
type lock struct{ file *os.File }

// takeLock takes the lock or says who has it. It does not wait.
func takeLock(name string) (*lock, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock ledger %s: %w", name, disk.Cause(err))
	}
	if err := tryLock(f); err != nil {
		defer f.Close()
		if !errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("lock ledger %s: %w", name, disk.Cause(err))
		}
		text, _ := io.ReadAll(io.LimitReader(f, 64))
		if pid := strings.TrimSpace(string(text)); pid != "" {
			if _, notANumber := strconv.Atoi(pid); notANumber == nil {
				return nil, fmt.Errorf("ledger is %w, %s (%s)", ErrLocked, pid, name)
			}
		}
		return nil, fmt.Errorf("ledger is %w (%s)", ErrLocked, name)
	}
	// The pid is for people; that it cannot be written is no reason to stop.
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{f}, nil
}

func (l *lock) release() {
	l.file.Truncate(0)
	l.file.Close()
}
