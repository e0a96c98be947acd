package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files of --cpuprofile and --memprofile, "" for none.
type profiles struct{ cpu, mem string }

// profileRate is the runtime's own: a sample each 512 KB.
const profileRate = 512 << 10

// No sample is taken unless somebody asks for a profile: large blocks would be
// sampled each, with their stacks (rust-doc: one part in a hundred).
func init() { runtime.MemProfileRate = 0 }

// start begins profiling. stop ends it and writes the files; its error comes
// second to that of the work.
func (p profiles) start() (stop func() error, err error) {
	var cpu *os.File
	if p.cpu != "" {
		if cpu, err = os.Create(p.cpu); err != nil {
			return nil, writeFailure(p.cpu, err)
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			cpu.Close()
			return nil, writeFailure(p.cpu, err)
		}
	}
	if p.mem != "" {
		runtime.MemProfileRate = profileRate
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
			if err := cpu.Close(); err != nil {
				return writeFailure(p.cpu, err)
			}
		}
		if p.mem == "" {
			return nil
		}
		mem, err := os.Create(p.mem)
		if err != nil {
			return writeFailure(p.mem, err)
		}
		runtime.GC() // so that the profile shows what is live
		err = pprof.Lookup("allocs").WriteTo(mem, 0)
		if closeErr := mem.Close(); err == nil {
			err = closeErr
		}
		return writeFailure(p.mem, err)
	}, nil
}
