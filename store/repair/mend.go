package repair

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/tables"
)

// Mending is one total that is to be mended: its items as they were read. A total that is spread
// has several items.
type Mending struct {
	store  *Repairer
	def    *aggregate.Definition
	total  aggregate.Address
	keys   []event.Key
	images []rows.Image // empty where nothing is stored
}

// BeginMending reads the items of one total, consistently. The bucket of the address does not
// matter. [github.com/ingot-events/ingot/verify.Mend] does all that it takes to mend a total.
func (s *Repairer) BeginMending(ctx context.Context, def *aggregate.Definition, total aggregate.Address) (*Mending, error) {
	m := &Mending{store: s, def: def, total: total}
	if def.Spread > rows.MaxTransaction {
		return nil, fmt.Errorf("a total of %s has %d items, and one transaction writes at most %d; make a new generation", def, def.Spread,
			rows.MaxTransaction)
	}
	for bucket := range def.Spread {
		m.keys = append(m.keys, lanes.Key(def, bucket, total.By, total.Window))
	}
	var err error
	m.images, err = m.read(ctx)
	return m, err
}

func (m *Mending) read(ctx context.Context) ([]rows.Image, error) {
	request, found := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}, map[event.Key]rows.Image{}
	for _, key := range m.keys {
		request.Keys = append(request.Keys, rows.KeyImage(key))
	}
	err := m.store.stages.ReadKeys(ctx, m.store.stages.Aggregates, request, "", func(out *dynamodb.BatchGetItemOutput) {
		for _, img := range out.Responses[m.store.stages.Aggregates] {
			found[rows.KeyOf(img)] = img
		}
	})
	images := make([]rows.Image, len(m.keys))
	for i, key := range m.keys {
		images[i] = found[key]
	}
	if err != nil {
		return nil, fmt.Errorf("reading the items of a total of %s: %w", m.def, awserr.Quiet(err))
	}
	return images, nil
}

// Stored returns the items that were read.
func (m *Mending) Stored() (list []tables.StoredTotal) {
	for _, img := range m.images {
		if t, ok := walk.ReadTotal(img); ok {
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

// PrintOf identifies the items of a total as they are now, read consistently. If two reads give the
// same, the total was untouched from the first to the second, as [Mending.Untouched] says.
func (s *Repairer) PrintOf(ctx context.Context, def *aggregate.Definition, total aggregate.Address) (string, error) {
	h := sha256.New()
	for first := 0; first < def.Spread; first += mostRead {
		m := &Mending{store: s, def: def, total: total}
		for bucket := first; bucket < min(first+mostRead, def.Spread); bucket++ {
			m.keys = append(m.keys, lanes.Key(def, bucket, total.By, total.Window))
		}
		images, err := m.read(ctx)
		if err == nil {
			err = json.NewEncoder(h).Encode(images) // the names of attributes in order
		}
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// mostRead is the service's limit of keys in one BatchGetItem.
const mostRead = 100

// Set gives the total what its events add up to, and takes its flags off. It reports whether that
// is done. It is done in one write, on condition that n, the fingerprints and the flag of each item
// are as they were read. So the total counts the same events as then. Marks and receipts stay: a
// change that is counted later is added to what Set has written.
//
// If a value stays below its floor or above its ceiling, the flags stay too.
func (m *Mending) Set(ctx context.Context, n int64, fp event.Decimal, values []aggregate.Amount) (set bool, err error) {
	var items []types.TransactWriteItem
	for i, e := range m.edits(n, fp, values) {
		if len(e.Sets)+len(e.Removes) > maxMended {
			return false, errors.New("too many of its values differ for one write; make a new generation")
		}
		u := e.Update(&m.store.stages.Aggregates, m.keys[i])
		if len(u.ExpressionAttributeValues) == 0 {
			u.ExpressionAttributeValues = nil // the service refuses an empty map
		}
		if *u.UpdateExpression == "" {
			items = append(items, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: u.TableName, Key: u.Key,
				ConditionExpression: u.ConditionExpression, ExpressionAttributeNames: u.ExpressionAttributeNames,
				ExpressionAttributeValues: u.ExpressionAttributeValues}})
			continue
		}
		items = append(items, types.TransactWriteItem{Update: &u})
	}
	err = m.store.stages.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		t := m.store.stages.Transact(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
		for _, r := range t.Reasons {
			if a := rows.ClassifyReason(r); a.Outcome == rows.Failed || a.Outcome == rows.Invalid {
				t.Answer = a // which decides, whatever became of the others
				break
			}
		}
		if set = t.Outcome == rows.Done; set || t.Outcome == rows.Failed {
			return t.Answer, rows.Ended
		}
		return t.Answer, rows.Later
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
func (m *Mending) edits(n int64, fp event.Decimal, values []aggregate.Amount) (list []*rows.Edit) {
	one := max(0, slices.IndexFunc(m.images, func(img rows.Image) bool { return len(img) > 0 }))
	for i, img := range m.images {
		want := rows.Image{}
		if !m.beyond(values) {
			want["flag"], want[rows.AcceptedAttribute] = nil, nil
		}
		for j, v := range m.def.Values {
			switch {
			case v.Op.Additive() || img[v.Name] == nil && i != one:
			case values[j].Set:
				want[v.Name] = rows.StoredAmount(v.Op, values[j])
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

// beyond reports whether a value is below its floor or above its ceiling.
func (m *Mending) beyond(values []aggregate.Amount) bool {
	return slices.ContainsFunc(m.def.Bounds, func(b aggregate.Bound) bool { return !b.Holds(values[b.Value].Number) })
}

// sums adds to want what one item must hold of everything that is added up, beside the others.
func (m *Mending) sums(want rows.Image, one int, n int64, fp event.Decimal, values []aggregate.Amount) {
	sums := map[string]event.Decimal{"n": event.DecimalOf(n), "fp": fp}
	for j, v := range m.def.Values {
		if v.Op == aggregate.Histogram {
			b := aggregate.Buckets{}
			_ = b.Add(values[j].Text, 1)
			for k, count := range b {
				sums[rows.BucketPrefix+v.Name+":"+strconv.Itoa(k)] = event.DecimalOf(count)
			}
		} else if v.Op.Additive() {
			sums[v.Name] = values[j].Number
		}
	}
	for i, img := range m.images {
		for name, v := range img {
			if _, added := sums[name]; !added && !strings.HasPrefix(name, rows.BucketPrefix) {
				continue
			}
			others, _ := event.ParseDecimal(rows.NumberOf(v)) // what is not a number counts as 0
			if i == one {
				others = event.Decimal{}
			}
			sums[name] = sums[name].Sub(others)
		}
	}
	here := m.images[one]
	for name, sum := range sums {
		if !sum.IsZero() || here[name] != nil {
			want[name] = rows.Number(sum.String())
		}
	}
	if value := m.def.Rank.Value; value != "" {
		if want[lanes.ScoreAttribute], want[lanes.RankAttribute] = want[value], nil; want[value] != nil {
			want[lanes.RankAttribute] = rows.Text(lanes.RankOf(m.def, m.keys[one]))
		}
	}
	if at := lanes.Expiry(m.def, m.total.Window); at != 0 {
		want["expiresAt"] = rows.Integer(at)
	}
}

// mendingEdit returns the update that gives an item the attributes of want, where nil is none, on
// condition that what proves its values is still as it was read.
func mendingEdit(img, want rows.Image) *rows.Edit {
	e := &rows.Edit{}
	for i, name := range slices.Sorted(maps.Keys(want)) {
		switch {
		case want[name] == nil && img[name] != nil:
			e.Removes = append(e.Removes, name)
		case want[name] != nil && !reflect.DeepEqual(img[name], want[name]):
			e.Sets = append(e.Sets, rows.Assignment{Operand: rows.Operand{Name: name, Placeholder: ":s" + strconv.Itoa(i),
				Value: want[name]}})
		}
	}
	if len(img) == 0 {
		e.Guards = []rows.Guard{{Operand: rows.Operand{Name: "PK"}}}
		return e
	}
	for i, name := range []string{"n", "fp", "fpx", "flag"} {
		g := rows.Guard{Operand: rows.Operand{Name: name}}
		if img[name] != nil {
			g.Placeholder, g.Value, g.Sign = ":g"+strconv.Itoa(i), img[name], "="
		}
		e.Guards = append(e.Guards, g)
	}
	return e
}

// Accept notes on an item of the aggregates table, which is a total's or a head, that somebody
// accepts its flag. The item keeps the flag in another attribute, with the time and the person, and
// can be flagged again. Accept reports false if the item does not have this flag any more.
//
// A function that has seen the flag of a head in the last five minutes may not flag it anew.
func (s *Repairer) Accept(ctx context.Context, key event.Key, flag, who string) (bool, error) {
	heads := s.stages.Generations
	_, err := rows.Asked(ctx, heads, heads.Client.UpdateItem, &dynamodb.UpdateItemInput{
		TableName: &heads.Aggregates, Key: rows.KeyImage(key),
		UpdateExpression: aws.String("SET #accepted = :accepted REMOVE #flag"), ConditionExpression: aws.String("#flag = :flag"),
		ExpressionAttributeNames: map[string]string{"#flag": "flag", "#accepted": rows.AcceptedAttribute},
		ExpressionAttributeValues: rows.Image{":flag": rows.Text(flag),
			":accepted": rows.Text(rows.FlagText(heads.Env.Now(), "by "+who+": "+flag))}})
	if a := rows.Classify(err); a.Outcome == rows.Failed {
		return false, nil
	}
	return err == nil, awserr.Quiet(err)
}

// Flag marks the heads of generations: their totals are not proven, for this reason. A head that
// has a flag keeps it.
func (s *Repairer) Flag(ctx context.Context, defs []*aggregate.Definition, at time.Time, reason string) (tables.Cost, error) {
	return s.stages.Generations.Flag(ctx, defs, at, reason)
}
