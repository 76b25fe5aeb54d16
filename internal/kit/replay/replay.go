// Package replay gives random tests their seeds, and says how to run a test with the same seed
// again. It is for tests alone.
package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Seed returns the seed of a random test: INGOT_SEED, or else fixed. If fixed is 0, each run has
// another seed. The test logs how to replay it, which is shown if it fails.
func Seed(t testing.TB, fixed uint64) uint64 {
	t.Helper()
	seed := Seeds(t, fixed, 1)[0]
	t.Logf("replay with %s", Command(t, seed))
	return seed
}

// Seeds returns the seeds of a test that runs n times: INGOT_SEED alone, or n seeds in a row from
// fixed on. If fixed is 0, each run of the test has others. A run that fails must tell its
// [Command].
func Seeds(t testing.TB, fixed uint64, n int) []uint64 {
	t.Helper()
	if text := os.Getenv("INGOT_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("INGOT_SEED is %q; write the number that a test that failed has printed", text)
		}
		return []uint64{seed}
	}
	if fixed == 0 {
		fixed = uint64(time.Now().UnixNano())
	}
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = fixed + uint64(i)
	}
	return seeds
}

// Command returns the command that runs the test, with all its subtests, with this seed.
func Command(t testing.TB, seed uint64) string {
	name, _, _ := strings.Cut(t.Name(), "/")
	return fmt.Sprintf("INGOT_SEED=%d go test -run '^%s$' %s", seed, name, folder)
}

// folder is the package under test, from the root of the module. A test runs in its package's
// folder.
var folder = func() string {
	at, err := os.Getwd()
	if err != nil {
		return "."
	}
	for root := at; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			below, err := filepath.Rel(root, at)
			if err != nil {
				return "."
			}
			return "./" + filepath.ToSlash(below)
		}
		if root == filepath.Dir(root) {
			return "."
		}
	}
}()
