package local

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
)

// Only a version that go can download is written into go.mod. A build of a checkout has a version
// that go has made of the commit, or none.
func TestReleaseOf(t *testing.T) {
	for _, tt := range []struct {
		version, sum, want string
	}{
		{"(devel)", "", ""},
		{"v1.2.3", "", "v1.2.3"},
		{"v1.2.3-rc.1", "", "v1.2.3-rc.1"},
		{"v1.2.3+dirty", "", ""},
		{"v0.0.0-20260301090000-0123456789ab", "", ""},        // no tag before the commit
		{"v1.2.4-0.20260301090000-0123456789ab", "", ""},      // a tag before it
		{"v1.2.3-rc.1.0.20260301090000-0123456789ab", "", ""}, // a tag of a candidate before it
		{"v0.0.0-20260301090000-0123456789ab", "h1:sum", "v0.0.0-20260301090000-0123456789ab"},
	} {
		must.Equal(t, releaseOf(debug.Module{Version: tt.version, Sum: tt.sum}), tt.want)
	}
	must.Equal(t, releaseOf(debug.Module{Version: "v0.0.0", Replace: &debug.Module{Path: "../ingot"}}), "")
}

// A program built from a checkout uses that checkout.
func TestCheckout(t *testing.T) {
	root := checkout()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || !strings.HasPrefix(string(text), "module "+scaffold.Ingot+"\n") {
		t.Errorf("checkout %q: %v", root, err)
	}
}
