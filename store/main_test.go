package store_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. A call of the store waits for all that it starts before it
// returns.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
