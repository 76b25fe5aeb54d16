package sim

import (
	"time"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/pipeline"
)

// attributes are the declared attributes of every event. There is one of each kind, and one that
// some events lack.
var attributes = map[string]string{"amount": "cents", "present": "gift", "buyer": "customer"}

// declaration returns the pipeline of a world. The second epoch adds an aggregate, as when a live
// system grows.
func declaration(version int64, spread int, retain, totals time.Duration) pipeline.Spec {
	spec := pipeline.Spec{
		Ingot: 1, Epoch: version, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}, Retain: retain, Attributes: attributes,
				Indexes: map[string]pipeline.IndexSpec{"GSI1": {PK: "CUSTOMER#{customer}", SK: "{merchant}#{id}"}}},
			"parcel": {ID: "{id | strip | lower}", At: "{at}", Retain: retain,
				Key:        pipeline.KeySpec{PK: "PARCEL#{id | strip | lower}", SK: "PARCEL"},
				Attributes: attributes, Mode: "latest", Revision: "rev number\ncents number",
				Indexes: map[string]pipeline.IndexSpec{"GSI1": {PK: "CUSTOMER#{customer}", SK: "{@at}"},
					"GSI2": {PK: "{merchant}", SK: "{@type}"}}},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"daily": {Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: 24 * time.Hour,
				Retain: totals, Spread: spread,
				From: map[string]pipeline.FromSpec{"order": {Where: "cents >= 0 or gift = true",
					Values: map[string]string{"orders": "count", "revenue": "sum cents", "largest": "max cents", "smallest": "min cents",
						"gifts": "count where gift = true", "points": "sum rev?"}}}},
			"live": {Since: 1, OnExpire: "subtract", From: map[string]pipeline.FromSpec{
				"order":  {Values: map[string]string{"orders": "count", "revenue": "sum cents"}},
				"parcel": {Where: "cents < 900 or not exists customer", Values: map[string]string{"parcels": "count"}}}},
		},
	}
	switch version {
	case hasty:
		spec.Epoch = 2
		spec.Aggregates["hasty"] = pipeline.AggregateSpec{Since: 2, OnExpire: "subtract",
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
	case letGo:
		spec.Epoch = 2
		delete(spec.Aggregates, "live")
	case takenOut:
		spec.Epoch = 3
	case asBefore:
		spec.Epoch = 4
	}
	if spec.Epoch >= 2 && version != takenOut {
		spec.Aggregates["status"] = pipeline.AggregateSpec{Since: 2, By: map[string]string{"merchant": "{merchant}"}, OnExpire: "subtract",
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"revenue": "sum cents"}},
				"parcel": {Values: map[string]string{"parcels": "count", "revisions": "sum rev? where rev > 2"}}}}
	}
	return spec
}

// These are versions of the pipeline besides those of epochs 1 and 2.
const (
	hasty    = -1 - iota // epoch 2 with one more aggregate, which was added without a new epoch
	letGo                // epoch 2 with one aggregate fewer, which was removed without a new epoch
	takenOut             // epoch 3: the aggregate of epoch 2 is taken out
	asBefore             // epoch 4: it is back as it was
)

// monthly returns an aggregate of worlds whose plan has Values. It has so many histograms that some
// updates must be cut.
func monthly(spread int, retain time.Duration) pipeline.AggregateSpec {
	return pipeline.AggregateSpec{Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: pipeline.Month,
		Retain: retain, Spread: spread,
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "last": "newest customer?",
			"first": "oldest cents",
			"ids":   "distinct id", "a": "histogram cents", "b": "histogram cents", "c": "histogram cents", "d": "histogram cents",
			"e": "histogram cents"}}}}
}

// sizes is another aggregate of these worlds. What it counts is taken back.
var sizes = pipeline.AggregateSpec{Since: 1, OnExpire: "subtract", From: map[string]pipeline.FromSpec{
	"order": {Values: map[string]string{"sizes": "histogram cents"}}, "parcel": {Values: map[string]string{"sizes": "histogram cents"}}}}

// leaders and tallest are ranked aggregates of these worlds. In one, totals move up and down. In
// the other, they only move up, and nothing but its own condition guards what is newest. It has a
// list of days for each merchant.
var (
	leaders = pipeline.AggregateSpec{Since: 1, By: map[string]string{"merchant": "{merchant}"}, OnExpire: "subtract",
		Rank: pipeline.RankSpec{Value: "revenue", Shards: model.RankShards},
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"revenue": "sum cents"}},
			"parcel": {Values: map[string]string{"parcels": "count"}}}}
	tallest = pipeline.AggregateSpec{Since: 1, By: map[string]string{"day": "{@at | day}", "merchant": "{merchant}"},
		Rank: pipeline.RankSpec{Value: "most", Within: []string{"merchant"}},
		From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"most": "max cents", "last": "newest customer?"}}}}
)

// edition holds what distinguishes the pipelines of the worlds.
type edition struct {
	version int64
	spread  int
	retain  time.Duration // how long events live
	longer  time.Duration // how long those of the notice and later live
	notice  time.Time     // events of this time and later live longer; zero if nothing changes
	secret  string        // the secret of hmac; empty if nothing uses it
	values  bool          // see [Plan.Values]
	// patterns is [Plan.Patterns].
	patterns bool
	parts    int64 // see [Plan.Parts]
	atomic   bool  // see [Plan.Atomic]
	claims   bool  // see [Plan.Claims]
	packed   int64 // see [Plan.Packed]
	put      int64 // see [Plan.Put]
	ceiling  bool  // see [Plan.Ceiling]
	offload  int64 // see [Plan.Offload]
	arrays   bool  // see [Plan.Arrays]
	requires bool  // see [Plan.Requires]
	ends     bool  // see [Plan.Ends]
	states   bool  // see [Plan.States]
	// transfers is [Plan.Transfers].
	transfers bool
}

// outliving returns how long the totals of a window live after its end: a week longer than events.
func (e edition) outliving() time.Duration { return e.longer + 7*24*time.Hour }

func (e edition) pipeline() *pipeline.Pipeline {
	spec := declaration(e.version, e.spread, e.retain, e.outliving())
	if e.arrays {
		spec.Batches = []pipeline.BatchSpec{{Each: "."},
			{Each: "deliveries[].events", With: map[string]string{"merchant": "deliveries[].merchant"}}}
		spec.Drop = []string{"unwanted.*"}
	}
	if e.requires {
		addPayments(&spec, e.retain)
	}
	if e.ends {
		addEnds(&spec)
	}
	if e.put > 0 && spec.Epoch >= e.put {
		addPut(&spec, e)
	}
	if e.offload > 0 {
		addOffload(&spec, e.offload)
	}
	if e.packed > 0 && spec.Epoch >= e.packed {
		order := spec.Events["order"]
		order.Compress = true
		spec.Events["order"] = order
	}
	if e.parts > 0 && spec.Epoch >= e.parts {
		addLines(&spec, e.parts, e.outliving())
		if e.atomic {
			order := spec.Events["order"]
			order.Atomic = true
			spec.Events["order"] = order
		}
		if e.claims {
			addCoupons(&spec)
		}
		if e.states {
			addShelves(&spec, e.parts)
		}
		if e.transfers {
			addAccounts(&spec, e)
		}
	}
	for name, declared := range spec.Events {
		if !e.notice.IsZero() {
			declared.Retain, declared.Was = e.longer, []pipeline.WasSpec{{Retain: e.retain, Before: e.notice}}
		}
		if e.secret != "" {
			declared.Indexes["GSI3"] = pipeline.IndexSpec{PK: "{merchant | hmac}", SK: "{@type}"}
		}
		spec.Events[name] = declared
	}
	if e.values {
		spec.Aggregates["monthly"], spec.Aggregates["sizes"] = monthly(e.spread, e.outliving()), sizes
		spec.Aggregates["leaders"], spec.Aggregates["tallest"] = leaders, tallest
	}
	if e.patterns {
		addPatterns(&spec, e.secret != "")
	}
	p, err := pipeline.New(spec, pipeline.Secret([]byte(e.secret)))
	if err != nil {
		panic(err) // there is a mistake in this file
	}
	return p
}

// pipelineIn returns the pipeline of an edition, which is compiled once in a world.
func (w *World) pipelineIn(e edition) *pipeline.Pipeline {
	p := w.compiled[e]
	if p == nil {
		p = e.pipeline()
		w.compiled[e] = p
	}
	return p
}

// pipelineOf returns the pipeline of a version in the form that people have it in this world.
func (w *World) pipelineOf(version int64) *pipeline.Pipeline {
	of := w.edition(version)
	of.notice = w.lifetime.notice
	return w.pipelineIn(of)
}

func (w *World) edition(version int64) edition {
	return edition{version: version, spread: w.plan.Spread, retain: w.plan.retain(), longer: w.plan.longer(),
		secret: w.plan.secret(), values: w.plan.Values, patterns: w.plan.Patterns,
		parts: w.plan.Parts, atomic: w.plan.Atomic, claims: w.plan.Claims, packed: w.plan.Packed, put: w.plan.Put, ceiling: w.plan.Ceiling,
		arrays:    w.plan.Arrays,
		transfers: w.plan.Transfers, offload: w.plan.Offload, requires: w.plan.Requires,
		ends: w.plan.Ends, states: w.plan.States}
}

// secret is the one that was used for the tables of a world. otherSecret is one that somebody makes
// up.
const (
	secret      = "the secret of the tables"
	otherSecret = "a secret that somebody made up"
)

func (p *Plan) secret() string {
	if p.Secret {
		return secret
	}
	return ""
}
