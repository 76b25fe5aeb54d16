package main

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no run leaves a goroutine behind. What a mutant's run starts ends with its
// verdict.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
