package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	inside "github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/fences"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// shop does everything that the packages of the tables can do, on one engine whose requests are
// recorded.
type shop struct {
	t      *testing.T
	ctx    context.Context
	now    time.Time
	engine *embedded.Engine
	plan   *pipeline.Pipeline
	way    aggregate.Counting
	few    int // totals that are written one by one; 0 means the store's default
	last   int64
	counts map[*store.Store]*inside.Writers // the streams function that counts beside a store
}

func spec(epoch int64) pipeline.Spec {
	all := map[string]string{"orders": "count", "revenue": "sum cents", "largest": "max cents", "least": "min cents"}
	const day = 24 * time.Hour
	s := pipeline.Spec{Ingot: 1, Epoch: epoch, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ORDER#{id}", SK: "ORDER"}, Retain: 90 * day,
				Indexes: map[string]pipeline.IndexSpec{"GSI1": {PK: "CUSTOMER#{id}", SK: "{@id}"}}},
			"parcel": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "PARCEL#{id}", SK: "PARCEL"}, Retain: 90 * day, Mode: "latest",
				Revision: "rev number\ntie number"},
			"person": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "PERSON#{id | hmac}", SK: "PERSON"}},
			"cart":   {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "CART#{id}", SK: "CART"}},
			"row": {Part: pipeline.PartSpec{Of: "cart", Each: "rows", With: []string{"id"}}, ID: "{id}#{n}",
				Key: pipeline.KeySpec{PK: "CART#{id}", SK: "ROW#{n}"}},
			"account": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "ACCOUNT"}, Atomic: true},
			"member":  {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "MEMBER#{id}", SK: "MEMBER"}, Atomic: true, Retain: 90 * day},
			"email": {Part: pipeline.PartSpec{Of: "account", With: []string{"email"}}, ID: "{email}",
				Key: pipeline.KeySpec{PK: "EMAIL#{email}", SK: "EMAIL"}},
			"nick": {Part: pipeline.PartSpec{Of: "member", With: []string{"nick"}}, ID: "{nick}",
				Key: pipeline.KeySpec{PK: "NICK#{nick}", SK: "NICK"}},
			"device": {Part: pipeline.PartSpec{Of: "member", With: []string{"id"}}, ID: "{id}",
				Key: pipeline.KeySpec{PK: "MEMBER#{id}", SK: "DEVICE"}},
			"reading": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "READING#{id}", SK: "READING"}},
			"last": {Part: pipeline.PartSpec{Of: "reading", With: []string{"box"}}, ID: "{box}", Mode: "latest", Revision: "{@at}",
				Key: pipeline.KeySpec{PK: "BOX#{box}", SK: "LAST"}},
			"visit": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "VISIT#{id}", SK: "VISIT"}, Atomic: true},
			"guest": {Part: pipeline.PartSpec{Of: "visit", With: []string{"box"}}, ID: "{box}", Mode: "latest", Revision: "{@at}",
				Key: pipeline.KeySpec{PK: "BOX#{box}", SK: "GUEST"}},
			"goods": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "GOODS#{id}", SK: "GOODS"}},
			"letter": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "LETTER#{id}", SK: "LETTER"},
				Offload: pipeline.OffloadSpec{Over: 1 << 10}},
			"note": {ID: "{book}#{id}", At: "{at}", Key: pipeline.KeySpec{PK: "BOOK#{book}", SK: "{id}"},
				Indexes: map[string]pipeline.IndexSpec{"GSI1": {PK: "SHELF#{shelf}", SK: "{id}"}}},
		},
		Patterns: map[string]pipeline.PatternSpec{
			"order": {Read: []string{"order"}}, "daily": {Total: "daily"},
			"book": {Read: []string{"note"}}, "shelf": {Read: []string{"note"}, Index: "GSI1"},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"all":   {Since: 1, From: map[string]pipeline.FromSpec{"order": {Values: all}}},
			"daily": {Since: 1, Window: day, Retain: 100 * day, From: map[string]pipeline.FromSpec{"order": {Values: all}}},
			"live": {Since: 1, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}},
			"first": {Since: 1, By: map[string]string{"id": "{id}"}, Rank: pipeline.RankSpec{Value: "revenue"},
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"revenue": "sum cents"}}}},
			"stock": {Since: 1, By: map[string]string{"sku": "{sku}"}, MovedBy: "put", AtLeast: map[string]event.Decimal{"available": {}},
				From: map[string]pipeline.FromSpec{"goods": {Values: map[string]string{"available": "sum quantity"}}}},
			"owed": {Since: 1, MovedBy: "put", AtLeast: map[string]event.Decimal{"goods": event.DecimalOf(-100)},
				From: map[string]pipeline.FromSpec{"goods": {Values: map[string]string{"goods": "sum quantity"}}}},
			"shape": {Since: 1,
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"prices": "histogram cents",
					"buyers": "distinct id"}}}},
		}}
	if epoch > 1 {
		s.Aggregates["late"] = pipeline.AggregateSpec{Since: epoch,
			From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}
	}
	return s
}

func newShop(t *testing.T, r *record, way aggregate.Counting) *shop {
	s := &shop{t: t, ctx: t.Context(), now: must.Time("2099-03-01T12:00:00Z"), way: way,
		counts: map[*store.Store]*inside.Writers{}}
	s.engine = r.engine(embedded.Config{Now: func() time.Time { return s.now }})
	for _, table := range []stack.Table{{Name: "events", Indexes: []string{"GSI1"}}, {Name: "totals", Ranked: true}, {Name: "kept"},
		{Name: "moved"}, {Name: "returned"}, {Name: "old", Keys: [2]string{"id", "at"}}} {
		_, err := table.Create(t.Context(), s.engine.DynamoDB())
		must.Succeed(t, err)
	}
	must.Succeed(t, stack.CreateArchive(t.Context(), s.engine.S3(), "payloads"))
	return s
}

// held ends the test if something that must succeed did not.
func (s *shop) held(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// open returns a store that remembers nothing, with the pipeline at an epoch.
func (s *shop) open(epoch int64) *store.Store {
	s.t.Helper()
	p, err := pipeline.New(spec(epoch), pipeline.Secret([]byte("a secret of sixteen bytes")))
	return s.with(p, err)
}

// with returns a store that remembers nothing, with a pipeline.
func (s *shop) with(p *pipeline.Pipeline, err error) *store.Store {
	s.t.Helper()
	s.held(err)
	s.plan = p
	return s.on("totals", p)
}

// on returns a store that remembers nothing, with a pipeline and its table of totals.
func (s *shop) on(totals string, p *pipeline.Pipeline) *store.Store {
	s.t.Helper()
	st, err := store.New(tables.Config{Client: s.engine.DynamoDB(), Pipeline: p, Events: "events", Aggregates: totals, Counting: s.way,
		OneByOne: s.few,
		Objects:  s.engine.S3(), PayloadBucket: "payloads",
		Env: env.Env{Now: func() time.Time { return s.now }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}})
	s.held(err)
	return st
}

func (s *shop) item(format string, args ...any) *event.Item {
	s.t.Helper()
	item, err := s.plan.Plan(envelope.Message{Body: fmt.Sprintf(format, args...)})
	s.held(err)
	return item
}

func (s *shop) order(id string, cents int) *event.Item {
	return s.item(`{"type":"order","id":%q,"cents":%d,"at":"2099-03-01T10:00:00Z"}`, id, cents)
}

func (s *shop) parcel(revision int) *event.Item {
	return s.item(`{"type":"parcel","id":"1","rev":%d,"at":"2099-03-01T10:00:00Z"}`, revision)
}

// tied returns a parcel whose revision may be the same as that of another.
func (s *shop) tied(tie int) *event.Item {
	return s.item(`{"type":"parcel","id":"tied","rev":1,"tie":%d,"at":"2099-03-01T10:00:00Z"}`, tie)
}

// put stores items, and expects the same verdict for all of them.
func (s *shop) put(st *store.Store, want event.Verdict, items ...*event.Item) {
	s.t.Helper()
	results, _ := st.Put(s.ctx, items)
	for i, r := range results {
		must.Equal(s.t, r.Verdict, want, items[i].Key, r.Refusal)
	}
}

// count applies the change of one item in a shard, either a put or a removal by time to live.
func (s *shop) count(st *store.Store, shard string, old, new *event.Item) {
	s.t.Helper()
	s.last++
	sequence, err := event.ParseSequence(fmt.Sprintf("%021d", s.last))
	s.held(err)
	c := &event.Change{Kind: event.Insert, Lane: event.Lane{StreamARN: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1",
		ShardID: shard}, Sequence: sequence, Created: s.now, Old: old, New: new}
	var before, after []aggregate.Contribution
	if old != nil {
		c.Kind, c.Key, c.Expired, before = event.Remove, old.Key, true, s.plan.Contributions(old).List
	} else {
		c.Key, after = new.Key, s.plan.Contributions(new).List
	}
	b := lanes.NewBatch(s.way, c.Lane)
	b.Add(c, before, after)
	quarantine := func(context.Context, *lanes.Update, error) error { return nil }
	if s.counts[st] == nil {
		s.counts[st] = testworld.Writers(st)
	}
	if a := s.counts[st].Counter.Apply(s.ctx, b, quarantine); !a.Unproven.IsZero() {
		s.t.Error(a.Err)
	}
}

// storing does what the ingest function does.
func (s *shop) storing() {
	st := s.open(1)
	one, many := s.order("one", 1), []*event.Item{}
	for i := range 9 {
		many = append(many, s.order(fmt.Sprint(i), i))
	}
	s.put(st, event.Inserted, one)
	s.put(st, event.Duplicate, one)
	s.put(st, event.Inserted, many...)
	s.put(st, event.Duplicate, many...)
	s.put(st, event.Inserted, s.parcel(1))
	s.put(st, event.Updated, s.parcel(2))
	s.put(st, event.Stale, s.parcel(1))
	s.put(st, event.Inserted, s.tied(1))
	s.put(st, event.Updated, s.tied(2))
	s.put(st, event.Inserted, s.item(`{"type":"parcel","id":"untied","rev":1,"at":"2099-03-01T10:00:00Z"}`))
	s.put(st, event.Updated, s.item(`{"type":"parcel","id":"untied","rev":1,"tie":1,"at":"2099-03-01T10:00:00Z"}`))
	for rev, verdict := range []event.Verdict{event.Inserted, event.Updated} { // the second time, they are read without payloads
		var parcels []*event.Item
		for i := range 9 {
			parcels = append(parcels, s.item(`{"type":"parcel","id":"%d of 9","rev":%d,"at":"2099-03-01T10:00:00Z"}`, i, rev))
		}
		s.put(st, verdict, parcels...)
	}
	cart := s.item(`{"type":"cart","id":"1","at":"2099-03-01T10:00:00Z","rows":[{"n":1}]}`)
	s.put(st, event.Inserted, cart)
	if missing, _, err := repair.Of(st).MissingParts(s.ctx, []*event.Item{cart}); err != nil || len(missing) != 0 {
		s.t.Error(missing, err)
	}
	s.claiming(st)
	s.states(st)
	s.erasing(st)
	s.now = time.Unix(one.ExpiresAt, 0)
	s.put(st, event.Duplicate, one)
	s.put(st, event.Expired, s.order("too late", 1))
	s.now = must.Time("2099-03-01T12:00:00Z")
}

// claiming stores what is put in one transaction, beside what is there, and erases it.
func (s *shop) claiming(st *store.Store) {
	account := s.item(`{"type":"account","id":"1","email":"e","at":"2099-03-01T10:00:00Z"}`)
	s.put(st, event.Inserted, account)
	s.put(st, event.Duplicate, account)
	s.put(st, event.Conflict, s.item(`{"type":"account","id":"2","email":"e","at":"2099-03-01T10:00:00Z"}`))
	member := s.item(`{"type":"member","id":"1","nick":"n","at":"2099-03-01T10:00:00Z"}`)
	whole, device := *member, member.Parts.Items[0]
	whole.Parts = nil
	s.put(st, event.Inserted, &whole, device)
	if _, err := repair.Of(st).Erase(s.ctx, device.Key); err != nil {
		s.t.Error(err)
	}
	s.put(st, event.Inserted, member) // its claim, beside the whole and a barred part
	for _, item := range []*event.Item{account, member} {
		if _, err := repair.Of(st).Erase(s.ctx, item.Key); err != nil {
			s.t.Error(err)
		}
		s.put(st, event.Duplicate, item)
	}
	third := s.item(`{"type":"account","id":"3","email":"left","at":"2099-03-01T10:00:00Z"}`)
	s.put(st, event.Inserted, third)
	if _, err := repair.Of(st).EraseWith(s.ctx, account.Key, third.Parts.Items[:1],
		true); err != nil { // a claim that somebody has found
		s.t.Error(err)
	}
}

// states stores states beside their events, older and newer ones, and erases these events.
func (s *shop) states(st *store.Store) {
	for _, typ := range []string{"reading", "visit"} {
		of := func(id string, hour int) *event.Item {
			return s.item(`{"type":%q,"id":%q,"box":"b","at":"2099-03-01T%02d:00:00Z"}`, typ, id, hour)
		}
		first, second, third := of("1", 1), of("2", 2), of("3", 3)
		for _, item := range []*event.Item{second, first, third} {
			s.put(st, event.Inserted, item)
			s.put(st, event.Duplicate, item)
		}
		for _, item := range []*event.Item{first, third} {
			if _, err := repair.Of(st).Erase(s.ctx, item.Key); err != nil {
				s.t.Error(err)
			}
		}
	}
}

// erasing checks the secret and bars keys. Every kind of item is under these keys.
func (s *shop) erasing(st *store.Store) {
	s.held(testworld.Writers(st).Heads.CheckSecret(s.ctx))
	person := s.item(`{"type":"person","id":"1","at":"2099-03-01T10:00:00Z"}`)
	order, parcel := s.order("erased", 1), s.item(`{"type":"parcel","id":"erased","rev":1,"at":"2099-03-01T10:00:00Z"}`)
	s.put(st, event.Inserted, person, order, parcel)
	for _, item := range []*event.Item{person, order, parcel, s.order("never stored", 1)} {
		if _, err := repair.Of(st).Erase(s.ctx, item.Key); err != nil {
			s.t.Error(err)
		}
		s.put(st, event.Duplicate, item)
	}
}

// counting does what the streams function does, under one way of counting.
func (s *shop) counting() {
	st := s.open(1)
	s.held(st.Start(s.ctx))
	for i, cents := range []int{5, 9, 1, 4, -3, 12} { // extremes that move and extremes that stay, both known and guessed
		if i%2 == 0 {
			st = s.open(1)
		}
		s.count(st, "a", nil, s.order(fmt.Sprint(i), cents))
	}
	s.count(st, "a", s.order("0", 5), nil)
	// A warm store remembers this aggregate item, but the item is gone.
	_, err := s.engine.DynamoDB().DeleteItem(s.ctx, &dynamodb.DeleteItemInput{TableName: aws.String("totals"),
		Key: testworld.Key("A#all#1#0", "-")})
	s.held(err)
	s.count(st, "a", nil, s.order("6", 3))
	s.now = s.now.Add(80 * time.Hour) // marks of shard a may go
	s.count(st, "b", nil, s.order("7", 7))
	s.count(st, "b", nil, s.order("8", 7))
	lane := event.Lane{StreamARN: "arn:aws:dynamodb:us-east-1:000000000000:table/events/stream/1", ShardID: "b"}
	notes := fences.Notes{Client: s.engine.DynamoDB(), Table: "totals", Function: fences.Streams}
	s.held(notes.Write(s.ctx, []event.Change{{Kind: event.Insert, Key: fences.Key("run", "0"), Lane: lane, Created: s.now}},
		event.Sequence{}))
	// A total that has grown large says so.
	if s.way == aggregate.Marks {
		attachment := &types.AttributeValueMemberS{Value: strings.Repeat("x", tables.LargeTotal)}
		in := &dynamodb.PutItemInput{TableName: aws.String("totals"),
			Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "A#live#1#0"},
				"SK": &types.AttributeValueMemberS{Value: "-"}, "attachment": attachment}}
		_, err := s.engine.DynamoDB().PutItem(s.ctx, in)
		s.held(err)
		s.count(s.open(1), "c", nil, s.order(fmt.Sprint("large-", s.last), 1))
	}
	// A total that takes no number is flagged. If it does not even take a flag, its head is
	// flagged.
	texts := []string{"x"}
	if s.way == aggregate.Marks {
		texts = append(texts, strings.Repeat("x", 409_500))
	}
	for _, text := range texts {
		revenue := &types.AttributeValueMemberS{Value: text}
		in := &dynamodb.PutItemInput{TableName: aws.String("totals"),
			Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "A#live#1#0"},
				"SK": &types.AttributeValueMemberS{Value: "-"}, "revenue": revenue}}
		_, err := s.engine.DynamoDB().PutItem(s.ctx, in)
		s.held(err)
		s.count(s.open(1), "c", nil, s.order(fmt.Sprint("refused-", s.last), 1))
	}
}

// moving stores events whose totals move with the put: several in one transaction, with a floor
// that holds and one that does not, and a total that takes no number.
func (s *shop) moving() {
	st := s.open(1)
	goods := func(id, sku string, quantity int) *event.Item {
		return s.item(`{"type":"goods","id":%q,"sku":%q,"quantity":%d,"at":"2099-03-01T10:00:00Z"}`, id, sku, quantity)
	}
	s.put(st, event.Inserted, goods("in", "a", 5), goods("out", "a", -3))
	s.put(st, event.Duplicate, goods("in", "a", 5), goods("out", "a", -3))
	s.put(st, event.Rejected, goods("more", "a", -3))
	text := &types.AttributeValueMemberS{Value: "x"}
	in := &dynamodb.PutItemInput{TableName: aws.String("totals"),
		Item: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "A#stock#1#0#b"},
			"SK": &types.AttributeValueMemberS{Value: "-"}, "available": text}}
	_, err := s.engine.DynamoDB().PutItem(s.ctx, in)
	s.held(err)
	s.put(st, event.Rejected, goods("refused", "b", 1))
}

// reading does what a reader of totals and verify do.
func (s *shop) reading() {
	st := s.open(1)
	for _, name := range []string{"all", "daily"} {
		if totals, err := query.Of(st).Total(s.ctx, name, nil, s.now.AddDate(0, -1, 0), s.now); err != nil || len(totals) == 0 {
			s.t.Errorf("%d totals of %s, %v", len(totals), name, err)
		}
	}
	for _, err := range st.Totals(s.ctx) {
		if err != nil {
			s.t.Error(err)
		}
	}
	if top, err := query.Of(st).Top(s.ctx, "first", nil, s.now, 2); err != nil || len(top) != 2 {
		s.t.Errorf("%d ranked totals, %v", len(top), err)
	}
}

// looking does what one who looks at single events does.
func (s *shop) looking() {
	st := s.open(1)
	stored, absent := s.order("looked at", 1), s.order("looked for", 1)
	s.put(st, event.Inserted, stored)
	if item, err := st.Item(s.ctx, stored.Key); err != nil || item == nil {
		s.t.Errorf("item %v, %v", item, err)
	}
	for _, item := range []*event.Item{stored, absent} {
		want := event.Inserted
		if item == stored {
			want = event.Duplicate
		}
		if r, found, err := repair.Of(st).Judge(s.ctx, item); err != nil || r.Verdict != want ||
			(found != nil) != (item == stored) {
			s.t.Errorf("judged as %s beside %v, %v", r.Verdict, found, err)
		}
	}
	if item, there, barred, err := query.Of(st).Find(s.ctx, stored.Key); err != nil || item == nil || !there || barred {
		s.t.Errorf("found %v, there %t, barred %t, %v", item, there, barred, err)
	}
	for segment := range 2 {
		for page, err := range st.ItemPages(s.ctx, tables.Segment{Number: segment, Of: 2}) {
			if err != nil || len(page.Unreadable) > 0 {
				s.t.Errorf("%d unreadable items, %v", len(page.Unreadable), err)
			}
		}
	}
}

// asking reads by patterns: each part of a partition in both orders, in pages of one item, of one
// partition and of two that are merged.
func (s *shop) asking() {
	st := s.open(1)
	for _, book := range []string{"a", "b"} {
		for _, id := range []string{"a", "b", "bb", "c"} {
			s.put(st, event.Inserted, s.item(`{"type":"note","book":%q,"shelf":%q,"id":%q,"at":"2099-03-01T10:00:00Z"}`, book, book, id))
		}
	}
	one, two := []string{"a"}, []string{"a", "b"}
	for _, name := range []string{"book", "shelf"} {
		for _, c := range []struct {
			ask  query.Ask
			want string // of one partition
		}{
			{query.Ask{}, "a b bb c"},
			{query.Ask{From: "b"}, "b bb c"},
			{query.Ask{To: "c"}, "a b bb"},
			{query.Ask{From: "b", To: "c"}, "b bb"},
			{query.Ask{Prefix: "b"}, "b bb"},
			{query.Ask{Values: map[string][]string{"id": {"b"}}}, "b"},
		} {
			for _, parts := range [][]string{one, two} {
				for _, newest := range []bool{false, true} {
					for _, consistent := range []bool{false, true} {
						if consistent && name == "shelf" {
							continue // an index has no consistent reads
						}
						ask := c.ask
						ask.Values = map[string][]string{name: parts}
						maps.Copy(ask.Values, c.ask.Values)
						ask.Newest, ask.Consistent, ask.Limit = &newest, consistent, 1
						want := []string{}
						for _, id := range strings.Fields(c.want) {
							for range parts {
								want = append(want, id)
							}
						}
						if newest {
							slices.Reverse(want)
						}
						got := []string{}
						for item, err := range query.Of(st).ReadAll(s.ctx, name, ask) {
							if err != nil {
								s.t.Fatalf("%s %+v: %v", name, ask, err)
							}
							got = append(got, item.Key.SK)
						}
						if !slices.Equal(got, want) {
							s.t.Errorf("%s %+v: %v, want %v", name, ask, got, want)
						}
					}
				}
			}
		}
	}
	if page, err := query.Of(st).Read(s.ctx, "order", query.Ask{Values: map[string][]string{"id": {"one"}}}); err != nil ||
		len(page.Items) != 1 {
		s.t.Errorf("%d orders, %v", len(page.Items), err)
	}
	if page, err := query.Of(st).Read(s.ctx, "daily", query.Ask{}); err != nil || len(page.Totals) == 0 {
		s.t.Errorf("%d totals, %v", len(page.Totals), err)
	}
}

// keeping keeps the text of the pipeline: the first one, the same one again, and another one.
func (s *shop) keeping() {
	const text = `ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{id}", at: "{at}", key: {pk: "ORDER#{id}", sk: "ORDER"}, retain: 90d}
`
	for _, content := range []string{text, text, text + "# with a remark\n"} {
		p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(content)}}, "pipeline.yaml")
		s.held(err)
		in := testworld.Writers(s.on("kept", p))
		s.held(errors.Join(in.Heads.Start(s.ctx), in.Heads.KeepFile(s.ctx, false)))
		file, err := store.DeployedFile(s.ctx, s.engine.DynamoDB(), "kept")
		if err != nil || file == nil || string(file.Text) != content {
			s.t.Errorf("kept %v, %v", file, err)
		}
	}
}

// mending accepts the flag of a head, and mends a total: as it should be, and back.
func (s *shop) mending() {
	st := s.open(1)
	d, _ := s.plan.Definition("live")
	if _, err := repair.Of(st).Flag(s.ctx, []*aggregate.Definition{d}, s.now, "a test"); err != nil {
		s.t.Error(err)
	}
	head, err := st.Head(s.ctx, d)
	if err != nil || head == nil {
		s.t.Fatal(head, err)
	}
	if accepted, err := repair.Of(st).Accept(s.ctx, lanes.HeadKey(d), head.Flag, "somebody"); err != nil || !accepted {
		s.t.Errorf("%q is accepted: %t, %v", head.Flag, accepted, err)
	}
	for _, more := range []int64{1, -1, 0} {
		m, err := repair.Of(st).BeginMending(s.ctx, d, aggregate.Address{Window: aggregate.NoWindow})
		if err != nil || len(m.Stored()) != 1 {
			s.t.Fatal("a total of live is read:", err)
		}
		was, amounts := m.Stored()[0], make([]aggregate.Amount, len(d.Values))
		for i, v := range d.Values {
			amounts[i] = aggregate.Amount{Set: true, Number: was.Values[v.Name].Add(event.DecimalOf(more))}
		}
		if set, err := m.Set(s.ctx, was.N, was.FP, amounts); err != nil || !set {
			s.t.Errorf("mended by %d: %t, %v", more, set, err)
		}
	}
}

// evolving adds an aggregate to a table in use.
func (s *shop) evolving() {
	st := s.open(2)
	s.held(st.Start(s.ctx))
	d, _ := s.plan.Definition("late")
	if _, err := testworld.Writers(st).Heads.MarkBehind(s.ctx, []*aggregate.Definition{d}); err != nil {
		s.t.Error(err)
	}
	if _, err := repair.Of(st).Touch(s.ctx); err != nil { // many items in one request
		s.t.Error(err)
	}
	s.put(s.open(1), event.Inserted, s.order("late", 1), s.item(`{"type":"letter","id":"1","at":"2099-03-01T10:00:00Z","text":"%s"}`,
		strings.Repeat("x", 1<<10)))
	if touched, err := repair.Of(st).Touch(s.ctx); err != nil || touched.Touched != 2 {
		s.t.Error(touched, err)
	}
	var pass tables.Pass
	for range 2 { // the second replaces the first
		var err error
		pass, err = repair.Of(st).BeginPass(s.ctx, d)
		s.held(err)
	}
	s.held(repair.Of(st).ClearBuilding(s.ctx, d, pass.Behind))
	if err := s.open(3).Start(s.ctx); err != nil { // a newer generation starts, so the older one is retired
		s.t.Error(err)
	}
}

// sent returns everything that the packages of the tables send.
func sent(t *testing.T) *record {
	r := newRecord()
	again := map[string]bool{} // each gets one second page; without this, only answers of 1 MB would bring one
	r.edit = func(api string, in, out any) {
		switch out := out.(type) {
		case *dynamodb.QueryOutput:
			if !again[api] && len(out.Items) > 0 {
				again[api], out.LastEvaluatedKey = true, keyOf(out.Items[0])
			}
		case *dynamodb.ScanOutput:
			if !again[api] && len(out.Items) > 0 {
				again[api], out.LastEvaluatedKey = true, keyOf(out.Items[0])
			}
		}
	}
	for _, way := range []struct {
		counting aggregate.Counting
		few      int
	}{{aggregate.Marks, 0}, {aggregate.Marks, 1}, {aggregate.Receipts, 0}} {
		s := newShop(t, r, way.counting)
		s.few = way.few
		s.storing()
		s.counting()
		s.moving()
		s.reading()
		s.looking()
		s.asking()
		s.mending()
		s.keeping()
		s.evolving()
		s.migrating()
		s.returning()
	}
	return r
}

// Counted says that capture has done everything.
func (s *shop) Counted(context.Context) (time.Time, error) { return s.now, nil }

// mapping declares a pipeline with totals of its own, and a migration of the old table into the
// events table. stream and events are their streams.
func (s *shop) mapping(totals, text, mapping, stream, events string) (*store.Store, migrate.Source, *migrate.Migration) {
	s.t.Helper()
	p, err := pipeline.Load(fstest.MapFS{"pipeline.yaml": {Data: []byte(text)}}, "pipeline.yaml")
	s.held(err)
	st := s.on(totals, p)
	m, err := rowmap.Load(fstest.MapFS{"m.yaml": {Data: []byte(mapping)}}, "m.yaml", p)
	s.held(err)
	found, err := migrate.Find(s.ctx, s.engine.DynamoDB(), s.engine.DynamoDB(), "old", "events")
	s.held(err)
	old := found.Source
	old.Stream, old.Events = stream, events
	moving, err := migrate.NewMigration(m, old, tables.Config{Client: old.Client, Events: "events", Aggregates: totals, Env: env.Env{
		Now: func() time.Time { return s.now }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}})
	s.held(err)
	return st, old, moving
}

// migrating moves a table into the events table: two passes, a change that capture sees, a
// comparison, an erased copy, and a turn.
func (s *shop) migrating() {
	const text = `ingot: 1
epoch: 1
type: "{type}"
events:
  user: {id: "{id}", at: "{at}", key: {pk: "USER#{id}", sk: "USER"}, migrated: users}
  phone: {id: "{id}#{n}", key: {pk: "USER#{id}", sk: "PHONE#{n}"}, part: {of: user, each: phones, with: [id]}}
aggregates:
  owned: {since: 1, movedBy: put, atLeast: {phones: -100}, from: {phone: {values: {phones: count}}}}
`
	st, old, moving := s.mapping("moved", text, `migration: 1
name: users
from: {table: old}
rows: [{type: user, payload: {type: user, id: "{id}", at: "{at}", phones: "{phones}"}}]
`, "another stream", "")
	written := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	row := func(id, at, phone string) migrate.Changed {
		row := migrate.Row{"id": written(id), "at": written(at), "phones": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: migrate.Row{"n": written(phone)}}}}}
		_, err := old.Client.PutItem(s.ctx, &dynamodb.PutItemInput{TableName: &old.Table, Item: row})
		s.held(err)
		return migrate.Changed{Key: row, Images: []migrate.Row{row}}
	}
	unmarked := migrate.Row{"PK": written("USER#2"), "SK": written("USER"), "type": written("user")} // as if its mark had been taken off
	row("1", "2099-03-01T10:00:00Z", "1")
	for n := range 2 {
		pass, err := moving.BeginPass(s.ctx)
		if err == nil {
			_, err = pass.Run(s.ctx, nil)
		}
		s.held(err)
		if n == 0 {
			row("1", "2099-03-01T10:00:00Z", "2")
			row("2", "2099-03-01T10:00:00Z", "1")
			in := &dynamodb.PutItemInput{TableName: aws.String("events"), Item: unmarked}
			_, err := old.Client.PutItem(s.ctx, in)
			s.held(err)
		}
	}
	erased := event.Key{PK: "USER#1", SK: "USER"}
	if _, err := repair.Of(st).Erase(s.ctx, erased); err != nil {
		s.t.Error(err)
	}
	second := row("2", "2099-03-01T11:00:00Z", "1")
	if done := moving.Do(s.ctx, migrate.Always, []migrate.Changed{second}); done.Collisions == 0 || done.Err != nil {
		s.t.Errorf("%+v", done)
	}
	_, err := s.engine.DynamoDB().DeleteItem(s.ctx, &dynamodb.DeleteItemInput{TableName: &old.Table,
		Key: migrate.Row{"id": second.Key["id"], "at": second.Key["at"]}})
	s.held(err)
	moving.Do(s.ctx, migrate.Always, []migrate.Changed{second})
	for _, stream := range []string{"a stream", "another stream"} {
		s.held(moving.NoteCaptured(s.ctx, stream, s.now))
	}
	lane, note := event.Lane{StreamARN: "another stream", ShardID: "shard"}, migrate.LaneNote{Sequence: "100000000000000000001"}
	for range 2 {
		s.held(moving.NoteLane(s.ctx, lane, note))
	}
	if done, err := moving.LaneDone(s.ctx, lane); err != nil || done.Sequence != note.Sequence {
		s.t.Errorf("%+v, %v", done, err)
	}
	if c, err := moving.Compare(s.ctx, s); err != nil || !c.Clean() {
		s.t.Fatalf("%+v, %v", c, err)
	}
	s.held(st.Start(s.ctx))
	retire := func(want int) {
		quiet := func(context.Context, time.Time) (int, error) { return 0, nil }
		if swept, err := moving.Retire(s.ctx, s.engine.DynamoDB(), quiet); swept != want || want > 0 && err != nil {
			s.t.Errorf("%d tombstones, %v", swept, err)
		}
	}
	for _, want := range []string{migrate.Turning, migrate.New} {
		state, err := moving.Turn(s.ctx, 0)
		if err != nil || state != want {
			s.t.Fatalf("%s, %v, want %s", state, err, want)
		}
		d, _ := st.Config().Pipeline.Definition("owned")
		if pass, err := repair.Of(st).BeginPass(s.ctx, d); err != nil {
			s.t.Error(err)
		} else if err := repair.Of(st).ClearBuilding(s.ctx, d, pass.Behind); err != nil {
			s.t.Error(err)
		}
	}
	retire(0)
	s.now = s.now.Add(time.Hour)
	retire(1)
}

// returning turns a table, brings events to it, and goes back.
func (s *shop) returning() {
	const text = `ingot: 1
epoch: 1
type: "{type}"
events:
  city: {id: "{id}", at: "{at}", key: {pk: "CITY#{id}", sk: "CITY"}, migrated: cities}
`
	st, old, moving := s.mapping("returned", text, `migration: 1
name: cities
from: {table: old}
rows:
  - where: exists phones
    skip: of the other migration
  - type: city
    payload: {type: city, id: "{id}", at: "{at}", name: "{name}", land: "{land}"}
back: {city: {id: "{id}", at: "{at}", name: "{name}", land: "{land}"}}
`, "a", "b")
	capture := &migrate.Capture{Migration: moving}
	told := func(table, keys string) {
		s.t.Helper()
		batch := fmt.Sprintf(`{"Records": [{"eventSourceARN": "arn:aws:dynamodb:r:1:table/%s/stream/1", "dynamodb": {"SequenceNumber": "1",
  "ApproximateCreationDateTime": %d, "Keys": %s}}]}`, table, s.now.Unix(), keys)
		if out, err := capture.Handle(s.ctx, json.RawMessage(batch)); err != nil || len(out.BatchItemFailures) > 0 {
			s.t.Errorf("%+v, %v", out, err)
		}
	}
	at := "2099-03-01T10:00:00Z"
	rowKey := func(id string) string { return fmt.Sprintf(`{"id": {"S": %q}, "at": {"S": %q}}`, id, at) }
	put := func(row migrate.Row) {
		_, err := old.Client.PutItem(s.ctx, &dynamodb.PutItemInput{TableName: &old.Table, Item: row})
		s.held(err)
	}
	written := func(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
	pass, err := moving.BeginPass(s.ctx)
	if err == nil {
		_, err = pass.Run(s.ctx, nil)
	}
	s.held(err)
	bad := migrate.Row{"id": written("5"), "at": written("noon")}
	put(bad)
	told("old", `{"id": {"S": "5"}, "at": {"S": "noon"}}`) // it is refused
	_, err = s.engine.DynamoDB().DeleteItem(s.ctx, &dynamodb.DeleteItemInput{TableName: &old.Table, Key: bad})
	s.held(err)
	proven := func() {
		s.t.Helper()
		s.now = s.now.Add(time.Hour)
		control, err := moving.Control(s.ctx)
		if err == nil {
			err = moving.NoteCaptured(s.ctx, moving.Streams(control), s.now)
		}
		s.held(err)
		if c, err := moving.Compare(s.ctx, s); err != nil || !c.Clean() {
			s.t.Fatalf("%+v, %v", c, err)
		}
	}
	proven()
	_, err = moving.Turn(s.ctx, 0)
	s.held(err)
	var items []*event.Item
	for _, id := range []string{"1", "2"} {
		item, err := st.Config().Pipeline.Plan(envelope.Message{
			Body: fmt.Sprintf(`{"type":"city","id":%q,"at":%q,"name":"N","land":"L"}`, id, at)})
		s.held(err)
		items = append(items, item)
	}
	if results, _ := st.Put(s.ctx, items); results[0].Verdict != event.Inserted {
		s.t.Fatal(results[0])
	}
	for _, item := range items {
		told("events", fmt.Sprintf(`{"PK": {"S": %q}, "SK": {"S": "CITY"}}`, item.Key.PK))
	}
	told("events", `{"PK": {"S": "CITY#1"}, "SK": {"S": "CITY"}}`) // once more
	put(migrate.Row{"id": written("1"), "at": written(at), "name": written("?")})
	told("old", rowKey("1")) // a forgotten job
	for i, forgotten := range []bool{false, true} {
		id := []string{"2", "3"}[i]
		if forgotten {
			put(migrate.Row{"id": written(id), "at": written(at)})
		} else if _, err := s.engine.DynamoDB().DeleteItem(s.ctx, &dynamodb.DeleteItemInput{TableName: aws.String("events"),
			Key: migrate.Row{"PK": written("CITY#" + id), "SK": written("CITY")}}); err != nil {
			s.t.Fatal(err)
		}
		told("old", rowKey(id)) // no event has it
	}
	proven()
	for _, want := range []string{migrate.Draining, migrate.Old} {
		if state, err := moving.Back(s.ctx, migrate.Quiet); err != nil || state != want {
			s.t.Fatalf("%s, %v, want %s", state, err, want)
		}
		s.now = s.now.Add(time.Hour)
		s.held(moving.NoteCaptured(s.ctx, "b a", s.now))
	}
}

func keyOf(item map[string]types.AttributeValue) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": item["PK"], "SK": item["SK"]}
}

// TestEveryFormIsCovered shows that the suite has every form of request that the store sends. A new
// form must be added to it.
func TestEveryFormIsCovered(t *testing.T) {
	theirs, _ := suite(t)
	for _, form := range slices.Sorted(maps.Keys(ours(sent(t)))) {
		if theirs.forms[form] == nil {
			t.Errorf("the store sends %q, and no case of the suite does", form)
		}
	}
}

// ours returns the forms that came from these packages.
func ours(r *record) map[string]map[string]bool {
	forms := maps.Clone(r.forms)
	maps.DeleteFunc(forms, func(form string, _ map[string]bool) bool { return strings.HasPrefix(form, "CreateTable:") })
	return forms
}

// TestEverySenderIsHeard shows that the record of what the store sends is complete. It has requests
// from every place in the store that sends something, and every value that the store's expressions
// have.
func TestEverySenderIsHeard(t *testing.T) {
	r := sent(t)
	senders, placeholders := readStore(t)
	for name, at := range senders {
		if !r.senders[name] {
			t.Errorf("%s sends a request that the shop of this test does not come by: extend it", at)
		}
	}
	for name, at := range placeholders {
		if !r.placeholders[name] && !r.placeholders[name+"%d"] {
			t.Errorf("%s: no request of the shop has a value %s: extend it", at, name)
		}
	}
	if len(senders) < 12 || len(placeholders) < 12 {
		t.Errorf("%d senders and %d placeholders found in the source: this test looks for the wrong thing", len(senders),
			len(placeholders))
	}
}

// value matches a placeholder. A colon inside a name, as in i:revision, does not begin one.
var value = regexp.MustCompile(`\B:[a-z][A-Za-z0-9]*(%d)?\b`)

// readStore finds the functions that call the client, and the placeholders of values in string
// literals.
func readStore(t *testing.T) (senders, placeholders map[string]string) {
	t.Helper()
	senders, placeholders = map[string]string{}, map[string]string{}
	var files []string
	for _, folder := range []string{"internal/table/*", "migrate", "store", "store/query", "store/repair"} {
		more, err := filepath.Glob("../../" + folder + "/*.go")
		if err != nil || len(more) == 0 {
			t.Fatal(folder, err)
		}
		files = append(files, more...)
	}
	set := token.NewFileSet()
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/payloads/") { // payloads go to S3
			continue
		}
		source := must.Read(t, path)
		file, err := parser.ParseFile(set, path, source, 0)
		must.Succeed(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				at := set.Position(f.Pos())
				where := fmt.Sprintf("%s:%d", filepath.Base(at.Filename), at.Line)
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if inner, ok := n.X.(*ast.SelectorExpr); ok && inner.Sel.Name == "Client" {
						senders[f.Name.Name] = where
					}
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
						for _, name := range value.FindAllString(text, -1) {
							placeholders[digits.ReplaceAllString(name, "%d")] = where
						}
					}
				}
				return true
			})
		}
	}
	return senders, placeholders
}
