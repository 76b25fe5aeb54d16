// Package must ends a test at a call that has to succeed and did not. It is for tests alone.
package must

import "testing"

// Succeed ends the test if there is an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
