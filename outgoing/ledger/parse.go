package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ErrNewer is the error of a ledger that a newer sitelink wrote.
var ErrNewer = errors.New("written by a newer sitelink")

// ErrNoLedger is the error of a file that is something else.
var ErrNoLedger = errors.New("no ledger of sitelink")

// A Fault is a line of a ledger or journal that is not as it should be.
type Fault struct {
	File string
	Line int
	// Msg says what is wrong, and what is made of it.
	Msg string
	// Lost tells whether the line's row could not be read.
	Lost bool
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Msg) }

// maxFaults bounds the list of faults, not of the lines that are kept aside.
const maxFaults = 100

// parsed is what a file held.
type parsed struct {
	*book
	faults  []Fault
	damaged []string // lines that could not be read
	changed bool     // written anew, the file would differ
}

// readers holds a reader for each version of the format, so that an older file
// can be read after the format has changed: the row that leaves is today's.
var readers = map[int]func(r *row, line string) error{1: parseRow}

// parse reads a ledger. name is for messages. Lines that it cannot read are
// kept aside, the marks of a merge conflict are skipped, and of several rows
// for the same thing the one that is further along counts. Only a file of a
// newer version, or one that is no ledger at all, is an error.
func parse(name, text string) (*parsed, error) {
	p := &parsed{book: newBook()}
	var pages []Page
	var pageLines []int
	var links []Link
	var peers []Peer
	read, header, rows := readers[version], 0, 0
	inBase := false // between ||||||| and =======: what was before both sides
	sorted := true
	r, last := new(row), new(row)
	for number, rest := 1, text; rest != ""; number++ {
		var line string
		var whole bool
		line, rest, whole = strings.Cut(rest, "\n")
		if !whole {
			p.changed = true
		}
		if strings.HasSuffix(line, "\r") { // git on Windows
			line, p.changed = line[:len(line)-1], true
		}
		if line == "" {
			p.changed = true
			continue
		}
		if mark := conflictMark(line); mark != 0 {
			p.fault(name, number, "the mark of a merge conflict, skipped: both sides are read", false)
			inBase = mark == '|'
			continue
		}
		if inBase {
			p.changed = true
			continue
		}
		if err := read(r, line); err != nil {
			p.fault(name, number, err.Error()+"; the line is kept aside", true)
			p.damaged = append(p.damaged, line)
			continue
		}
		rows++
		switch {
		case r.isHeader():
			if err := r.checkHeader(name); err != nil {
				return nil, err
			}
			read = readers[r.version]
			if header++; header > 1 && r.base != p.base {
				p.fault(name, number, fmt.Sprintf("a second first line, for %s; that for %s counts", r.base, p.base), false)
			} else {
				p.base = r.base
			}
			p.changed = p.changed || header > 1
		case r.isPage():
			pages, pageLines = append(pages, r.page), append(pageLines, number)
		case r.isPeer():
			peers = append(peers, r.peer)
		case r.isNotice():
			if old, twice := p.notices[r.notice.Key]; twice {
				p.fault(name, number, "a second row for the same notice; the one that is further along counts", false)
				p.notices[r.notice.Key] = further(old, r.notice)
			} else {
				p.notices[r.notice.Key] = r.notice
			}
		default:
			links = append(links, Link{r.notice.Source, r.notice.Target})
		}
		sorted = sorted && inOrder(last, r)
		r, last = last, r
	}
	switch {
	case header == 0 && rows == 0 && strings.TrimSpace(text) != "":
		return nil, fmt.Errorf("read ledger %s: %w: its first line should begin with {\"sitelink\":\"ledger\"", name, ErrNoLedger)
	case header == 0 && rows > 0:
		p.fault(name, 1, "the first line, with the version and the address of the site, is missing", false)
	}
	if !sorted {
		p.changed = true
		p.settleTwins()
		p.twice(name, pages, pageLines)
	}
	p.pages = unique(pages, comparePages, furtherPage)
	p.links = unique(links, compareLinks, func(a, _ Link) Link { return a })
	p.peers = unique(peers, comparePeers, furtherPeer)
	return p, nil
}

// twice reports pages that have two rows. Links that do are no fault: their
// rows are equal.
func (p *parsed) twice(name string, pages []Page, lines []int) {
	first := make(map[string]int, len(pages))
	for i, page := range pages {
		if j, ok := first[page.URL]; !ok {
			first[page.URL] = i
		} else if pages[j] != page {
			p.fault(name, lines[i], fmt.Sprintf("a second row for the same page as in line %d; the next deploy compares it anew", lines[j]), false)
		}
	}
}

func (r *row) checkHeader(name string) error {
	switch {
	case r.sitelink != kind:
		return fmt.Errorf("read ledger %s: %w: it is a %q", name, ErrNoLedger, r.sitelink)
	case r.version > version:
		return fmt.Errorf("read ledger %s: %w: its version is %d, this sitelink knows %d", name, ErrNewer, r.version, version)
	case readers[r.version] == nil:
		return fmt.Errorf("read ledger %s: no version %d of the format exists", name, r.version)
	}
	return nil
}

func (p *parsed) fault(name string, line int, msg string, lost bool) {
	p.changed = true
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, Fault{name, line, msg, lost})
	}
}

// conflictMark returns the character of a mark of a merge conflict, or 0.
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

// inOrder tells whether b may follow a in a sorted file.
func inOrder(a, b *row) bool {
	ranked := func(r *row) int {
		switch {
		case r.has == 0:
			return 0
		case r.isHeader():
			return 1
		case r.isPage():
			return 2
		case r.isPeer():
			return 5
		case r.isNotice():
			return 4
		}
		return 3
	}
	x, y := ranked(a), ranked(b)
	if x != y {
		return x < y
	}
	switch x {
	case 2:
		return a.page.URL < b.page.URL
	case 3, 4:
		return CompareKeys(a.notice.Key, b.notice.Key) < 0
	case 5:
		return comparePeers(a.peer, b.peer) < 0
	}
	return false
}

// unique sorts rows, and keeps of equal ones what choose says.
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

// write writes the book as a file.
func (b *book) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<18)
	line := make([]byte, 0, 1024)
	put := func(line []byte) { out.Write(append(line, '\n')) } // Flush has the error
	put(appendHeader(line, b.base))
	for i := range b.pages {
		put(appendPage(line, &b.pages[i]))
	}
	for i := range b.links {
		put(appendLink(line, &b.links[i]))
	}
	for _, n := range b.sortedNotices() {
		put(appendNotice(line, &n))
	}
	for i := range b.peers {
		put(appendPeer(line, &b.peers[i]))
	}
	return out.Flush()
}
