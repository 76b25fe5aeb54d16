package main

import (
	"testing"

	"go.uber.org/goleak"
)

// No command leaves a goroutine behind, whether it ends by itself or is interrupted.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
