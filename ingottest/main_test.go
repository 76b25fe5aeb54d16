package ingottest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a world of a user's test starts ends with that test.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
