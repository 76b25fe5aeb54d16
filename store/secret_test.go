package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// hashed is a declaration in which hmac makes a part of a key, but of no total.
func hashed(s *pipeline.Spec) {
	e := s.Events["order"]
	e.ID, e.Key = "{customer}#{id}", pipeline.KeySpec{PK: "ORDER#{customer | hmac:orders}#{id}", SK: "{customer | hmac}"}
	s.Events["order"] = e
}

// under returns a store over w's tables with its own secret.
func (w *world) under(secret string, alter func(*pipeline.Spec)) *store.Store {
	w.t.Helper()
	spec := orders()
	alter(&spec)
	p, err := pipeline.New(spec, pipeline.Secret([]byte(secret)))
	must.Succeed(w.t, err)
	return w.open(tables.Config{Pipeline: p,
		Env: env.Env{Sleep: func(context.Context, time.Duration) error { return nil }}})
}

const one, two = "one secret of many bytes", "two secrets of many bytes"

func (w *world) check() string {
	w.t.Helper()
	item := w.stored("totals", lanes.SecretKey)
	check, _ := item["check"].(*types.AttributeValueMemberS)
	if len(item) != 3 && len(item) != 0 || check != nil && (len(check.Value) != 16 || strings.Contains(check.Value, "secret")) {
		w.t.Errorf("the item %v", item)
	}
	if check == nil {
		return ""
	}
	return check.Value
}

// The first function that starts decides which secret the tables are filled with. Another secret is
// refused, on both sides and however the answers go. It changes nothing.
func TestAnotherSecret(t *testing.T) {
	ingest := func(s *store.Store) error { return s.Inside().Heads.CheckSecret(deadline(t)) }
	streams := func(s *store.Store) error { return s.Start(deadline(t)) }
	for name, starts := range map[string][2]func(*store.Store) error{"ingest, ingest": {ingest, ingest},
		"ingest, streams": {ingest, streams},
		"streams, ingest": {streams, ingest}, "streams, streams": {streams, streams}} {
		for fault, f := range map[string][]fault{"none": nil,
			"refused": {{API: "GetItem", Before: errLost}, {API: "PutItem", Before: errLost}},
			"lost":    {{API: "GetItem", After: errLost}, {API: "PutItem", After: errLost}}} {
			t.Run(name+" "+fault, func(t *testing.T) {
				w := newWorld(t)
				w.faults = f
				must.Succeed(t, starts[0](w.under(one, hashed)))
				check := w.check()
				if err := starts[1](w.under(two, hashed)); !errors.Is(err, tables.ErrOtherSecret) ||
					!strings.Contains(err.Error(), "PiiKeySecretArn") {
					t.Errorf("another secret: %v", err)
				}
				if err := starts[1](w.under(one, hashed)); err != nil {
					t.Errorf("the same secret: %v", err)
				}
				if check == "" || w.check() != check {
					t.Errorf("the check value was %q and is %q", check, w.check())
				}
			})
		}
	}
}

// Another secret changes all that is made with it. So it is said first, and not what follows from
// it, such as an aggregate whose hashes differ.
func TestTheSecretIsComparedFirst(t *testing.T) {
	grouped := func(s *pipeline.Spec) {
		hashed(s)
		adds(s, `
aggregates:
  hashes: {since: 1, by: {merchant: "{merchant | hmac}"}, movedBy: put, from: {order: {values: {orders: count}}}}
`)
	}
	for name, begin := range map[string]func(s *store.Store) error{
		"start": func(s *store.Store) error { return s.Start(deadline(t)) },
		"renew": func(s *store.Store) error { return s.Inside().Heads.Renew(deadline(t)) },
	} {
		w := newWorld(t)
		must.Succeed(t, begin(w.under(one, grouped)))
		check := w.check()
		err := begin(w.under(two, grouped))
		if mistakes := (*tables.StartError)(nil); !errors.Is(err, tables.ErrOtherSecret) || errors.As(err, &mistakes) ||
			w.check() != check {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If several start at once on fresh tables, either all agree or some are refused.
func TestSecretsRace(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		var group sync.WaitGroup
		errs := make([]error, 6)
		for n := range errs {
			s := w.under([]string{one, two}[n%2], hashed)
			group.Go(func() { errs[n] = s.Inside().Heads.CheckSecret(deadline(t)) })
		}
		group.Wait()
		for n, err := range errs {
			if first := errs[n%2]; (err == nil) != (first == nil) || (errs[0] == nil) == (errs[1] == nil) {
				t.Fatalf("%v", errs)
			}
		}
	}
}

// A function that is refused for another reason leaves no check value, because the right one may
// still come.
func TestRefusedStartLeavesNoCheck(t *testing.T) {
	w := newWorld(t)
	w.start()
	other := w.under(two, func(s *pipeline.Spec) { hashed(s); delete(s.Aggregates, "live") })
	if err := other.Start(deadline(t)); !errors.As(err, new(*tables.StartError)) || w.check() != "" {
		t.Errorf("%v, and the check value %q", err, w.check())
	}
}

// A person's machine may have the secret of another stack. Under it, the parts of stored events
// would have other keys: they would be stored a second time, and erasing an event would leave them.
func TestAnotherSecretOfAPerson(t *testing.T) {
	w := newWorld(t)
	withParts := func(s *pipeline.Spec) {
		hashed(s)
		accounts(&setup{Spec: *s})
		row := s.Events["row"]
		row.Key.PK = "ACCOUNT#{id | hmac}"
		s.Events["row"] = row
	}
	right, wrong := w.under(one, withParts), w.under(two, withParts)
	for _, err := range []error{right.Start(deadline(t)), right.Inside().Heads.CheckSecret(deadline(t))} {
		must.Succeed(t, err)
	}
	spec := orders()
	withParts(&spec)
	p, err := pipeline.New(spec, pipeline.Secret([]byte(one)))
	must.Succeed(t, err)
	item := w.itemOf(p, `"type":"account"`, `"id":"a"`, `"email":"x@y"`, `"at":"2099-03-01T10:00:00Z"`, `"rows":[{"n":1,"sku":"s"}]`)
	if results, _ := right.Put(deadline(t), events{item}); verdicts(results) != "Inserted" {
		t.Fatal(results)
	}
	if done, err := repair.Of(wrong).PutParts(deadline(t)); !errors.Is(err, tables.ErrOtherSecret) || done.Put != 0 {
		t.Errorf("%+v, %v", done, err)
	}
	if erased, err := repair.Of(wrong).Erase(deadline(t), item.Key); !errors.Is(err, tables.ErrOtherSecret) || erased {
		t.Errorf("%v, %v", erased, err)
	}
	if whole, parts := w.lieThere(item); !whole || parts != 2 {
		t.Errorf("whole %v, %d parts", whole, parts)
	}
	again := w.under(one, withParts)
	if done, err := repair.Of(again).PutParts(deadline(t)); err != nil || done.Put != 0 || done.Wholes != 1 {
		t.Errorf("the same secret: %+v, %v", done, err)
	}
	if erased, err := repair.Of(again).Erase(deadline(t), item.Key); err != nil || !erased {
		t.Errorf("the same secret: %v, %v", erased, err)
	}
	must.Say(t, w.lies(item.Parts.Items[1].Key), "i:barred")
}

// A secret that agrees is read once. If no key uses hmac, nothing is asked. A denial is reported at
// once.
func TestCheckSecretCost(t *testing.T) {
	w := newWorld(t)
	ask := func(s *store.Store) int64 {
		before := w.Engine.Usage().Requests
		must.Succeed(t, s.Inside().Heads.CheckSecret(deadline(t)))
		after := w.Engine.Usage().Requests
		return after["GetItem"] + after["PutItem"] - before["GetItem"] - before["PutItem"]
	}
	first, second, plain := w.under(one, hashed), w.under(one, hashed), w.under(one, func(s *pipeline.Spec) {
		a := s.Aggregates["by_merchant"]
		a.By = map[string]string{"merchant": "{merchant | hmac}"}
		s.Aggregates["by_merchant"] = a
	})
	for n, c := range []struct {
		store *store.Store
		want  int64
	}{{plain, 0}, {first, 2}, {first, 0}, {second, 1}, {second, 0}} {
		must.Equal(t, ask(c.store), c.want, n)
	}
	w.fails("GetItem", errDenied)
	if err := w.under(one, hashed).Inside().Heads.CheckSecret(context.Background()); err == nil ||
		!strings.Contains(err.Error(), "not authorized") || len(w.faults) > 0 {
		t.Errorf("%v", err)
	}
	if _, is := lanes.ParseKey(lanes.SecretKey); is {
		t.Error("the check value is taken for a total")
	}
}
