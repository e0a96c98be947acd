// Package statedir makes the directory .sitelink of a project. It holds the ledger
// and the record of what inject wrote, which belong into the repository, and
// builds, caches, locks and journals, which do not.
package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
)

// Name is the directory's name in a project.
const Name = ".sitelink"

// IgnoreName is the file in it that tells git what to ignore.
const IgnoreName = ".gitignore"

// Ignore is the text of that file.
const Ignore = `# made by sitelink: what is not named here may be committed
/.gitignore
/public/
/public.new/
/cache/
/init.json
/mentions.db*
*.lock
*.journal
*.damaged
*.tmp
`

// Check refuses a directory .sitelink of the directory dir that leads out of the
// repository root, or in which a symbolic link does: what sitelink writes there
// would be written elsewhere.
func Check(root, dir string) error {
	own := filepath.Join(dir, Name)
	names := []string{own}
	for _, below := range []string{own, filepath.Join(own, "cache")} {
		entries, _ := os.ReadDir(below) // what does not exist leads nowhere
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink != 0 {
				names = append(names, filepath.Join(below, e.Name()))
			}
		}
	}
	for _, name := range names {
		if path, where := disk.Outside(root, name); where != "" {
			return fault.Usage(fmt.Sprintf("%s leads to %s, %s", name, path, where),
				"remove the link; --ledger and other flags can name files elsewhere")
		}
	}
	return nil
}

// Make makes the directory dir, and in it the file for git if it does not exist. The
// error is that of the file system.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("make %s: %w", dir, disk.Cause(err))
	}
	name := filepath.Join(dir, IgnoreName)
	if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.WriteFile(name, []byte(Ignore), 0o666); err != nil {
		return fmt.Errorf("write %s: %w", name, disk.Cause(err))
	}
	return nil
}
