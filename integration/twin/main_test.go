package twin_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. Both sides of a stream of requests end
// with the stream.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
