package golden_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// failures collects what a test is told.
type failures struct {
	testing.TB
	texts []string
}

func (f *failures) Helper()                           {}
func (f *failures) Errorf(format string, args ...any) { f.Fatalf(format, args...) }
func (f *failures) Fatalf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file.txt")
	must.Write(t, name, "one\ntwo\n")
	f := &failures{TB: t}
	golden.File(f, name, "one\ntwo\n")
	if len(f.texts) > 0 {
		t.Errorf("the same text: %s", f.texts)
	}
	golden.File(f, name, "one\n2\n")
	if len(f.texts) != 1 || !strings.Contains(f.texts[0], "\n-two\n+2\n") || !strings.Contains(f.texts[0], name) {
		t.Errorf("another text: %s", f.texts)
	}
	must.Succeed(t, flag.Set("update", "true"))
	defer func() { _ = flag.Set("update", "false") }()
	golden.File(f, name, "three\n")
	if text, err := os.ReadFile(name); err != nil || string(text) != "three\n" || len(f.texts) != 1 {
		t.Errorf("under -update: %q, %v, %s", text, err, f.texts)
	}
}
