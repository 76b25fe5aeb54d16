package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/plan/planner"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// New checks the configuration and makes a [Reader]. It sends no request.
func New(c tables.Config) (*Reader, error) {
	t, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	return &Reader{generations.New(t, c), c.TokenKey}, nil
}

// Of returns a reader of the tables that a store is for.
func Of(st *store.Store) *Reader {
	r, err := New(st.Config())
	if err != nil {
		panic("query: a store has a configuration that is refused: " + err.Error())
	}
	return r
}

// Reader reads totals, and answers the questions that the patterns of the pipeline declare. Make it
// with [New].
type Reader struct {
	heads    *generations.Heads
	tokenKey []byte // seals page tokens
}

// Total is one total of one window. Its buckets are added up.
type Total struct {
	By     map[string]string // what it is grouped by
	Window time.Time         // start; zero for an aggregate without windows
	// Values has every count and sum, which is 0 if no event has added to it, and each min and max
	// that an event has supplied.
	Values map[string]event.Decimal
	// Texts are the values whose operation is [aggregate.Op.Textual], as amounts have them. It is
	// nil if there are none. [Total.Dated] reads them.
	Texts map[string]string
	N     int64 // contributions counted and not taken back
	// FP is their fingerprint: the sum of a hash of each. FPX is the part of it that comes from
	// expired items. Both prove the total against the items. Nothing else reads them.
	FP, FPX event.Decimal
	// Flags say why the values are not proven, or that the total is large. They are the flags of
	// its items and of its generation.
	Flags []string
	// Building says that older items may not be counted yet, or that the values are those of the
	// earlier generation, and Flags say so. See [Reader.Total].
	Building bool
	// Missing says that none of the totals that were asked for is stored. This one total stands for
	// all of them. It has no values and no window. Its Flags and Building are those of the whole
	// generation, and they say why nothing stored does not mean 0.
	Missing bool
}

// Total reads the totals of one aggregate for one set of by values, over the windows that start in
// [from, to). If from is zero, the range begins with the first window. If to is zero, it ends with
// the last. If both are set, to must be after from. For an aggregate without windows, from and to
// are ignored. Totals past their expiry are hidden. Totals run behind the events by the stream's
// lag.
//
// Each total has the flags of its generation, and says whether the generation is building. If no
// total is stored, and the generation is building or has a flag, Total returns one total that is
// Missing. Otherwise Total returns none, and nothing has been counted.
//
// While a generation is built for the first time, Total answers from the one that it has replaced,
// if that one is complete, and has the same by and window. Those totals are as they were when the
// new one began, and have its values only if they had them before.
//
// The values of by are those that the template's functions return, not those of the event: the
// lower case for {site | lower}, the hash for {customer_id | hmac}. A value that the template never
// makes is an error. [pipeline.Pipeline.By] computes the values from an event, or from some of its
// fields.
//
// Total returns an error if the pipeline's definition or secret is not the one that the totals are
// counted with, because it would find other totals or none.
func (s *Reader) Total(ctx context.Context, name string, by map[string]string, from, to time.Time) ([]Total, error) {
	def, ok := s.heads.Pipeline.Definition(name)
	if !ok {
		return nil, fmt.Errorf("total: the pipeline has no aggregate %q", name)
	}
	values, err := escapedBy(def, def.By, by)
	if err != nil {
		return nil, fmt.Errorf("total: %w", err)
	}
	if err := s.heads.Pipeline.CheckBy(name, by); err != nil {
		return nil, fmt.Errorf("total of %s: %w", name, err)
	}
	if to.IsZero() {
		to = afterLast
	}
	if def.Window != 0 && !from.Before(to) {
		return nil, fmt.Errorf("total of %s: no window starts from %s until before %s: give a later to, such as from plus the window, %s",
			name, from.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano), lanes.WindowLength(def))
	}
	head, err := s.heads.Head(ctx, def)
	if err != nil {
		return nil, fmt.Errorf("total: %w", err)
	}
	if err := readable(def, head); err != nil {
		return nil, fmt.Errorf("total: refused, because %w", err)
	}
	if def, head, err = s.standing(ctx, def, head); err != nil {
		return nil, fmt.Errorf("total: %w", err)
	}
	buckets := make([][]tables.StoredTotal, def.Spread)
	errs := make([]error, def.Spread)
	s.heads.Env.Each(def.Spread, max(s.heads.Parallel(), 8), func(i int) {
		buckets[i], errs[i] = s.bucket(ctx, def, i, values, from, to)
	})
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("total of %s: %w", name, err)
	}
	totals := gather(def, head, slices.Concat(buckets...))
	if len(totals) == 0 {
		totals = missing(def, head)
	}
	for i := range totals {
		totals[i].By = maps.Clone(by)
	}
	return totals, nil
}

// afterLast is after the last window that can be written.
var afterLast = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)

// missing returns the result of a read that found no stored total.
func missing(def *aggregate.Definition, head *tables.Head) []Total {
	t := Total{Missing: true, Values: map[string]event.Decimal{}}
	if head == nil {
		t.Flags = []string{fmt.Sprintf("aggregate %s has no head: no streams function has started with it, so nothing is counted yet", def)}
		return []Total{t}
	}
	if t.Building, t.Flags = head.Building, head.Flags(); t.Building || len(t.Flags) > 0 {
		return []Total{t}
	}
	return nil
}

// standing returns the generation that a read answers from: the one that is asked for. While it is
// built for the first time, that is the one that it has replaced, if the same questions find
// complete totals there. Their head then says so. A generation that was complete once answers
// itself, because its totals have moved on.
func (s *Reader) standing(ctx context.Context, def *aggregate.Definition, head *tables.Head) (*aggregate.Definition, *tables.Head, error) {
	if head == nil || !head.Building || head.Before == 0 {
		return def, head, nil
	}
	before, err := s.heads.Head(ctx, &aggregate.Definition{Name: def.Name, Since: head.Before})
	if err != nil || before == nil || before.Building || before.KeyCheck != "" { // hashes of another secret would find nothing
		return def, head, err
	}
	old, ok := planner.Earlier(def, head.Before, before.Definition)
	if !ok {
		return def, head, nil
	}
	says := *before
	says.Building, says.Retired = true, 0
	says.Flag = strings.TrimPrefix(says.Flag+fmt.Sprintf("; %s is being built: these are the totals of %s, as they were when it began",
		def, old), "; ")
	return old, &says, nil
}

// readable returns an error if the definition or the secret would find other totals. A pipeline
// without its secret ([pipeline.CheckOnly]) computes no hashes: its callers already have them.
func readable(def *aggregate.Definition, head *tables.Head) error {
	if head == nil {
		return nil
	}
	if asked := *def; asked.KeyCheck == "" {
		asked.KeyCheck = head.KeyCheck
		return head.Check(&asked)
	}
	return head.Check(def)
}

// escapedBy returns the values with these names, as keys have them. names are all of an aggregate's
// by, or those that its rank is within.
func escapedBy(def *aggregate.Definition, names []string, by map[string]string) ([]string, error) {
	is := "is by"
	if len(names) < len(def.By) {
		is = "is ranked within"
	}
	if len(by) != len(names) {
		return nil, fmt.Errorf("aggregate %s %s (%s), and %d values were given", def.Name, is, strings.Join(names, ", "), len(by))
	}
	values := make([]string, len(names))
	for i, name := range names {
		value, ok := by[name]
		if !ok || value == "" {
			return nil, fmt.Errorf("aggregate %s %s %s, and no value was given for it", def.Name, is, name)
		}
		values[i] = keys.Escape(value)
	}
	return values, nil
}

// bucketQuery returns the request for the windows of one bucket. It is nil if there can be none.
func (s *Reader) bucketQuery(def *aggregate.Definition, bucket int, by []string, from, to time.Time) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{TableName: &s.heads.Aggregates, ConsistentRead: aws.Bool(true)}
	if def.Window == 0 {
		in.KeyConditionExpression = aws.String("PK = :pk AND SK = :sk")
		in.ExpressionAttributeValues = rows.Image{":pk": nil, ":sk": rows.Text("-")}
	} else {
		first, last := windowsIn(from, to)
		if last < first {
			return nil // no window starts between from and to, and the service refuses a reversed range
		}
		in.KeyConditionExpression = aws.String("PK = :pk AND SK BETWEEN :from AND :to")
		in.ExpressionAttributeValues = rows.Image{":pk": nil, ":from": rows.Text(lanes.WindowText(first)),
			":to": rows.Text(lanes.WindowText(last))}
	}
	in.ExpressionAttributeValues[":pk"] = rows.Text(lanes.Key(def, bucket, by, aggregate.NoWindow).PK)
	return in
}

// bucket reads the windows of one bucket.
func (s *Reader) bucket(ctx context.Context, def *aggregate.Definition, bucket int, by []string, from, to time.Time) ([]tables.StoredTotal,
	error) {
	in := s.bucketQuery(def, bucket, by, from, to)
	if in == nil {
		return nil, nil
	}
	var totals []tables.StoredTotal
	now := s.heads.Env.Now().Unix()
	for {
		out, err := rows.Asked(ctx, s.heads, s.heads.Client.Query, in)
		if err != nil {
			return nil, err
		}
		for _, img := range out.Items {
			t, ok := walk.ReadTotal(img)
			if ok && (t.ExpiresAt == 0 || now < t.ExpiresAt) {
				totals = append(totals, t)
			}
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return totals, nil
		}
	}
}

// windowsIn returns the first and the last second, counted from 1970, at which a window in [from,
// to) may start. Times are cut to the years that are written with four digits, because only those
// are in order as text.
func windowsIn(from, to time.Time) (first, last int64) {
	const earliest, latest = -62135596800, 253402300799 // the first second of year 1, the last of 9999
	if first = from.Unix(); from.Nanosecond() > 0 {
		first++
	}
	if last = to.Unix(); to.Nanosecond() == 0 {
		last--
	}
	return max(first, earliest), min(last, latest)
}

// gather merges the buckets of each window, oldest window first.
func gather(def *aggregate.Definition, head *tables.Head, stored []tables.StoredTotal) []Total {
	byWindow := map[int64]*Total{}
	for _, part := range stored {
		t := byWindow[part.Address.Window]
		if t == nil {
			t = &Total{Values: zeros(def)}
			if part.Address.Window != aggregate.NoWindow {
				t.Window = time.Unix(part.Address.Window, 0).UTC()
			}
			if head != nil {
				t.Building, t.Flags = head.Building, head.Flags()
			}
			byWindow[part.Address.Window] = t
		}
		t.merge(def, part)
	}
	var totals []Total
	for _, start := range slices.Sorted(maps.Keys(byWindow)) {
		totals = append(totals, *byWindow[start])
	}
	return totals
}

// zeros returns what a total has before anything is counted in it: 0 for each count and sum. The
// item has no attribute for a value that no event has added to.
func zeros(def *aggregate.Definition) map[string]event.Decimal {
	values := map[string]event.Decimal{}
	for _, v := range def.Values {
		if v.Op == aggregate.Count || v.Op == aggregate.Sum {
			values[v.Name] = event.Decimal{}
		}
	}
	return values
}

func (t *Total) merge(def *aggregate.Definition, part tables.StoredTotal) {
	t.N += part.N
	t.FP, t.FPX = t.FP.Add(part.FP), t.FPX.Add(part.FPX)
	t.Flags = append(t.Flags, part.Flags()...)
	for _, v := range def.Values {
		if v.Op.Textual() {
			t.mergeText(v, part.Texts[v.Name])
			continue
		}
		b, set := part.Values[v.Name]
		if !set {
			continue
		}
		a, had := t.Values[v.Name]
		t.Values[v.Name] = lanes.Merge(v.Op, aggregate.Amount{Set: had, Number: a}, aggregate.Amount{Set: true, Number: b}).Number
	}
}

func (t *Total) mergeText(v aggregate.Value, b string) {
	if b == "" {
		return
	}
	if t.Texts == nil {
		t.Texts = map[string]string{}
	}
	a, had := t.Texts[v.Name]
	t.Texts[v.Name] = lanes.Merge(v.Op, aggregate.Amount{Set: had, Text: a}, aggregate.Amount{Set: true, Text: b}).Text
}

// Dated returns a newest or oldest value. It returns false if the total has none of this name.
func (t *Total) Dated(name string) (aggregate.Dated, bool) {
	d, err := aggregate.ParseDated(t.Texts[name])
	return d, err == nil
}

// Buckets returns a histogram. It returns false if the total has none of this name.
func (t *Total) Buckets(name string) (aggregate.Buckets, bool) {
	b := aggregate.Buckets{}
	text, ok := t.Texts[name]
	return b, ok && b.Add(text, 1) == nil
}

// Distinct returns a sketch of different values. It returns false if the total has none of this
// name.
func (t *Total) Distinct(name string) (*aggregate.Sketch, bool) {
	var s aggregate.Sketch
	text, ok := t.Texts[name]
	return &s, ok && s.Merge(text) == nil
}
