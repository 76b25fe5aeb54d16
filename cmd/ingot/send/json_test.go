package send

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, sendJSON, sentReport{})
}
