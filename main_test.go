package ingot_test

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

// No example leaves a goroutine behind. Its worlds run the real handlers.
func TestMain(m *testing.M) { goleak.VerifyTestMain(inShop{m}) }

// inShop runs the examples in the folder of the sample shop's pipeline.yaml, because the file
// beside them may be a user's own.
type inShop struct{ *testing.M }

func (s inShop) Run() int {
	text, err := os.ReadFile(sampleshop.Pipeline)
	check(err)
	dir, err := os.MkdirTemp("", "shop")
	check(err)
	defer os.RemoveAll(dir)
	check(os.WriteFile(filepath.Join(dir, "pipeline.yaml"), text, 0o644))
	root, err := os.Getwd()
	check(err)
	check(os.Chdir(dir))
	defer os.Chdir(root) // a working directory cannot be removed everywhere
	return s.M.Run()
}
