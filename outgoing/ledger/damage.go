package ledger

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	gitcmd "github.com/sitelink/sitelink/internal/git"
	"github.com/sitelink/sitelink/internal/system"
)

// LostError means that rows of a ledger are lost. A program that sends from such a
// ledger sends notices that targets already have. [Repair] restores rows from an
// earlier version; AcceptLoss in [FileOptions] and [GitOptions] opens the
// ledger as it is, for a program that records all links again.
type LostError struct {
	// File is the name of the ledger.
	File string
	// Missing describes what is missing, for example "notices: 9".
	Missing []string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("ledger %s has lost rows: %s", e.File, strings.Join(e.Missing, ", "))
}

// Each row has a checksum as its last field: the CRC-32C of the row without it.
// It detects a changed row. It does not depend on other rows, so that git can
// merge two ledgers line by line. A row without checksum is accepted: version 1
// had none, and you can remove it when you edit a row.

// sumLength is the length of the checksum and the end of the row.
const sumLength = len(sumField + `00000000"}`)

const sumField = `,"sum":"`

// sumWriter adds a checksum to each row. A call of Write has one row.
type sumWriter struct{ w *bufio.Writer }

func (s sumWriter) Write(line []byte) (int, error) {
	object := line[:len(line)-1]
	s.w.Write(object[:len(object)-1])
	fmt.Fprintf(s.w, sumField+"%08x\"}\n", crc32.Checksum(object, castagnoli()))
	return len(line), nil
}

// withoutSum returns a row without its checksum, which must be right.
func withoutSum(line string) (string, error) {
	at := len(line) - sumLength
	if at < 0 || !strings.HasPrefix(line[at:], sumField) || !strings.HasSuffix(line, `"}`) {
		return line, nil
	}
	object := line[:at] + "}"
	want, err := strconv.ParseUint(line[at+len(sumField):len(line)-2], 16, 32)
	if err != nil || uint64(crc32.Checksum([]byte(object), castagnoli())) != want {
		return "", errors.New("the checksum is wrong")
	}
	return object, nil
}

// counts are the numbers of rows that the first line of a ledger has. They count
// what is never removed from a ledger, so that a merge of two ledgers has at least
// the counts of each, whichever first line it has. Links are removed, so they are
// counted per page, in the row of the page.
type counts struct {
	Pages   int `json:"pages,omitempty"`
	Notices int `json:"notices,omitempty"` // pairs of source and target
	Hosts   int `json:"hosts,omitempty"`
}

func (b *records) count() counts {
	pairs := make(map[Link]bool, len(b.notices))
	for k := range b.notices {
		pairs[Link{k.Source, k.Target}] = true
	}
	return counts{len(b.pages), len(pairs), len(b.unsupported)}
}

// linkCounts returns the number of links of each page. Both slices are sorted.
func (b *records) linkCounts() []int {
	all := make([]int, len(b.pages))
	i := 0
	for p := range b.pages {
		for i < len(b.links) && b.links[i].Source < b.pages[p].URL {
			i++
		}
		for i < len(b.links) && b.links[i].Source == b.pages[p].URL {
			all[p]++
			i++
		}
	}
	return all
}

// missing describes the rows that the ledger has lost.
func (p *parsed) missing() (all []string) {
	if p.noHeader {
		all = append(all, "its first line")
	}
	lost := func(n int, name string) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s: %d", name, n))
		}
	}
	have := p.count()
	lost(p.want.Pages-have.Pages, "pages")
	var n int
	for i, have := range p.linkCounts() {
		n += max(0, p.wantLinks[p.pages[i].URL]-have)
	}
	lost(n, "links")
	lost(p.want.Notices-have.Notices, "notices")
	lost(p.want.Hosts-have.Hosts, "unsupported hosts")
	lost(len(p.damaged), "unreadable lines")
	return all
}

// maxLease is the longest time that a notice is claimed without a renewal.
const maxLease = time.Hour

// maxWait is the longest time that a notice or a host waits. A later time in a
// ledger comes from a wrong clock.
const maxWait = 30 * 24 * time.Hour

// clampTimes limits times that are too far in the future.
func (p *parsed) clampTimes(name string, now time.Time) {
	clamped := 0
	clamp := func(t *time.Time, longest time.Duration) {
		if latest := toSeconds(now.Add(longest)); t.After(latest) {
			*t = latest
			clamped++
		}
	}
	for k, n := range p.notices {
		before := clamped
		clamp(&n.Next, maxWait)
		clamp(&n.Lease, maxLease)
		if clamped > before {
			p.notices[k] = n
		}
	}
	hosts := slices.Clone(p.unsupported)
	for i := range hosts {
		clamp(&hosts[i].Until, maxWait)
	}
	p.unsupported = hosts
	if clamped > 0 {
		p.warn(name, 0, fmt.Sprintf("times too far in the future, because a clock was wrong: %d; they are limited to 30 days from now", clamped), false)
	}
}

// removeTemporary removes the files of runs that were killed while they replaced
// the ledger. The ledger is locked.
func (f *File) removeTemporary() {
	target := f.name
	if followed, err := filepath.EvalSymlinks(target); err == nil {
		target = followed
	}
	dir, base := filepath.Split(target)
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return // nothing depends on it
	}
	for _, e := range entries {
		if system.IsTemporary(e.Name(), base) && e.Type().IsRegular() {
			f.disk.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Repair restores the lost rows of a ledger file from earlier versions of the
// file, the newest first. It returns the version that it used and how many rows
// came from it. If no version has the missing rows, the file is unchanged and the
// error is a [*LostError]. If nothing is lost, used is -1. warn may be nil; see
// [FileOptions].
func Repair(name string, earlier [][]byte, warn func(string)) (used, restored int, err error) {
	damaged := &File{name: name}
	p, err := damaged.readUnlocked()
	if err != nil || damaged.lost == nil {
		return -1, 0, err
	}
	for used, text := range earlier {
		next, restored := p.restore(name, string(text))
		if next == nil {
			continue
		}
		f, err := OpenFile(name, FileOptions{AcceptLoss: true, Warn: warn})
		if err != nil {
			return -1, 0, err
		}
		err = f.update(func(*records) *records { return next })
		return used, restored, errors.Join(err, f.Close())
	}
	return -1, 0, damaged.lost
}

// restore returns the records with the rows of an earlier version that are missing
// in p, or nil if rows are missing even so. It does not take rows that may have
// been removed on purpose: links of a page that has all its links, and notices
// that got a protocol since.
func (p *parsed) restore(name, earlier string) (next *records, restored int) {
	old, err := parse(name, earlier)
	if err != nil || len(old.missing()) > 0 || p.base != "" && !SameSite(old.base, p.base) {
		return nil, 0
	}
	next = p.clone()
	next.base = old.base
	incomplete := map[string]bool{} // pages whose links are restored
	for i, have := range p.linkCounts() {
		incomplete[p.pages[i].URL] = have < p.wantLinks[p.pages[i].URL]
	}
	var c Change
	for _, page := range old.pages {
		if _, ok := incomplete[page.URL]; !ok {
			incomplete[page.URL] = true
			c.Pages = append(c.Pages, page)
		}
	}
	present := make(map[Link]bool, len(p.links))
	for _, l := range p.links {
		present[l] = true
	}
	for _, l := range old.links {
		if incomplete[l.Source] && !present[l] {
			c.Links = append(c.Links, l)
		}
	}
	pairs := map[Link]bool{}
	for k := range p.notices {
		pairs[Link{k.Source, k.Target}] = true
	}
	for k, n := range old.notices {
		if _, ok := p.notices[k]; !ok && (k.Protocol != AnyProtocol || !pairs[Link{k.Source, k.Target}]) {
			c.Notices = append(c.Notices, n)
		}
	}
	next.apply(next.base, c)
	before := len(next.unsupported)
	next.unsupported = replaceRows(old.unsupported, next.unsupported, compareHosts)
	after := *p
	after.records, after.damaged, after.noHeader = next, nil, false
	if len(after.missing()) > 0 {
		return nil, 0
	}
	return next, len(c.Pages) + len(c.Links) + len(c.Notices) + len(next.unsupported) - before
}

// maxEarlier limits how many commits [Earlier] reads.
const maxEarlier = 50

// Earlier returns the versions of a file in the history of its git repository.
// versions[n] is that of the commit HEAD~n, nil if it is the same as a newer one
// or there is none. The repository may be hostile: git starts no program that it
// names, and connects to nothing.
func Earlier(ctx context.Context, name string, env []string) (versions [][]byte, err error) {
	dir, base := filepath.Split(name)
	repo := gitcmd.Command{Dir: dir, Env: env, Untrusted: true, Limit: 1 << 30}
	seen := map[string]bool{}
	for n := range maxEarlier {
		commit, err := repo.Run(ctx, "rev-parse", "--verify", "--quiet", fmt.Sprintf("HEAD~%d^{commit}", n))
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && n == 0:
			return nil, err
		case err != nil:
			return versions, nil
		}
		text, err := repo.Run(ctx, "cat-file", "blob", strings.TrimSpace(string(commit))+":./"+base)
		if err != nil || seen[string(text)] {
			text = nil
		}
		seen[string(text)] = true
		versions = append(versions, text)
	}
	return versions, nil
}
