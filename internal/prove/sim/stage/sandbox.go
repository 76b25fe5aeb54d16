package stage

import (
	"context"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Origin is the time when every world begins.
var Origin = time.Date(2031, 5, 5, 6, 0, 0, 0, time.UTC)

// Deploy makes a deployment that lives by the clock of the world.
func (w *World) Deploy(engine embedded.Config, of stack.Config) (*testworld.World, error) {
	return testworld.New(context.Background(), testworld.Config{Engine: engine, Stack: of,
		Env: func(*testworld.Clock) env.Env { return w.Env(w.Rng.Float64, 0) }})
}

// Tables is what a process is made from.
func (w *World) Tables(client tables.Client, p *pipeline.Pipeline) tables.Config {
	return tables.Config{Client: client, Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates, Env: w.Env(w.Rng.Float64, 0)}
}

// Poll runs one round of a mapping. With the chance forgets, its success is forgotten.
func (w *World) Poll(stream *esm.Stream, forgets float64) {
	rounds, _, err := stream.Due(context.Background())
	w.Must(err)
	before := stream.Checkpoint()
	for _, round := range rounds {
		round.Do(context.Background())
	}
	if !w.Calm && w.Chance(forgets) {
		stream.Restore(before)
	}
}
