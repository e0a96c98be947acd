package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"iter"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/check"
	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// Extras are what a report can show besides the result. The zero value leaves
// all of it out.
type Extras struct {
	// Orphans are docroot-relative paths that no link leads to, sorted; nil if
	// they were not looked for, empty if there are none.
	Orphans []string
	// Unreachable are pages that visitors cannot reach from the start pages
	// although links lead to them, sorted; nil if they were not looked for.
	Unreachable []string
}

// Bounds of the HTML report.
const (
	htmlStaticRows = 500  // rows of each list without JavaScript
	htmlValueBytes = 500  // bytes of a value
	htmlMembers    = 20   // causes of an entry that have a line of their own
	htmlLines      = 5000 // causes with the line of their place, the worst
	htmlFileBytes  = 1 << 20
	htmlLineBytes  = 64 << 10
	htmlAround     = 60 // characters of the line on each side of the link
)

//go:embed html/report.html
var htmlPage string

//go:embed html/report.css
var htmlStyle string

//go:embed html/report.js
var htmlScript string

var htmlTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{
		"value":  func(v any) string { return htmlValue(fmt.Sprint(v)) },
		"reason": reasonWord,
		"number": text.Thousands,
		"count":  text.Count,
	}).Parse(htmlPage))
})

// htmlValue returns a string of the site, quoted and cut: "a\u202eb" for one with
// a character that changes the direction. The template escapes it.
func htmlValue(s string) string { return string(appendCut(nil, s, htmlValueBytes)) }

// htmlPolicy returns a content security policy that allows the style sheet and
// the script of the report, by their hashes, and nothing else: no request, no
// form, no base. Text of the site could not run even if an escape were missing.
//
// Spec: https://www.w3.org/TR/CSP3/
func htmlPolicy() string {
	return "default-src 'none'; script-src " + cspHash(htmlScript) + "; style-src " + cspHash(htmlStyle) + "; base-uri 'none'; form-action 'none'"
}

func cspHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// HTML writes r as one self-contained page: the entries of [Text] first, however many
// there are, the summary below. It needs neither network nor server. Without JavaScript it
// shows the first entries; with JavaScript its tables sort, filter and search all entries
// and findings. An entry shows the line of its place with the link marked, if
// its file is below opt.Root.
//
// Text of the site is text that html/template escapes, or a string in a JSON
// block that the script puts into text nodes. Invisible characters and those that
// change the direction are quoted as in [Text]. Besides r, the memory is a few
// copies of the largest column of the JSON block, and an entry for each cause.
// The only errors are those of w, wrapped.
func HTML(w io.Writer, r *check.Result, opt Options) error {
	for _, list := range []*[]string{&opt.Extras.Orphans, &opt.Extras.Unreachable} {
		*list = slices.Clone(*list)
		for i, page := range *list {
			(*list)[i] = pageFile(opt.Base, page)
		}
	}
	view := &htmlView{Findings: r.Findings, Summary: &r.Summary, Causes: check.Causes(r.Findings), opt: opt}
	entries, forScripts := families(r.Findings, view.Causes, htmlMembers)
	view.families = append(entries, forScripts...)
	view.readLines()
	for i := range r.Findings { // as in text, a finding that represents many links counts once
		f := &r.Findings[i]
		switch f.Verdict {
		case check.Error:
			view.Errors++
		case check.Warning:
			view.Warnings++
		}
		view.Links += max(1, f.Count)
	}
	b := bufio.NewWriterSize(w, flushBytes)
	err := htmlTemplate().Execute(b, view)
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// htmlView is what html/report.html shows.
type htmlView struct {
	Findings                []check.Finding
	Summary                 *check.Summary
	Causes                  []check.Cause
	families                []Family
	Errors, Warnings, Links int
	lines                   map[*check.Finding]htmlLine // those at one place have one
	opt                     Options
}

func (*htmlView) Policy() string      { return htmlPolicy() }
func (*htmlView) Style() template.CSS { return template.CSS(htmlStyle) }
func (*htmlView) Script() template.JS { return template.JS(htmlScript) }
func (v *htmlView) Capped() bool      { return capped(v.Summary) }

// htmlLine is a line of a file around a link, quoted and cut.
type htmlLine struct{ Before, Link, After string }

// readLines reads the lines of the places of the worst causes, each file once.
func (v *htmlView) readLines() {
	v.lines = map[*check.Finding]htmlLine{}
	root, err := os.OpenRoot(v.opt.Root)
	if err != nil {
		return
	}
	defer root.Close()
	causes := slices.Clone(v.Causes[:min(len(v.Causes), htmlLines)])
	at := func(i int) check.Position {
		file, line, column := v.opt.filePosition(&v.Findings[i])
		return check.Position{File: file, Line: line, Column: column}
	}
	slices.SortStableFunc(causes, func(a, b check.Cause) int { return strings.Compare(at(a.First).File, at(b.First).File) })
	var read string // the file with these lines
	var lines []string
	for i := range causes {
		f, p := &v.Findings[causes[i].First], at(causes[i].First)
		if p.File != read {
			data, _ := system.ReadFS(root.FS(), p.File, htmlFileBytes)
			read, lines = p.File, strings.Split(string(data), "\n")
		}
		if f.Source != nil && f.Source.File != p.File || p.Line < 1 || p.Line > len(lines) {
			continue
		}
		line := markLink(lines[p.Line-1], p.Column, f.Raw)
		for _, n := range causes[i].Findings {
			if line.Link != "" && at(n) == p {
				v.lines[&v.Findings[n]] = line
			}
		}
	}
}

// markLink cuts a line around the link that begins in a column, from 1 in characters.
// The link ends where raw does, or else at a space, a quote or a bracket, or with the
// action of a template. markLink returns nothing if the line has no link there, or is
// too long.
func markLink(line string, column int, raw string) htmlLine {
	all := []rune(line[:min(len(line), htmlLineBytes)])
	if column < 1 || column > len(all) {
		return htmlLine{}
	}
	before, link := all[:column-1], string(all[column-1:])
	end := len(raw)
	if raw == "" || !strings.HasPrefix(link, raw) {
		if end = strings.IndexAny(link, " \t\r\"'<>()[]{}`"); end < 0 {
			end = len(link)
		}
		if action := strings.Index(link, "}}"); action > 0 && strings.HasPrefix(link, "{{") { // a template composes it
			end = action + len("}}")
		}
	}
	if end == 0 {
		return htmlLine{}
	}
	after := []rune(strings.TrimRight(link[end:], " \t\r"))
	lead, tail := string(before[max(0, len(before)-htmlAround):]), string(after[:min(len(after), htmlAround)])
	if lead = strings.TrimLeft(lead, " \t"); len(before) > htmlAround {
		lead = "…" + lead
	}
	if len(after) > htmlAround {
		tail += "…"
	}
	return htmlLine{quoted(lead), value(link[:end]), quoted(tail)}
}

// About returns what the header says besides the name of the docroot.
func (v *htmlView) About() []string {
	about := []string{htmlValue(v.opt.BaseURL), v.opt.Date, strings.TrimSpace("sitelink " + htmlValue(v.opt.Version))}
	return slices.DeleteFunc(about, func(s string) bool { return s == "" })
}

// sourceURL returns the address of a source position, or "". A file of a module has
// no address, because it may be in another repository. With the pattern
// https://forge.example/blob/main/{file}#L{line}, the address of content/ä.md:7:3 is
// https://forge.example/blob/main/content/%C3%A4.md#L7.
func (v *htmlView) sourceURL(p *check.Position) string {
	if v.opt.SourceLinks == "" || p == nil || p.Line <= 0 || p.Module != "" || absolute(p.File) || strings.HasPrefix(p.File, "../") || htmlValue(p.File) != p.File ||
		v.opt.IsLinked != nil && !v.opt.IsLinked(p.File) {
		return ""
	}
	file := strings.ReplaceAll(url.PathEscape(p.File), "%2F", "/")
	return strings.NewReplacer("{file}", file, "{line}", strconv.Itoa(p.Line), "{column}", strconv.Itoa(max(p.Column, 1))).Replace(v.opt.SourceLinks)
}

// htmlPosition is a position with the address of its line, if it has one.
type htmlPosition struct {
	check.Position
	URL template.URL
}

// htmlEntry is what an entry has besides the finding in the row that describes it.
type htmlEntry struct {
	First   int          `json:"first"`
	Hint    string       `json:"hint"`    // the suggestion for all links of its first cause
	Notes   []string     `json:"notes"`   // about the other links of that cause
	Common  string       `json:"common"`  // what its causes have in common
	Members []htmlMember `json:"members"` // its other causes
	Rest    int          `json:"rest"`    // further ones
}

// htmlMember is a cause of an entry besides the first.
type htmlMember struct {
	Row  int    `json:"row"`
	Hint string `json:"hint"`
}

// Entries returns the entries, those of scripts last.
func (v *htmlView) Entries() (entries []htmlEntry) {
	for _, m := range v.families {
		first := &m.causes[0]
		e := htmlEntry{First: first.First, Hint: htmlValue(commonFinding(v.Findings, first).Suggestion), Notes: others(v.Findings, first, TextOptions{}),
			Common: m.common(v.Findings, false), Rest: len(m.causes) - 1 - m.shown}
		for i := range m.causes[1 : 1+m.shown] {
			c := &m.causes[1+i]
			e.Members = append(e.Members, htmlMember{c.First, htmlValue(commonFinding(v.Findings, c).Suggestion)})
		}
		entries = append(entries, e)
	}
	return entries
}

// htmlRow is an entry, or a cause of one, in the table without JavaScript.
type htmlRow struct {
	check.Finding              // what describes it
	At, Built     htmlPosition // Built is not set if At is in the built page
	From          string
	Line          htmlLine
	As, Answer    string
	Before, After string // around the suggestion
	RelatedText   string
	Links, Files  int
	Entry         htmlEntry
	Members       []htmlRow
}

// Rows returns the first entries.
func (v *htmlView) Rows() (rows []htmlRow) {
	for i, e := range v.Entries() {
		if i == htmlStaticRows {
			break
		}
		m := v.families[i]
		row := v.row(&m.causes[0])
		if row.Entry = e; len(m.causes) > 1 {
			_, _, row.Links = counts(m.causes)
			row.Files = 0
		}
		for j := range e.Members {
			row.Members = append(row.Members, v.row(&m.causes[1+j]))
		}
		rows = append(rows, row)
	}
	return rows
}

func (v *htmlView) row(c *check.Cause) htmlRow {
	f := commonFinding(v.Findings, c)
	row := htmlRow{Finding: f, At: htmlPosition{Position: check.Position{File: pageFile(v.opt.Base, f.Page), Line: f.Line, Column: f.Column}}, From: DescribeSource(f.Source),
		Line: v.lines[&v.Findings[c.First]], As: htmlWritten(&f), Answer: htmlAnswer(&f), RelatedText: relatedOf(&f), Links: c.Links, Files: c.Pages + c.Feeds}
	if f.Source != nil {
		row.At, row.Built = htmlPosition{*f.Source, template.URL(v.sourceURL(f.Source))}, row.At
	}
	row.Before, row.After = suggestionWords(&f)
	return row
}

type htmlFact struct{ Name, Value string }

// Facts returns the counts of the summary.
func (v *htmlView) Facts() (facts []htmlFact) {
	s := v.Summary
	var b check.BaselineSummary
	if s.Baseline != nil {
		b = *s.Baseline
	}
	for _, f := range []struct {
		name   string
		n      int
		always bool
	}{
		{"links", s.Links, true},
		{"fine", s.OK, true},
		{"broken", s.Errors, true},
		{"with a warning", s.Warnings, false},
		{"not checked", s.Unchecked, true},
		{"ignored by rule", s.Ignored - s.Endpoints, false},
		{"to the site's endpoints", s.Endpoints, false},
		{"accepted by the baseline", b.Links, false},
		{"expired in the baseline", b.Expired, false},
		{"fine after a redirect of the host", s.Redirected, false},
		{"pages", s.Pages, true},
		{"files", s.Files, true},
		{"anchors", s.Anchors, true},
		{"files with an error", s.FileErrors, false},
		{"files with a warning", s.FileWarnings, false},
		{"faults of files accepted by the baseline", b.Faults, false},
	} {
		if f.n != 0 || f.always {
			facts = append(facts, htmlFact{f.name, text.Thousands(f.n)})
		}
	}
	profile := htmlValue(s.Profile)
	if s.ProfileFrom != "" {
		profile += ", detected from " + htmlValue(s.ProfileFrom)
	}
	return append(facts, htmlFact{"size of the pages", byteSize(s.Bytes)}, htmlFact{"host profile", profile})
}

// byteSize returns a size in a suitable unit, in steps of 1,000: "478.0 MB".
func byteSize(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}} {
		if n >= u.size {
			return strconv.FormatFloat(float64(n/(u.size/10))/10, 'f', 1, 64) + u.name
		}
	}
	return text.Count(int(n), "byte")
}

// htmlList is a list of paths. Without JavaScript, the page shows only its start.
type htmlList struct {
	Title, Meaning string
	Paths          []string
}

func (l htmlList) Shown() []string { return l.Paths[:min(len(l.Paths), htmlStaticRows)] }

func (v *htmlView) Lists() []htmlList {
	return []htmlList{
		{"Orphans", "No link leads to these files.", v.opt.Extras.Orphans},
		{"Unreachable pages", "Links lead to these pages, but visitors cannot reach them from the start pages.", v.opt.Extras.Unreachable},
	}
}

// Unneeded returns the entries of the baseline that match no finding, or nil.
func (v *htmlView) Unneeded() *htmlList {
	if b := v.Summary.Baseline; b != nil && len(b.Unneeded) > 0 {
		return &htmlList{Paths: b.Unneeded}
	}
	return nil
}

// htmlColumn is a column of the findings in the JSON block. T are the distinct
// values of a column of strings in the order of their first appearance, and I is
// the index of each row's value in T. For a column of numbers, I are the numbers.
// If all rows have the same one, I is that number. So 100,000 findings take a few
// megabytes, and a search looks at each distinct value once.
type htmlColumn struct {
	T []string `json:"t"`
	I any      `json:"i"`
}

// Columns returns the JSON block by its keys, one at a time.
func (v *htmlView) Columns() iter.Seq2[string, any] {
	texts := []struct {
		name string
		of   func(*check.Finding) string
	}{
		{"page", func(f *check.Finding) string { return pageFile(v.opt.Base, f.Page) }},
		{"as", htmlWritten},
		{"target", targetOf},
		{"answer", htmlAnswer},
		{"kind", func(f *check.Finding) string { return f.Verdict.String() + " " + string(f.Code) }},
		{"message", func(f *check.Finding) string { return f.Message }},
		{"before", func(f *check.Finding) string { before, _ := suggestionWords(f); return before }},
		{"suggestion", func(f *check.Finding) string { return f.Suggestion }},
		{"source", func(f *check.Finding) string { return sourceOf(f).File }},
		{"from", func(f *check.Finding) string { return DescribeSource(f.Source) }},
		{"related", relatedOf},
		{"lead", func(f *check.Finding) string { return v.lines[f].Before }},
		{"link", func(f *check.Finding) string { return v.lines[f].Link }},
		{"tail", func(f *check.Finding) string { return v.lines[f].After }},
	}
	numbers := []struct {
		name string
		of   func(*check.Finding) int
	}{
		{"line", func(f *check.Finding) int { return f.Line }},
		{"column", func(f *check.Finding) int { return f.Column }},
		{"count", func(f *check.Finding) int { return max(1, f.Count) }},
		{"sourceLine", func(f *check.Finding) int { return sourceOf(f).Line }},
		{"sourceColumn", func(f *check.Finding) int { return sourceOf(f).Column }},
		{"linked", func(f *check.Finding) int { return min(len(v.sourceURL(f.Source)), 1) }},
	}
	return func(yield func(string, any) bool) {
		ids := make([]uint32, len(v.Findings))
		for _, c := range texts {
			column := v.texts(ids, c.of)
			if !yield(c.name, column) || c.name == "kind" && !yield("meanings", meanings(column.T)) {
				return
			}
		}
		for _, c := range numbers {
			for i := range v.Findings {
				ids[i] = uint32(max(0, c.of(&v.Findings[i])))
			}
			if !yield(c.name, htmlColumn{I: oneOrAll(ids)}) {
				return
			}
		}
		_ = yield("sourceLinks", v.opt.SourceLinks) && yield("entry", v.entryColumn(ids)) && yield("entries", v.Entries()) && yield("orphans", htmlPaths(v.opt.Extras.Orphans)) && yield("unreachable", htmlPaths(v.opt.Extras.Unreachable))
	}
}

// texts returns a column of strings, with ids as its I.
func (v *htmlView) texts(ids []uint32, of func(*check.Finding) string) htmlColumn {
	seen := map[string]uint32{}
	column := htmlColumn{T: []string{}}
	for i := range v.Findings {
		s := of(&v.Findings[i])
		id, ok := seen[s]
		if !ok {
			id = uint32(len(seen))
			seen[s] = id
			column.T = append(column.T, htmlValue(s))
		}
		ids[i] = id
	}
	column.I = oneOrAll(ids)
	return column
}

// entryColumn returns the column of entries in their order: T are the IDs of their first
// causes.
func (v *htmlView) entryColumn(ids []uint32) htmlColumn {
	column := htmlColumn{T: []string{}}
	for n, m := range v.families {
		for i := range m.causes {
			for _, row := range m.causes[i].Findings {
				ids[row] = uint32(n)
			}
		}
		column.T = append(column.T, m.causes[0].ID)
	}
	column.I = oneOrAll(ids)
	return column
}

// oneOrAll returns the number that all ids are, or ids if they differ.
func oneOrAll(ids []uint32) any {
	if len(ids) == 0 {
		return 0
	}
	if slices.ContainsFunc(ids, func(id uint32) bool { return id != ids[0] }) {
		return ids
	}
	return ids[0]
}

// meanings returns what the code of each kind means, "" for one without a rule: a
// kind is "error missing-file".
func meanings(kinds []string) []string {
	texts := make([]string, len(kinds))
	for i, kind := range kinds {
		_, code, _ := strings.Cut(kind, " ")
		texts[i], _ = DescribeCode(check.Code(code))
	}
	return texts
}

// htmlPaths returns paths as values, nil for nil.
func htmlPaths(paths []string) []string {
	paths = slices.Clone(paths)
	for i, p := range paths {
		paths[i] = htmlValue(p)
	}
	return paths
}

func sourceOf(f *check.Finding) check.Position {
	if f.Source == nil {
		return check.Position{}
	}
	return *f.Source
}

// htmlWritten returns the link as written, and without its value if the message has it.
func htmlWritten(f *check.Finding) string {
	switch {
	case !strings.Contains(f.Message, f.Raw):
		return string(appendWritten(nil, f))
	case f.Element == "":
		return ""
	}
	return strings.TrimSpace("<"+f.Element+" "+f.Attribute) + ">"
}

// htmlAnswer returns what the message does not say: "-> /b/, redirected to /c/".
func htmlAnswer(f *check.Finding) string {
	return strings.TrimLeft(string(appendAnswer(nil, f)), " ,")
}
