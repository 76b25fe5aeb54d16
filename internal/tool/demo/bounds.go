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

// bounds records which totals were seen beyond a bound, and which events a bound has refused.
type bounds struct {
	defs    []*aggregate.Definition
	refused map[event.Key]bool // keys of messages that were Rejected at least once
	looks   int
	beyond  []string
}

func newBounds(p *pipeline.Pipeline) *bounds {
	f := &bounds{refused: map[event.Key]bool{}}
	for _, def := range p.Definitions() {
		if def.Bounds != nil {
			f.defs = append(f.defs, def)
		}
	}
	return f
}

// watch reads every total right after a transaction has moved it. So it notices a total that is
// beyond a bound only for a moment.
func (w *world) watch(ctx context.Context, input any) {
	in, ok := input.(*dynamodb.TransactWriteItemsInput)
	if !ok || len(w.bounds.defs) == 0 {
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
			w.bounds.beyond = append(w.bounds.beyond, fmt.Sprintf("a total could not be read: %v", err))
			continue
		}
		for _, def := range w.bounds.defs {
			if strings.HasPrefix(pk.Value, "A#"+lanes.ID(def)+"#") {
				w.bounds.look(def, pk.Value, out.Item)
			}
		}
	}
}

func (f *bounds) look(def *aggregate.Definition, pk string, img map[string]types.AttributeValue) {
	for _, b := range def.Bounds {
		f.looks++
		stored, _ := img[def.Values[b.Value].Name].(*types.AttributeValueMemberN)
		if stored == nil {
			continue // without a value the total is 0, and no bound of a total that moves first towards 0 excludes it
		}
		if n, err := event.ParseDecimal(stored.Value); err != nil || !b.Holds(n) {
			f.beyond = append(f.beyond,
				fmt.Sprintf("%s: %s is %s, %s of %s", pk, def.Values[b.Value].Name, stored.Value, b.Beyond(), b.Limit))
		}
	}
}

// check returns what watch has seen.
func (f *bounds) check() Check {
	return Check{Name: "bounds", About: "no total beyond a bound, after any of the transactions that moved it", Compared: f.looks,
		Differences: append([]string{}, f.beyond...)}
}

// settle adds up the producer's list at the end of a run with bounds. Only then is it known which
// events were refused for good: those that were Rejected and are not stored.
func (r *run) settle(ctx context.Context) error {
	for _, item := range r.planned {
		if r.world.bounds.refused[item.Key] {
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
			r.list.fold(one)
		}
	}
	r.planned = nil
	return nil
}
