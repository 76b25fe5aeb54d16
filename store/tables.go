package store

import (
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/pipeline"
)

// tables sends requests to the two tables.
type tables struct {
	client      Client
	pipeline    *pipeline.Pipeline
	events      string
	aggregates  string
	concurrency int // 0: as the pace allows
	env         env.Env
	pace        pace
}

// parallel returns how many requests a call has in flight if it does not follow the pace.
func (s *tables) parallel() int {
	if s.concurrency == 0 {
		return firstPace
	}
	return s.concurrency
}
