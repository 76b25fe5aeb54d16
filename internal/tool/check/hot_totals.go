package check

import (
	"fmt"
	"math"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// hotTotals warns of totals that take more updates at the rate than an item of DynamoDB takes.
func (r *Report) hotTotals(in Input, p *pipeline.Pipeline, counting aggregate.Counting, at rules.Places) {
	if in.Rate <= 0 {
		return
	}
	spec := p.Describe().Spec
	for _, def := range p.Definitions() {
		share, why := r.share(def, spec.Aggregates[def.Name].By)
		if share == 0 {
			continue
		}
		bytes := estimate.Bytes(def, nil)
		load := func(spread int) estimate.Load {
			return estimate.LoadOf(def, counting, spread, bytes, r.Partitions, in.Rate, share*in.Rate)
		}
		is := load(def.Spread)
		if !is.TooMuch(def) {
			continue
		}
		what := fmt.Sprintf("%s: at %v changes a second one item gets about %s of %s each", why, in.Rate,
			show.Count(int(is.Updates+0.5), "update"), show.Count(is.Units, "write unit"))
		if def.MovedBy == aggregate.Put {
			what += fmt.Sprintf(", in transactions that exclude each other; it takes about %d of them and %s units", estimate.MovesASecond,
				figure(estimate.UnitsASecond))
		} else {
			what += fmt.Sprintf("; it takes %s units", figure(estimate.UnitsASecond))
		}
		at.Warn("hot-total", at.Of("aggregates."+def.Name, "spread"),
			what, coolerBy(def, load))
	}
}

// spreads reports whether a total may have more than one item: one with a bound or a rank may not.
func spreads(def *aggregate.Definition) bool {
	return def.Rank.Value == "" && def.Bounds == nil
}

// coolerBy returns what to write so that no item of a total gets more updates than it can take.
func coolerBy(def *aggregate.Definition, load func(spread int) estimate.Load) string {
	if spreads(def) {
		for spread := def.Spread + 1; spread <= maxSpread; spread++ {
			if !load(spread).TooMuch(def) {
				return spreadTo(spread)
			}
		}
	}
	return "one more field into by, so that fewer events share a total, and where it is deployed already a higher epoch as since"
}

// spreadTo says how to spread a total.
func spreadTo(items int) string {
	return fmt.Sprintf("spread: %d into it, and where it is deployed already a higher epoch with it as since", items)
}

// share returns the largest part of all changes that moves one total of an aggregate, and the
// reason. It returns 0 if that is not known: the values in by come from the events, and there is no
// sample.
func (r *Report) share(def *aggregate.Definition, by map[string]string) (share float64, why string) {
	if e := r.Events; e != nil && e.Items.Count > 0 {
		for _, h := range e.Totals {
			if h.Of == def.Name && len(h.Top) > 0 {
				share = float64(h.Top[0].AtLeast) / float64(e.Items.Count)
				return share, fmt.Sprintf("%s of 100 changes in %s move one total of %s", figure(100*share), e.File, def.Name)
			}
		}
		return 0, ""
	}
	for _, template := range by {
		if shards, one := momentary(template); !one || shards > 1 {
			return 0, ""
		}
	}
	return 1, fmt.Sprintf("all events of one moment that count in %s move one total", def.Name)
}

// hotLists warns of lists of ranked totals that move more often at the rate than their partitions
// of the index take.
func (r *Report) hotLists(in Input, p *pipeline.Pipeline, counting aggregate.Counting, at rules.Places) {
	if in.Rate <= 0 || r.Events == nil {
		return
	}
	for _, h := range r.Events.Lists {
		def, _ := p.Definition(h.Of)
		share := float64(h.Top[0].AtLeast) / float64(r.Events.Items.Count)
		moves := math.Min(share*in.Rate, r.moves(in, def, counting))
		shards := int(math.Ceil(moves / estimate.RankMoves))
		if h.Top[0].AtLeast < fewSeen || shards <= def.Rank.Shards {
			continue
		}
		instead := fmt.Sprintf("shards: %d into it, and where it is deployed already a higher epoch as since", shards)
		if shards > maxRankShards {
			instead = "one more value of by into within, so that fewer totals share a list, and where it is deployed already a higher " +
				"epoch as since"
		}
		at.Warn("hot-list", at.Of("aggregates."+def.Name, "rank"),
			fmt.Sprintf("%s of 100 changes in %s move totals of one list of %s: at %v changes a second the index gets about %s of it, "+
				"and takes %s", figure(100*share), r.Events.File, def.Name, in.Rate, show.Count(int(moves+0.5), "move"),
				show.Comma(def.Rank.Shards*estimate.RankMoves)), instead)
	}
}

// maxRankShards is the largest number of shards that pipeline.yaml accepts for a rank.
const maxRankShards = 100

// moves returns the most updates a second of all totals of an aggregate, because the changes of a
// batch share the update of a total. It is infinite if the sample may lack most of the totals.
func (r *Report) moves(in Input, def *aggregate.Definition, counting aggregate.Counting) float64 {
	for _, h := range r.Events.Totals {
		if h.Of == def.Name && h.Exact && h.Count >= fewSeen*h.Distinct {
			moving := float64(h.Top[0].AtLeast) / float64(r.Events.Items.Count) * in.Rate
			return float64(h.Distinct) *
				estimate.LoadOf(def, counting, def.Spread, estimate.Bytes(def, nil), r.Partitions, in.Rate, moving).Updates
		}
	}
	return math.Inf(1)
}
