package since

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sitelink/sitelink/internal/disk"
	"github.com/sitelink/sitelink/internal/fault"
)

// A record in a file is JSON Lines: a header, then a line for each entry, sorted
// by address. The header has the number of entries and a hash of their lines, so
// that a file that was cut off or edited by a merge is not taken for a smaller
// site: then every address that it lacks would pass as new.

// FileName is the name of the record that a deploy writes.
const FileName = "addresses.jsonl"

// version is the version of the format.
const version = 1

// maxFileBytes is the largest record that is read. That of a site with 80,000
// pages and three million ids has about 100 MB.
const maxFileBytes = 1 << 30

type header struct {
	Version int    `json:"sitelink-addresses"`
	Entries int    `json:"entries"`
	Sum     string `json:"sha256"`
}

// Encode returns the record as the content of a file. Records of equal sites are
// equal byte for byte.
func (r *Record) Encode() []byte {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for i := range r.Entries {
		// Strings and lists of them can always be encoded.
		_ = encoder.Encode(&r.Entries[i])
	}
	sum := sha256.Sum256(lines.Bytes())
	head, _ := json.Marshal(header{version, len(r.Entries), hex.EncodeToString(sum[:])})
	return append(append(head, '\n'), lines.Bytes()...)
}

// Write replaces the file with the record.
func (r *Record) Write(name string) error { return disk.WriteFile(name, r.Encode(), 0o666) }

// Read reads a record from a file; shown is the file's name in messages. The errors
// name the file and have hints. That of a file that does not exist wraps
// [fs.ErrNotExist].
func Read(name, shown, when string) (*Record, error) {
	data, err := disk.Read(name, maxFileBytes)
	if err != nil {
		return nil, fmt.Errorf("read the record %s: %w", shown, err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, fault.New(fmt.Errorf("read the record %s: %w", shown, err), hintOf(err))
	}
	r.When = when
	return r, nil
}

var (
	errNewer     = errors.New("a newer version of sitelink has written it")
	errNotRecord = errors.New("it is not a record of addresses")
)

func hintOf(err error) string {
	switch {
	case errors.Is(err, errNewer):
		return "update sitelink, or compare with a commit or a directory"
	case errors.Is(err, errNotRecord):
		return "sitelink deploy writes one; --since also takes the directory of an older build, and a commit"
	}
	return "restore the file, for example with git checkout, or remove it: the next sitelink deploy writes it again"
}

// decode parses the content of a file.
func decode(data []byte) (*Record, error) {
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	var head header
	if err := json.Unmarshal(line, &head); err != nil || head.Version == 0 {
		return nil, errNotRecord
	}
	if head.Version > version {
		return nil, fmt.Errorf("%w, with format %d", errNewer, head.Version)
	}
	if sum := sha256.Sum256(rest); head.Sum != hex.EncodeToString(sum[:]) {
		return nil, errors.New("it is damaged: its lines are not those that were written")
	}
	r := &Record{}
	n := 1
	for line := range bytes.Lines(rest) {
		n++
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d is no entry: %w", n, err)
		}
		if err := e.valid(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if last := len(r.Entries) - 1; last >= 0 && r.Entries[last].Address >= e.Address {
			return nil, fmt.Errorf("line %d: the entries are not sorted by address", n)
		}
		r.Entries = append(r.Entries, e)
	}
	if len(r.Entries) != head.Entries {
		return nil, fmt.Errorf("it is damaged: it has %d entries, and its first line says %d", len(r.Entries), head.Entries)
	}
	return r, nil
}

// valid refuses what no site has: the values go into requests to the host and into
// reports.
func (e *Entry) valid() error {
	switch {
	case !strings.HasPrefix(e.Address, "/") || strings.HasPrefix(e.Address, "//"):
		return fmt.Errorf("%q is not the path of an address", e.Address)
	case strings.ContainsFunc(e.Address, func(c rune) bool {
		return c <= ' ' || c == 0x7f || c == '\\' || c == '#' || c == '?' || c == utf8.RuneError
	}):
		return fmt.Errorf("%q is not a percent-encoded path", e.Address)
	case strings.ContainsRune(e.File, 0) || strings.HasPrefix(e.File, "/"):
		return fmt.Errorf("%q is not a path in the docroot", e.File)
	}
	for segment := range strings.SplitSeq(e.File, "/") {
		if segment == ".." || segment == "." {
			return fmt.Errorf("%q is not a path in the docroot", e.File)
		}
	}
	return nil
}
