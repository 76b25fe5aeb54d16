package stack

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. A deployment has none of its own.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
