package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/sitelink/sitelink/check/baseline"
	"github.com/sitelink/sitelink/internal/config"
	"github.com/sitelink/sitelink/internal/disk"
)

// baselineName is the file that is meant when the user names none.
const baselineName = "sitelink-baseline.jsonl"

// baselineFile is the file that the user means.
func baselineFile(cfg *config.Config) string {
	if cfg.Baseline != "" {
		return cfg.Baseline
	}
	return baselineName
}

// openBaseline reads the baseline in a file. A file that cannot be used is a
// fault of the configuration.
func openBaseline(name string) (*baseline.Baseline, error) {
	f, err := os.Open(name)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = "sitelink baseline write makes one"
		}
		return nil, &usageError{fmt.Sprintf("read baseline %s: %v", name, disk.Cause(err)), hint}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, &usageError{fmt.Sprintf("read baseline %s: is a directory", name), ""}
	}
	return readBaseline(name, f)
}

// readBaseline is [baseline.Read] with errors for the user.
func readBaseline(name string, r io.Reader) (*baseline.Baseline, error) {
	b, err := baseline.Read(name, r)
	if err == nil {
		return b, nil
	}
	var all []error
	for _, e := range flatten(err) {
		var fault *baseline.Fault
		if errors.As(e, &fault) {
			e = &usageError{"baseline " + fault.Error(), fault.Hint}
		}
		all = append(all, e)
	}
	return nil, errors.Join(all...)
}

// writeBaseline replaces the file as a whole, or leaves it as it was.
func (a *app) writeBaseline(name string, b *baseline.Baseline) error {
	out, err := a.openOutput(name)
	if err != nil {
		return err
	}
	defer out.Discard()
	if err := b.Write(out); err != nil {
		return err
	}
	return out.Commit()
}
