package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// with opens a store over the same tables with another declaration.
func (w *world) with(alter func(*pipeline.Spec), c aggregate.Counting) *store.Store {
	w.t.Helper()
	spec := orders()
	alter(&spec)
	return w.open(tables.Config{Pipeline: w.compile(spec), Counting: c,
		Env: env.Env{Now: w.Clock.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}})
}

// started does what with does, counting by marks, and a streams function has started.
func (w *world) started(alter func(*pipeline.Spec)) *store.Store {
	w.t.Helper()
	s := w.with(alter, aggregate.Marks)
	must.Succeed(w.t, s.Start(deadline(w.t)))
	return s
}

func same(*pipeline.Spec) {}

// added declares one more aggregate, with the given since, in a file of the given epoch.
func added(since, epoch int64) func(*pipeline.Spec) {
	return func(s *pipeline.Spec) {
		s.Epoch = epoch
		adds(s, fmt.Sprintf(`aggregates: {extra: {since: %d, from: {order: {values: {orders: count, revenue: sum cents}}}}}`, since))
	}
}

func (w *world) epoch() string {
	w.t.Helper()
	if n, ok := w.stored("totals", lanes.EpochKey)["epoch"].(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

func head(t testing.TB, s *store.Store, d *aggregate.Definition) *tables.Head {
	t.Helper()
	h, err := s.Head(context.Background(), d)
	must.Succeed(t, err)
	return h
}

// The steps show what Start says and does on one pair of tables. Each step finds what the steps
// before it left.
func TestStart(t *testing.T) {
	changed := func(s *pipeline.Spec) {
		a := s.Aggregates["live"]
		a.From = map[string]pipeline.FromSpec{"order": {Where: "cents > 0", Values: a.From["order"].Values}}
		s.Aggregates["live"] = a
	}
	spread := func(s *pipeline.Spec) {
		a := s.Aggregates["live"]
		a.Spread = 3
		s.Aggregates["live"] = a
	}
	w := newWorld(t)
	for _, step := range []struct {
		name    string
		alter   func(*pipeline.Spec)
		way     aggregate.Counting
		refused []string // words of the refusal; nil: the function starts
		epoch   string   // afterwards
	}{
		{"fresh tables", same, aggregate.Marks, nil, "1"},
		{"again", same, aggregate.Marks, nil, "1"},
		{"other way of counting", same, aggregate.Receipts, []string{"by_merchant since 1", "daily since 1", "live since 1",
			"counted by marks", "since: 2 and epoch: 2"}, "1"},
		{"other definition", changed, aggregate.Marks, []string{"live since 1", "declared differently", "since: 2 and epoch: 2"}, "1"},
		{"other spread", spread, aggregate.Marks, []string{"live since 1", "since: 2 and epoch: 2"}, "1"},
		{"other definition in a file of a higher epoch", func(s *pipeline.Spec) {
			changed(s)
			s.Epoch = 2
		}, aggregate.Marks, []string{"live since 1", "declared differently", "since: 2"}, "1"},
		{"new without a new epoch", added(1, 1), aggregate.Marks, []string{"extra since 1", "no head", "since: 2", "epoch to 2"}, "1"},
		{"new, since an epoch that has passed", added(1, 2), aggregate.Marks, []string{"extra since 1", "since: 2"}, "1"},
		{"new with a new epoch", added(2, 2), aggregate.Marks, nil, "2"},
		{"again", added(2, 2), aggregate.Marks, nil, "2"},
		{"the file from before", same, aggregate.Marks, nil, "2"},
		{"the file from before with something new in it", added(1, 1), aggregate.Marks, []string{"extra since 1", "since: 3", "epoch to 3"},
			"2"},
		{"a higher epoch and nothing new", added(2, 5), aggregate.Marks, nil, "5"},
		{"new again at an epoch that has passed", func(s *pipeline.Spec) {
			added(2, 5)(s)
			s.Aggregates["more"] = s.Aggregates["extra"]
		}, aggregate.Marks, []string{"more since 2", "since: 6", "epoch to 6"}, "5"},
		{"a new generation of a name", added(6, 6), aggregate.Marks, nil, "6"},
		{"the generation before it under a higher epoch", added(2, 7), aggregate.Marks,
			[]string{"extra since 2", "taken out at epoch 6", "since: 7 and epoch: 7"}, "6"},
		{"the file of the generation before it", added(2, 5), aggregate.Marks, nil, "6"},
		{"one taken out without a new epoch", func(s *pipeline.Spec) {
			s.Epoch = 6
		}, aggregate.Marks, []string{"extra since 6", "at epoch 6, does not declare it", "epoch: 7"}, "6"},
		{"an older file that would let some of it go", func(s *pipeline.Spec) {
			added(2, 5)(s)
			delete(s.Aggregates, "live")
		}, aggregate.Marks, []string{"live since 1", "at epoch 5, does not declare it", "epoch: 7"}, "6"},
		{"one taken out with a new epoch", func(s *pipeline.Spec) { s.Epoch = 8 }, aggregate.Marks, nil, "8"},
		{"put back as it was", added(6, 9), aggregate.Marks, []string{"extra since 6", "taken out at epoch 8", "since: 9 and epoch: 9"},
			"8"},
		{"put back in the file that took it out", added(6, 8), aggregate.Marks,
			[]string{"extra since 6", "taken out at epoch 8", "since: 9 and epoch: 9"}, "8"},
		{"put back as a new generation", added(9, 9), aggregate.Marks, nil, "9"},
	} {
		err := w.with(step.alter, step.way).Start(deadline(t))
		if (err != nil) != (step.refused != nil) {
			t.Fatalf("%s: %v", step.name, err)
		}
		for _, words := range step.refused {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %q is not in: %v", step.name, words, err)
			}
		}
		if got := w.epoch(); got != step.epoch {
			t.Fatalf("%s: the table is at epoch %s, want %s", step.name, got, step.epoch)
		}
	}
	for id, want := range map[string]struct {
		building bool
		retired  int64
	}{"live#1": {false, 0}, "extra#2": {true, 6}, "extra#6": {true, 8}, "extra#9": {true, 0}} {
		d, _ := lanes.ParseID(id)
		h := head(t, w.store, d)
		if h == nil || h.Building != want.building || h.Retired != want.retired || h.Behind != 0 || h.Counting != "marks" ||
			h.Definition == "" || len(h.Digest) != 64 {
			t.Errorf("head of %s: %+v", d, h)
		}
	}
}

// Fresh tables are as the file says, whatever since says in it. Nothing is building.
func TestStartOnFreshTablesOfALaterEpoch(t *testing.T) {
	w := newWorld(t)
	s := w.with(added(4, 7), aggregate.Marks)
	if err := s.Start(deadline(t)); err != nil || w.epoch() != "7" {
		t.Fatal(err, w.epoch())
	}
	if h := head(t, s, &aggregate.Definition{Name: "extra", Since: 4}); h == nil || h.Building {
		t.Errorf("%+v", h)
	}
}

// The form of the head is fixed, because rebuild, the tool and other programs read it.
func TestStoredHead(t *testing.T) {
	w := newWorld(t)
	w.start()
	def, _ := w.plan.Definition("daily")
	img := w.stored("totals", under("G#daily#1", "-"))
	for name, want := range map[string]string{"PK": "S G#daily#1", "SK": "S -", "definition": "S " + def.Text, "digest": "S " +
		lanes.Digest(def), "counting": "S marks", "spread": "N 4", "building": "BOOL false", "behind": "N 0", "unclosed": "BOOL true"} {
		must.Equal(t, show(img[name]), want, name)
	}
	must.Equal(t, len(img), 9)
	if err := w.store.Start(deadline(t)); err != nil || show(w.stored("totals", under("G#daily#1", "-"))["retain:order"]) !=
		"N 7776000" {
		t.Errorf("the next start notes how long events live: %v", err)
	}
	e := w.stored("totals", under("E#", "-"))
	if got := show(e["epoch"]) + ", " + show(e["generations"]); got != "N 1, L of S by_merchant#1 S daily#1 S live#1" || len(e) != 4 {
		t.Errorf("E# is %s", got)
	}
}

// A function that is rolled back knows the newer generations by name. Its reads say which of its
// own generations were taken out.
func TestStartOfAnOlderPipeline(t *testing.T) {
	w := newWorld(t)
	newer := w.with(func(s *pipeline.Spec) { added(2, 2)(s); delete(s.Aggregates, "live") }, aggregate.Marks)
	for _, s := range []*store.Store{w.store, newer, w.store} {
		must.Succeed(t, s.Start(deadline(t)))
	}
	if n := w.store.Inside().Heads.Newer(); len(n) != 1 || n[0].String() != "extra since 2" || len(newer.Inside().Heads.Newer()) != 0 {
		t.Errorf("older: %v, newer: %v", n, newer.Inside().Heads.Newer())
	}
	w.counts(1, w.order("1", 5))
	if total := w.total("live"); len(total.Flags) != 1 || !strings.Contains(total.Flags[0], "taken out of the pipeline at epoch 2") {
		t.Errorf("%+v", total)
	}
}

// Old code that goes on after newer code has started learns of it within minutes. What has not
// started starts.
func TestRenew(t *testing.T) {
	w := newWorld(t)
	if err := w.store.Inside().Heads.Renew(deadline(t)); err != nil || w.epoch() != "1" {
		t.Fatal(err, w.epoch())
	}
	must.Succeed(t, w.with(added(2, 2), aggregate.Marks).Start(deadline(t)))
	for _, step := range []struct {
		after  time.Duration
		looks  int64 // how often only the epoch is read
		starts int64 // how often the heads are read
		newer  int
	}{{5 * time.Minute, 0, 0, 0}, {time.Second, 1, 1, 1}, {0, 0, 0, 1}, {6 * time.Minute, 1, 0, 1}, {6 * time.Minute, 1, 0, 1}} {
		w.Clock.Pass(step.after)
		meter := w.meter()
		err := w.store.Inside().Heads.Renew(deadline(t))
		used := meter().Requests
		if err != nil || used["GetItem"] != step.looks || used["BatchGetItem"] != step.starts ||
			len(w.store.Inside().Heads.Newer()) != step.newer {
			t.Errorf("%s later: %v, newer %v, %v", step.after, used, w.store.Inside().Heads.Newer(), err)
		}
	}
	// The same epoch may count other generations: what is counted is known only if both are as
	// before.
	w.Clock.Pass(time.Hour)
	img := w.stored("totals", lanes.EpochKey)
	list := img["generations"].(*types.AttributeValueMemberL)
	list.Value = append(list.Value, textValue("another#2"))
	w.put("totals", img)
	if err := w.store.Inside().Heads.Renew(deadline(t)); err != nil || len(w.store.Inside().Heads.Newer()) != 2 {
		t.Errorf("another generation of the same epoch: %v, %v", w.store.Inside().Heads.Newer(), err)
	}
	w.Clock.Pass(time.Hour)
	img["epoch"] = numberValue("9")
	w.put("totals", img)
	meter := w.meter()
	if err := w.store.Inside().Heads.Renew(deadline(t)); err != nil || meter().Requests["BatchGetItem"] == 0 {
		t.Errorf("another epoch of the same generations: the heads are not read; %v", err)
	}
	w.Clock.Pass(time.Hour)
	w.fails("GetItem", errDenied)
	if err := w.store.Inside().Heads.Renew(deadline(t)); err == nil {
		t.Error("what could not be read is taken for known")
	}
}

// A batch is read key by key. What another start writes between two of them does not make it
// refuse.
func TestStartDoubtsWhatItReads(t *testing.T) {
	w := newWorld(t)
	for _, s := range []*store.Store{w.store, w.with(added(2, 2), aggregate.Marks)} {
		must.Succeed(t, s.Start(deadline(t)))
	}
	w.faults = []fault{{API: "BatchGetItem", Edit: func(out any) {
		o := out.(*dynamodb.BatchGetItemOutput)
		o.Responses["totals"] = slices.DeleteFunc(o.Responses["totals"], func(img attrs) bool {
			return show(img["PK"]) == "S G#extra#2"
		})
	}}}
	must.Succeed(t, w.with(added(2, 2), aggregate.Marks).Start(deadline(t)))
	var refused *tables.StartError
	if err := w.with(added(1, 2), aggregate.Marks).Start(deadline(t)); !errors.As(err, &refused) || len(refused.Mistakes) != 2 {
		t.Errorf("%v", err)
	}
}

// Hashes of two secrets would be two totals of one merchant.
func TestStartWithAnotherSecret(t *testing.T) {
	w := newWorld(t)
	spec := orders()
	spec.Aggregates["by_merchant"] = pipeline.AggregateSpec{Since: 1, By: map[string]string{"merchant": "{merchant | hmac}"},
		From: spec.Aggregates["daily"].From}
	start := func(secret string) error {
		p, err := pipeline.New(spec, pipeline.Secret([]byte(secret)))
		must.Succeed(t, err)
		return w.open(tables.Config{Pipeline: p}).Start(deadline(t))
	}
	for _, secret := range []string{"one", "one"} {
		must.Succeed(t, start(secret))
	}
	err := start("two")
	if err == nil || !strings.Contains(err.Error(), "aggregate by_merchant since 1 is grouped by hmac with another secret") ||
		strings.Contains(err.Error(), "daily") ||
		!strings.Contains(err.Error(), "the old secret (parameter PiiKeySecretArn of template.yaml). Only if it is lost, declare the "+
			"aggregate again with since: 2 and epoch: 2") {
		t.Errorf("%v", err)
	}
	changed := spec.Aggregates["by_merchant"]
	changed.Window = time.Hour
	spec.Aggregates["by_merchant"] = changed
	if err := start("two"); err == nil || !strings.Contains(err.Error(), "another secret") ||
		strings.Contains(err.Error(), "declared differently") {
		t.Errorf("another definition, too: %v", err)
	}
	must.Fail(t, start("one"), "declared differently")
}

// One start changes what fits into one transaction. If a person has deleted a head, marking it does
// not create half a head.
func TestStartsThatChangeTooMuch(t *testing.T) {
	w := newWorld(t)
	many := func(epoch int64, n int) *store.Store {
		return w.with(func(s *pipeline.Spec) {
			s.Epoch = epoch
			for i := range n {
				added(epoch, epoch)(s)
				s.Aggregates[fmt.Sprintf("extra_%d", i)] = s.Aggregates["extra"]
			}
			delete(s.Aggregates, "extra")
		}, aggregate.Marks)
	}
	for _, step := range []struct {
		epoch   int64
		extras  int
		refused string
	}{{1, 60, ""}, {2, 60, "60 aggregates are new and 60 are taken out, and one start can change 99; first take some out"}, {3, 0, ""},
		{4, 60, ""}} {
		err := many(step.epoch, step.extras).Start(deadline(t))
		if (err == nil) != (step.refused == "") || err != nil && !strings.Contains(err.Error(), step.refused) {
			t.Errorf("epoch %d: %v", step.epoch, err)
		}
	}
	gone := &aggregate.Definition{Name: "gone", Since: 1}
	_, err := w.store.Inside().Heads.MarkBehind(deadline(t), []*aggregate.Definition{gone})
	if err != nil || head(t, w.store, gone) != nil {
		t.Errorf("%v %+v", err, head(t, w.store, gone))
	}
}

// Every request of a start fails in two ways, and the start still ends well.
func TestStartThroughFaults(t *testing.T) {
	for _, api := range []string{"BatchGetItem", "TransactWriteItems"} {
		for name, f := range map[string]fault{
			"refused": {API: api, Before: errThrottled}, "no answer": {API: api, Before: errLost},
			"lost answer": {API: api, After: errLost},
			"unread": {API: "BatchGetItem", Edit: func(out any) {
				o := out.(*dynamodb.BatchGetItemOutput)
				o.UnprocessedKeys = map[string]types.KeysAndAttributes{"totals": {Keys: []attrs{{}}}}
				o.Responses = nil
			}},
		} {
			t.Run(api+" "+name, func(t *testing.T) {
				w := newWorld(t)
				w.faults = []fault{f, f}
				w.start()
				w.faults = []fault{f, f}
				if err := w.with(added(2, 2), aggregate.Marks).Start(deadline(t)); err != nil || w.epoch() != "2" {
					t.Fatal(err, w.epoch())
				}
			})
		}
	}
}

// An error that cannot get better is reported at once.
func TestStartRefusedByTheService(t *testing.T) {
	for _, api := range []string{"BatchGetItem", "TransactWriteItems"} {
		for _, err := range []error{errDenied,
			&types.ResourceNotFoundException{},
			&types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("ValidationError"),
				Message: aws.String("Item size has exceeded the maximum allowed size")}}}} {
			w := newWorld(t)
			for range 50 {
				w.faults = append(w.faults, fault{API: api, Before: err})
			}
			if got := w.store.Start(context.Background()); got == nil || !strings.Contains(got.Error(), "totals") {
				t.Errorf("%s: %v", api, got)
			}
			if _, transaction := err.(*types.TransactionCanceledException); w.slept > 0 && (!transaction || api == "TransactWriteItems") {
				t.Errorf("%s %T: waited %d times", api, err, w.slept)
			}
		}
	}
}

// Two functions start at once, on fresh tables and with one more generation. Both start, and the
// heads are written once.
func TestStartersRace(t *testing.T) {
	for i := range 20 {
		w := newWorld(t)
		for _, alter := range []func(*pipeline.Spec){same, added(2, 2)} {
			var group sync.WaitGroup
			errs := make([]error, 4)
			for n := range errs {
				s := w.with(alter, aggregate.Marks)
				group.Go(func() { errs[n] = s.Start(deadline(t)) })
			}
			group.Wait()
			for n, err := range errs {
				if err != nil {
					t.Fatalf("run %d, starter %d: %v", i, n, err)
				}
			}
		}
		if h := head(t, w.store, &aggregate.Definition{Name: "extra", Since: 2}); h == nil || !h.Building || w.epoch() != "2" {
			t.Fatalf("run %d: %+v at epoch %s", i, h, w.epoch())
		}
	}
	// If two functions want different things of one epoch, one is refused with an explanation.
	w := newWorld(t)
	w.start()
	other := func(s *pipeline.Spec) {
		added(2, 2)(s)
		s.Aggregates["extra"] = s.Aggregates["by_merchant"]
		a := s.Aggregates["extra"]
		a.Since = 2
		s.Aggregates["extra"] = a
	}
	var group sync.WaitGroup
	errs := make([]error, 2)
	for n, alter := range []func(*pipeline.Spec){added(2, 2), other} {
		s := w.with(alter, aggregate.Marks)
		group.Go(func() { errs[n] = s.Start(deadline(t)) })
	}
	group.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("%v and %v", errs[0], errs[1])
	}
}

// show returns an attribute value as text for people.
func show(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return "S " + v.Value
	case *types.AttributeValueMemberN:
		return "N " + v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B %x", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint("BOOL ", v.Value)
	case *types.AttributeValueMemberM:
		return fmt.Sprintf("M of %d", len(v.Value))
	case *types.AttributeValueMemberL:
		list := "L of"
		for _, element := range v.Value {
			list += " " + show(element)
		}
		return list
	case nil:
		return "nothing"
	}
	return fmt.Sprintf("%T", v)
}
