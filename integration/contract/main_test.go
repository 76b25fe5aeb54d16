package contract_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what waits for messages ends with its context.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
