package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

// profiles are the files of --cpuprofile and --memprofile, "" for none.
type profiles struct{ cpu, mem string }

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
