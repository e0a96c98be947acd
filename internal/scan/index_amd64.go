package scan

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveVectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

//go:noescape
func indexAVX2(text *byte, blocks int, base uint32, at *uint32, odd *uint64) int

// classify is classifyGo with vector instructions where the processor has
// them.
func classify(text []byte, base uint32, at []uint32, odd []uint64) int {
	if len(odd) == 0 {
		return 0
	}
	if !haveVectors {
		return classifyGo(text, base, at, odd)
	}
	_, _ = text[len(odd)*64-1], at[len(odd)*64+7]
	return indexAVX2(unsafe.SliceData(text), len(odd), base, unsafe.SliceData(at), unsafe.SliceData(odd))
}
