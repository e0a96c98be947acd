package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNewer means that a newer version of sitelink wrote the ledger.
var ErrNewer = errors.New("written by a newer sitelink")

// ErrNoLedger means that a file is not a ledger.
var ErrNoLedger = errors.New("not a ledger of sitelink")

// Warning is a problem with a line of a ledger or journal that did not prevent
// the ledger from being opened.
type Warning struct {
	File string
	Line int // 0 for the whole file
	// Message says what is wrong and how the line was treated.
	Message string
	// Lost is set if the row could not be read.
	Lost bool
}

func (w Warning) String() string {
	if w.Line == 0 {
		return w.File + ": " + w.Message
	}
	return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Message)
}

// maxWarnings limits the warnings. It does not limit the damaged lines that are
// saved.
const maxWarnings = 100

// parsed is the content of a file.
type parsed struct {
	*records
	warnings  []Warning
	damaged   []string       // lines that could not be read
	noHeader  bool           // the first line is missing
	want      counts         // of the first line, or the larger ones of several
	wantLinks map[string]int // number of links of each page with a count
	changed   bool           // writing the records would give another file
}

// parse reads a ledger. name is for messages. Lines that cannot be read are saved
// elsewhere, the markers of a merge conflict are skipped, and of several rows with
// the same key, the preferred one is kept (see merge.go). Only a file of a newer
// version or a file that is not a ledger is an error.
func parse(name, text string) (*parsed, error) {
	p := &parser{parsed: &parsed{records: newRecords(), wantLinks: map[string]int{}}, name: name, sorted: true}
	text, p.changed = strings.CutPrefix(text, "\ufeff") // PowerShell writes one
	for rest := text; rest != ""; {
		line, after, ended := strings.Cut(rest, "\n")
		rest = after
		p.line++
		if err := p.parseLine(line, ended); err != nil {
			return nil, err
		}
	}
	switch {
	case p.headers == 0 && p.rows == 0 && !couldBeLedger(text):
		return nil, fmt.Errorf("read ledger %s: %w: its first line should start with {\"sitelink\":\"ledger\"", name, ErrNoLedger)
	case p.headers == 0 && p.rows > 0:
		p.warn(name, 1, "the first line, with the version and the base URL of the site, is missing", false)
	}
	p.noHeader = p.headers == 0
	if !p.sorted {
		p.changed = true
		p.dropDuplicates()
		// Pages may have two rows. Links with two rows are not reported, because their rows
		// are equal.
		first := make(map[string]int, len(p.pages))
		for i, page := range p.pages {
			if j, ok := first[page.URL]; !ok {
				first[page.URL] = i
			} else if p.pages[j] != page {
				p.warn(p.name, p.pageLines[i], fmt.Sprintf("a second row for the page in line %d; the next deploy compares it again", p.pageLines[j]), false)
			}
		}
	}
	p.records.pages = unique(p.pages, comparePages, preferPage)
	p.records.links = unique(p.links, compareLinks, func(a, _ Link) Link { return a })
	p.records.unsupported = unique(p.hosts, compareHosts, preferHost)
	return p.parsed, nil
}

// couldBeLedger reports whether text without rows can be what is left of a ledger:
// nothing, or a first line that was cut off.
func couldBeLedger(text string) bool {
	const start = `{"sitelink":"` + formatName + `"`
	text = strings.Trim(text, "\x00 \t\r\n")
	return strings.HasPrefix(text, start) || strings.HasPrefix(start, text)
}

// parser reads one file.
type parser struct {
	*parsed
	name string
	line int // number of the current line

	pages     []Page
	pageLines []int
	links     []Link
	hosts     []UnsupportedHost

	headers, rows int
	sorted        bool
	last          Key // of the last row
	lastKind      int
	inBase        bool // between ||||||| and =======, in the version before both sides
}

// parseLine reads one line. ended is set if it has a line end.
func (p *parser) parseLine(line string, ended bool) error {
	if !ended {
		p.changed = true
	}
	if strings.HasSuffix(line, "\r") { // git on Windows
		line, p.changed = line[:len(line)-1], true
	}
	if line == "" {
		p.changed = true
		return nil
	}
	if mark := conflictMark(line); mark != 0 {
		p.warn(p.name, p.line, "skipped the marker of a merge conflict; both sides are read", false)
		p.inBase = mark == '|'
		return nil
	}
	if p.inBase {
		p.changed = true
		return nil
	}
	row, err := decodeRow(line)
	if err != nil {
		p.warn(p.name, p.line, err.Error()+ignoredLine, true)
		p.damaged = append(p.damaged, line)
		return nil
	}
	p.rows++
	switch r := row.(type) {
	case *header:
		if err := p.addHeader(r); err != nil {
			return err
		}
	case *countedPage:
		if links, ok := p.wantLinks[r.URL]; !ok || r.Links < links {
			p.wantLinks[r.URL] = r.Links
		}
		p.pages, p.pageLines = append(p.pages, r.Page), append(p.pageLines, p.line)
	case *Link:
		p.links = append(p.links, *r)
	case *Notice:
		n := *r
		if old, duplicate := p.notices[n.Key]; duplicate {
			p.warn(p.name, p.line, "a second row for the same notice; the more advanced one is kept", false)
			n = preferNotice(old, n)
		}
		p.notices[n.Key] = n
	case *UnsupportedHost:
		p.hosts = append(p.hosts, *r)
	}
	kind, key := place(row)
	p.sorted = p.sorted && (p.lastKind < kind || p.lastKind == kind && CompareKeys(p.last, key) < 0)
	p.last, p.lastKind = key, kind
	return nil
}

// ignoredLine ends a warning about a line that could not be read.
const ignoredLine = "; the line is ignored"

func (p *parser) addHeader(r *header) error {
	switch {
	case r.Sitelink != formatName:
		return fmt.Errorf("read ledger %s: %w: it is a %q", p.name, ErrNoLedger, r.Sitelink)
	case r.Version > version:
		return fmt.Errorf("read ledger %s: %w: its version is %d, this sitelink reads up to %d", p.name, ErrNewer, r.Version, version)
	case r.Version < 1:
		return fmt.Errorf("read ledger %s: there is no version %d of the format", p.name, r.Version)
	}
	p.want.Pages, p.want.Notices, p.want.Hosts = max(p.want.Pages, r.Pages), max(p.want.Notices, r.Notices), max(p.want.Hosts, r.Hosts)
	if p.headers++; p.headers == 1 {
		p.base = r.Base
		return nil
	}
	p.changed = true
	if r.Base != p.base {
		p.warn(p.name, p.line, fmt.Sprintf("a second first line, for %s; the one for %s is kept", r.Base, p.base), false)
	}
	return nil
}

func (p *parsed) warn(name string, line int, message string, lost bool) {
	p.changed = true
	if len(p.warnings) < maxWarnings {
		p.warnings = append(p.warnings, Warning{name, line, message, lost})
	}
}

// conflictMark returns the character of the marker of a merge conflict, or 0.
func conflictMark(line string) byte {
	if len(line) < 7 {
		return 0
	}
	c := line[0]
	if c != '<' && c != '|' && c != '=' && c != '>' || line[:7] != strings.Repeat(string(c), 7) || len(line) > 7 && line[7] != ' ' {
		return 0
	}
	return c
}

// unique sorts rows and keeps one of equal rows, which choose selects.
func unique[T any](rows []T, compare func(a, b T) int, choose func(a, b T) T) []T {
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortStableFunc(rows, compare)
	}
	out := rows[:0]
	for _, r := range rows {
		if n := len(out); n > 0 && compare(out[n-1], r) == 0 {
			out[n-1] = choose(out[n-1], r)
			continue
		}
		out = append(out, r)
	}
	return out
}
