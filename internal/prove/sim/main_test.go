package sim

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. What a world starts ends with the world,
// whatever crashed in it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
