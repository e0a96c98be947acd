//go:build !linux

package testkit

// InMemory makes the temporary directories of this process's tests in memory.
// It does so on Linux only.
func InMemory() {}
