package hook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// PushRef is one line that git writes to a pre-push hook (githooks(5)).
type PushRef struct {
	// Local is what the user named: a branch, HEAD~, an object id.
	Local string
	// Commit is what is pushed, "" when Remote is deleted.
	Commit string
	// Remote is the full name at the other side, such as refs/heads/main.
	Remote string
	// Before is what Remote was, "" when it is new.
	Before string
}

const (
	// maxPushLine bounds one line: two names of 64 KiB and two object ids.
	maxPushLine = 256 << 10
	// maxPushRefs bounds a push; --mirror may send all refs of a repository.
	maxPushRefs = 1 << 20
)

// ReadPushRefs reads what git feeds to a pre-push hook, to its end. No line at
// all is a push of nothing, not a fault.
//
// A line is "local-ref SP local-oid SP remote-ref SP remote-oid". The local ref
// is taken as typed and may hold spaces, so a line is split from its right. Ids
// have 40 digits, or 64 in a repository of SHA-256; one of zeros alone stands
// for nothing.
func ReadPushRefs(r io.Reader) ([]PushRef, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxPushLine)
	var refs []PushRef
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" {
			continue
		}
		ref, err := parsePushRef(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("standard input:%d: %w", n, err)
		}
		if refs = append(refs, ref); len(refs) > maxPushRefs {
			return nil, fmt.Errorf("standard input:%d: more than %d refs", n, maxPushRefs)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return refs, nil
}

func parsePushRef(line string) (PushRef, error) {
	var fields [4]string
	rest := line
	for i := 3; i > 0; i-- {
		at := strings.LastIndexByte(rest, ' ')
		if at < 0 {
			return PushRef{}, errors.New("not a line that git gives to a pre-push hook")
		}
		rest, fields[i] = rest[:at], rest[at+1:]
	}
	fields[0] = rest
	ref := PushRef{Local: fields[0], Remote: fields[2]}
	var err error
	if ref.Commit, err = parseObjectID(fields[1]); err == nil {
		ref.Before, err = parseObjectID(fields[3])
	}
	if err == nil && ref.Remote == "" {
		err = errors.New("the remote ref has no name")
	}
	return ref, err
}

// parseObjectID returns id, or "" when it is all zeros. That it is hexadecimal
// keeps it from being an option or an expression of git.
func parseObjectID(id string) (string, error) {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.80q is no object id", id)
	}
	if strings.Trim(id, "0") == "" {
		return "", nil
	}
	return id, nil
}

// wanted tells whether the push of a ref is checked: deletions carry nothing,
// and tags, notes and the like are no site. branches are patterns of
// [path.Match] for names without refs/heads/; none means all branches.
func (r PushRef) wanted(branches []string) bool {
	name, isBranch := strings.CutPrefix(r.Remote, "refs/heads/")
	if r.Commit == "" || !isBranch {
		return false
	}
	for _, pattern := range branches {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return true
		}
	}
	return len(branches) == 0
}
