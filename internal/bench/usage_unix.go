//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is what this process has used, user and system, over all threads. The emulator is another
// process and not in it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails only for arguments that are not these
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
