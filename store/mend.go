package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// Mending is one total that is to be mended: its items as they were read. A total that is spread
// has several items.
type Mending struct {
	store  *stages
	def    *aggregate.Definition
	total  aggregate.Address
	keys   []event.Key
	images []image // empty where nothing is stored
}

// BeginMending reads the items of one total, consistently. The bucket of the address does not
// matter. [github.com/ingot-events/ingot/verify.Mend] does all that it takes to mend a total.
func BeginMending(ctx context.Context, s *Store, def *aggregate.Definition, total aggregate.Address) (*Mending, error) {
	m := &Mending{store: s.put, def: def, total: total}
	if def.Spread > maxTransaction {
		return nil, fmt.Errorf("a total of %s has %d items, and one transaction writes at most %d; make a new generation", def, def.Spread,
			maxTransaction)
	}
	for bucket := range def.Spread {
		m.keys = append(m.keys, lanes.Key(def, bucket, total.By, total.Window))
	}
	var err error
	m.images, err = m.read(ctx)
	return m, err
}

func (m *Mending) read(ctx context.Context) ([]image, error) {
	request, found := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, map[event.Key]image{}
	for _, key := range m.keys {
		request.Keys = append(request.Keys, keyImage(key))
	}
	err := m.store.readAll(ctx, m.store.aggregates, request, "", func(out *dynamodb.BatchGetItemOutput) {
		for _, img := range out.Responses[m.store.aggregates] {
			found[keyOf(img)] = img
		}
	})
	images := make([]image, len(m.keys))
	for i, key := range m.keys {
		images[i] = found[key]
	}
	if err != nil {
		return nil, fmt.Errorf("reading the items of a total of %s: %w", m.def, awserr.Quiet(err))
	}
	return images, nil
}

// Stored returns the items that were read.
func (m *Mending) Stored() (list []StoredTotal) {
	for _, img := range m.images {
		if t, ok := readTotal(img); ok {
			list = append(list, t)
		}
	}
	return list
}

// Untouched reads the items again, and reports whether they are as they were. Under marks, a change
// of the stream that was counted meanwhile has moved a mark, also if it took back another one.
func (m *Mending) Untouched(ctx context.Context) (bool, error) {
	now, err := m.read(ctx)
	return err == nil && reflect.DeepEqual(now, m.images), err
}

// Set gives the total what its events add up to, and takes its flags off. It reports whether that
// is done. It is done in one write, on condition that n, the fingerprints and the flag of each item
// are as they were read. So the total counts the same events as then. Marks and receipts stay: a
// change that is counted later is added to what Set has written.
//
// If a value stays below its floor, the flags stay too.
func (m *Mending) Set(ctx context.Context, n int64, fp event.Decimal, values []aggregate.Amount) (set bool, err error) {
	var items []types.TransactWriteItem
	for i, e := range m.edits(n, fp, values) {
		if len(e.sets)+len(e.removes) > maxMended {
			return false, errors.New("too many of its values differ for one write; make a new generation")
		}
		x := e.expression()
		if len(x.values) == 0 {
			x.values = nil // the service refuses an empty map
		}
		if x.update == "" {
			items = append(items,
				types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &m.store.aggregates, Key: keyImage(m.keys[i]),
					ConditionExpression: x.condition, ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values}})
			continue
		}
		items = append(items, types.TransactWriteItem{Update: &types.Update{TableName: &m.store.aggregates, Key: keyImage(m.keys[i]),
			UpdateExpression: &x.update, ConditionExpression: x.condition, ExpressionAttributeNames: x.names,
			ExpressionAttributeValues: x.values}})
	}
	err = m.store.retry(ctx, func() (answer, next) {
		t := m.store.transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
		for _, r := range t.reasons {
			if a := classifyReason(r); a.outcome == failed || a.outcome == invalid {
				t.answer = a // which decides, whatever became of the others
				break
			}
		}
		if set = t.outcome == done; set || t.outcome == failed {
			return t.answer, ended
		}
		return t.answer, later
	})
	if err != nil {
		return false, fmt.Errorf("mending a total of %s: %w", m.def, awserr.Quiet(err))
	}
	return set, nil
}

// maxMended is how many attributes one write sets and removes, so that its expression stays below 4
// KB.
const maxMended = 200

// edits returns the update of each item. One of them gets all that is wrong with what is added up,
// so that all items together hold what they should. A value that only moves outwards becomes the
// same in all items that have it.
func (m *Mending) edits(n int64, fp event.Decimal, values []aggregate.Amount) (list []*edit) {
	one := max(0, slices.IndexFunc(m.images, func(img image) bool { return len(img) > 0 }))
	for i, img := range m.images {
		want := image{}
		if !m.below(values) {
			want["flag"], want[acceptedAttribute] = nil, nil
		}
		for j, v := range m.def.Values {
			switch {
			case v.Op.Additive() || img[v.Name] == nil && i != one:
			case values[j].Set:
				want[v.Name] = storedAmount(v.Op, values[j])
			default:
				want[v.Name] = nil
			}
		}
		if i == one {
			m.sums(want, one, n, fp, values)
		}
		list = append(list, mendingEdit(img, want))
	}
	return list
}

// below reports whether a value is below its floor.
func (m *Mending) below(values []aggregate.Amount) bool {
	for j, floor := range m.def.AtLeast {
		if floor.Set && values[j].Number.Cmp(floor.Number) < 0 {
			return true
		}
	}
	return false
}

// sums adds to want what one item must hold of everything that is added up, beside the others.
func (m *Mending) sums(want image, one int, n int64, fp event.Decimal, values []aggregate.Amount) {
	sums := map[string]event.Decimal{"n": event.DecimalOf(n), "fp": fp}
	for j, v := range m.def.Values {
		if v.Op == aggregate.Histogram {
			b := aggregate.Buckets{}
			_ = b.Add(values[j].Text, 1)
			for k, count := range b {
				sums[bucketPrefix+v.Name+":"+strconv.Itoa(k)] = event.DecimalOf(count)
			}
		} else if v.Op.Additive() {
			sums[v.Name] = values[j].Number
		}
	}
	for i, img := range m.images {
		for name, v := range img {
			if _, added := sums[name]; !added && !strings.HasPrefix(name, bucketPrefix) {
				continue
			}
			others, _ := event.ParseDecimal(numberOf(v)) // what is not a number counts as 0
			if i == one {
				others = event.Decimal{}
			}
			sums[name] = sums[name].Sub(others)
		}
	}
	here := m.images[one]
	for name, sum := range sums {
		if !sum.IsZero() || here[name] != nil {
			want[name] = number(sum.String())
		}
	}
	if value := m.def.Rank.Value; value != "" {
		if want[lanes.ScoreAttribute], want[lanes.RankAttribute] = want[value], nil; want[value] != nil {
			want[lanes.RankAttribute] = text(lanes.RankOf(m.def, m.keys[one]))
		}
	}
	if at := lanes.Expiry(m.def, m.total.Window); at != 0 {
		want["expiresAt"] = integer(at)
	}
}

// mendingEdit returns the update that gives an item the attributes of want, where nil is none, on
// condition that what proves its values is still as it was read.
func mendingEdit(img, want image) *edit {
	e := &edit{}
	for i, name := range slices.Sorted(maps.Keys(want)) {
		switch {
		case want[name] == nil && img[name] != nil:
			e.removes = append(e.removes, name)
		case want[name] != nil && !reflect.DeepEqual(img[name], want[name]):
			e.sets = append(e.sets, assignment{operand: operand{name, slotNone, ":s" + strconv.Itoa(i), want[name]}})
		}
	}
	if len(img) == 0 {
		e.guards = []guard{{operand: operand{name: "PK"}}}
		return e
	}
	for i, name := range []string{"n", "fp", "fpx", "flag"} {
		g := guard{operand: operand{name: name}}
		if img[name] != nil {
			g = guard{operand{name, slotNone, ":g" + strconv.Itoa(i), img[name]}, "=", false}
		}
		e.guards = append(e.guards, g)
	}
	return e
}
