package embedded_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. A goroutine that waits for messages ends
// with its context.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
