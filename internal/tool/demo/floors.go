package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// floors records which totals were seen below their floor, and which events a floor has refused.
type floors struct {
	defs    []*aggregate.Definition
	refused map[event.Key]bool // keys of messages that were Rejected at least once
	looks   int
	below   []string
}

func newFloors(p *pipeline.Pipeline) *floors {
	f := &floors{refused: map[event.Key]bool{}}
	for _, def := range p.Definitions() {
		if def.AtLeast != nil {
			f.defs = append(f.defs, def)
		}
	}
	return f
}

// watch reads every total right after a transaction has moved it. So it notices a total that is
// below its floor only for a moment.
func (w *world) watch(ctx context.Context, input any) {
	in, ok := input.(*dynamodb.TransactWriteItemsInput)
	if !ok || len(w.floors.defs) == 0 {
		return
	}
	for _, item := range in.TransactItems {
		if item.Update == nil || aws.ToString(item.Update.TableName) != stack.Aggregates {
			continue
		}
		pk, _ := item.Update.Key["PK"].(*types.AttributeValueMemberS)
		out, err := w.Engine.DynamoDB().GetItem(ctx, &dynamodb.GetItemInput{TableName: item.Update.TableName, Key: item.Update.Key,
			ConsistentRead: aws.Bool(true)})
		if err != nil || pk == nil {
			w.floors.below = append(w.floors.below, fmt.Sprintf("a total could not be read: %v", err))
			continue
		}
		for _, def := range w.floors.defs {
			if strings.HasPrefix(pk.Value, "A#"+lanes.ID(def)+"#") {
				w.floors.look(def, pk.Value, out.Item)
			}
		}
	}
}

func (f *floors) look(def *aggregate.Definition, pk string, img map[string]types.AttributeValue) {
	for i, floor := range def.AtLeast {
		if !floor.Set {
			continue
		}
		f.looks++
		stored, _ := img[def.Values[i].Name].(*types.AttributeValueMemberN)
		if stored == nil {
			continue // without a value the total is 0, and no floor of a total that moves up first is above 0
		}
		if n, err := event.ParseDecimal(stored.Value); err != nil || n.Cmp(floor.Number) < 0 {
			f.below = append(f.below, fmt.Sprintf("%s: %s is %s, below %s", pk, def.Values[i].Name, stored.Value, floor.Number))
		}
	}
}

// check returns what watch has seen.
func (f *floors) check() Check {
	return Check{Name: "floors", About: "no total below its floor, after any of the transactions that moved it", Compared: f.looks,
		Differences: append([]string{}, f.below...)}
}

// settle adds up the producer's list at the end of a run with floors. Only then is it known which
// events were refused for good: those that were Rejected and are not stored.
func (r *run) settle(ctx context.Context) error {
	for _, item := range r.planned {
		if r.world.floors.refused[item.Key] {
			_, there, _, err := query.Of(r.world.reader).Find(ctx, item.Key)
			if err != nil {
				return err
			}
			if !there {
				r.items -= len(item.All())
				r.refused++
				continue
			}
		}
		for _, one := range item.All() {
			r.list.fold(one, 1)
		}
	}
	r.planned = nil
	return nil
}
