package inject

import (
	"slices"
	"strings"
)

// themes is the table of Hugo themes that leave a template to their users,
// called at the end of the head. A stub is named as the theme calls it, below
// layouts/partials or layouts/_partials. Users add rows by [[templates.theme]].
var themes = []Theme{
	{"ananke", "head-additions.html"},
	{"bearblog", "custom_head.html"},
	{"beautifulhugo", "head_custom.html"},
	{"blowfish", "extend-head.html"},
	{"book", "docs/inject/head.html"},
	{"coder", "head/extensions.html"},
	{"congo", "extend-head.html"},
	{"docsy", "hooks/head-end.html"},
	{"geekdoc", "head/custom.html"},
	{"hextra", "custom/head-end.html"},
	{"paged", "head_custom.html"},
	{"papermod", "extend_head.html"},
	{"relearn", "custom-header.html"},
	{"stack", "head/custom.html"},
	{"terminal", "extended_head.html"},
}

// Themes returns the table that is built in.
func Themes() []Theme { return slices.Clone(themes) }

// stubOf returns the stub of a theme, by the name of its directory or the path
// of its module; "" when no row names it. own rows go first.
func stubOf(theme string, own []Theme) string {
	words := strings.Split(strings.ToLower(theme), "/")
	for _, rows := range [][]Theme{own, themes} {
		for _, word := range slices.Backward(words) {
			for _, row := range rows {
				if plainTheme(row.Name) == plainTheme(word) {
					return row.Stub
				}
			}
		}
	}
	return ""
}

// plainTheme takes off what the names of themes share: hugo-theme-stack is
// stack.
func plainTheme(name string) string {
	name = strings.ToLower(name)
	for _, prefix := range []string{"gohugo-theme-", "hugo-theme-", "hugo-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, suffix := range []string{"-hugo-theme", "-theme"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}
