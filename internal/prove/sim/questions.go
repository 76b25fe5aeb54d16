package sim

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// addPatterns gives a pipeline two more indexes, and patterns that read all of them. GSI4 is
// sharded, and its key changes with the second epoch. GSI5 is sparse, and events of one time share
// a sort key in it.
func addPatterns(spec *pipeline.Spec, secret bool) {
	byDay := pipeline.IndexSpec{PK: model.OldDay + "{@at | day}#{@id | shard:3}", SK: "{@at | time}#{@id}"}
	if spec.Epoch > 1 {
		byDay.PK, byDay.Was = model.NewDay+"{@at | day}#{@id | shard:3}", []string{byDay.PK}
	}
	for _, e := range spec.Events {
		e.Indexes["GSI4"] = byDay
		e.Indexes["GSI5"] = pipeline.IndexSpec{PK: "GIFT#{@id | shard:2}", SK: "{@at | time}", Where: "gift = true"}
	}
	both := []string{"order", "parcel"}
	spec.Patterns = map[string]pipeline.PatternSpec{
		"one":              {Read: both[:1]},
		"of_customer":      {Read: both, Index: "GSI1"},
		"customer_orders":  {Read: both[:1], Index: "GSI1", Newest: true},
		"customer_parcels": {Read: both[1:], Index: "GSI1"},
		"merchant_parcels": {Read: both[1:], Index: "GSI2"},
		"of_day":           {Read: both, Index: "GSI4"},
		"gifts":            {Read: both[:1], Index: "GSI5", Newest: true},
	}
	if secret {
		spec.Patterns["hashed"] = pipeline.PatternSpec{Read: both, Index: "GSI3"}
	}
}

// lagMost is how long an index of a world lags at most. The times of records are of whole seconds.
const (
	lagMost = 5 * time.Second
)

// reader asks questions by patterns while a world goes on. It reads between two steps, without
// taking time, and its draws have a source of their own. So it changes nothing for the others.
type reader struct {
	w       *World
	draw    *rand.Rand
	reading *asked // nil between two questions
}

// asked is a question whose pages are being read.
type asked struct {
	pattern string
	ask     query.Ask
	version int64
	sealed  []byte
	newest  bool
	began   time.Time
	pages   int
	got     []found
	looked  int // at so many of several keys
	matches func(model.Fact) bool
}

// found is an item that a page had.
type found struct {
	*event.Item
	fact model.Fact
	at   time.Time // of the page
}

// step begins a question now and then, or reads its next page.
func (r *reader) step() {
	switch {
	case !r.w.plan.Patterns || r.w.Failure != nil:
	case r.reading != nil && r.draw.IntN(6) == 0:
		r.page()
	case r.reading == nil && len(r.w.log) > 0 && r.draw.IntN(150) == 0:
		r.begin()
		r.page()
	}
}

func (r *reader) version() int64 {
	if r.w.plan.Upgrade > 0 && r.w.phase >= r.w.plan.Upgrade {
		return 2
	}
	return 1
}

// begin makes up a question.
func (r *reader) begin() {
	draw, w := r.draw, r.w
	patterns := w.pipelineOf(r.version()).Patterns()
	q := &asked{pattern: patterns[draw.IntN(len(patterns))].Name(), version: r.version(), began: w.Now,
		ask: query.Ask{Values: map[string][]string{}, Limit: 1 + draw.IntN(9), MaxUnits: float64(20 + draw.IntN(20))}}
	if draw.IntN(2) == 0 {
		q.sealed = []byte("sixteen bytes of")
	}
	some := func(of []string) []string {
		list := slices.Clone(of)
		draw.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return list[:1+draw.IntN(len(list))]
	}
	buyer := func(f model.Fact) bool {
		return f.Customer != "" && slices.Contains(q.ask.Values["customer"], f.Customer)
	}
	// The question's text has whole seconds, and so has what it is judged by.
	from := w.Now.Add(-time.Duration(draw.IntN(50*3600)) * time.Second).UTC().Truncate(time.Second)
	to := from.Add(time.Duration(1+draw.IntN(40*3600)) * time.Second)
	if draw.IntN(2) == 0 { // events come at whole hours too
		from, to = from.Truncate(time.Hour), to.Truncate(time.Hour).Add(time.Hour)
	}
	between := func(f model.Fact) bool { return !f.Time().Before(from) && f.Time().Before(to) }
	limit := func() { q.ask.From, q.ask.To = from.Format(time.RFC3339), to.Format(time.RFC3339) }
	switch q.pattern {
	case "one":
		var ids []string
		for range 1 + draw.IntN(2)*draw.IntN(12) {
			id := w.log[len(w.log)-1-draw.IntN(min(len(w.log), 1<<draw.IntN(10)))].fact.ID
			if id = cmp.Or(id, "none"); !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		q.ask.Values["id"], q.ask.Consistent = ids, draw.IntN(2) == 0
		q.matches = func(f model.Fact) bool { return f.Type == "order" && slices.Contains(ids, f.ID) }
	case "of_customer":
		q.ask.Values["customer"] = some(customers[1:])
		q.matches = buyer
	case "customer_orders":
		merchant := merchants[draw.IntN(len(merchants))]
		q.ask.Values["customer"], q.ask.Values["merchant"] = some(customers[1:]), []string{merchant}
		q.matches = func(f model.Fact) bool { return f.Type == "order" && buyer(f) && f.Merchant == merchant }
	case "customer_parcels":
		q.ask.Values["customer"] = some(customers[1:])
		limit()
		q.matches = func(f model.Fact) bool { return f.Type == "parcel" && buyer(f) && between(f) }
	case "merchant_parcels", "hashed":
		q.ask.Values["merchant"] = some(merchants)
		q.matches = func(f model.Fact) bool {
			return slices.Contains(q.ask.Values["merchant"], f.Merchant) && (f.Type == "parcel" || q.pattern == "hashed")
		}
	case "of_day":
		limit()
		q.matches = between
	case "gifts":
		q.matches = func(f model.Fact) bool { return f.Gift && f.Type == "order" }
		if draw.IntN(2) == 0 {
			limit()
			q.matches = func(f model.Fact) bool { return f.Gift && f.Type == "order" && between(f) }
		}
	}
	p, err := w.pipelineOf(q.version).Pattern(q.pattern)
	w.Must(err)
	q.newest = p.Newest()
	if draw.IntN(2) == 0 {
		q.newest = draw.IntN(2) == 0
		q.ask.Newest = &q.newest
	}
	w.Tracef("asks %s %v from %q to %q", q.pattern, q.ask.Values, q.ask.From, q.ask.To)
	r.reading = q
}

// page reads the next page, and judges the answer after the last one. A token of a pattern that was
// deployed in another form meanwhile must be refused.
func (r *reader) page() {
	q, w := r.reading, r.w
	version := r.version()
	s, err := query.New(tables.Config{Client: readsByPattern{w.ingot.Engine.DynamoDB(), r}, Pipeline: w.pipelineOf(version),
		Events:     eventsTable,
		Aggregates: totals, TokenKey: q.sealed, Env: r.env()})
	if err != nil {
		w.Fail(Broken, "reading %s: %v", q.pattern, err)
		return
	}
	page, err := s.Read(context.Background(), q.pattern, q.ask)
	if changed := version != q.version && q.pattern == "of_day" && q.ask.Page != ""; changed || err != nil {
		if r.reading = nil; !changed || err == nil || !strings.Contains(err.Error(), "another question") {
			w.Fail(Misread, "page %d of %s: the token is of epoch %d, the pattern of %d: %v", q.pages+1, q.pattern, q.version, version, err)
		}
		return
	}
	q.pages++
	q.looked += page.Read + len(page.Missing)
	w.stats.Pages++
	if len(page.Items) > q.ask.Limit {
		w.Fail(Misread, "a page of %s has %d items, and at most %d were asked for", q.pattern, len(page.Items), q.ask.Limit)
	}
	for _, item := range page.Items {
		text := item.Data
		if item.Payload != nil { // the reader has what the item keeps
			text = w.model.Texts[item.Payload.Sum]
		}
		f, err := model.Read(text)
		if err != nil {
			w.Fail(Misread, "%s gave %s, whose payload cannot be read: %v", q.pattern, item.Key, err)
			return
		}
		q.got = append(q.got, found{item, f, w.Now})
		r.judgeItem(q, q.got[len(q.got)-1])
	}
	if q.ask.Page = page.Next; page.Next != "" && q.pages < 1000 {
		r.askForeign(s, q)
		return
	}
	r.reading = nil
	if page.Next != "" {
		w.Fail(Misread, "%s has not ended after %d pages", q.pattern, q.pages)
		return
	}
	r.judge(q)
}

// askForeign asks another question with the token of this one, which must be refused.
func (r *reader) askForeign(s *query.Reader, q *asked) {
	other, newest := q.ask, !q.newest
	other.Newest = &newest
	if page, err := s.Read(context.Background(), q.pattern, other); err == nil || page.Requests > 0 {
		r.w.Fail(Misread, "%s was asked in the other order with the token of this one, and answered with %d items", q.pattern,
			len(page.Items))
	}
}

// judgeItem checks one item of an answer. It must match the question, and its key must have held it
// within the time that the index lags.
func (r *reader) judgeItem(q *asked, got found) {
	w := r.w
	if !q.matches(got.fact) {
		w.Fail(Misread, "%s %v from %q to %q gave %s, which does not match: %+v", q.pattern, q.ask.Values, q.ask.From, q.ask.To,
			got.Key, got.fact)
		return
	}
	if got.ExpiresAt <= got.at.Unix() {
		w.Fail(Misread, "%s gave %s, which expired at %d, and it is %d", q.pattern, got.Key, got.ExpiresAt, got.at.Unix())
		return
	}
	from := got.at.Add(-lagMost - model.WholeIn)
	if q.ask.Consistent {
		from = got.at
	}
	for _, s := range w.model.Keys[got.fact.Key()].Between(from, got.at) {
		if s.Image != nil && reads(s.Image, got.Item) && s.Image.Epoch == got.Epoch {
			return
		}
	}
	w.Fail(Misread, "%s gave %s as its key did not hold it when the page was read", q.pattern, got.Key)
}

// judge checks a whole answer. It must be in order. Nothing may come twice at one place, and what
// was stored all the while, and did not move, must have come.
func (r *reader) judge(q *asked) {
	w := r.w
	p, _ := w.pipelineOf(q.version).Pattern(q.pattern)
	come := map[string]bool{}
	for i, got := range q.got {
		at := q.placeOf(p.Index(), got)
		name := got.fact.Key() + " " + at.String()
		if come[name] {
			w.Fail(Misread, "%s gave %s twice", q.pattern, name)
			return
		}
		come[name], come[got.fact.Key()] = true, true
		if i > 0 && q.placeOf(p.Index(), q.got[i-1]).compare(at, q.newest && q.pattern != "one") > 0 {
			w.Fail(Misread, "%s gave %s after %s, newest first: %v", q.pattern, at, q.placeOf(p.Index(), q.got[i-1]), q.newest)
			return
		}
	}
	from := q.began
	if !q.ask.Consistent {
		from = from.Add(-lagMost - model.WholeIn)
	}
	for _, key := range sortedKeys(w.model.Keys) {
		f := w.model.Keys[key].Steady(from, w.Now)
		if f != nil && q.matches(*f) && !come[key] {
			w.Fail(Misread,
				"%s %v from %q to %q lacks %s, which was stored before the question and did not change: %+v (%d items on %d pages)",
				q.pattern, q.ask.Values, q.ask.From, q.ask.To, key, *f, len(q.got), q.pages)
			return
		}
	}
	if ids := q.ask.Values["id"]; len(ids) > 1 && q.looked != len(ids) {
		w.Fail(Misread, "%s %v says of %d keys whether something is stored under them", q.pattern, ids, q.looked)
	}
	w.stats.Answers++
}

// place is where an item stands in an answer.
type place struct{ day, sk, pk string }

func (p place) String() string { return p.day + " " + p.sk + " " + p.pk }

// placeOf returns the place of an item by the key that was read, or among the keys that were asked
// for. Only GSI4 has periods.
func (q *asked) placeOf(index string, got found) place {
	if q.pattern == "one" {
		return place{sk: fmt.Sprintf("%2d", slices.Index(q.ask.Values["id"], got.fact.ID)), pk: got.Key.PK}
	}
	p := place{"", got.Key.SK, got.Key.PK}
	for _, ix := range got.Indexes {
		if ix.Name == index {
			p.sk, p.pk = ix.Key.SK, ix.Key.PK
		}
	}
	if index == "GSI4" {
		p.day = got.At.UTC().Format(time.DateOnly)
	}
	return p
}

func (p place) compare(other place, newest bool) int {
	ahead := cmp.Or(strings.Compare(p.day, other.day), strings.Compare(p.sk, other.sk))
	if newest {
		ahead = -ahead
	}
	return cmp.Or(ahead, strings.Compare(p.pk, other.pk))
}

// env is the world as the reader sees it. Its waits take no time, and its goroutines run in turn.
func (r *reader) env() env.Env {
	env := testworld.NewClock(r.w.Now).Env(r.draw.Float64)
	env.Now = func() time.Time { return r.w.Now }
	env.Deadline = func(ctx context.Context, _ time.Time) (context.Context, context.CancelFunc) { return ctx, func() {} }
	env.Sleep = func(context.Context, time.Duration) error { return nil }
	return env
}

// readsByPattern is DynamoDB as the reader reaches it. A request may be throttled. The answer to
// one that reads an index, or that is not consistent, may lack the latest writes.
type readsByPattern struct {
	tables.Client
	r *reader
}

func (c readsByPattern) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return asking(c.r, func() (*dynamodb.QueryOutput, error) { return c.Client.Query(ctx, in) })
}

func (c readsByPattern) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput,
	error) {
	return asking(c.r, func() (*dynamodb.GetItemOutput, error) { return c.Client.GetItem(ctx, in) })
}

func (c readsByPattern) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return asking(c.r, func() (*dynamodb.BatchGetItemOutput, error) { return c.Client.BatchGetItem(ctx, in) })
}

func asking[Out any](r *reader, do func() (*Out, error)) (*Out, error) {
	if r.draw.Float64() < r.w.plan.Faults.Refuse {
		return nil, stage.Throttled
	}
	r.w.asking = true
	defer func() { r.w.asking = false }()
	return do()
}

// behind decides how far the index or the replica is behind that answers the reader.
func (r *reader) behind(read embedded.Read) int {
	if read.Writes == 0 || r.draw.IntN(3) == 0 {
		return 0
	}
	if read.Index != "" {
		r.w.Faults[indexBehind]++
	}
	return r.draw.IntN(read.Writes + 1)
}
