//go:build !linux

package githook

// freeBytes is not implemented on this system.
func freeBytes(string) (free int64, ok bool) { return 0, false }
