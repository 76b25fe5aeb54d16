package rows

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// Tables sends requests to the two tables.
type Tables struct {
	Client      tables.Client
	Pipeline    *pipeline.Pipeline
	Events      string
	Aggregates  string
	concurrency int // 0: as the pace allows
	Env         env.Env
	Pace        pace
}

// Open checks the configuration. It sends no request.
func Open(c tables.Config) (*Tables, error) {
	switch {
	case c.Client == nil:
		return nil, errors.New("store: tables.Config.Client is nil: give it a DynamoDB client")
	case c.Pipeline == nil:
		return nil, errors.New("store: tables.Config.Pipeline is nil: load one with pipeline.Load")
	case c.Events == "" && c.Aggregates == "":
		return nil, errors.New("store: Config names no table: set Events, Aggregates or both")
	case len(c.TokenKey) > 0 && len(c.TokenKey) < 16:
		return nil, errors.New("store: tables.Config.TokenKey has less than 16 bytes, which could be guessed: give it 16 or more")
	case c.Events != "" && c.Aggregates == "" && movesByPut(c.Pipeline):
		return nil, errors.New("store: tables.Config.Aggregates names no table, and the pipeline has totals that are movedBy: put: " +
			"set it to the aggregates table")
	case c.Events != "" && c.Aggregates == "" && len(c.Pipeline.Migrations()) > 0:
		return nil, errors.New("store: tables.Config.Aggregates names no table, and the pipeline has types that are migrated: set it to the " +
			"aggregates table, which says whether they have turned")
	case c.Concurrency < 0:
		return nil, errors.New("store: tables.Config.Concurrency is negative: leave it 0 to let it follow the table")
	}
	if c.Aggregates != "" && c.Counting == aggregate.Receipts {
		if err := c.Pipeline.FitsReceipts(); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	t := &Tables{Client: c.Client, Pipeline: c.Pipeline, Events: c.Events, Aggregates: c.Aggregates, concurrency: c.Concurrency,
		Env: c.Env.Real()}
	t.Pace.limit = firstPace
	return t, nil
}

// movesByPut reports whether a pipeline has totals that move with the put.
func movesByPut(p *pipeline.Pipeline) bool {
	return slices.ContainsFunc(p.Definitions(), func(d *aggregate.Definition) bool { return d.MovedBy == aggregate.Put })
}

// Parallel returns how many requests a call has in flight if it does not follow the pace.
func (s *Tables) Parallel() int {
	if s.concurrency == 0 {
		return firstPace
	}
	return s.concurrency
}
