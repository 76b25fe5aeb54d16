package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

var nextYear = regexp.MustCompile(`(?m)^next_year\(\) \{ INGOT_TEST_CLOCK_AHEAD=\S+ go test -count=1 (.+); \}$`)

// TestNextYearReachesEveryPackage shows that CI sets the clock ahead for every package whose tests
// support that, and for no other.
func TestNextYearReachesEveryPackage(t *testing.T) {
	script := must.Read(t, "../../../.ci/run")
	m := nextYear.FindSubmatch(script)
	if m == nil {
		t.Fatal(".ci/run has no function next_year of the form that this test reads")
	}
	runs := strings.Fields(string(m[1]))
	var reads []string
	err := filepath.WalkDir("../../..", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder := "./" +
			filepath.ToSlash(strings.TrimPrefix(filepath.Dir(name), filepath.Join("..", "..", "..")+string(filepath.Separator)))
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, "_test.go") || folder == "./internal/prove/lint" || slices.Contains(reads, folder) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil && (strings.Contains(string(text), "INGOT_TEST_CLOCK_AHEAD") ||
			strings.Contains(string(text), module+"internal/kit/testclock\"")) {
			reads = append(reads, folder)
		}
		return err
	})
	must.Succeed(t, err)
	slices.Sort(reads)
	must.Match(t, runs, reads)
}
