//go:build !unix

package main

import "time"

// processorTime is not known here; the emulator does not run here either.
func processorTime() time.Duration { return 0 }
