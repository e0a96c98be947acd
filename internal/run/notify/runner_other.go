//go:build !linux

package notify

// hidden is never asked, because names of runners have no machine on this system.
func hidden(int) bool { return true }
