package esm_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a mapping polls with ends with its context.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
