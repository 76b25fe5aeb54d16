package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

const (
	// fewSeen is how often a key must be in the sample before its share says anything.
	fewSeen = 10
	// Without a rate, a table or index has too few partition keys if manyItems have fewer than
	// fewKeys, or if most of them have one.
	manyItems = 1000
	fewKeys   = 10
)

// skewed judges the most frequent partition key of a table or index: a mistake if it gets more
// writes at the rate than a partition takes. Without a rate, few keys of many items are a warning.
// What all events of one moment share is judged without a sample: see judge.
func (r *Report) skewed(in Input, spec pipeline.Spec, at rules.Places, h sample.Hot) {
	typ, member, pk := keyOf(spec, h)
	if _, hot := momentary(pk); hot {
		return
	}
	shards := 1
	if _, after, divided := strings.Cut(pk, "shard:"); divided {
		_, _ = fmt.Sscan(after, &shards) // a template that was compiled has a number there
	}
	items, top := r.Events.Items, h.Top[0]
	load := float64(top.AtLeast) / float64(items.Count) * in.Rate * float64(items.Bare) / float64(items.Count)
	where := at.Of("events."+typ, member)
	more := "a pk of more values, such as " + strconv.Quote(sharded(pk, shards*fewKeys)) + ", or give the rate with --rate"
	switch {
	case load > estimate.UnitsASecond && top.AtLeast >= fewSeen:
		n := shards * int(math.Ceil(load/estimate.UnitsASecond))
		at.Mistake("skew", where, fmt.Sprintf("%s of %s in %s have one partition key in %s: at %v changes a second it gets %s write units, "+
			"and it takes %s", show.Comma(top.AtLeast), show.Count(items.Count, "item"), r.Events.File, keyIn(h.Of), in.Rate, figure(load),
			figure(estimate.UnitsASecond)), strconv.Quote(sharded(pk, n)))
	case in.Rate == 0 && h.Count >= manyItems && h.Exact && h.Distinct < fewKeys:
		at.Warn("skew", where, fmt.Sprintf("%s of %s have %s in %s, and each takes %s write units a second", show.Count(h.Count, "item"),
			r.Events.File, show.Count(h.Distinct, "partition key"), keyIn(h.Of), figure(estimate.UnitsASecond)),
			more)
	case in.Rate == 0 && h.Count >= manyItems && top.AtLeast*2 > h.Count:
		at.Warn("skew", where, fmt.Sprintf("%s of %s of %s in %s have one partition key, which takes %s write units a second",
			show.Comma(top.AtLeast), show.Count(h.Count, "item"), r.Events.File, keyIn(h.Of), figure(estimate.UnitsASecond)),
			more)
	}
}

func keyIn(of string) string {
	if of == "table" {
		return "the table's own key"
	}
	return of
}

// keyOf returns the event type whose items have the most frequent key, and its template. Of a key
// that is hidden, it is the first type that has such keys.
func keyOf(spec pipeline.Spec, h sample.Hot) (typ, member, pk string) {
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		e := spec.Events[name]
		text, of := e.Key.PK, "key.pk"
		if h.Of != "table" {
			text, of = e.Indexes[h.Of].PK, "indexes."+h.Of+".pk"
		}
		begin, _, _ := strings.Cut(text, "{")
		if text != "" && (h.Top[0].KeyHash != "" || strings.HasPrefix(h.Top[0].PK, begin)) {
			return name, of, text
		}
	}
	return "", "", ""
}
