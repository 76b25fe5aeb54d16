package examine

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/explain"
)

func TestJSON(t *testing.T) {
	commandtest.Documented(t, checkJSON, check.Report{})
	commandtest.Documented(t, explainJSON, explain.Report{})
	commandtest.Documented(t, costJSON, cost.Report{})
}
