package function_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. What a function starts ends with its invocation.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
