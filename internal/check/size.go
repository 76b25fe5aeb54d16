package check

import (
	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/estimate"
	"github.com/ingot-events/ingot/pipeline"
)

// Total is what one aggregate costs, estimated: the values of `by` are not known, nor how long its numbers get.
type Total struct {
	Name         string   `json:"name"`
	Since        int64    `json:"since"`
	From         []string `json:"from"` // the event types that feed it
	Spread       int      `json:"spread"`
	Marks        int      `json:"marks"`        // most that one item carries, touched by all partitions for 72 hours
	Bytes        int      `json:"bytes"`        // of such an item, about
	Units        int      `json:"units"`        // write units of one update of it
	FreshUnits   int      `json:"freshUnits"`   // write units of one update of a new item
	SpreadForOne int      `json:"spreadForOne"` // the least spread that brings units to 1; 0: it is 1, or no spread does
}

func totals(p *pipeline.Pipeline, counting aggregate.Counting, partitions int) []Total {
	list := []Total{}
	for _, def := range p.Definitions() {
		bare := estimate.Bytes(def, nil)
		t := Total{Name: def.Name, Since: def.Since, From: p.Feeds(def.Name), Spread: def.Spread, Marks: estimate.Marks(def, counting, partitions)}
		t.Bytes = bare + t.Marks*estimate.MarkBytes
		t.Units, t.FreshUnits = estimate.Units(t.Bytes, counting), estimate.Units(bare+min(1, t.Marks)*estimate.MarkBytes, counting)
		if counting == aggregate.Marks && t.Units > 1 {
			t.SpreadForOne = estimate.SpreadForOne(bare, partitions)
		}
		list = append(list, t)
	}
	return list
}
