package docs

import (
	"testing"

	"go.uber.org/goleak"
)

// No test leaves a goroutine behind: the handlers that the documents are held to end with their invocations.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
