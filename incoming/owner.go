package incoming

import (
	"context"
	"errors"
	"net/netip"
	"strings"

	"github.com/sitelink/sitelink/internal/weburl"
)

// sharedHosts are hosts where each user has a part of the paths: the number of
// segments that name the user, such as 1 for https://github.com/alice/ and 2 for
// https://bsky.app/profile/alice. 0 means that the path does not name the author.
// Hosts with a name for each user, such as alice.github.io, need no entry, and
// neither do paths that begin with "~alice" or "@alice".
var sharedHosts = map[string]int{
	"bitbucket.org": 1, "codeberg.org": 1, "dev.to": 1, "gist.github.com": 1, "github.com": 1, "gitlab.com": 1, "medium.com": 1,
	"twitter.com": 1, "write.as": 1, "www.facebook.com": 1, "www.instagram.com": 1, "www.tumblr.com": 1, "x.com": 1,
	"bsky.app": 2, "groups.google.com": 2, "sites.google.com": 2, "www.linkedin.com": 2, "www.reddit.com": 2, "old.reddit.com": 2,
	"archive.org": 0, "brid.gy": 0, "docs.google.com": 0, "fed.brid.gy": 0, "hackerweb.app": 0, "lobste.rs": 0,
	"news.ycombinator.com": 0, "pastebin.com": 0, "telegra.ph": 0, "web.archive.org": 0, "www.youtube.com": 0,
}

// Owner returns the pattern of a [Rule] about everything that the author of a page
// has on its host. This is the host, such as "alice.github.io", or the beginning of
// the URL on a host that many people share, such as "https://github.com/alice/". It
// is in the form of [ParsePattern], and "" if the URL is not http or https.
func Owner(url string) string {
	owner, _ := ownerOf(url)
	return owner
}

// ownerOf also reports whether the owner is one author. It is not if the paths of a
// host do not name its users: then the owner is all of them.
func ownerOf(url string) (pattern string, one bool) {
	text, err := weburl.Canonical(url)
	if err != nil {
		return "", false
	}
	_, rest, _ := strings.Cut(text, "://")
	authority, path, _ := strings.Cut(rest, "/")
	host, _, ok := splitURL(text)
	if !ok || host == "" {
		return "", false
	}
	path, _, _ = strings.Cut(path, "?")
	segments, shared := sharedHosts[host]
	if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%40") {
		segments = 1
	}
	if segments == 0 {
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			host = addr.String() // as a pattern has it
		}
		return host, !shared
	}
	names := strings.SplitN(path, "/", segments+1)
	if len(names) < segments || names[segments-1] == "" {
		return host, false // such as the home page of the shared host
	}
	return "https://" + authority + "/" + strings.Join(names[:segments], "/") + "/", true
}

// authorOn returns the canonical URL of the author of a mention if it is on the host
// of the source, and "" otherwise: a page can claim any author elsewhere. The
// author's page is never fetched.
func authorOn(m *Mention) string {
	author, err := weburl.Canonical(m.Author.URL)
	if err != nil || hostOf(author) != hostOf(m.Source) {
		return ""
	}
	_, rest, _ := strings.Cut(author, "://")
	return strings.TrimSuffix(rest, "/")
}

// sameAuthor reports whether two mentions are by one author, as far as their URLs
// prove it: their sources have one owner, and do not name different authors there.
func sameAuthor(a, b *Mention) bool {
	owner, one := ownerOf(a.Source)
	if other, _ := ownerOf(b.Source); owner == "" || owner != other {
		return false
	}
	x, y := authorOn(a), authorOn(b)
	if x != "" && y != "" {
		return x == y
	}
	return one
}

// ApproveAuthor approves the held mentions by the author of m and returns how many it
// approved. Call it when a person approves m; a receiver approves later mentions of the
// author itself. Mentions that a rule holds, or that had lost their link at the last look,
// stay as they are.
func ApproveAuthor(ctx context.Context, store Store, m *Mention) (approved int, err error) {
	u, err := weburl.Parse(m.Source)
	if err != nil || m.Action.Ours() {
		return 0, nil
	}
	list, err := store.Rules(ctx)
	if err != nil {
		return 0, err
	}
	rules := compileRules(list)
	for other, err := range store.List(ctx, Filter{States: []State{Held}, Action: []Action{Link}, Source: u.Host()}) {
		if err != nil {
			return approved, err
		}
		source, err := weburl.Canonical(other.Source)
		if err != nil || !sameAuthor(m, &other) || rules.verdict(source) != "" {
			continue
		}
		hit := false
		_, err = store.Update(ctx, other.ID, func(m *Mention) error {
			if hit = m.State == Held && m.Fault == 0; hit {
				m.State = Approved
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return approved, err
		}
		if hit {
			approved++
		}
	}
	return approved, nil
}

// knowsAuthor reports whether another mention by the author of m is approved.
func (r *Receiver) knowsAuthor(ctx context.Context, m *Mention) (bool, error) {
	u, err := weburl.Parse(m.Source)
	if err != nil {
		return false, nil
	}
	for known, err := range r.opt.Store.List(ctx, Filter{States: []State{Approved}, Action: []Action{Link}, Source: u.Host()}) {
		if err != nil {
			return false, err
		}
		if known.ID != m.ID && sameAuthor(m, &known) {
			return true, nil
		}
	}
	return false, nil
}
