package main

import (
	"testing"

	"go.uber.org/goleak"
)

// No run leaves a goroutine behind: its workers end with the last world, or when it is interrupted.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
