package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// formatNames are the words of the key format, in the order of the manual. A
// test of the command holds them to package report.
var formatNames = []string{"text", "json", "jsonl", "markdown", "github", "sarif", "junit", "gitlab", "checkstyle", "html"}

// Format is one report that is asked for.
type Format struct {
	// Name is one of the words of the key.
	Name string
	// File is where the report goes; "" for the place that output names.
	File string
}

// formats reads NAME and NAME=FILE. One place takes one report, so that at most
// one has no file; NAME=- is one without.
func formats(l *loader, values []string, _ string) error {
	var all []Format
	seen := map[string]string{} // place to value
	for _, v := range values {
		name, file, hasFile := strings.Cut(v, "=")
		switch {
		case !slices.Contains(formatNames, name):
			hint := didYouMean(name, formatNames)
			if hint == "" {
				hint = "formats are " + strings.Join(formatNames, ", ")
			}
			return &hintError{fmt.Sprintf("no format is named %q", name), hint}
		case hasFile && file == "":
			return &hintError{fmt.Sprintf("the name of the file is empty in %q", v), "write it like " + name + "=report." + name}
		case strings.ContainsRune(file, 0):
			return errors.New("the value holds a NUL byte")
		}
		if file == "-" {
			file = ""
		}
		place := file
		if file != "" {
			place = filepath.Clean(file)
		}
		if other, taken := seen[place]; taken && file == "" {
			return &hintError{fmt.Sprintf("both %s and %s go to standard output", other, v), "give one of them a file: " + name + "=FILE"}
		} else if taken {
			return fmt.Errorf("both %s and %s go to the same file", other, v)
		}
		seen[place] = v
		all = append(all, Format{name, file})
	}
	if len(all) == 0 {
		return errors.New("want at least one format")
	}
	l.cfg.Formats = all
	return nil
}

// resolveFormat makes the file of NAME=FILE relative to dir, as every path of
// the configuration file is.
func resolveFormat(value, dir string) string {
	name, file, _ := strings.Cut(value, "=")
	if file == "" || file == "-" || filepath.IsAbs(file) {
		return value
	}
	return name + "=" + filepath.Join(dir, filepath.FromSlash(file))
}
