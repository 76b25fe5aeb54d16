package sim

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// Outcome is what the tables hold at the end, without what the settings may change. Marks and
// receipts are left out. The buckets that a total is spread over are added up.
type Outcome struct {
	Items  map[string]string // by key
	Totals map[string]string // by aggregate, values of by, and window
}

// Difference returns where two outcomes differ. It returns an empty text if they do not.
func (o Outcome) Difference(other Outcome) string {
	for _, part := range []struct{ mine, theirs map[string]string }{{o.Items, other.Items}, {o.Totals, other.Totals}} {
		all := map[string]string{}
		for _, m := range []map[string]string{part.mine, part.theirs} {
			for key := range m {
				all[key] = ""
			}
		}
		for _, key := range sortedKeys(all) {
			if part.mine[key] != part.theirs[key] {
				return fmt.Sprintf("%s:\n  %s\n  %s", key, part.mine[key], part.theirs[key])
			}
		}
	}
	return ""
}

// Events are facts that do not contradict each other, and none of them comes too late. So any way
// of delivering them must lead to the same tables.
type Events struct{ messages []*message }

// NewEvents makes up orders and parcels. All revisions of a parcel are different and have the same
// time: what is stored of a parcel must not depend on which revision came first.
func NewEvents(seed uint64, orders, parcels int) Events {
	rng := rand.New(rand.NewPCG(seed, 2))
	at := func() string {
		return stage.Origin.Add(-time.Duration(rng.IntN(12*3600)) * time.Second).Format(time.RFC3339)
	}
	var e Events
	add := func(f model.Fact) { e.messages = append(e.messages, &message{body: f.Spell(rng), fact: f}) }
	for i := range orders {
		add(model.Fact{Type: "order", ID: fmt.Sprintf("1-%d", i), Merchant: merchants[rng.IntN(len(merchants))],
			Customer: customers[rng.IntN(len(customers))], Gift: rng.IntN(3) == 0, Cents: rng.Int64N(2000) - 200, At: at()})
	}
	for i := range parcels {
		when := at()
		for revision := range 1 + rng.IntN(4) {
			add(model.Fact{Type: "parcel", ID: fmt.Sprintf("1-%d", i), Merchant: merchants[rng.IntN(len(merchants))],
				Customer: customers[rng.IntN(len(customers))], Cents: rng.Int64N(2000), Rev: int64(revision), At: when})
		}
	}
	return e
}

// Plain returns the simplest way to deliver events: one by one, each once, with nothing going
// wrong.
func Plain(seed uint64) Plan {
	p := StillPlan(seed)
	p.Values, p.Patterns, p.Parts, p.Atomic, p.Claims, p.Packed, p.Put, p.Transfers, p.Offload = true, true, 0, false, false, 0, 0, false, 0
	p.Counting, p.FIFO, p.Spread, p.Phases, p.IngestBatch, p.StreamBatch, p.Window, p.OneByOne = aggregate.Marks, false, 1, 1, 1, 1,
		time.Minute, -1
	return p
}

// Variant returns another way to deliver events. It differs in sizes, order, duplicates, window,
// spread, counting, concurrency and trouble.
func Variant(seed uint64) Plan {
	p := NewPlan(seed)
	p.Phases, p.Gap, p.Upgrade, p.Canary, p.Back, p.Weekend, p.People, p.Secret = 1+int(seed%2), 4*time.Hour, 0, false, false, 0,
		false, false
	p.Conflicts, p.Poison, p.Late, p.Crowded, p.Copies, p.Retain = 0, 0, 0, 0, 0, 0
	p.Faults.Odd, p.Faults.Damage, p.Faults.Stamp = 0, 0, 0
	p.Values, p.Patterns, p.Parts, p.Atomic, p.Claims, p.Packed, p.Put, p.Transfers, p.Offload, p.Pointers = true, true, 0, false, false, 0,
		0, false, 0, false
	return p
}

// Deliver lives a plan in which producers send these events and nothing else. If the plan is still,
// the events keep their order. Otherwise they are shuffled, with duplicates, and cut into the
// plan's bursts. It returns the tables once they are drained, and once more when everything has
// expired.
func (e Events) Deliver(p Plan) (drained, expired Outcome, failure *Failure) {
	w := newWorld(p, false)
	defer w.KillAll()
	list := slices.Clone(e.messages)
	if !p.Still {
		list = shuffled(list, p)
	}
	w.script = func(phase int) []*message {
		return list[len(list)*(phase-1)/p.Phases : len(list)*phase/p.Phases]
	}
	if w.liveBursts() && w.settle(nil) && w.rest.checkDrained() {
		drained = w.outcome()
		w.expireAll()
		expired = w.outcome()
	}
	return drained, expired, w.Failure
}

// shuffled returns the list in any order, with some messages repeated. Copies have the same bytes,
// so the stored payload does not depend on which copy was first.
func shuffled(list []*message, p Plan) []*message {
	rng := rand.New(rand.NewPCG(p.Seed, 3))
	for n := len(list); n > 0; n-- {
		for rng.Float64() < p.Duplicates {
			again := *list[rng.IntN(n)]
			list = append(list, &again)
		}
	}
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// outcome reads both tables.
func (w *World) outcome() Outcome {
	o := Outcome{Items: map[string]string{}, Totals: map[string]string{}}
	w.scan(eventsTable, func(item map[string]types.AttributeValue) {
		if item["type"] != nil {
			o.Items[text(item["PK"])+"|"+text(item["SK"])] = describe(item)
		}
	})
	sums := map[string]map[string]*big.Int{}
	w.scan(totals, func(item map[string]types.AttributeValue) {
		if !strings.HasPrefix(text(item["PK"]), "A#") {
			return
		}
		name, by, window := model.SlotName(text(item["PK"]) + "|" + text(item["SK"]))
		key := name + "|" + by + "|" + window
		if sums[key] == nil {
			sums[key] = map[string]*big.Int{}
		}
		merge(sums[key], item)
	})
	for key, values := range sums {
		for _, name := range sortedKeys(values) {
			if values[name].Sign() != 0 {
				o.Totals[key] += fmt.Sprintf("%s=%s ", name, values[name])
			}
		}
	}
	return o
}

// merge adds the values of one bucket to a total.
func merge(into map[string]*big.Int, item map[string]types.AttributeValue) {
	for name, v := range item {
		if _, ok := v.(*types.AttributeValueMemberN); !ok {
			continue
		}
		n, had := number(v), into[name]
		switch {
		case had == nil, (name == "largest" || name == "expiresAt") && n.Cmp(had) > 0:
			into[name] = n
		case name == "smallest":
			if n.Cmp(had) < 0 {
				into[name] = n
			}
		case name != "largest" && name != "expiresAt":
			had.Add(had, n)
		}
	}
	if item["flag"] != nil {
		into["flag"] = big.NewInt(1)
	}
}

func (w *World) scan(table string, take func(map[string]types.AttributeValue)) {
	in := &dynamodb.ScanInput{TableName: aws.String(table)}
	for {
		out, err := w.ingot.Engine.DynamoDB().Scan(context.Background(), in)
		if err != nil {
			w.Fail(Broken, "scan: %v", err)
			return
		}
		for _, item := range out.Items {
			take(item)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return
		}
	}
}

func describe(item map[string]types.AttributeValue) string {
	var b strings.Builder
	for _, name := range sortedKeys(item) {
		value := text(item[name])
		if name == "data" {
			value = unordered(value)
		}
		fmt.Fprintf(&b, "%s=%s ", name, value)
	}
	return b.String()
}

// unordered returns the members of a payload, as they are spelled, in the order of their texts.
// What stood around an event in its message comes first in its payload.
func unordered(payload string) string {
	doc, err := event.ParseDocument(payload)
	if err != nil {
		return payload
	}
	var members []string
	for name := range doc.Root().Members() {
		members = append(members, doc.Root().Spelled(name))
	}
	slices.Sort(members)
	return strings.Join(members, " ")
}
