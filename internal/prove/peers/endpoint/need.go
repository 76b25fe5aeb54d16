package endpoint

import (
	"errors"
	"os"
	"testing"
)

// Required reports whether tests fail where something is missing. Otherwise they are skipped.
func Required() bool { return os.Getenv(RequiredVariable) == "1" }

// Absent ends a test for which something is missing.
func Absent(t testing.TB, what any) {
	t.Helper()
	if Required() {
		t.Fatal(what)
	}
	t.Skip(what)
}

// Need ends a test if there is an error. A [*Missing] says that something is missing.
func Need(t testing.TB, err error) {
	t.Helper()
	if missing := (*Missing)(nil); errors.As(err, &missing) {
		Absent(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}
