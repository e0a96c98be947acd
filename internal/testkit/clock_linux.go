package testkit

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the processor time that f takes. On a busy machine, elapsed
// time says nothing about f.
func CPUTime(f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	f()
	return threadTime() - before
}

func threadTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		panic(err) // impossible: the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
