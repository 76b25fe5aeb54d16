// Package slow keeps tests that take long out of a plain go test ./..., which then takes a minute
// or two. They run where INGOT_TEST_ALL is 1, as it is in make test-all and in CI. It is for tests
// alone.
package slow

import (
	"os"
	"testing"
)

// All reports whether the tests that take long are to run too.
func All() bool { return os.Getenv("INGOT_TEST_ALL") == "1" && !testing.Short() }

// Number returns how many rounds a test makes: few, or all if the tests that take long are to run.
func Number(few, all int) int {
	if All() {
		return all
	}
	return few
}

// Test skips a test that takes long, unless all are to run. What says what takes the time.
func Test(t testing.TB, what string) {
	t.Helper()
	if !All() {
		t.Skip("slow: " + what + "; make test-all runs it")
	}
}
