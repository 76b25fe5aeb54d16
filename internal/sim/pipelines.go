package sim

import (
	"sync"
	"time"

	"github.com/ingot-events/ingot/pipeline"
)

// retain is how long the world's events live.
const retain = 48 * time.Hour

// declaration is the pipeline of a world. The second epoch brings a new aggregate, as when a live system
// grows one.
func declaration(epoch int64, spread int) pipeline.Spec {
	spec := pipeline.Spec{
		Ingot: 1, Epoch: epoch, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order":  {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}, Retain: retain},
			"parcel": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "PARCEL#{id}", SK: "PARCEL"}, Retain: retain, Mode: "latest", Revision: "rev number"},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"daily": {Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: 24 * time.Hour, Retain: 240 * time.Hour, Spread: spread,
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents", "largest": "max cents"}}}},
			"live": {Since: 1, OnExpire: "subtract", From: map[string]pipeline.FromSpec{
				"order":  {Values: map[string]string{"orders": "count", "revenue": "sum cents"}},
				"parcel": {Values: map[string]string{"parcels": "count"}}}},
		},
	}
	careless := epoch == careless
	if careless {
		spec.Epoch, epoch = 2, 2
	}
	if epoch >= 2 {
		spec.Aggregates["status"] = pipeline.AggregateSpec{Since: 2, By: map[string]string{"merchant": "{merchant}"}, OnExpire: "subtract",
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"revenue": "sum cents"}}, "parcel": {Values: map[string]string{"parcels": "count"}}}}
	}
	if careless {
		spec.Aggregates["hasty"] = pipeline.AggregateSpec{Since: 2, OnExpire: "subtract", From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
	}
	return spec
}

// careless stands for a pipeline that has changed since its second epoch and says it has not.
const careless = -2

// compiled pipelines are immutable, so that many worlds share them.
var compiled sync.Map // [2]int64{epoch, spread} -> *pipeline.Pipeline

func pipelineOf(epoch int64, spread int) *pipeline.Pipeline {
	key := [2]int64{epoch, int64(spread)}
	if p, ok := compiled.Load(key); ok {
		return p.(*pipeline.Pipeline)
	}
	p, err := pipeline.New(declaration(epoch, spread))
	if err != nil {
		panic(err) // a mistake in this file
	}
	compiled.Store(key, p)
	return p
}
