package docs

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. The handlers that the tests run end with
// their invocations.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
