package crash

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: those that pump events, invoke and watch processes end with the last kill.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
