package lag_test

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/lag"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// Where only the tables are known, nobody can be asked.
func TestWithoutAFunction(t *testing.T) {
	at, err := lag.Of(&target.Target{Kind: target.KindEnvironment, EventsTable: "events"}, pause.Pauser{}, 0).Counted(t.Context())
	if err == nil || !strings.Contains(err.Error(), "set INGOT_STREAMS_FUNCTION") || !at.IsZero() {
		t.Error(at, err)
	}
}
