package demo

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. What the demo starts ends with its run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
