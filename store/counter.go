package store

import (
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/put"
)

// counter is a store as Ingot's own functions and verify use it. Package internal/table/inside
// hands it out. Its methods are not part of what the library offers.
type counter struct {
	*put.Stages
	*count.Counter
}

func init() {
	lanes.CounterOf = func(st any) any { return counter{st.(*Store).put, st.(*Store).count} }
}
