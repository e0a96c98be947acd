package html

import "golang.org/x/sys/cpu"

// haveVectors reports whether classify uses vector instructions: AVX2, which
// nearly all processors since 2013 have.
var haveVectors = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT
