package read

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
	"github.com/ingot-events/ingot/internal/tool/totals"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, queryJSON, Answer{})
	commandtest.Documented(t, getJSON, GotItem{})
	commandtest.Documented(t, totalsJSON, totals.View{})
}
