package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/pipeline"
)

// Total is the estimated cost of one aggregate. The values of `by` and the lengths of its numbers
// are not known.
type Total struct {
	Name       string   `json:"name"`
	Since      int64    `json:"since"`
	From       []string `json:"from"` // the event types that feed it
	Spread     int      `json:"spread"`
	Marks      int      `json:"marks"`      // the most marks of one item: if all partitions touched it for 72 hours
	Bytes      int      `json:"bytes"`      // about how large such an item is
	Units      int      `json:"units"`      // write units of one update of it
	FreshUnits int      `json:"freshUnits"` // write units of one update of a new item
	// Rank is the value that the totals are ranked by, RankShards the partitions of each list, and
	// RankWithin the values of by that the totals of a list share. They are left out if the totals
	// are not ranked. Units and FreshUnits then include the index.
	Rank       string   `json:"rank,omitempty"`
	RankShards int      `json:"rankShards,omitempty"`
	RankWithin []string `json:"rankWithin,omitempty"`
	// MovedBy is put if the put of an event moves the totals, in its transaction: Units and
	// FreshUnits are what an update costs there. The stream then leaves marks only if something
	// expires.
	MovedBy      string `json:"movedBy,omitempty"`
	bounded      bool
	SpreadForOne int `json:"spreadForOne"` // the least spread that makes Units 1; 0: none, or it is 1 already
}

// outgrown reports the totals that would outgrow their items. DynamoDB would then refuse every
// update of them.
func (r *Report) outgrown(p *pipeline.Pipeline, at rules.Places) {
	for _, t := range r.Totals {
		if t.Bytes <= event.MaxItem {
			continue
		}
		def, _ := p.Definition(t.Name)
		spread := estimate.SpreadForOne(estimate.Bytes(def, nil), r.Partitions)
		if spread == 0 || spread > maxSpread {
			spread = maxSpread
		}
		instead := spreadTo(spread)
		switch {
		case def.Rank.Value != "":
			instead = t.Name + " without rank, and with " + instead
		case !spreads(def):
			instead = t.Name + " without atLeast, and with " + instead
		}
		at.Mistake("total-size", at.Of("aggregates."+t.Name, "spread"),
			fmt.Sprintf("with %d partitions a total of %s that all of them touch takes %d bytes, and an item holds %d: its updates would "+
				"be refused for good", r.Partitions, t.Name, t.Bytes, event.MaxItem),
			instead)
	}
}

// compressed warns of types whose payloads are compressed without any saving, as far as the sample
// shows.
func (r *Report) compressed(at rules.Places) {
	if r.Events == nil {
		return
	}
	for _, c := range r.Events.Compress {
		if c.Saves > 0 {
			continue
		}
		at.Warn("compress", at.Of("events."+c.Type, "compress"),
			fmt.Sprintf("compress saves no write unit for any event of %s in %s, which has %d of them", c.Type, r.Events.File, c.Of),
			"no compress, unless larger payloads come")
	}
}

// maxSpread is the largest spread that pipeline.yaml accepts.
const maxSpread = 1000

func totals(p *pipeline.Pipeline, counting aggregate.Counting, partitions int) []Total {
	list, spec := []Total{}, p.Describe().Spec
	for _, def := range p.Definitions() {
		bare := estimate.Bytes(def, nil)
		byPut := def.MovedBy == aggregate.Put
		t := Total{Name: def.Name, Since: def.Since, From: slices.Sorted(maps.Keys(spec.Aggregates[def.Name].From)), Spread: def.Spread,
			Marks: estimate.Marks(def, counting, partitions)}
		if byPut {
			t.MovedBy = def.MovedBy.String()
			t.bounded = def.Bounds != nil
			if !slices.ContainsFunc(t.From, func(typ string) bool { return spec.Events[typ].Retain > 0 }) {
				t.Marks = 0
			}
		}
		t.Bytes = bare + t.Marks*estimate.MarkBytes
		t.Units, t.FreshUnits = estimate.Units(def, t.Bytes, counting),
			estimate.Units(def, bare+min(1, t.Marks)*estimate.MarkBytes, counting)
		if t.Rank = def.Rank.Value; t.Rank != "" {
			t.RankShards, t.RankWithin = def.Rank.Shards, def.Rank.Within
		} else if counting == aggregate.Marks && t.Units > 1 && !byPut {
			t.SpreadForOne = estimate.SpreadForOne(bare, partitions)
		}
		list = append(list, t)
	}
	return list
}
