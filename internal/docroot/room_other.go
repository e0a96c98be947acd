//go:build !linux

package docroot

// NewBuffer returns an empty buffer for the files of one worker and what
// gives it back, when nothing that aliases it is used any more.
func NewBuffer() (buf []byte, free func()) { return make([]byte, 0, FirstBuffer), func() {} }
