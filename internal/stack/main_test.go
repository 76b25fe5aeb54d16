package stack

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: a deployment has none of its own.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
