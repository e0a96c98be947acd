package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/sitelink/sitelink/check"
)

// Push says how the commits of a push are checked.
type Push struct {
	Repo *Repo
	// Site is the directory of the site, relative to the root of the working
	// tree; "" or "." for the root itself.
	Site string
	// Build is a command of the shell that builds the site, run in Site; ""
	// when the docroot is committed as it is published.
	Build string
	// Docroot is the committed docroot, relative to Site. It is not used when
	// there is a build command.
	Docroot string
	// Settle, when not nil, returns Build and Docroot for a commit, once they are
	// needed: to find them out may cost more than to look up a tree that passed.
	// Salt then says what they hang on besides the tree.
	Settle func(ctx context.Context, commit string) (build, docroot string, err error)
	// Branches are patterns of [path.Match] for the remote branches to check;
	// none means all.
	Branches []string
	// Remote is the name of the remote, "" or a URL when it has none.
	Remote string
	// OnlyNew: findings that the remote's commit has too do not count.
	OnlyNew bool
	// Limit is how long all may take, 0 for any time.
	Limit time.Duration
	// Salt is what verdicts hang on besides the tree: the version, variables.
	Salt string
	// Today is the day by which a baseline's entries expire.
	Today string
	// Env is the environment of the build.
	Env []string
	// Check checks one site.
	Check SiteCheck
}

// SiteCheck checks the site in the directory site, by the configuration that
// lies there. docroot is absolute, or "" for the one of the configuration. It
// returns an error when the check could not be done.
type SiteCheck func(ctx context.Context, site, docroot string) (Checked, error)

// Checked is the verdict on one site.
type Checked struct {
	// Docroot is the name to print before a page, a slash path.
	Docroot string
	// Findings are those that fail the check, in the order of [check.Result].
	Findings []check.Finding
	// TodayOnly: the verdict may be another one tomorrow.
	TodayOnly bool
}

// Source tells which files were checked.
type Source uint8

const (
	// Remembered: the tree passed before, and nothing was checked.
	Remembered Source = iota
	// InPlace: the working tree, which is what is pushed.
	InPlace
	// Copy: a temporary working tree of the commit.
	Copy
)

// Pushed is the verdict on one tree.
type Pushed struct {
	// Refs are the remote refs that it is pushed to, in the order of the push.
	Refs   []string
	Commit string
	Source Source
	Checked
	// Old is how many findings the remote has too. They are not in Findings.
	Old int
}

// TimeError means that a push was not checked within its limit.
type TimeError struct{ Limit time.Duration }

func (e *TimeError) Error() string {
	return fmt.Sprintf("the push was not checked within %v", e.Limit)
}

// Refs checks each distinct tree among the commits of a push once; trees are
// the ids of the trees of refs, in their order, "" for a deleted ref. notes are
// warnings for the user. Nothing is left on the disk but the memo, even when
// ctx ends. A repository must not be checked by two calls of one process at
// once; by two processes it may.
func (p *Push) Refs(ctx context.Context, refs []PushRef, trees []string) (all []Pushed, notes []string, err error) {
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Limit, &TimeError{p.Limit})
		defer cancel()
	}
	if err := p.Repo.Prune(ctx); err != nil {
		notes = append(notes, "remove what a killed run left: "+err.Error())
	}
	type job struct{ tree, before string }
	var seen []job
	for i, ref := range refs {
		if !ref.wanted(p.Branches) {
			continue
		}
		next := job{tree: trees[i]}
		if p.OnlyNew {
			next.before = ref.Before
		}
		if at := slices.Index(seen, next); at >= 0 {
			all[at].Refs = append(all[at].Refs, ref.Remote)
			continue
		}
		verdict, note, err := p.tree(ctx, ref, next.tree)
		if note != "" {
			notes = append(notes, note)
		}
		if err != nil {
			return nil, notes, err
		}
		verdict.Refs, verdict.Commit = []string{ref.Remote}, ref.Commit
		seen, all = append(seen, next), append(all, verdict)
	}
	return all, notes, nil
}

// tree judges one tree. A memo that cannot be written is worth a note: the
// verdict stands.
func (p *Push) tree(ctx context.Context, ref PushRef, tree string) (v Pushed, note string, err error) {
	m := memo{p.Repo.own("passed")}
	key := memoKey(tree, p.Site, p.Build, p.Docroot, p.Salt)
	if m.has(key, p.Today) {
		return Pushed{Source: Remembered}, "", nil
	}
	base, baseKey := "", ""
	if p.OnlyNew {
		if base, err = p.base(ctx, ref); err != nil {
			return v, "", err
		}
		if base == "" {
			note = fmt.Sprintf("%s has no commit here to compare with: every finding counts as new", ref.Remote)
		}
	}
	if base != "" {
		baseTree, err := p.Repo.resolve(ctx, base+"^{tree}")
		if err != nil {
			return v, "", err
		}
		baseKey = memoKey(key, baseTree)
		if m.has(baseKey, p.Today) {
			return Pushed{Source: Remembered}, "", nil
		}
	}
	if v, err = p.look(ctx, ref.Commit, tree); err != nil {
		return v, "", err
	}
	if len(v.Findings) > 0 && base != "" {
		before, err := p.look(ctx, base, "")
		if err != nil {
			return v, "", fmt.Errorf("check the remote's commit %.12s: %w", base, err)
		}
		v.Findings, v.Old = newFindings(v.Findings, before.Findings)
		v.TodayOnly = v.TodayOnly || before.TodayOnly
	}
	if len(v.Findings) > 0 {
		return v, note, nil
	}
	note = ""
	if v.Old > 0 {
		key = baseKey
	}
	day := ""
	if v.TodayOnly {
		day = p.Today
	}
	if err := m.add(key, day); err != nil {
		note = "the verdict is not remembered: " + err.Error()
	}
	return v, note, nil
}

// look builds and checks one commit, in place if the working tree is exactly
// its tree; tree is "" for a commit that is never looked at in place.
func (p *Push) look(ctx context.Context, commit, tree string) (v Pushed, err error) {
	if p.Settle != nil {
		own := *p // p itself is what the keys of the memo are made of
		if own.Build, own.Docroot, err = p.Settle(ctx, commit); err != nil {
			return v, err
		}
		p = &own
	}
	exact := ""
	if p.Build == "" {
		exact = filepath.Join(p.Site, p.Docroot)
	}
	top, out := p.Repo.Top, p.Repo.own(filepath.Join(treesDir, strconv.Itoa(os.Getpid())+"-out"))
	inPlace := false
	if tree != "" {
		if inPlace, err = p.Repo.clean(ctx, tree, exact); err != nil {
			return v, err
		}
	}
	v.Source = InPlace
	if !inPlace {
		v.Source = Copy
		dir, remove, err := p.Repo.checkout(ctx, commit, p.Site)
		defer func() { _ = remove() }() // the next run tries again, see Prune
		if err != nil {
			return v, err
		}
		top = dir
	}
	site, docroot := filepath.Join(top, p.Site), ""
	if p.Build != "" {
		defer func() { _ = os.RemoveAll(out) }() // Prune, again
		if docroot, err = build(ctx, p.Env, p.Build, site, out); err != nil {
			return v, err
		}
	}
	if v.Checked, err = p.Check(ctx, site, docroot); ctx.Err() != nil && err != nil {
		err = context.Cause(ctx) // the reason of the deadline says more
	}
	return v, err
}

// base finds the commit that the remote has: the one that the ref pointed to,
// for a new branch the last one of its history that is on the remote. "" means
// that there is none, or that it was never fetched.
func (p *Push) base(ctx context.Context, ref PushRef) (string, error) {
	if ref.Before != "" {
		return p.Repo.resolve(ctx, ref.Before+"^{commit}")
	}
	out, err := p.Repo.git.run(ctx, "rev-list", "--boundary", "--topo-order", ref.Commit, "--not", "--remotes="+p.Remote)
	var said *GitError
	if errors.As(err, &said) {
		return "", nil
	}
	return boundary(string(out), ref.Commit), err
}
