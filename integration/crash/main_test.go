package crash

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. Those that pump events, invoke and watch
// processes end with the last kill.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
