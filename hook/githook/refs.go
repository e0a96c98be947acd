package githook

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Ref is one line that git writes to a pre-push hook (githooks(5)).
type Ref struct {
	// Local is what the user named: a branch, HEAD~, an object id.
	Local string
	// Commit is the id of what is pushed, "" when Remote is deleted.
	Commit string
	// Tree is the id of the commit's tree. [ReadRefs] does not know it;
	// [OpenPush] sets it for branches.
	Tree string
	// Remote is the full name on the other side, such as refs/heads/main.
	Remote string
	// Before is the id that Remote had, "" when it is new.
	Before string
}

// maxRefLine bounds one line: two names of 64 KiB and two object ids.
const maxRefLine = 256 << 10

// ReadRefs reads what git writes to the standard input of a pre-push hook, up to
// its end. An empty input is a push of nothing, not an error.
//
// A line is "local-ref SP local-oid SP remote-ref SP remote-oid". The local ref
// is what the user typed and may contain spaces, so a line is split from its
// right end. Ids have 40 digits, or 64 in a repository that uses SHA-256; an id
// of zeros means that there is no object.
func ReadRefs(r io.Reader) ([]Ref, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRefLine)
	var refs []Ref
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" {
			continue
		}
		ref, err := parseRef(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("standard input:%d: %w", n, err)
		}
		refs = append(refs, ref)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	return refs, nil
}

func parseRef(line string) (Ref, error) {
	var fields [4]string
	rest := line
	for i := 3; i > 0; i-- {
		at := strings.LastIndexByte(rest, ' ')
		if at < 0 {
			return Ref{}, errors.New("not a line that git writes to a pre-push hook")
		}
		rest, fields[i] = rest[:at], rest[at+1:]
	}
	fields[0] = rest
	ref := Ref{Local: fields[0], Remote: fields[2]}
	var err error
	if ref.Commit, err = parseObjectID(fields[1]); err == nil {
		ref.Before, err = parseObjectID(fields[3])
	}
	if err == nil && ref.Remote == "" {
		err = errors.New("the remote ref has no name")
	}
	return ref, err
}

// parseObjectID returns id, or "" when it is all zeros. Because an id must be
// hexadecimal, git cannot take it for an option or an expression.
func parseObjectID(id string) (string, error) {
	if len(id) != 40 && len(id) != 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%.80q is not an object id", id)
	}
	if strings.Trim(id, "0") == "" {
		return "", nil
	}
	return id, nil
}

// isBranch reports whether a commit is pushed to a branch. Deletions push
// nothing, and tags, notes and the like contain no site.
func (r *Ref) isBranch() bool {
	return r.Commit != "" && strings.HasPrefix(r.Remote, "refs/heads/")
}

// matches reports whether the ref is a branch that one of the patterns of
// [path.Match] matches, without refs/heads/. No pattern matches all branches.
func (r *Ref) matches(branches []string) bool {
	if !r.isBranch() {
		return false
	}
	for _, pattern := range branches {
		if ok, err := path.Match(pattern, strings.TrimPrefix(r.Remote, "refs/heads/")); err == nil && ok {
			return true
		}
	}
	return len(branches) == 0
}
