//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the CPU time that this process has used, user and system, over all threads.
// The emulator is another process, so its time is not included.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails only for invalid arguments, which these are not
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
