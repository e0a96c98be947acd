package git

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sitelink/sitelink/internal/system"
	"github.com/sitelink/sitelink/internal/text"
)

// remote matches the addresses of repositories: git@github.com:me/site.git,
// https://gitlab.com/group/me/site.
var remote = text.Regexp(`^(?:https?://(?:[^@/]*@)?|ssh://(?:[^@/]*@)?|[\w.-]+@)([\w.-]+)(?::\d+)?[:/]/?([\w.-]+(?:/[\w.-]+)+)/?$`)

// Remote returns the host name and the path, without .git, of the address of a remote, ""
// for one of another kind.
func Remote(address string) (host, path string) {
	if m := remote().FindStringSubmatch(address); m != nil {
		host, path = m[1], strings.TrimSuffix(m[2], ".git")
	}
	return host, path
}

// blobs is the part of an address that comes before the commit of a file, by the
// forge.
var blobs = map[string]string{"github.com": "/blob/", "gitlab.com": "/-/blob/"}

// SourceLinks returns the address of the lines of a repository's files on the forge of the
// remote origin, with {file} and {line}:
//
//	https://github.com/me/site/blob/1f3c.../{file}#L{line}
//
// root is the directory that holds .git. The address is "" if it is not certain that the
// files are there: a branch of origin must have the commit that is checked out.
//
// isLinked reports whether a file, a slash path below root, is as in that commit. It is
// not safe for concurrent use.
func SourceLinks(ctx context.Context, root string, env []string) (pattern string, isLinked func(file string) bool) {
	repo, err := Open(ctx, root, env)
	if err != nil {
		return "", nil
	}
	ask := func(args ...string) string {
		out, err := repo.Run(ctx, args...)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	host, at := Remote(ask("config", "--local", "--get", "remote.origin.url"))
	commit := ask("rev-parse", "--verify", "HEAD")
	if blobs[host] == "" || commit == "" || ask("for-each-ref", "--count=1", "--contains", commit, "refs/remotes/origin") == "" {
		return "", nil
	}
	objects := sync.OnceValue(func() map[string]string { // of the files of the commit
		ids := map[string]string{}
		for line := range strings.SplitSeq(ask("ls-tree", "-r", "-z", "--full-tree", commit), "\x00") {
			if meta, name, ok := strings.Cut(line, "\t"); ok {
				ids[name] = meta[strings.LastIndexByte(meta, ' ')+1:]
			}
		}
		return ids
	})
	same := map[string]bool{}
	isLinked = func(file string) bool {
		known, ok := same[file]
		if !ok {
			text, err := system.Read(filepath.Join(root, filepath.FromSlash(file)), 64<<20)
			known = err == nil && isObject(objects()[file], text)
			same[file] = known
		}
		return known
	}
	address := url.URL{Scheme: "https", Host: host, Path: "/" + at + blobs[host] + commit + "/"}
	return address.String() + "{file}#L{line}", isLinked
}

// isObject reports whether git's name of an object is that of a file with this text.
func isObject(id string, text []byte) bool {
	text = append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...)
	if len(id) == 2*sha256.Size {
		sum := sha256.Sum256(text)
		return id == hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(text)
	return id == hex.EncodeToString(sum[:])
}

// DefaultBranches returns the branch that the remote origin of the repository at root has by
// default, or the usual ones if the clone does not know it.
func DefaultBranches(ctx context.Context, root string, env []string) []string {
	if repo, err := Open(ctx, root, env); err == nil {
		out, err := repo.Run(ctx, "for-each-ref", "--format=%(symref:lstrip=3)", "refs/remotes/origin/HEAD")
		if branch := strings.TrimSpace(string(out)); err == nil && branch != "" {
			return []string{branch}
		}
	}
	return []string{"main", "master"}
}
