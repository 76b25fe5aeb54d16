package pass

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
	"github.com/ingot-events/ingot/internal/tool/verified"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, verifyJSON, verified.Report{})
	commandtest.Documented(t, rebuildJSON, Rebuilt{})
	commandtest.Documented(t, partsJSON, partsPut{})
	commandtest.Documented(t, mendJSON, mended{})
}
