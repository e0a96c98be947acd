package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// spot is a destination in a Markdown file. It is found without a parser of
// Markdown, so that what is measured does not measure itself: some are not
// seen, and what stands in code, comments and shortcodes is left alone.
type spot struct {
	file     string // slash path relative to the site
	from, to int    // bytes
}

// broken is a spot whose destination was replaced.
type broken struct {
	File         string
	Line, Column int // from 1, in code points
}

var (
	spotForms = regexp.MustCompile(`\]\(<?([^\s()<>{}]+)[>)\s]|(?m:^ {0,3}\[[^\]^]+\]:[ \t]+<?([^\s<>{}]+))|<(https?://[^\s<>]+)>|(?:href|src)="([^"{}]+)"`)
	hidden    = regexp.MustCompile("(?s)<!--.*?-->|\\{\\{[<%].*?[%>]\\}\\}|\\{\\{.*?\\}\\}|`+[^`\n]+`+")
	fence     = regexp.MustCompile("^[ \t>]*(```+|~~~+)")
)

// spotsOf lists the destinations of a Markdown text.
func spotsOf(file string, text string) (spots []spot) {
	visible := []byte(text)
	hide := func(from, to int) {
		for i := from; i < to; i++ {
			if visible[i] != '\n' {
				visible[i] = ' '
			}
		}
	}
	for _, mark := range []string{"---", "+++"} {
		if strings.HasPrefix(text, mark+"\n") {
			if n := strings.Index(text[4:], "\n"+mark); n >= 0 {
				hide(0, 4+n+len(mark)+1)
			}
		}
	}
	at, open := 0, ""
	for line := range strings.Lines(text) {
		switch m := fence.FindStringSubmatch(line); {
		case open == "" && m != nil:
			open = m[1]
			hide(at, at+len(line))
		case open != "":
			hide(at, at+len(line))
			if m != nil && strings.HasPrefix(m[1], open) {
				open = ""
			}
		case strings.HasPrefix(line, "    "), strings.HasPrefix(line, "\t"):
			hide(at, at+len(line))
		}
		at += len(line)
	}
	for _, m := range hidden.FindAllIndex(visible, -1) {
		hide(m[0], m[1])
	}
	for _, m := range spotForms.FindAllSubmatchIndex(visible, -1) {
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 && (m[0] == 0 || visible[m[0]-1] != '\\') {
				spots = append(spots, spot{file, m[g], m[g+1]})
			}
		}
	}
	return spots
}

// chooseSpots picks n destinations of the Markdown below the content directory
// of a site, the same for the same seed, sorted by file and place.
func chooseSpots(site string, n int, seed uint64) ([]spot, error) {
	var all []spot
	err := filepath.WalkDir(filepath.Join(site, "content"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(site, name)
		all = append(all, spotsOf(filepath.ToSlash(rel), string(text))...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for links: %w", err)
	}
	if len(all) < n {
		return nil, fmt.Errorf("%s has %d links in Markdown, not %d", site, len(all), n)
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:n]
	slices.SortFunc(all, func(a, b spot) int { return cmp.Or(strings.Compare(a.file, b.file), a.from-b.from) })
	return all, nil
}

// breakAt writes value(i) in place of the i-th spot of a site and returns where
// each stands then. from has the files as they were.
func breakAt(from, to string, spots []spot, value func(i int) string) ([]broken, error) {
	places := make([]broken, len(spots))
	for i := 0; i < len(spots); {
		file := spots[i].file
		text, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		var out strings.Builder
		last := 0
		for ; i < len(spots) && spots[i].file == file; i++ {
			out.Write(text[last:spots[i].from])
			before := out.String()
			line := before[strings.LastIndexByte(before, '\n')+1:]
			places[i] = broken{file, 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(line)}
			out.WriteString(value(i))
			last = spots[i].to
		}
		out.Write(text[last:])
		if err := os.WriteFile(filepath.Join(to, filepath.FromSlash(file)), []byte(out.String()), 0o644); err != nil {
			return nil, err
		}
	}
	return places, nil
}
