package handler_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind. A handler waits for all that it starts before it answers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
