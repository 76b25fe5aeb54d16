package scenario

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a script starts ends with its world.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
