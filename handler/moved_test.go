package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// moving adds a total that moves with the put, with a floor.
func moving(s *setup) {
	s.spec.Aggregates["stock"] = pipeline.AggregateSpec{Since: 2, MovedBy: "put",
		AtLeast: map[string]event.Decimal{"revenue": event.DecimalOf(-10)},
		From:    map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}}
}

// TestCountedByPut shows which changes the streams function leaves to the transaction that put the
// item, and that it counts all others, in both ways of counting.
func TestCountedByPut(t *testing.T) {
	images := newWorld(t) // of a pipeline whose puts move nothing
	one := images.image(order("1", 5))
	put := func(epoch string) attributes { return one.with("i:put", "N", epoch) }
	bar := attributes{"PK": one["PK"], "SK": one["SK"], "i:barred": {"BOOL": true}}
	foreign := attributes{"PK": one["PK"], "SK": one["SK"], "color": {"S": "red"}}
	for name, c := range map[string]struct {
		change map[string]any
		stock  string // orders and revenue of the total that moves with the put
		live   string // of one that does not
	}{
		"put by this generation's transaction":       {insert(1, put("2")), "0 0", "1 5"},
		"put by a later epoch's transaction":         {insert(1, put("3")), "0 0", "1 5"},
		"put by an epoch before the generation":      {insert(1, put("1")), "1 5", "1 5"},
		"put without a transaction, or by a person":  {insert(1, one), "1 5", "1 5"},
		"mended after it was not Ingot's":            {changed(1, foreign, put("3")), "1 5", "1 5"},
		"damaged, so that it is not Ingot's":         {changed(1, put("3"), foreign), "-1 -5", "-1 -5"},
		"put back by a person in the place of a bar": {changed(1, bar, put("3")), "1 5", "1 5"},
		"put by a person in the place of a bar":      {changed(1, bar, one), "1 5", "1 5"},
		"stamped below the generation":               {insert(1, put("1").with("epoch", "N", "1")), "0 0", "0 0"},
		"touched":                                    {changed(1, put("1").with("epoch", "N", "1"), put("1")), "1 5", "1 5"},
		"touched by a later pass":                    {changed(1, put("2").with("epoch", "N", "2"), put("2")), "0 0", "0 0"},
		"an attribute changed": {changed(1, put("3"), put("3").with("color", "S", "red")),
			"0 0", "0 0"},
		"removed":                        {removed(1, put("3")), "-1 -5", "-1 -5"},
		"erased":                         {changed(1, put("3"), bar), "-1 -5", "-1 -5"},
		"expired: it keeps what expires": {expiry(1, put("3")), "0 0", "-1 -5"},
		"removed before it was in any new generation": {removed(1, put("1").with("epoch", "N", "1")), "0 0", "0 0"},
	} {
		for _, way := range bothWays {
			w := newWorld(t, counting(way), moving).started()
			for range 2 { // the second delivery changes nothing
				w.expect(batch(c.change), done)
				for total, want := range map[string]string{"stock": c.stock, "live": c.live} {
					got := w.total(total).Values
					must.Equal(t, got["orders"].String()+" "+got["revenue"].String(), want, name, way, total)
				}
			}
		}
	}
}

// TestBoundsOfARemoval shows that a total which goes beyond its bound because somebody removes or
// corrects an event is flagged in the write that takes it there, and that nothing else flags it. A
// ceiling is a floor for the opposite amounts.
func TestBoundsOfARemoval(t *testing.T) {
	for sign, want := range map[int]string{1: "revenue below its floor", -1: "revenue above its ceiling"} {
		boundOfARemoval(t, sign, want, func(s *setup) {
			moving(s)
			if stock := s.spec.Aggregates["stock"]; sign < 0 {
				stock.AtLeast, stock.AtMost = nil, map[string]event.Decimal{"revenue": event.DecimalOf(10)}
				s.spec.Aggregates["stock"] = stock
			}
		})
	}
}

// changes are the records of one batch.
type changes = []map[string]any

func boundOfARemoval(t *testing.T, sign int, beyond string, bounded func(*setup)) {
	images := newWorld(t)
	of := func(id string, cents int) attributes { return images.image(order(id, sign*cents)) }
	for name, c := range map[string]struct {
		batches []changes
		sum     int
		flagged bool
	}{
		"removed, and it stays above": {[]changes{{insert(1, of("1", 5))}, {removed(2, of("1", 5))}},
			0, false},
		"removed, down to the floor": {[]changes{{removed(1, of("1", 10))}}, -10, false},
		"removed, below":             {[]changes{{removed(1, of("1", 11))}}, -11, true},
		"removed, below what is stored": {[]changes{{insert(1, of("1", -7))}, {removed(2, of("2", 4))}},
			-11, true},
		"removed where there is enough": {[]changes{{insert(1, of("1", 100))}, {removed(2, of("2", 40))}},
			60, false},
		"corrected, below": {[]changes{{changed(1, of("1", 20), of("1", 1))}}, -19, true},
		"corrected upwards": {[]changes{{insert(1, of("1", -20))},
			{changed(2, of("2", 1), of("2", 2))}}, -19, false},
		"an older one comes, one expires": {[]changes{{expiry(1, of("1", 5)), insert(2, of("2", -20))}}, -20, false},
		"one expires, one is removed": {[]changes{{expiry(1, of("1", 5)), removed(2, of("2", 20))}},
			-20, true},
		"an older event is brought in": {[]changes{{insert(1, of("1", -20))}}, -20, false},
		"folded with what makes up": {[]changes{{removed(1, of("1", 11)), insert(2, of("2", 30))}},
			19, false},
	} {
		for _, way := range bothWays {
			w := newWorld(t, counting(way), bounded).started()
			for _, records := range c.batches {
				for range 2 {
					w.expect(batch(records...), done)
				}
			}
			got := w.total("stock")
			flagged := len(got.Flags) == 1 &&
				strings.HasSuffix(got.Flags[0], "an event was removed or corrected, and that has brought "+beyond)
			if got.Values["revenue"].String() != fmt.Sprint(sign*c.sum) || flagged != c.flagged || !flagged && len(got.Flags) > 0 {
				t.Errorf("%s, by %s: %s %q, want %d, flagged: %v", name, way, got.Values["revenue"], got.Flags, sign*c.sum, c.flagged)
			}
		}
	}
}

// TestFloorOfManyTotals shows the same where a batch writes its totals as statements, and where the
// function remembers them from an earlier batch.
func TestFloorOfManyTotals(t *testing.T) {
	by := func(s *setup) {
		moving(s)
		stock := s.spec.Aggregates["stock"]
		stock.By = map[string]string{"id": "{id}"}
		s.spec.Aggregates["stock"] = stock
	}
	images := newWorld(t)
	w := newWorld(t, by).started()
	var first, second []map[string]any
	for i := range 40 {
		img := images.image(order(fmt.Sprint(i), 100))
		first = append(first, insert(1+i, img))
		second = append(second, changed(100+i, img, images.image(order(fmt.Sprint(i), 100-200*(i%2)-i))))
	}
	w.expect(batch(first...), done)
	w.expect(batch(second...), done)
	if w.calls["BatchExecuteStatement"] == 0 {
		t.Fatal("no statement was sent")
	}
	for i := range 40 {
		totals, err := query.Of(w.store).Total(deadline(t), "stock", map[string]string{"id": fmt.Sprint(i)}, epoch, epoch)
		if err != nil || len(totals) != 1 {
			t.Fatalf("%v %v", totals, err)
		}
		if want := fmt.Sprint(100 - 200*(i%2) - i); totals[0].Values["revenue"].String() != want || len(totals[0].Flags) != i%2 {
			t.Errorf("%d: %s %q, want %s", i, totals[0].Values["revenue"], totals[0].Flags, want)
		}
	}
}

// TestIngestStarts shows that the ingest function of a pipeline whose puts move totals starts the
// tables if it is the first, looks again after five minutes, and returns its batch if it is
// refused.
func TestIngestStarts(t *testing.T) {
	w := newWorld(t, moving)
	w.gets(messages(order("1", 5)), "Inserted")
	must.Equal(t, w.head("stock").Building, false)
	must.Equal(t, w.head("stock").Retired, 0)
	sends := func(what string, want int, id string) {
		t.Helper()
		before := w.calls["BatchGetItem"] + w.calls["GetItem"]
		w.gets(messages(order(id, 5)), "Inserted", what)
		must.Equal(t, w.calls["BatchGetItem"]+w.calls["GetItem"]-before, want, what)
	}
	sends("the next batch", 0, "2")
	w.Clock.Pass(6 * time.Minute)
	sends("after five minutes, as the one that has raised the epoch", 2, "3")
	sends("the one after that", 0, "4")
	w.Clock.Pass(6 * time.Minute)
	sends("after five more minutes", 1, "5")

	// A pipeline of the same epoch with another definition is refused, and its batch comes back.
	other := newWorld(t, moving, func(s *setup) {
		stock := s.spec.Aggregates["stock"]
		stock.AtLeast = nil
		s.spec.Aggregates["stock"] = stock
	})
	st, err := w.Store(other.plan)
	must.Succeed(t, err)
	other.ingest = w.Ingest(st)
	before := len(w.items())
	_, err = other.ingest.Handle(iam.As(deadline(t), other.IngestRole), messages(order("6", 5)))
	must.Fail(t, err, "aggregate stock since 2 is declared differently in pipeline.yaml and in the table")
	must.Equal(t, len(w.items()), before)
}

// TestIngestStartsOnlyWhereItMust shows that a pipeline whose puts move nothing is stored without a
// look at the aggregates table.
func TestIngestStartsOnlyWhereItMust(t *testing.T) {
	w := newWorld(t)
	clear(w.calls)
	w.receive(messages(order("1", 5)))
	must.Match(t, w.calls, map[string]int{"PutItem": 1})
}

// TestIngestCannotStart shows that a batch comes back whole while the tables give no proof.
func TestIngestCannotStart(t *testing.T) {
	w := newWorld(t, moving)
	w.refuse("BatchGetItem", errDenied)
	response, err := w.handleQueue(deadline(t), messages(order("1", 5)))
	must.Fail(t, err, "")
	must.Equal(t, len(response.BatchItemFailures), 0)
	must.Equal(t, len(w.items()), 0)
}
