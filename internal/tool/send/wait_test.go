package send_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/tables"
)

// table holds items under keys of one letter: the first bytes of their digests.
type table struct {
	items  map[string]byte
	comes  map[int]map[string]byte // what comes just before a round, from 1
	rounds int
}

func (t *table) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput,
	error) {
	if t.rounds++; t.items == nil {
		t.items = map[string]byte{}
	}
	maps.Copy(t.items, t.comes[t.rounds])
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{}}
	for name, keys := range in.RequestItems {
		for _, key := range keys.Keys {
			first, there := t.items[key["PK"].(*types.AttributeValueMemberS).Value]
			if !there {
				continue
			}
			item := maps.Clone(key)
			if digest := (event.Digest{first}); first == barred {
				item["i:barred"] = &types.AttributeValueMemberBOOL{Value: true}
			} else {
				item["digest"] = &types.AttributeValueMemberB{Value: digest[:]}
			}
			out.Responses[name] = append(out.Responses[name], item)
		}
	}
	return out, nil
}

// barred stands for the digest of an item that bars its key.
const barred = 0

// sent makes an event under a key of one letter.
func sent(pk string, digest byte, parts ...*event.Item) *event.Item {
	item := &event.Item{ID: pk, Key: event.Key{PK: pk, SK: "-"}, Digest: event.Digest{digest}}
	if len(parts) > 0 {
		item.Parts = &event.Parts{Items: parts}
	}
	return item
}

func moving(item *event.Item) *event.Item {
	item.Put = 1
	return item
}

func expiring(pk string, after time.Duration) *event.Item {
	item := sent(pk, 1)
	item.ExpiresAt = time.Unix(1e9, 0).Add(after).Unix()
	return item
}

func revised(pk string, digest byte) *event.Item {
	item := sent(pk, digest)
	item.Revision = new(event.Decimal)
	return item
}

// waiter waits for events.
type waiter struct {
	client *table
	judge  send.Judge
	sleep  func(context.Context, time.Duration) error
	told   []send.Waited
}

func (w *waiter) wait(limit time.Duration, items ...*event.Item) (send.Waited, error) {
	all := send.Waiting{}
	for _, item := range items {
		all.Add(item, time.Unix(1e9, 0))
	}
	if w.sleep == nil {
		w.sleep = noSleep
	}
	return send.Wait(context.Background(), w.client, "events", all, w.judge, limit, w.sleep, func(now send.Waited) {
		w.told = append(w.told, now)
	})
}

func TestWait(t *testing.T) {
	twoPayloads := []*event.Item{sent("a", 1, sent("p", 3), sent("q", 11)), sent("a", 2, sent("p", 3), sent("q", 12))}
	for name, c := range map[string]struct {
		sent   []*event.Item
		comes  map[int]map[string]byte
		want   send.Waited
		rounds int           // after so many it ends; 0: when the time is over
		told   []send.Waited // at first
	}{
		"one does not come": {[]*event.Item{sent("a", 1), sent("b", 2), sent("c", 3), sent("a", 1)},
			map[int]map[string]byte{1: {"a": 1}, 3: {"b": 9}}, send.Waited{Stored: 1, Other: 1, Left: 1}, 0,
			[]send.Waited{{Stored: 1, Left: 2}}},
		// The payload that is stored counts as stored, whichever was sent first.
		"the first of two payloads": {twoPayloads, map[int]map[string]byte{2: {"a": 1, "p": 3, "q": 11}},
			send.Waited{Stored: 1, Other: 1}, 2, nil},
		"the second of two payloads": {twoPayloads, map[int]map[string]byte{2: {"a": 2, "p": 3, "q": 12}},
			send.Waited{Stored: 1, Other: 1}, 2, nil},
		// An event under a barred key is never stored, and neither is a whole with such a part.
		"barred keys": {[]*event.Item{sent("a", 1), sent("b", 2), sent("b", 3), revised("b", 4), sent("c", 3, sent("p", 5))},
			map[int]map[string]byte{1: {"a": 1, "b": barred, "c": 3, "p": barred}}, send.Waited{Stored: 1, Barred: 4}, 1, nil},
		// An event that is too near its expiry is stored now, or never.
		"late": {[]*event.Item{expiring("a", tables.ExpiryMargin), expiring("b", tables.ExpiryMargin),
			expiring("c", tables.ExpiryMargin+time.Second)},
			map[int]map[string]byte{1: {"a": 1}, 2: {"c": 1}}, send.Waited{Stored: 2, Late: 1}, 2,
			[]send.Waited{{Stored: 1, Late: 1, Left: 1}}},
		// An event is stored when all its parts are, and never if one of its keys holds
		// something else.
		"parts": {[]*event.Item{sent("a", 1, sent("p", 2), sent("q", 3)), sent("b", 4, sent("r", 5)), sent("c", 6)},
			map[int]map[string]byte{1: {"a": 1, "p": 2, "c": 6}, 3: {"r": 9}, 4: {"q": 3}}, send.Waited{Stored: 2, Other: 1}, 4,
			[]send.Waited{{Stored: 1, Left: 2}, {Stored: 1, Left: 2}, {Stored: 1, Other: 1, Left: 1}}},
	} {
		w := &waiter{client: &table{comes: c.comes}}
		got, err := w.wait(10*time.Second, c.sent...)
		if err != nil || got != c.want || c.rounds > 0 && w.client.rounds != c.rounds || !slices.Equal(w.told[:len(c.told)], c.told) {
			t.Errorf("%s: %+v, %v after %d rounds; told %+v", name, got, err, w.client.rounds, w.told)
		}
	}
	w := &waiter{client: &table{items: map[string]byte{"a": 1}}}
	if got, err := w.wait(0, sent("a", 1), sent("b", 1)); err != nil || got != (send.Waited{Stored: 1, Left: 1}) || w.client.rounds != 1 {
		t.Errorf("without time: %+v, %v", got, err)
	}
}

// Under latest, an older revision under the key is waited for, and a newer one will do. Each that
// is found is judged once.
func TestWaitForRevisions(t *testing.T) {
	w := &waiter{client: &table{items: map[string]byte{"a": 1, "b": 1, "c": 9},
		comes: map[int]map[string]byte{3: {"a": 3}, 5: {"b": 2}}}} // of a, one comes that is newer than the one that was sent
	var judged []string
	w.judge = func(_ context.Context, item *event.Item) (event.Verdict, error) {
		there := w.client.items[item.Key.PK]
		judged = append(judged, fmt.Sprint(item.Key.PK, there))
		switch {
		case there == 9:
			return event.Conflict, nil
		case item.Digest[0] < there:
			return event.Stale, nil
		}
		return event.Updated, nil
	}
	got, err := w.wait(time.Minute, revised("a", 2), revised("b", 2), revised("c", 2))
	slices.Sort(judged)
	if err != nil || got != (send.Waited{Stored: 1, Stale: 1, Other: 1}) || !slices.Equal(judged, []string{"a1", "a3", "b1", "c9"}) {
		t.Errorf("%+v, %v; judged %q", got, err, judged)
	}
}

// An event that a total refuses is not waited for, but only after it has had some time. One that is
// stored by then counts as stored.
func TestWaitForFloors(t *testing.T) {
	items := []*event.Item{moving(sent("a", 1)), moving(sent("b", 1)), sent("w", 1, moving(sent("p", 2))), sent("c", 3)}
	waited, asked := time.Duration(0), map[string]int{}
	w := &waiter{client: &table{items: map[string]byte{"w": 1}, comes: map[int]map[string]byte{6: {"a": 1}}}}
	w.judge = func(_ context.Context, item *event.Item) (event.Verdict, error) {
		if waited < 5*time.Second {
			t.Errorf("%s is asked about after %v", item.ID, waited)
		}
		asked[item.ID]++
		if item.ID == "w" || item.ID == "b" && asked["b"] > 1 {
			return event.Rejected, nil
		}
		return event.Inserted, nil
	}
	w.sleep = func(_ context.Context, d time.Duration) error {
		waited += d
		return nil
	}
	got, err := w.wait(time.Minute, items...)
	if err != nil || got != (send.Waited{Stored: 1, Rejected: 2, Left: 1}) || asked["a"] != 0 || asked["w"] != 1 || asked["b"] != 2 {
		t.Errorf("%+v, %v, asked %v", got, err, asked)
	}
	broken := errors.New("no such table")
	w = &waiter{client: &table{}, judge: func(context.Context, *event.Item) (event.Verdict, error) { return 0, broken }}
	_, err = w.wait(0, items...)
	must.Equal(t, err, broken)
}
