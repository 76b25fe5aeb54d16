package rebuild

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, rebuildJSON, Rebuilt{})
	commandtest.Documented(t, partsJSON, partsPut{})
	commandtest.Documented(t, mendJSON, mended{})
}
