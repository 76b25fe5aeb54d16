// Package golden compares what a test makes with a file that is committed. [File] is the entry
// point. With the flag -update of go test, it writes the files again instead. Only tests use it.
package golden

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// Update reports whether files are to be written again.
func Update() bool { return *update }

// File compares got with the file of that name, byte by byte. Under -update it writes the file.
func File(t testing.TB, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; go test with -update writes it, then read what it wrote", err)
	}
	if string(want) != got {
		t.Errorf("%s is not what is made now (- is the file, + is now); go test with -update writes it anew, then read the difference:\n%s",
			name, diff.Diff("the file", want, "now", []byte(got)))
	}
}
