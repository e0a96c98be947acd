package config

import "strconv"

// Error is one fault of the configuration.
type Error struct {
	// Name is the file, the variable or the flag that has the fault.
	Name string
	// Line and Column count from 1, Column in bytes. Both are 0 outside files.
	Line, Column int
	// Msg describes the fault. Hint is what to write instead, if that is known.
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
