package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// HostKey is a key of the table [host]: a way in which the site's host differs
// from the profile.
type HostKey struct {
	Name string
	// Type is "list" for a list of strings, "switch" for true or false,
	// "number" or "status" for a number, anything else for a string.
	Type string
	// Check refuses values.
	Check func(values []string) error
}

// HostSetting is one key of [host] with its checked values.
type HostSetting struct {
	Key    string
	Values []string
}

// Redirect is one [[redirect]] table: a rule of the host that stands in no
// file of the docroot.
type Redirect struct {
	From, To string
	// Status is 301 when the file gives none.
	Status int
	// Force: the rule holds even where a file is.
	Force bool
	// File and Line are the place of the rule.
	File string
	Line int
}

// hostKey takes one key of the table [host].
func (f *tomlFile) hostKey(name string, at *Error, n *unstable.Node) {
	i := slices.IndexFunc(f.req.HostKeys, func(k HostKey) bool { return k.Name == name })
	if i < 0 {
		var all []string
		for _, k := range f.req.HostKeys {
			all = append(all, k.Name)
		}
		f.failAt(at, didYouMean(name, all), "unknown key %q in [host]", name)
		return
	}
	k := f.req.HostKeys[i]
	values, err := hostTexts(k, n)
	if err == nil {
		err = k.Check(values)
	}
	if err != nil {
		f.failAt(at, "", "%s: %v", name, err)
		return
	}
	f.cfg.Host = append(f.cfg.Host, HostSetting{name, values})
}

func hostTexts(k HostKey, n *unstable.Node) ([]string, error) {
	switch k.Type {
	case "list":
		return listTexts(n)
	case "switch":
		if n.Kind != unstable.Bool {
			return nil, fmt.Errorf("want true or false, got %s", describe(n))
		}
		return []string{string(n.Data)}, nil
	case "number", "status":
		if n.Kind != unstable.Integer {
			return nil, fmt.Errorf("want a number, got %s", describe(n))
		}
		return integerText(n)
	}
	if n.Kind != unstable.String {
		return nil, fmt.Errorf("want a string, got %s", describe(n))
	}
	return []string{string(n.Data)}, nil
}

// redirectFields are the keys of a [[redirect]] table.
var redirectFields = []string{"from", "to", "status", "force"}

// redirectField takes one key of a [[redirect]] table.
func (f *tomlFile) redirectField(path []string, at *Error, n *unstable.Node) {
	name, r := strings.Join(path, "."), f.redirect
	switch {
	case !slices.Contains(redirectFields, name):
		f.failAt(at, didYouMean(name, redirectFields), "unknown key %q in [[redirect]]", name)
	case (name == "from" || name == "to") && n.Kind != unstable.String:
		f.failAt(at, "", "%s: want a string, got %s", name, describe(n))
	case name == "from":
		r.From = string(n.Data)
		return
	case name == "to":
		r.To = string(n.Data)
		return
	case name == "force" && n.Kind != unstable.Bool:
		f.failAt(at, "", "force: want true or false, got %s", describe(n))
	case name == "force":
		r.Force = string(n.Data) == "true"
		return
	default:
		text := ""
		if n.Kind == unstable.Integer {
			text = string(n.Data)
		}
		status, err := strconv.Atoi(text)
		if err != nil || !slices.Contains([]int{200, 301, 302, 303, 307, 308, 404, 410}, status) {
			f.failAt(at, "", "status: want 200, 301, 302, 303, 307, 308, 404 or 410, got %s", describe(n))
			break
		}
		r.Status = status
		return
	}
	f.redirectAt = nil // one message for a rule is enough
}

// endRedirect checks and keeps the rule that ends here, if there is one.
func (f *tomlFile) endRedirect() {
	r, at := f.redirect, f.redirectAt
	f.redirect, f.redirectAt = nil, nil
	switch {
	case r == nil || at == nil:
	case !strings.HasPrefix(r.From, "/"):
		f.failAt(at, `add from = "/old"`, "redirect: the rule needs from, a path that begins with a slash")
	case r.To == "" && r.Status != 404 && r.Status != 410:
		f.failAt(at, `add to = "/new"`, "redirect: the rule needs to")
	default:
		if r.Status == 0 {
			r.Status = 301
		}
		r.File, r.Line = f.name, at.Line
		f.cfg.Redirects = append(f.cfg.Redirects, *r)
	}
}
