package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal tells whether f is a terminal.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// wantsColor decides on colour for one stream. The user's --color comes first,
// then the conventions: NO_COLOR (https://no-color.org) off with any value but
// the empty one, CLICOLOR_FORCE on with any but 0, TERM=dumb off, and at last
// whether the stream is a terminal.
func wantsColor(when string, isTTY bool, getenv func(string) string) bool {
	switch when {
	case "always":
		return true
	case "never":
		return false
	}
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return isTTY && getenv("TERM") != "dumb"
}
