package twin_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: both sides of a stream of requests end with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
