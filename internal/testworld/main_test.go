package testworld

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: a world has none of its own.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
