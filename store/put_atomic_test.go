package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// accounts adds an account that claims its email address and has a part for each of its rows, all
// of which are put together.
func accounts(s *setup) {
	adds(&s.Spec, `
events:
  account: {id: "{id}", at: "{at}", key: {pk: "ACCOUNT#{id}", sk: ACCOUNT}, retain: 90d, atomic: true}
  email: {part: {of: account, with: [email]}, id: "{email}", key: {pk: "EMAIL#{email}", sk: CLAIM}}
  row:
    {part: {of: account, each: rows, with: [id]}, id: "{id}#{n}", key: {pk: "ACCOUNT#{id}", sk: "ROW#{n}"},
     indexes: {GSI1: {pk: "SKU#{sku}", sk: "{@id}"}}}
`)
}

// account returns an account with this email address and as many rows.
func (w *world) account(id, email string, rows int, extra ...string) *event.Item {
	list := make([]string, rows)
	for n := range list {
		list[n] = fmt.Sprintf(`{"n":%d,"sku":"s"}`, n)
	}
	return w.item(append([]string{`"type":"account"`, fmt.Sprintf(`"id":%q`, id), fmt.Sprintf(`"email":%q`, email),
		`"at":"2099-03-01T10:00:00Z"`, `"rows":[` + strings.Join(list, ",") + `]`}, extra...)...)
}

// without returns a copy of the item that puts only those of its parts that keep holds for, and one
// after the other, as a function of before `atomic` did.
func without(item *event.Item, keep func(i int) bool) *event.Item {
	old := *item
	old.Parts = &event.Parts{Count: item.Parts.Count}
	for i, part := range item.Parts.Items {
		if keep(i) {
			old.Parts.Items = append(old.Parts.Items, part)
		}
	}
	return &old
}

// before is without as a function put the event that knew no other parts.
func before(item *event.Item, keep func(i int) bool) *event.Item {
	old := without(item, keep)
	old.Parts.Count = len(old.Parts.Items)
	return old
}

func none(int) bool { return false }

// keep puts items together, and fails unless all are stored now.
func (w *world) keep(items ...*event.Item) {
	w.t.Helper()
	results, _ := w.arrive(items...)
	for _, r := range results {
		if r.Verdict != event.Inserted {
			w.t.Fatalf("%v", r)
		}
	}
}

// A whole and its parts are stored together, and again they are Duplicates. A second owner of a
// value is a Conflict that names it, and nothing of it is stored.
func TestPutAtomic(t *testing.T) {
	w := newWorld(t, accounts)
	a, b, other := w.account("a", "x@y", 2), w.account("b", "x@y", 2), w.account("a", "x@y", 2, `"name":"n"`)
	must.Equal(t, told(w.puts("account a x@y 2, order 1 1, account a x@y 2")),
		"Inserted (Inserted, Inserted, Inserted), Inserted, Duplicate (Duplicate, Duplicate, Duplicate)")
	if whole, parts := w.lieThere(a); !whole || parts != 3 {
		t.Errorf("whole %v, %d parts", whole, parts)
	}
	results := w.putNow(b, other, w.account("a", "x@y", 2))
	must.Equal(t, told(results), "Conflict claimed, Conflict digest-differs, Duplicate (Duplicate, Duplicate, Duplicate)")
	if r := results[0].Refusal; r.Key.PK != "EMAIL#x@y" ||
		r.Detail != "email \"x@y\" is taken: another account holds it" || results[0].Existing.Type != "email" {
		t.Errorf("the second owner: %+v of %v", r, results[0].Existing)
	}
	must.Equal(t, results[1].Refusal.Key, a.Key)
	if whole, _ := w.lieThere(b); whole || w.stored("events", b.Parts.Items[1].Key) != nil {
		t.Error("a part of the second owner is stored")
	}
	if judged, there, err := w.repair().Judge(deadline(t), b); err != nil || judged.Verdict != event.Conflict || there == nil ||
		there.Type != "email" {
		t.Errorf("judged: %v %v %v", judged, there, err)
	}
}

// Whatever is stored of a message already, the rest of it is put, and the message is a Duplicate
// only if all of it was there.
func TestAtomicBesidesWhatIsThere(t *testing.T) {
	for mask := range 1 << 4 { // the whole, and each of three parts
		w := newWorld(t, accounts)
		item := w.account("a", "x@y", 2)
		all := append(events{without(item, none)}, item.Parts.Items...)
		for i, one := range all {
			if mask&(1<<i) != 0 {
				w.keep(one)
			}
		}
		if judged, _, err := w.repair().Judge(deadline(t), w.account("a", "x@y", 2)); err != nil ||
			(judged.Verdict == event.Duplicate) != (mask == 15) {
			t.Errorf("%04b: judged %v, %v", mask, judged.Verdict, err)
		}
		results, _ := w.arrive(item)
		want := event.Inserted
		if mask == 15 {
			want = event.Duplicate
		}
		whole, parts := w.lieThere(item)
		if results[0].Verdict != want || !whole || parts != 3 {
			t.Errorf("%04b: %v, whole %v, %d parts", mask, results[0], whole, parts)
		}
		for i, r := range results[0].Parts {
			must.Equal(t, (r.Verdict == event.Duplicate), (mask&(2<<i) != 0), mask, i)
		}
	}
}

// Whatever happens to any request, either all of a message is stored or nothing, and the next
// delivery settles it.
func TestEveryFaultOfAtomic(t *testing.T) {
	for name, f := range map[string]fault{
		"lost before": {Before: errLost}, "lost after": {After: errLost}, "throttled": {Before: errThrottled},
		"contended":        {Before: cancelledFor("TransactionConflict", 4)},
		"throttled inside": {Before: cancelledFor("ThrottlingError", 4)},
		"no reasons":       {Before: &types.TransactionCanceledException{}},
		"stale":            {Before: cancelledFor("ConditionalCheckFailed", 4)}, // and nothing is there
	} {
		for _, always := range []bool{false, true} {
			for _, before := range []int{0, 1} {
				w := newWorld(t, accounts)
				item := w.account("a", "x@y", 2)
				if before == 1 {
					w.keep(without(item, none))
				}
				one := f
				one.API, one.Always = "TransactWriteItems", always
				w.faults = append(w.faults, one)
				results, _ := w.store.Put(context.Background(), events{item}) // bounded by rounds
				whole, parts := w.lieThere(item)
				switch v := results[0].Verdict; {
				case whole && parts == 3 && v.Stored():
				case always && v == event.Retry && (name == "lost after" || whole == (before == 1) && parts == 0):
				default:
					t.Errorf("%s, always %v, whole there %d: %v, whole %v, %d parts", name, always, before, results[0], whole, parts)
				}
				w.faults = nil
				results, _ = w.arrive(w.events("account a x@y 2")...)
				if whole, parts = w.lieThere(item); !results[0].Verdict.Stored() || !whole || parts != 3 {
					t.Errorf("%s, always %v, delivered again: %v, whole %v, %d parts", name, always, results[0], whole, parts)
				}
			}
		}
	}
}

// cancelledAt returns a cancellation of n items that gives some of them a reason.
func cancelledAt(n int, code string, at ...int) error {
	cancelled := testworld.Cancelled(n)
	for _, i := range at {
		cancelled.CancellationReasons[i].Code = &code
	}
	return cancelled
}

// cancelledFor returns a cancellation that gives each of n items the same reason.
func cancelledFor(code string, n int) error {
	return &types.TransactionCanceledException{CancellationReasons: slices.Repeat([]types.CancellationReason{{Code: &code}}, n)}
}

// If the whole is erased between the refusal of a try and the next try, nothing more of it is
// stored. A part that is put beside it all the same would hold its value for ever.
func TestTheRestIsPutBesideItsWholeAlone(t *testing.T) {
	w := newWorld(t, accounts)
	item := w.account("a", "x@y", 2)
	w.keep(without(item, none))
	var tries atomic.Int64
	var w2 = w.store
	w.onCall = func(api string, _ any) error {
		if api == "TransactWriteItems" && tries.Add(1) == 2 {
			w.bar(item)
		}
		return nil
	}
	results, _ := w2.Put(deadline(t), events{item})
	if r := results[0]; r.Verdict != event.Duplicate || r.Refusal == nil || r.Refusal.Reason != event.Barred {
		t.Errorf("%v", r)
	}
	for _, part := range item.Parts.Items {
		if w.stored("events", part.Key) != nil {
			t.Errorf("%s is stored without its whole", part.Key)
		}
	}
}

// An item that is met is a part of the next try by what was found under its key, not by what the
// message says: today's file may give it another digest, and an erased part has none.
func TestConditionIsOnWhatWasMet(t *testing.T) {
	w := newWorld(t, accounts)
	st := w.changed(ofType("account", func(e *pipeline.EventSpec) { e.Ignore = []string{"trace"} }))
	w.keep(without(w.account("a", "a@y", 1, `"trace":1`), none))
	item := w.itemOf(st.Config().Pipeline,
		`"type":"account","id":"a","email":"a@y","at":"2099-03-01T10:00:00Z","rows":[{"n":0,"sku":"s"}],"trace":1`)
	if results, _ := st.Put(context.Background(), events{item}); verdicts(results) != "Inserted" { // bounded by rounds
		t.Errorf("a digest of before: %v", results)
	}
	if _, parts := w.lieThere(item); parts != 2 {
		t.Errorf("%d parts", parts)
	}

	b := w.account("b", "b@y", 2)
	w.keep(without(b, none))
	other, row := w.account("b", "b@y", 2, `"note":1`), b.Parts.Items[1]
	img := w.stored("events", b.Key)
	maps.Copy(img, itemKey(row.Key))
	w.bar(row)
	tries := 0
	w.onCall = func(api string, _ any) error {
		if tries++; api == "TransactWriteItems" && tries == 2 {
			w.put("events", img) // the bar is gone, and another item holds the key
		}
		return nil
	}
	if results := w.putNow(b); verdicts(results) != "Conflict" || w.stored("events", other.Parts.Items[0].Key) != nil {
		t.Errorf("a bar that has gone: %v", results)
	}
}

func (w *world) bar(item *event.Item) {
	w.t.Helper()
	w.write("events", item.Key, attrs{"i:barred": &types.AttributeValueMemberBOOL{Value: true}})
}

// A whole that is past its time is not stored, and none of its parts. If all of it is stored, it is
// a Duplicate.
func TestExpiredAtomic(t *testing.T) {
	w := newWorld(t, accounts)
	all, some, nothing := w.account("a", "a@y", 1), w.account("b", "b@y", 1), w.account("c", "c@y", 1)
	w.keep(all, without(some, func(i int) bool { return i == 0 }))
	w.Clock.Set(time.Unix(all.ExpiresAt, 0).Add(-tables.ExpiryMargin))
	w.judges("Duplicate Expired Expired", w.account("a", "a@y", 1), some, nothing)
	if _, parts := w.lieThere(some); parts != 1 {
		t.Errorf("%d parts", parts)
	}
}

// What comes back with a refusal may be larger than what is put. It is then read without payloads.
func TestAtomicBesideLargeItems(t *testing.T) {
	w := newWorld(t, accounts)
	item, other := w.account("a", "x@y", 40), w.account("a", "x@y", 40, `"name":"n"`)
	w.keep(item)
	short := 0
	w.onCall = refusing(func(items []types.TransactWriteItem) error {
		if put := items[0].Put; put != nil && put.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
			short++
			return store.ErrTooLarge
		}
		return nil
	})
	w.judges("Duplicate Conflict", w.account("a", "x@y", 40), other)
	must.Equal(t, short, 2)
}

// An atomic message costs two units for each started KB of each item, and of each index that it is
// in, in one request. A message that is refused costs as much without the indexes.
func TestCostOfAtomic(t *testing.T) {
	for _, rows := range []int{0, 9, 98} { // and the claim: 1, 10 and 99 parts
		w := newWorld(t, accounts)
		item := w.account("a", "x@y", rows)
		whole := float64(itemform.WriteUnits(item.Size()))
		once := 2*whole + 2*float64(1+rows)
		for _, step := range []struct {
			name   string
			item   *event.Item
			writes float64
		}{
			{"new", item, once + 2*float64(rows)},
			{"redelivered", w.account("a", "x@y", rows), once},
			{"a conflict of the whole", w.account("a", "x@y", rows, `"name":"n"`), once},
			{"a conflict of the claim", w.account("b", "x@y", rows), once},
		} {
			meter := w.meter()
			results, cost := w.arrive(step.item)
			used := meter()
			must.Equal(t, charges(used), fmt.Sprintf("map[TransactWriteItems:1], %v written, 0 read", step.writes), rows, step.name)
			w.accounted(cost, used, rows, step.name)
			must.Equal(t, results[0].Units, step.writes, rows, step.name)
		}
	}
}

// Erasing an owner bars its key and releases its value in one step, wherever the first try stops.
// Until then nobody else gets the value, and the message of the owner does not get it back
// afterwards.
func TestEraseReleasesClaims(t *testing.T) {
	for n := range 12 {
		w := newWorld(t, accounts)
		a, b := w.account("a", "x@y", 2), w.account("b", "x@y", 1)
		w.keep(a)
		var calls atomic.Int64
		w.onCall = func(string, any) error {
			if n > 0 && calls.Add(1) > int64(n) {
				return errThrottled
			}
			return nil
		}
		_, err := w.repair().Erase(context.Background(), a.Key) // bounded by rounds
		w.onCall = nil
		whole, _ := w.lieThere(a)
		results, _ := w.arrive(b)
		if want := map[bool]string{true: "Conflict", false: "Inserted"}[whole]; verdicts(results) != want || whole != (err != nil) {
			t.Errorf("erased up to request %d (%v): the owner is there: %v, and the next one is %v", n, err, whole, results)
		}
		must.Succeed(t, errorOf(w.erase(a.Key)))
		results, _ = w.arrive(w.account("a", "x@y", 2), b)
		if verdicts(results[:1]) != "Duplicate" || results[0].Refusal.Reason != event.Barred || !results[1].Verdict.Stored() {
			t.Errorf("erased: %v", results)
		}
		for _, i := range []*event.Item{a, a.Parts.Items[1], a.Parts.Items[2]} {
			must.Say(t, w.lies(i.Key), "i:barred")
		}
		if whole, parts := w.lieThere(b); !whole || parts != 2 {
			t.Errorf("the next owner: %v, %d", whole, parts)
		}
	}
}

// A claim is erased with its owner alone. One that a person bars all the same can be claimed by
// nobody.
func TestEraseClaims(t *testing.T) {
	w := newWorld(t, accounts)
	a, b := w.account("a", "x@y", 1), w.account("b", "free@y", 1)
	w.keep(a)
	_, err := w.erase(a.Parts.Items[0].Key)
	must.Fail(t, err, "the key holds a claim, which is erased with its whole alone: erase the account that holds it")
	must.Succeed(t, errorOf(w.erase(b.Parts.Items[0].Key)))
	results, _ := w.arrive(b)
	if r := results[0]; r.Verdict != event.Conflict || r.Refusal.Reason != event.Claimed ||
		r.Refusal.Detail != "nobody can claim email \"free@y\": its key was barred by hand" {
		t.Errorf("%v", r)
	}
	// Both were stored before there were claims, and one of them has got it.
	old := w.account("c", "x@y", 1)
	w.keep(before(old, none))
	must.Succeed(t, errorOf(w.erase(old.Key)))
	if whole, parts := w.lieThere(a); !whole || parts != 2 {
		t.Errorf("the owner after another one was erased: %v, %d parts", whole, parts)
	}
}

// While an older owner without a claim is erased, the one that holds its value may go, and the
// older one may get the value. It is released all the same.
func TestEraseReleasesClaimsOfTheMeantime(t *testing.T) {
	for _, moment := range []string{"the claim is read", "the key is barred"} {
		w := newWorld(t, accounts)
		a, b := w.account("a", "x@y", 1), w.account("b", "x@y", 1)
		w.keep(before(a, func(i int) bool { return i == 1 }), b) // a was stored before there were claims
		tries, gone := 0, false
		w.onCall = func(_ string, in any) error {
			var key attrs
			switch in := in.(type) {
			case *dynamodb.TransactWriteItemsInput:
				if in.TransactItems[0].Put != nil {
					key = in.TransactItems[0].Put.Item
				}
			case *dynamodb.PutItemInput:
				key = in.Item
			case *dynamodb.GetItemInput:
				key = in.Key
			}
			pk, _ := key["PK"].(*types.AttributeValueMemberS)
			bars := key["i:barred"] != nil && pk.Value == a.Key.PK && rows.TextOf(key["SK"]) == a.Key.SK
			if bars {
				tries++
			}
			if now := tries == 2 && bars || tries == 1 && pk != nil && pk.Value == "EMAIL#x@y"; !gone && now &&
				(bars || moment == "the claim is read") {
				gone = true
				if _, err := w.erase(b.Key); err != nil {
					t.Error(err)
				}
			}
			if bars && tries == 2 {
				w.keep(w.events("account a x@y 1")...)
			}
			return nil
		}
		_, err := w.erase(a.Key)
		must.Succeed(t, err)
		w.onCall = nil
		if !gone || tries < 2 {
			t.Fatalf("before %s: %d tries to bar the key, and the holder is gone: %v", moment, tries, gone)
		}
		must.Equal(t, w.lies(a.Parts.Items[0].Key), "", moment)
		must.Equal(t, w.judged(w.events("account c x@y 0")...), "Inserted", moment)
	}
}

// A claim is released with its owner, also if it was made of other members when it was stored.
func TestEraseReleasesOlderClaims(t *testing.T) {
	w := newWorld(t, accounts)
	a := w.account("a", "x@y", 1, `"name":"n"`)
	w.keep(a)
	s := w.changed(ofType("email", func(e *pipeline.EventSpec) { e.Part.With = append(e.Part.With, "name") }))
	_, err := repair.Of(s).Erase(deadline(t), a.Key)
	must.Succeed(t, err)
	must.Equal(t, w.lies(a.Parts.Items[0].Key), "")
}

// A claim of which other members were stored is not missing: it is this whole's.
func TestOlderClaimsAreNotMissing(t *testing.T) {
	w := newWorld(t, accounts)
	a, b := w.account("a", "x@y", 1, `"name":"n"`), w.account("b", "x@y", 1, `"name":"n"`)
	w.keep(a)
	w.keep(without(b, func(i int) bool { return i == 1 })) // without its claim, which a has
	s := w.changed(ofType("email", func(e *pipeline.EventSpec) { e.Part.With = append(e.Part.With, "name") }))
	missing, _, err := repair.Of(s).MissingParts(deadline(t), events{a, b})
	if err != nil || len(missing) != 1 || missing[0].Type != "email" || missing[0].Digest == a.Parts.Items[0].Digest {
		t.Errorf("%d are missing, %v", len(missing), err)
	}
}

// Somebody removes a whole while PutParts is at its missing parts. Neither the parts nor the whole
// come back.
func TestPutPartsOfARemovedWhole(t *testing.T) {
	w := newWorld(t, accounts)
	a := w.account("a", "x@y", 1)
	w.keep(without(a, none))
	w.start()
	w.onCall = func(api string, _ any) error {
		if api == "TransactWriteItems" {
			w.removes(a.Key)
		}
		return nil
	}
	p, err := w.repair().PutParts(deadline(t))
	if err != nil || p.Missing != 2 || p.Put != 0 || len(p.Refused) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	if whole, parts := w.lieThere(a); whole || parts != 0 {
		t.Errorf("a removed whole is there: %v, with %d parts", whole, parts)
	}
	if r := p.Refused[0]; r.Reason != event.Unattempted || r.Detail != "its whole was removed in the meantime, so it is not put" {
		t.Errorf("refused: %+v", r)
	}
}

// The claims of what was stored before they were declared are put by PutParts. Of two owners one
// gets the value, and the other one is named.
func TestPutMissingClaims(t *testing.T) {
	w := newWorld(t, accounts)
	a, b, c := w.account("a", "x@y", 1), w.account("b", "x@y", 1), w.account("c", "c@y", 1)
	for _, item := range []*event.Item{a, b, c} {
		w.keep(without(item, none))
	}
	w.start()
	held, _, err := w.repair().MissingParts(deadline(t), events{a, b, c})
	if err != nil || len(held) != 6 {
		t.Errorf("%d parts are missing, %v", len(held), err)
	}
	w.onCall = func(api string, in any) error {
		if tx, ok := in.(*dynamodb.TransactWriteItemsInput); ok && tx.TransactItems[0].ConditionCheck != nil {
			if key := rows.TextOf(tx.TransactItems[0].ConditionCheck.Key["PK"]); key == c.Key.PK {
				w.bar(c)
			}
		}
		return nil
	}
	p, err := w.repair().PutParts(deadline(t))
	if err != nil || p.Wholes != 3 || p.Missing != 6 || p.Put != 3 || len(p.Refused) != 3 {
		t.Errorf("%+v, %v", p, err)
	}
	var reasons []string
	for _, r := range p.Refused {
		reasons = append(reasons, string(r.Reason))
	}
	if slices.Sort(reasons); fmt.Sprint(reasons) != "[barred barred claimed]" {
		t.Errorf("refused: %v", p.Refused)
	}
	// Verify goes on to tell of the one that has not got its value.
	if held, _, err := w.repair().MissingParts(deadline(t), events{a, b}); err != nil || len(held) != 1 ||
		held[0].Type != "email" {
		t.Errorf("still missing: %v, %v", held, err)
	}
	for _, part := range c.Parts.Items {
		if w.stored("events", part.Key) != nil {
			t.Errorf("%s is stored, and its whole was erased", part.Key)
		}
	}
}
