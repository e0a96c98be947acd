package text

import "errors"

// Error is a failure with a hint: what the user can do about it. Packages below the command return it; the command
// prints text and hint on lines of their own, and chooses the exit code.
type Error struct {
	Err  error
	Hint string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// WithHint returns err with a hint; err must not be nil.
func WithHint(err error, hint string) error { return &Error{Err: err, Hint: hint} }

// UsageError means that the command line, the environment or a file that the user wrote is wrong, with a hint or "". Every
// other error means that the work could not be done.
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
