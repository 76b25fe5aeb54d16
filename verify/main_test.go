package verify_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: a scan that is given up ends with its reader.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
