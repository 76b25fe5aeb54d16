package scenario

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. What a script starts ends with its world.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
