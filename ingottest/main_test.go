package ingottest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. What a world starts ends with the test that made it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
