package config

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Hook is the table [hook]: what `sitelink hook run` does before a push. It is
// set in the file alone: nobody sees the command line of a hook.
type Hook struct {
	// Build is the command that builds the site, "" when it is committed.
	Build string
	// Branches are patterns of the remote branches to check; none means all.
	Branches []string
	// Remote: only findings that the remote's commit does not have block.
	Remote bool
	// Timeout is how long the check may take, 0 for [DefaultHookTimeout].
	Timeout time.Duration
}

// DefaultHookTimeout is how long a push waits. git has opened its connection
// before, and servers close one that is idle for some minutes.
const DefaultHookTimeout = 60 * time.Second

// maxHookTimeout keeps a slip of the pen from blocking a push for ever.
const maxHookTimeout = 24 * time.Hour

// hookKeys are the keys of the table [hook], each with what takes its value.
var hookKeys = []struct {
	name string
	set  func(h *Hook, n *unstable.Node) error
}{
	{"build", func(h *Hook, n *unstable.Node) (err error) { h.Build, err = hookText(n); return err }},
	{"branches", hookBranches},
	{"baseline", hookBaseline},
	{"timeout", hookTimeout},
}

// hookKey takes one key of the table [hook].
func (f *tomlFile) hookKey(name string, at *Error, n *unstable.Node) {
	var names []string
	for _, k := range hookKeys {
		if k.name == name {
			if err := k.set(&f.cfg.Hook, n); err != nil {
				f.failAt(at, "", "%s: %v", name, err)
			}
			return
		}
		names = append(names, k.name)
	}
	f.failAt(at, didYouMean(name, names), "unknown key %q in [hook]", name)
}

func hookText(n *unstable.Node) (string, error) {
	switch {
	case n.Kind != unstable.String:
		return "", fmt.Errorf("want a string, got %s", describe(n))
	case len(n.Data) == 0:
		return "", errors.New("the value is empty")
	}
	return string(n.Data), nil
}

func hookBranches(h *Hook, n *unstable.Node) error {
	values, err := listTexts(n)
	if err != nil {
		return err
	}
	for _, v := range values {
		if _, err := path.Match(v, ""); err != nil || v == "" {
			return fmt.Errorf("want the name of a branch, or a pattern such as release-*, got %q", v)
		}
	}
	h.Branches = values
	return nil
}

func hookBaseline(h *Hook, n *unstable.Node) error {
	value, err := hookText(n)
	if err != nil {
		return err
	}
	if value != "remote" && value != "none" {
		return fmt.Errorf("want remote or none, got %q", value)
	}
	h.Remote = value == "remote"
	return nil
}

func hookTimeout(h *Hook, n *unstable.Node) error {
	value, err := hookText(n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > maxHookTimeout {
		return fmt.Errorf("want a time such as 90s or 5m, at most 24h, got %q", value)
	}
	h.Timeout = d
	return nil
}
