package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
)

const scripts = "../testdata"

func TestScenarios(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txt"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Run(os.DirFS(scripts), string(text))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			golden.File(t, file, got)
		})
	}
}
