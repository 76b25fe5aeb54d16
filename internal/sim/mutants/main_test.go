package main

import (
	"testing"

	"go.uber.org/goleak"
)

// No run leaves a goroutine behind: each mutant's ends with its verdict.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
