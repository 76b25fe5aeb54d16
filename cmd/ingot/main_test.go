package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// TestMain makes the test program the tool itself where a script calls ingot. No command leaves a
// goroutine behind, whether it ends by itself or is interrupted.
func TestMain(m *testing.M) {
	testscript.Main(careful{m}, map[string]func(){"ingot": main})
}

// careful runs the tests, and fails if a goroutine is left.
type careful struct{ *testing.M }

func (c careful) Run() int {
	code := c.M.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}
