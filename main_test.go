package ingot_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No example leaves a goroutine behind: its worlds run the real handlers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
