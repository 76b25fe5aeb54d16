package store_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a call of the store starts, it joins before it returns.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
