package main

import (
	"testing"

	"go.uber.org/goleak"
)

// No command leaves a goroutine behind, whether it comes to its end or is interrupted.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
