package docroot

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sitelink/sitelink/internal/testkit"
)

// TestReadCold reads a file whole whether it is in memory, has to be
// fetched, or the file system does not report which.
func TestReadCold(t *testing.T) {
	dir := t.TempDir()
	want := make([]byte, 1<<20+77)
	rnd := rand.NewChaCha8([32]byte{1})
	_, _ = rnd.Read(want) // never fails
	f := testkit.Must(os.Create(filepath.Join(dir, "page.html")))(t)
	defer f.Close()
	testkit.Must(f.Write(want))(t)
	testkit.Check(t, f.Sync())
	d := testkit.Must(Open(dir))(t)
	defer d.Close()
	for _, c := range []struct {
		name       string
		slow, cold bool
	}{{"in memory", false, false}, {"on the disk", false, true}, {"not reported", true, false}, {"on the disk, not reported", true, true}} {
		d.slow.Store(c.slow)
		if c.cold { // a hint: if the system ignores it, the file is read from memory
			_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		}
		got, _, err := d.Read([]byte("page.html\x00"), nil, 1<<30)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d of %d bytes, %v", c.name, len(got), len(want), err)
		}
	}
	if _, _, err := d.Read([]byte("page.html\x00"), nil, 1000); err != ErrTooLarge {
		t.Errorf("a limit of 1000 bytes: %v", err)
	}
}
