package operate

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
	"github.com/ingot-events/ingot/internal/tool/status"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, statusJSON, status.Report{})
}
