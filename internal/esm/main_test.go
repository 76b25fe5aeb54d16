package esm_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that no test leaves a goroutine behind. The goroutines of a mapping end with its
// context.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
