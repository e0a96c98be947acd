package generator

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"
)

// HugoPage is a page as `hugo list all` has it: one that is made of a file.
type HugoPage struct {
	// File is the content file, as Hugo prints it with slashes: relative to the
	// project, or absolute.
	File string
	// Permalink is the page's address.
	Permalink *url.URL
	draft     bool
	// publish and expiry are zero where the page has none.
	publish, expiry time.Time
}

// PublishedAt tells whether a build at that time makes the page.
func (p *HugoPage) PublishedAt(t time.Time) bool {
	return !p.draft && !p.publish.After(t) && (p.expiry.IsZero() || p.expiry.Year() <= 1 || p.expiry.After(t))
}

// HugoPages asks Hugo for the pages of the project that are made of files.
func (p Project) HugoPages(ctx context.Context, run Runner) ([]HugoPage, error) {
	defer TidyHugo(p.Dir)()
	out, err := run.Output(ctx, p.Dir, "hugo", "list", "all")
	if err != nil {
		return nil, err
	}
	return ReadHugoList(out)
}

// ReadHugoList reads the CSV of `hugo list all`. Warnings that Hugo prints
// between the lines, and lines that are no rows, are passed over.
func ReadHugoList(out []byte) (pages []HugoPage, err error) {
	start := bytes.Index(out, []byte("path,"))
	for start > 0 && out[start-1] != '\n' {
		next := bytes.Index(out[start+1:], []byte("path,"))
		if next < 0 {
			start = -1
			break
		}
		start += 1 + next
	}
	if start < 0 {
		return nil, errors.New("read hugo list all: no header \"path,...\" in its output")
	}
	r := csv.NewReader(bytes.NewReader(out[start:]))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read hugo list all: %w", err)
	}
	header = slices.Clone(header)
	link := slices.Index(header, "permalink")
	if link < 0 {
		return nil, errors.New("read hugo list all: no column permalink")
	}
	draft, publish, expiry := slices.Index(header, "draft"), slices.Index(header, "publishDate"), slices.Index(header, "expiryDate")
	date := func(row []string, i int) (t time.Time) {
		if i >= 0 {
			t, _ = time.Parse(time.RFC3339, row[i])
		}
		return t
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return pages, nil
		}
		if err != nil || len(row) != len(header) || row[0] == "" {
			continue
		}
		u, err := url.Parse(strings.Clone(row[link]))
		if err != nil {
			continue
		}
		pages = append(pages, HugoPage{slashed(strings.Clone(row[0])), u, draft >= 0 && row[draft] == "true", date(row, publish), date(row, expiry)})
	}
}

// HugoModule is one of the modules of a Hugo project: the project itself, a
// theme, or another.
type HugoModule struct {
	// Path is its name, "project" for the project itself; Dir is where it lies.
	Path, Dir string
	Mounts    []HugoMount
}

// HugoMount puts a directory of a module into the tree that Hugo builds from.
type HugoMount struct {
	// Source is relative to the module, or absolute. Lang is empty where it is for
	// all languages, or for several.
	Source, Target, Lang string
}

// HugoModules asks Hugo for the modules of the project and what they mount.
func (p Project) HugoModules(ctx context.Context, run Runner) ([]HugoModule, error) {
	defer TidyHugo(p.Dir)()
	out, err := run.Output(ctx, p.Dir, "hugo", "config", "mounts")
	if err != nil {
		return nil, err
	}
	return ReadHugoMounts(out)
}

// ReadHugoMounts reads the JSON objects of `hugo config mounts`, one a module.
// Warnings may stand before them.
func ReadHugoMounts(out []byte) (all []HugoModule, err error) {
	start := 0
	for line := range bytes.Lines(out) {
		if c := bytes.TrimSpace(line); len(c) > 0 && c[0] == '{' {
			break
		}
		start += len(line)
	}
	dec := json.NewDecoder(bytes.NewReader(out[start:]))
	for {
		var printed struct {
			Path, Dir string
			Mounts    []struct {
				HugoMount
				// From 0.153 on, in place of Lang.
				Sites struct{ Matrix struct{ Languages []string } }
			}
		}
		if err := dec.Decode(&printed); err != nil {
			if errors.Is(err, io.EOF) && len(all) > 0 {
				return all, nil
			}
			return nil, fmt.Errorf("read hugo config mounts: %w", err)
		}
		m := HugoModule{Path: printed.Path, Dir: printed.Dir}
		for _, mt := range printed.Mounts {
			if languages := mt.Sites.Matrix.Languages; mt.Lang == "" && len(languages) == 1 {
				mt.Lang = languages[0]
			}
			m.Mounts = append(m.Mounts, mt.HugoMount)
		}
		all = append(all, m)
	}
}
