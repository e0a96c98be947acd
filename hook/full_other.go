//go:build !linux

package hook

// freeBytes is not asked for on this system.
func freeBytes(string) (free int64, ok bool) { return 0, false }
