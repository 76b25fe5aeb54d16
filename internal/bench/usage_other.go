//go:build !unix

package main

import (
	"os"
	"time"
)

// processorTime returns 0, because the time is unknown on this system. The emulator does not run
// here either.
func processorTime() time.Duration { return 0 }

// peakOf returns 0, because the memory is unknown on this system.
func peakOf(*os.ProcessState) float64 { return 0 }
