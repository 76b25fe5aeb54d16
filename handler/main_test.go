package handler_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: what a handler starts, it joins before it answers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
