package demo

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what the demo starts ends with its run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
