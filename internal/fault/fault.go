// Package fault gives an error a hint: what the user can do about it.
//
// Packages below the command return these errors; the command prints the text
// and the hint on lines of their own and chooses the exit code. An error of
// type [Usage] means that the command line, the environment or a file that the
// user wrote is wrong; every other error means that the work could not be done.
package fault

import "errors"

// Error is a failure with a hint.
type Error struct {
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// New returns err with a hint; err must not be nil.
func New(err error, hint string) error { return &Error{Err: err, Hint: hint} }

// UsageError is a fault of what the user wrote, with a hint or "".
type UsageError struct{ Msg, Hint string }

func (e *UsageError) Error() string { return e.Msg }

// Usage returns a [UsageError].
func Usage(msg, hint string) error { return &UsageError{Msg: msg, Hint: hint} }

// Hint returns the hint of an error and whether the error is a fault of what
// the user wrote.
func Hint(err error) (hint string, usage bool) {
	var u *UsageError
	var e *Error
	switch {
	case errors.As(err, &u):
		return u.Hint, true
	case errors.As(err, &e):
		return e.Hint, false
	}
	return "", false
}

// Flatten returns the errors that were joined into err, or err itself.
func Flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, Flatten(e)...)
		}
		return all
	}
	return []error{err}
}
