package config

import (
	"errors"
	"strconv"
)

// Error is one fault of the configuration.
type Error struct {
	// Name is the file, the variable or the flag that holds the fault.
	Name string
	// Line and Column count from 1, Column in bytes. Both are 0 outside files.
	Line, Column int
	// Msg says what is wrong, Hint what to write instead, when that is known.
	Msg, Hint string
}

// Error returns "sitelink.toml:3:1: message", or "--jobs: message".
func (e *Error) Error() string {
	s := e.place()
	if e.Column > 0 {
		s += ":" + strconv.Itoa(e.Column)
	}
	return s + ": " + e.Msg
}

func (e *Error) place() string {
	if e.Line == 0 {
		return e.Name
	}
	return e.Name + ":" + strconv.Itoa(e.Line)
}

// hintError is a refused value with advice.
type hintError struct{ msg, hint string }

func (e *hintError) Error() string { return e.msg }

func hintOf(err error) string {
	var h *hintError
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}
