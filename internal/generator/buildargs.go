package generator

import (
	"slices"
	"strings"
)

// given returns the value of the last of args that is one of flags: "--flag
// value", "--flag=value", or for one letter "-fvalue".
func given(args []string, flags ...string) (value string, ok bool) {
	for i, arg := range args {
		name, after, joined := strings.Cut(arg, "=")
		switch {
		case slices.Contains(flags, name) && joined:
			value, ok = after, true
		case slices.Contains(flags, arg) && i+1 < len(args):
			value, ok = args[i+1], true
		default:
			for _, f := range flags {
				if len(f) == 2 && len(arg) > 2 && strings.HasPrefix(arg, f) {
					value, ok = strings.TrimPrefix(arg[2:], "="), true
				}
			}
		}
	}
	return value, ok
}

// rebased is s for a build with these arguments: an address among them counts
// more than the configuration.
func (s Settings) rebased(args []string, flags []string) Settings {
	base, ok := given(args, flags...)
	if !ok || len(s.Roots) != 1 {
		return s
	}
	if old := s.Roots[0].Base; strings.HasPrefix(base, "/") && old != "" && !strings.HasPrefix(old, "/") {
		scheme, rest, _ := strings.Cut(old, "://") // only the path is another
		host, _, _ := strings.Cut(rest, "/")
		base = joinBase(scheme+"://"+host, base)
	}
	s.Roots = []Root{{Base: tidyBase(base)}}
	return s
}

// Destination returns the argument by which somebody chooses where the site is
// built, "" for none.
func (p Project) Destination(args []string) string {
	if r := rowOf(p.Generator); r != nil {
		for _, f := range r.outFlags {
			if _, ok := given(args, f); ok {
				return f
			}
		}
	}
	return ""
}

// Silenced returns the argument by which somebody hides the warnings that a
// strict build has to see, "" for none.
func (p Project) Silenced(args []string) string {
	if r := rowOf(p.Generator); r != nil {
		for _, f := range r.quietFlags {
			if slices.Contains(args, f) || slices.Contains(args, f+"=true") {
				return f
			}
		}
	}
	return ""
}
