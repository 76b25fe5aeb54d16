//go:build !unix

package main

import "time"

// processorTime returns 0, because the time is unknown on this system. The emulator does not run
// here either.
func processorTime() time.Duration { return 0 }
