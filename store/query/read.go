package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline/pattern"
	"github.com/ingot-events/ingot/pipeline/question"
	"github.com/ingot-events/ingot/tables"
)

// These are the bounds of a page if [Ask] does not set them.
const (
	defaultPage  = 50
	defaultUnits = 100
	maxPageItems = 10_000
)

// Ask is a question to a pattern of the pipeline. Values are raw, as the payload has them: the
// functions of the templates, such as hmac, are applied to them.
type Ask struct {
	// Values are the parameters. A parameter of the partition key may have up to 100 values, and so
	// may one of the sort key if the values make the whole key of each item in the table.
	Values map[string][]string
	// From and To are a range: From is in it, To is not. It is a range of times if the partition
	// key has a time that Values does not give. Otherwise it is a range of the next variable of the
	// sort key. A time may be shortened, as in 2026-03-01.
	From, To string
	// Prefix is the beginning of the next variable of the sort key.
	Prefix string
	// Newest overrides the order that the pattern declares. Nil keeps it.
	Newest *bool
	// Limit is how many items the page has at most: 1 to 10,000. 0 means 50.
	Limit int
	// MaxUnits is how many read units the page may spend. The page ends when they are spent. The
	// last request may spend more. 0 means 100.
	MaxUnits float64
	// Page is the Next of the page before. Empty means the first page.
	Page string
	// Consistent makes the answer include every write before the call. It is possible only for the
	// table's own key.
	Consistent bool
	// Expired also returns items that have expired and are not removed yet.
	Expired bool
}

// Answer is one page of the answer to an [Ask].
type Answer struct {
	Items []*event.Item
	// Totals are the totals, if the pattern reads totals. They are all on one page.
	Totals []Total
	// Next is the [Ask.Page] of the next page. It is empty on the last page. Without
	// [Config.TokenKey] it shows keys.
	Next string
	// Read is how many items were read. Items leaves out those that have expired, have another type
	// or are not Ingot's.
	Read int
	// Missing are those of several whole keys that nothing is stored under.
	Missing []event.Key
	// Unreadable are items that have Ingot's type but cannot be decoded. They are not in Items.
	Unreadable []*tables.UnreadableItem
	// Requests and Units are what the page has cost. They do not include what Totals cost.
	Requests int
	Units    float64
}

// Read answers a question by the named pattern of the pipeline, with GetItem, BatchGetItem and
// Query alone. If several values make the whole key of each item, the items come in the order of
// the values, and a request reads up to 100 of them.
//
// All other items come in the order of (period, sort key, partition), the oldest first or the
// newest first. Partitions of one period, such as shards, are read side by side and merged. Expired
// items are left out, unless Ask.Expired is set. A read of an index is eventually consistent: it
// may lack the latest writes. An item under mode latest may move to another place between two
// pages. It may then be on both pages or on neither.
//
// Read sends no request if the question is wrong. The error then says what to write.
func (s *Reader) Read(ctx context.Context, name string, ask Ask) (Answer, error) {
	declared, err := s.heads.Pipeline.Pattern(name)
	if err != nil {
		return Answer{}, fmt.Errorf("read: %w", err)
	}
	if declared.Total() != "" {
		return s.readTotals(ctx, declared, ask)
	}
	r, err := s.begin(declared, ask)
	if err != nil {
		return Answer{}, fmt.Errorf("read: %w", err)
	}
	if err := r.run(ctx); err != nil {
		return r.page, fmt.Errorf("read %s: %w", name, err)
	}
	return r.page, nil
}

// ReadAll reads all pages of an answer, one after another. An error ends it.
func (s *Reader) ReadAll(ctx context.Context, name string, ask Ask) iter.Seq2[*event.Item, error] {
	return func(yield func(*event.Item, error) bool) {
		for {
			page, err := s.Read(ctx, name, ask)
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if ask.Page = page.Next; ask.Page == "" {
				return
			}
		}
	}
}

// Explain returns the requests that the first round of [Reader.Read] would send, and the plan
// behind them. It sends none. Each request is a *dynamodb.GetItemInput, a *dynamodb.QueryInput or a
// *dynamodb.BatchGetItemInput.
func (s *Reader) Explain(name string, ask Ask) ([]any, *question.QueryPlan, error) {
	declared, err := s.heads.Pipeline.Pattern(name)
	if err != nil {
		return nil, nil, fmt.Errorf("read: %w", err)
	}
	if declared.Total() != "" {
		return s.explainTotals(declared, ask)
	}
	r, err := s.begin(declared, ask)
	if err != nil {
		return nil, nil, fmt.Errorf("read: %w", err)
	}
	var list []any
	if r.period == len(r.plan.Periods) {
		return nil, r.plan, nil
	}
	if keys := r.keysLeft(); len(r.plan.Keys) > 0 {
		return []any{&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			s.heads.Events: r.batch(keys[:min(len(keys), r.ask.Limit, rows.MaxKeys)])}}}, r.plan, nil
	}
	lines := r.lines(r.plan.Periods[r.period])
	for _, l := range lines {
		if l.from.Complete && r.plan.Index == "" {
			list = append(list, r.get(l))
		} else {
			list = append(list, r.query(l, r.share(len(lines))))
		}
	}
	return list, r.plan, nil
}

// reading is one page that is being read.
type reading struct {
	s      *Reader
	ask    Ask
	plan   *question.QueryPlan
	period int // the one that is being read
	after  position
	resume bool // the period begins after the position
	now    int64
	page   Answer
}

// begin checks the question, and finds where the page begins.
func (s *Reader) begin(declared *pattern.Pattern, ask Ask) (*reading, error) {
	switch {
	case s.heads.Events == "":
		return nil, errors.New("Config.Events is not set: name the events table")
	case ask.Limit < 0 || ask.Limit > maxPageItems:
		return nil, fmt.Errorf("a page of %d items cannot be asked for; give a limit from 1 to %d", ask.Limit, maxPageItems)
	case !(ask.MaxUnits >= 0):
		return nil, fmt.Errorf("%v units cannot be spent; give a number of read units above 0", ask.MaxUnits)
	case ask.Consistent && declared.Index() != "":
		return nil, fmt.Errorf("%s reads %s, and an index has no consistent reads; leave consistent out, or read by the table's own key",
			declared.Name(), declared.Index())
	}
	if ask.Limit == 0 {
		ask.Limit = defaultPage
	}
	if ask.MaxUnits == 0 {
		ask.MaxUnits = defaultUnits
	}
	now := s.heads.Env.Now()
	plan, err := question.Plan(declared, question.Question{Values: ask.Values, From: ask.From, To: ask.To, Prefix: ask.Prefix,
		Newest: ask.Newest, Now: now})
	if err != nil {
		return nil, err
	}
	r := &reading{s: s, ask: ask, plan: plan, now: now.Unix()}
	for _, period := range plan.Periods {
		if least := r.least() * float64(len(period.Partitions)); least > ask.MaxUnits {
			return nil, fmt.Errorf("%d partitions are read side by side, which takes at least %v read units, and %v may be spent; allow "+
				"more units, or give fewer values", len(period.Partitions), least, ask.MaxUnits)
		}
	}
	if ask.Page != "" {
		if err := r.continues(ask.Page); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// least returns the units that the smallest read takes.
func (r *reading) least() float64 {
	if r.ask.Consistent {
		return 1
	}
	return 0.5
}

// continues finds where the page of a token begins.
func (r *reading) continues(token string) error {
	at, err := openToken(token, r.s.tokenKey, r.bound())
	if err != nil {
		return err
	}
	r.after, r.resume = at, at.begun()
	for r.period = 0; r.period < len(r.plan.Periods); r.period++ {
		start := unixOf(r.plan.Periods[r.period].Start)
		switch {
		case start == at.period:
			return nil
		case (start < at.period) == r.plan.Newest:
			r.resume = false // the token's period is finished, and this one follows it
			return nil
		}
	}
	return nil
}

// bound returns what a token of this reading is bound to.
func (r *reading) bound() string {
	return fmt.Sprintf("%s\n%s\n%s", r.s.heads.Events, r.s.heads.Pipeline.SecretCheck(), r.plan.Question)
}

// run reads the page.
func (r *reading) run(ctx context.Context) error {
	if len(r.plan.Keys) > 0 {
		return r.readKeys(ctx)
	}
	for ; r.period < len(r.plan.Periods); r.period++ {
		period := r.plan.Periods[r.period]
		if len(r.page.Items) >= r.ask.Limit || r.spent(period) {
			r.next(position{period: unixOf(period.Start)})
			return nil
		}
		full, err := r.merge(ctx, unixOf(period.Start), r.lines(period))
		if err != nil || full {
			return err
		}
		r.resume = false
	}
	return nil
}

// keysLeft returns the whole keys that are not on an earlier page.
func (r *reading) keysLeft() []event.Key {
	if !r.resume {
		return r.plan.Keys
	}
	return r.plan.Keys[slices.Index(r.plan.Keys, r.after.own)+1:]
}

func (r *reading) batch(keys []event.Key) types.KeysAndAttributes {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(r.ask.Consistent)}
	for _, key := range keys {
		request.Keys = append(request.Keys, rows.KeyImage(key))
	}
	return request
}

// readKeys reads whole keys in the order of the question.
func (r *reading) readKeys(ctx context.Context) error {
	for left, last := r.keysLeft(), (event.Key{}); len(left) > 0; {
		n := min(len(left), r.ask.Limit-len(r.page.Items), rows.MaxKeys)
		if n == 0 || r.page.Requests > 0 && r.page.Units+r.least() > r.ask.MaxUnits {
			r.next(position{period: noPeriod, sk: last.SK, partition: last.PK, own: last})
			return nil
		}
		found := map[event.Key]rows.Image{}
		err := r.s.heads.ReadKeys(ctx, r.s.heads.Events, r.batch(left[:n]), types.ReturnConsumedCapacityTotal,
			func(out *dynamodb.BatchGetItemOutput) {
				r.page.Requests++
				for i := range out.ConsumedCapacity {
					r.page.Units += rows.UnitsOf(&out.ConsumedCapacity[i], r.least())
				}
				for _, img := range out.Responses[r.s.heads.Events] {
					found[rows.KeyOf(img)] = img
				}
			})
		if err != nil {
			return err
		}
		for _, key := range left[:n] {
			if img, there := found[key]; there {
				r.take(img)
			} else {
				r.page.Missing = append(r.page.Missing, key)
			}
		}
		left, last = left[n:], left[n-1]
	}
	return nil
}

// spent reports whether too few units are left to begin a period.
func (r *reading) spent(period question.Period) bool {
	return r.page.Requests > 0 && r.page.Units+r.least()*float64(len(period.Partitions)) > r.ask.MaxUnits
}

func (r *reading) next(at position) { r.page.Next = sealToken(at, r.s.tokenKey, r.bound()) }

// line is one partition that is being read.
type line struct {
	from  question.Partition
	start rows.Image // where the next Query begins; nil: where the range does
	at    string
	skip  bool // items with the sort key at are on an earlier page
	items []rows.Image
	done  bool // nothing is left to ask for
}

// lines returns the partitions of a period, each from where the page begins. Partitions may have
// different ranges, so the place may be before or behind that of a partition.
func (r *reading) lines(period question.Period) []*line {
	list := make([]*line, 0, len(period.Partitions))
	for _, p := range period.Partitions {
		l := &line{from: p}
		list = append(list, l)
		if !r.resume {
			continue
		}
		at, order := r.after.sk, strings.Compare(p.PK, r.after.partition)
		behind, ahead := at < p.Low, p.High != "" && at >= p.High || p.Complete && at > p.Low
		if r.plan.Backward {
			behind, ahead = ahead, behind
		}
		switch {
		case behind: // the range comes after the place
		case ahead:
			l.done = true
		case order == 0:
			l.start = r.startKey()
		default:
			l.at, l.skip = at, order < 0
		}
	}
	return list
}

// startKey returns the position as the key after which a Query begins.
func (r *reading) startKey() rows.Image {
	key := rows.Image{"PK": rows.Text(r.after.own.PK), "SK": rows.Text(r.after.own.SK)}
	if ix := r.plan.Index; ix != "" {
		key[ix+"PK"], key[ix+"SK"] = rows.Text(r.after.partition), rows.Text(r.after.sk)
	}
	return key
}

// names returns the names of the key that is read.
func (r *reading) names() (pk, sk string) { return r.plan.Index + "PK", r.plan.Index + "SK" }

// merge reads the partitions of one period side by side, and appends what they hold to the page in
// order. full reports whether the page has ended.
func (r *reading) merge(ctx context.Context, period int64, lines []*line) (full bool, err error) {
	_, sk := r.names()
	open := slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return l.done })
	if err := r.fetch(ctx, open, len(open)); err != nil {
		return true, err
	}
	var last position
	for {
		if len(r.page.Items) >= r.ask.Limit {
			if slices.ContainsFunc(lines, func(l *line) bool { return len(l.items) > 0 || !l.done }) {
				r.next(last)
				return true, nil
			}
			return false, nil
		}
		var least *line
		for _, l := range lines {
			for len(l.items) == 0 && !l.done {
				if last.begun() && r.page.Units >= r.ask.MaxUnits {
					r.next(last)
					return true, nil
				}
				if err := r.fetch(ctx, []*line{l}, len(lines)); err != nil {
					return true, err
				}
			}
			if len(l.items) > 0 && (least == nil || r.before(rows.TextOf(l.items[0][sk]), rows.TextOf(least.items[0][sk]))) {
				least = l // lines are in the order of partitions, so the first one is taken if several are equal
			}
		}
		if least == nil {
			return false, nil
		}
		img := least.items[0]
		least.items = least.items[1:]
		last = position{period: period, sk: rows.TextOf(img[sk]), partition: least.from.PK, own: rows.KeyOf(img)}
		r.take(img)
	}
}

// maxShare is the largest number of items that one request asks for.
const maxShare = 1000

// share returns how many items to ask each of n partitions for. Usually one request to each should
// fill the page. The number of a page's items in one of n partitions varies by about the square
// root of its mean. If many of the items read so far were left out, share asks for more.
func (r *reading) share(n int) int32 {
	left := float64(r.ask.Limit-len(r.page.Items)+1) * float64(r.page.Read+1) / float64(len(r.page.Items)+1)
	share := left
	if n > 1 {
		mean := left / float64(n)
		share = math.Ceil(mean + 1.25*math.Sqrt(mean))
	}
	return int32(max(1, min(share, left, maxShare)))
}

func (r *reading) before(a, b string) bool {
	if r.plan.Backward {
		return a > b
	}
	return a < b
}

// take appends an item to the page, unless the answer leaves it out.
func (r *reading) take(img rows.Image) {
	r.page.Read++
	if expires := rows.IntegerOf(img["expiresAt"]); !r.ask.Expired && expires != 0 && expires <= r.now ||
		!slices.Contains(r.plan.Types, rows.TextOf(img["type"])) {
		return
	}
	item, err := rows.Decode(img)
	if err != nil {
		r.page.Unreadable = append(r.page.Unreadable, &tables.UnreadableItem{Key: rows.KeyOf(img), Err: err})
		return
	}
	if r.ask.Expired || !r.s.heads.Pipeline.Ended(item, r.now) {
		r.page.Items = append(r.page.Items, item)
	}
}

// fetch asks each of the lines once, side by side. n lines share what the page lacks.
func (r *reading) fetch(ctx context.Context, lines []*line, n int) error {
	share := r.share(n)
	errs, units := make([]error, len(lines)), make([]float64, len(lines))
	r.s.heads.Env.Each(len(lines), max(r.s.heads.Parallel(), 16), func(i int) {
		l := lines[i]
		if l.from.Complete && r.plan.Index == "" {
			units[i], errs[i] = r.fetchOne(ctx, l)
		} else {
			units[i], errs[i] = r.fetchPart(ctx, l, share)
		}
	})
	for i := range lines {
		r.page.Requests++
		r.page.Units += units[i]
	}
	return errors.Join(errs...)
}

func (r *reading) get(l *line) *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{TableName: &r.s.heads.Events, Key: rows.KeyImage(event.Key{PK: l.from.PK, SK: l.from.Low}),
		ConsistentRead: aws.Bool(r.ask.Consistent), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
}

// fetchOne reads the one item of a partition that is asked for.
func (r *reading) fetchOne(ctx context.Context, l *line) (float64, error) {
	if l.done = true; l.start != nil || l.skip {
		return 0, nil // it was on an earlier page
	}
	out, err := rows.Asked(ctx, r.s.heads, r.s.heads.Client.GetItem, r.get(l))
	if err != nil {
		return 0, err
	}
	if out.Item != nil {
		l.items = []rows.Image{out.Item}
	}
	return rows.UnitsOf(out.ConsumedCapacity, r.least()), nil
}

// query returns the next request for a partition.
func (r *reading) query(l *line, limit int32) *dynamodb.QueryInput {
	pk, sk := r.names()
	in := &dynamodb.QueryInput{TableName: &r.s.heads.Events, ConsistentRead: aws.Bool(r.ask.Consistent),
		ScanIndexForward: aws.Bool(!r.plan.Backward),
		Limit:            &limit, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal, ExclusiveStartKey: l.start,
		ExpressionAttributeValues: rows.Image{":pk": rows.Text(l.from.PK)}}
	if r.plan.Index != "" {
		in.IndexName, in.ConsistentRead = &r.plan.Index, nil
	}
	low, high := l.from.Low, l.from.High
	if l.at != "" && l.start == nil {
		if r.plan.Backward {
			high = l.at
		} else {
			low = l.at
		}
	}
	condition := pk + " = :pk"
	switch {
	case l.from.Complete:
		condition += " AND " + sk + " = :low"
		in.ExpressionAttributeValues[":low"] = rows.Text(l.from.Low)
	case l.from.Prefix != "" && low == l.from.Low && high == l.from.High:
		condition += " AND begins_with(" + sk + ", :prefix)"
		in.ExpressionAttributeValues[":prefix"] = rows.Text(l.from.Prefix)
	case low != "" && high != "":
		condition += " AND " + sk + " BETWEEN :low AND :high"
		in.ExpressionAttributeValues[":low"], in.ExpressionAttributeValues[":high"] = rows.Text(low), rows.Text(high)
	case low != "":
		condition += " AND " + sk + " >= :low"
		in.ExpressionAttributeValues[":low"] = rows.Text(low)
	case high != "":
		condition += " AND " + sk + " <= :high"
		in.ExpressionAttributeValues[":high"] = rows.Text(high)
	}
	in.KeyConditionExpression = &condition
	return in
}

// fetchPart asks for the next items of a partition.
func (r *reading) fetchPart(ctx context.Context, l *line, limit int32) (float64, error) {
	if l.from.Complete && l.skip {
		l.done = true
		return 0, nil
	}
	in := r.query(l, limit)
	out, err := rows.Asked(ctx, r.s.heads, r.s.heads.Client.Query, in)
	if err != nil {
		return 0, err
	}
	_, sk := r.names()
	for _, img := range out.Items {
		at := rows.TextOf(img[sk])
		if l.from.High != "" && at >= l.from.High || at < l.from.Low || l.skip && at == l.at {
			continue // the service's ranges include their ends
		}
		l.items = append(l.items, img)
	}
	l.start = out.LastEvaluatedKey
	// At the upper end, nothing is left. A Query may not begin there, because the end of a prefix
	// is not in the range.
	l.done = len(l.start) == 0 || !r.plan.Backward && l.from.High != "" && rows.TextOf(l.start[sk]) >= l.from.High
	return rows.UnitsOf(out.ConsumedCapacity, r.least()), nil
}
