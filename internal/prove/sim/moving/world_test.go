package moving

import (
	"testing"

	"github.com/ingot-events/ingot/internal/prove/sim/stage/seeds"
)

// TestWorlds lives worlds.
func TestWorlds(t *testing.T) { seeds.Live(t, Live, 5, 200) }
