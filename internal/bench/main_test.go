package main

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what is measured runs the real handlers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
