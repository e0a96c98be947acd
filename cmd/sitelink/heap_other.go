//go:build !(linux && (amd64 || arm64))

package main

// reserveHeap does nothing: other systems choose the size of pages themselves.
func reserveHeap() {}
