package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// Capacity says whether the streams functions keep up with a rate of changes. Each shard has one,
// and its speed is limited.
type Capacity struct {
	Rate      float64 `json:"rate"`                  // changes a second
	Shards    int     `json:"shards"`                // at once: one for each partition of the table
	PerShard  float64 `json:"perShard"`              // changes a second of each, at most ChangesPerShard
	Enough    bool    `json:"enoughShards"`          // false means that the table needs more partitions
	Updates   float64 `json:"updatesPerChange"`      // if no two changes of a batch share a total
	By        string  `json:"updatesBy"`             // source of Updates: the type with the most, or the sample
	Memory    int     `json:"memory,omitempty"`      // of the streams function in MB; 0: not known
	Sustained int     `json:"sustained,omitempty"`   // changes a second that one streams function counts; 0: not known
	Least     int     `json:"leastMemory,omitempty"` // in MB, to keep up; 0: no memory is enough
}

// capacityOf computes what a rate requires. It returns nil if there is no rate, or if there are no
// aggregates.
func capacityOf(in Input, p *pipeline.Pipeline) *Capacity {
	if in.Rate <= 0 || p == nil {
		return nil
	}
	typ, most := mostUpdates(p)
	if most == 0 {
		return nil
	}
	k := &Capacity{Rate: in.Rate, Shards: max(1, in.Partitions), Updates: float64(most), By: typ}
	if e := in.Events; e != nil && e.Items.Count > 0 {
		k.Updates, k.By = float64(e.Updates.Count)/float64(e.Items.Count), e.File // a part is a change too
	}
	each := in.Rate / float64(k.Shards)
	k.PerShard, k.Enough = math.Min(each, estimate.ChangesPerShard), each <= estimate.ChangesPerShard
	k.Least = estimate.MemoryFor(k.PerShard, k.Updates)
	return k
}

// mostUpdates returns the largest number of totals that one change can touch, and the event type of
// such a change.
func mostUpdates(p *pipeline.Pipeline) (typ string, most int) {
	updates := p.Describe().Updates
	for _, name := range slices.Sorted(maps.Keys(updates)) {
		if n := updates[name]; n > most {
			typ, most = name, n
		}
	}
	return typ, most
}

// keepsUp checks whether the streams function's memory is enough for the given rate.
func (k *Capacity) keepsUp(c *rules.Checker, counting aggregate.Counting) {
	if k == nil || counting == aggregate.Receipts {
		return // the cost of receipts is not measured
	}
	memory, at, ok := c.StreamsMemory()
	if !ok || memory < 1 {
		return
	}
	sustained := int(estimate.Sustained(memory, k.Updates))
	if k.Memory == 0 {
		k.Memory, k.Sustained = memory, sustained
	}
	if float64(sustained) >= k.PerShard {
		return
	}
	instead := fmt.Sprintf("MemorySize: %d", k.Least)
	if k.Least == 0 {
		instead = "fewer aggregates of many keys, or a stricter where, or fewer fields in by"
	}
	c.Mistake("streams-capacity", at, fmt.Sprintf("at %s changes a second each of %s delivers %s, and one "+
		"streams function of %d MB counts about %s of %s each: totals would fall behind for good",
		figure(k.Rate), show.Count(k.Shards, "shard"), figure(k.PerShard), memory, figure(float64(sustained)), updates(k.Updates)), instead)
}

// text returns the capacity for people.
func (k *Capacity) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "capacity at %s changes a second\n", figure(k.Rate))
	fmt.Fprintf(&b, "  shards   %d, one for each partition; each delivers %s changes a second", k.Shards, figure(k.PerShard))
	if !k.Enough {
		fmt.Fprintf(&b, ", the most that a partition takes: the table needs at least %d", estimate.Shards(k.Rate))
	}
	fmt.Fprintf(&b, "\n  updates  %s of each change, by %s, if no two changes of a batch share a total\n", figure(k.Updates), k.By)
	if k.Sustained > 0 {
		fmt.Fprintf(&b, "  streams  one function of %d MB counts about %s changes a second", k.Memory, figure(float64(k.Sustained)))
		if k.Least > 0 {
			fmt.Fprintf(&b, "; %d MB are the least that keep up", k.Least)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func updates(n float64) string {
	if n == 1 {
		return "1 update"
	}
	return figure(n) + " updates"
}

// figure returns a number with its digits grouped. Below 10 it has two decimals, if there are any.
func figure(f float64) string {
	if f < 10 && f != math.Trunc(f) {
		return fmt.Sprintf("%.2f", f)
	}
	return show.Comma(int(f))
}
