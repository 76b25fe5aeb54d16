package sim

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a world starts ends with the world, whatever crashed in it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
