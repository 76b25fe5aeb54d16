package main

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind, because the bench runs the real handlers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
