package main

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no run leaves a goroutine behind. The workers of a run end with the last
// world, or when the run is interrupted.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
