package send_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue takes batches, and refuses what fails says of a message's try.
type queue struct {
	mu      sync.Mutex
	batches [][]string
	groups  []string
	tries   map[string]int
	fails   func(body string, try int) *types.BatchResultErrorEntry
	err     func(n int) error // of the n-th request
}

func (q *queue) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput,
	error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.tries == nil {
		q.tries = map[string]int{}
	}
	if q.err != nil {
		if err := q.err(len(q.batches)); err != nil {
			return nil, err
		}
	}
	out := &sqs.SendMessageBatchOutput{}
	var taken []string
	for _, e := range in.Entries {
		q.tries[*e.MessageBody]++
		if q.fails != nil {
			if f := q.fails(*e.MessageBody, q.tries[*e.MessageBody]); f != nil {
				f.Id = e.Id
				out.Failed = append(out.Failed, *f)
				continue
			}
		}
		taken = append(taken, *e.MessageBody)
		q.groups = append(q.groups, aws.ToString(e.MessageGroupId))
	}
	q.batches = append(q.batches, taken)
	return out, nil
}

func (q *queue) all() []string { return slices.Sorted(slices.Values(slices.Concat(q.batches...))) }

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"n\":\"%04d\"}\n", i)
	}
	return b.String()
}

func noSleep(context.Context, time.Duration) error { return nil }

func TestEverythingIsSentInBatches(t *testing.T) {
	q := &queue{}
	var told []int
	n, err := send.Lines(context.Background(), send.Config{Queue: q, URL: "u", Sent: func(n int) {
		told = append(told, n)
	}}, ndjson.Lines(strings.NewReader(numbered(1234))))
	if n != 1234 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if len(q.batches) != 124 || strings.Join(q.all(), "\n")+"\n" != numbered(1234) {
		t.Errorf("%d batches with %d messages", len(q.batches), len(q.all()))
	}
	if !slices.IsSorted(told) || told[len(told)-1] != 1234 {
		t.Errorf("told %v", told)
	}
}

func TestBatchesAreCutByBytes(t *testing.T) {
	q := &queue{}
	big := `{"a":"` + strings.Repeat("x", 400_000) + `"}` + "\n"
	if n, err := send.Lines(context.Background(), send.Config{Queue: q, Parallel: 1},
		ndjson.Lines(strings.NewReader(big+big+big+big+big))); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	for _, b := range q.batches {
		if len(b) > 2 {
			t.Errorf("%d messages of 400 KB in a batch", len(b))
		}
	}
	n, err := send.Lines(context.Background(), send.Config{Queue: q},
		ndjson.Lines(strings.NewReader("{}\n"+`{"a":"`+strings.Repeat("x", 1<<20)+`"}`+"\n")))
	if line := new(send.LineError); n != 1 || !errors.As(err, &line) || line.Line != 2 ||
		!strings.Contains(err.Error(), "SQS takes at most 1048576") {
		t.Errorf("%d, %v", n, err)
	}
}

// What is sent for certain is the lines before the first one that is not.
func TestFailuresAndWhereToGoOn(t *testing.T) {
	slow := &types.BatchResultErrorEntry{Code: aws.String("ServiceUnavailable")}
	for name, tt := range map[string]struct {
		fails func(string, int) *types.BatchResultErrorEntry
		err   func(int) error
		sent  int
		says  string
	}{
		"again and again": {fails: func(_ string, try int) *types.BatchResultErrorEntry {
			if try < 4 {
				f := *slow
				return &f
			}
			return nil
		}, sent: 35},
		"for ever": {fails: func(body string, _ int) *types.BatchResultErrorEntry {
			if strings.Contains(body, "0025") {
				f := *slow
				return &f
			}
			return nil
		}, sent: 20, says: "line 26: SQS does not take it: ServiceUnavailable"},
		"the sender's fault": {fails: func(body string, _ int) *types.BatchResultErrorEntry {
			if strings.Contains(body, "0012") {
				return &types.BatchResultErrorEntry{Code: aws.String("InvalidMessageContents"), Message: aws.String("no"),
					SenderFault: true}
			}
			return nil
		}, sent: 10, says: "line 13: SQS does not take it: InvalidMessageContents: no"},
		"a request": {err: func(n int) error {
			if n == 2 {
				return errors.New("no such queue")
			}
			return nil
		}, sent: 20, says: "no such queue"},
	} {
		t.Run(name, func(t *testing.T) {
			q := &queue{fails: tt.fails, err: tt.err}
			n, err := send.Lines(context.Background(), send.Config{Queue: q, Parallel: 1, Sleep: noSleep},
				ndjson.Lines(strings.NewReader(numbered(35))))
			if n != tt.sent || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%d sent, %v; want %d, %s", n, err, tt.sent, tt.says)
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{err: func(n int) error {
		if n == 3 {
			stop()
		}
		return nil
	}}
	n, err := send.Lines(ctx, send.Config{Queue: q, Parallel: 1}, ndjson.Lines(strings.NewReader(numbered(1000))))
	if !errors.Is(err, context.Canceled) || n < 30 || n > 60 || len(q.all()) < n {
		t.Errorf("%d sent for certain, %d in all: %v", n, len(q.all()), err)
	}
}

func TestRate(t *testing.T) {
	now := time.Unix(0, 0)
	var slept time.Duration
	c := send.Config{Queue: &queue{}, Rate: 50, Parallel: 1, Now: func() time.Time { return now },
		Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); slept += d; return nil }}
	if _, err := send.Lines(context.Background(), c, ndjson.Lines(strings.NewReader(numbered(500)))); err != nil {
		t.Fatal(err)
	}
	if slept < 9700*time.Millisecond || slept > 9900*time.Millisecond {
		t.Errorf("500 events at 50 a second take %s", slept)
	}
}

// The order of a group's lines is kept, also if one of them must be sent again.
func TestGroups(t *testing.T) {
	path, _ := event.ParsePath("who.id")
	var lines strings.Builder
	for i := range 25 {
		fmt.Fprintf(&lines, `{"who":{"id":%d},"n":"%02d"}`+"\n", i%3, i)
	}
	q := &queue{fails: func(body string, try int) *types.BatchResultErrorEntry {
		if strings.Contains(body, `"04"`) && try == 1 {
			return &types.BatchResultErrorEntry{Code: aws.String("ServiceUnavailable")}
		}
		return nil
	}}
	if n, err := send.Lines(context.Background(), send.Config{Queue: q, Group: path, Sleep: noSleep},
		ndjson.Lines(strings.NewReader(lines.String()))); n != 25 || err != nil {
		t.Fatal(n, err)
	}
	// A message that is sent again is the same to a FIFO queue, so its first place counts.
	seen := map[string]bool{}
	var order []string
	for _, body := range slices.Concat(q.batches...) {
		if !seen[body] {
			seen[body] = true
			order = append(order, body)
		}
	}
	if len(order) != 25 || slices.Contains(q.groups, "") {
		t.Errorf("%d messages, groups %v", len(order), q.groups)
	}
	for _, bad := range []string{`{"who":1}`, `{"who":{"id":[]}}`, `{"who":{"id":""}}`, `no`} {
		if _, err := send.Lines(context.Background(), send.Config{Queue: q, Group: path},
			ndjson.Lines(strings.NewReader(bad+"\n"))); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// table holds items under keys of one letter.
type table struct {
	items  map[string]byte
	rounds int
	grows  func(round int, items map[string]byte)
}

func (t *table) BatchGetItem(_ context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput,
	error) {
	t.rounds++
	t.grows(t.rounds, t.items)
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]dynamotypes.AttributeValue{}}
	for name, keys := range in.RequestItems {
		for _, key := range keys.Keys {
			pk := key["PK"].(*dynamotypes.AttributeValueMemberS).Value
			if first, there := t.items[pk]; there && first == barred {
				out.Responses[name] = append(out.Responses[name], map[string]dynamotypes.AttributeValue{"PK": key["PK"], "SK": key["SK"],
					"i:barred": &dynamotypes.AttributeValueMemberBOOL{Value: true}})
			} else if there {
				digest := event.Digest{first}
				out.Responses[name] = append(out.Responses[name], map[string]dynamotypes.AttributeValue{"PK": key["PK"], "SK": key["SK"],
					"digest": &dynamotypes.AttributeValueMemberB{Value: digest[:]}})
			}
		}
	}
	return out, nil
}

// barred stands for the digest of an item that bars its key.
const barred = 0

// sentTo makes an event under a key of one letter.
func sentTo(pk string, digest byte) *event.Item {
	return &event.Item{ID: pk, Key: event.Key{PK: pk, SK: "-"}, Digest: event.Digest{digest}}
}

func withPartsAt(whole *event.Item, parts ...*event.Item) *event.Item {
	whole.Parts = &event.Parts{Items: parts}
	return whole
}

func moving(item *event.Item) *event.Item {
	item.Put = 1
	return item
}

func waitingFor(items ...*event.Item) send.Waiting {
	w := send.Waiting{}
	for _, item := range items {
		w.Add(item)
	}
	return w
}

func TestWait(t *testing.T) {
	client := &table{items: map[string]byte{}, grows: func(round int, items map[string]byte) {
		items["a"] = 1
		if round > 2 {
			items["b"] = 9
		}
	}}
	sent := waitingFor(sentTo("a", 1), sentTo("b", 2), sentTo("c", 3), sentTo("a", 1))
	var told []send.Waited
	w, err := send.Wait(context.Background(), client, "events", sent, nil, 10*time.Second, noSleep, func(w send.Waited) {
		told = append(told, w)
	})
	if err != nil || w != (send.Waited{Stored: 1, Other: 1, Left: 1}) || told[0] != (send.Waited{Stored: 1, Left: 2}) {
		t.Errorf("%+v, %v; first %+v", w, err, told[0])
	}
	client.grows = func(_ int, items map[string]byte) { maps.Copy(items, map[string]byte{"b": 2, "c": 3}) }
	if w, err := send.Wait(context.Background(), client, "events", sent, nil, 0, noSleep, func(send.Waited) {}); err != nil ||
		w != (send.Waited{Stored: 3}) {
		t.Errorf("%+v, %v", w, err)
	}
}

// Of two payloads under one key, the one that is stored counts as stored, whichever was sent first.
func TestWaitForTwoPayloadsUnderOneKey(t *testing.T) {
	for stored := byte(1); stored <= 2; stored++ {
		client := &table{items: map[string]byte{}, grows: func(round int, items map[string]byte) {
			if round == 2 {
				maps.Copy(items, map[string]byte{"a": stored, "p": 3, "q": 10 + stored})
			}
		}}
		sent := waitingFor(withPartsAt(sentTo("a", 1), sentTo("p", 3), sentTo("q", 11)),
			withPartsAt(sentTo("a", 2), sentTo("p", 3), sentTo("q", 12)))
		w, err := send.Wait(context.Background(), client, "events", sent, nil, time.Minute, noSleep, func(send.Waited) {})
		if err != nil || w != (send.Waited{Stored: 1, Other: 1}) || client.rounds != 2 {
			t.Errorf("%d is stored: %+v, %v, %d rounds", stored, w, err, client.rounds)
		}
	}
}

// An event under a barred key is never stored, and neither is a whole with such a part. Wait does
// not wait for them.
func TestWaitForBarredKeys(t *testing.T) {
	client := &table{items: map[string]byte{"a": 1, "b": barred, "c": 3, "p": barred}, grows: func(int, map[string]byte) {}}
	late := sentTo("b", 4)
	late.Revision = new(event.Decimal)
	sent := waitingFor(sentTo("a", 1), sentTo("b", 2), sentTo("b", 3), late, withPartsAt(sentTo("c", 3), sentTo("p", 5)))
	w, err := send.Wait(context.Background(), client, "events", sent, nil, time.Minute, noSleep, func(send.Waited) {})
	if err != nil || w != (send.Waited{Stored: 1, Barred: 4}) || client.rounds != 1 {
		t.Errorf("%+v, %v after %d rounds", w, err, client.rounds)
	}
}

// Under latest, an older revision under the key is waited for, and a newer one will do. Each that
// is found is judged once.
func TestWaitForRevisions(t *testing.T) {
	revised := func(pk string, digest byte) *event.Item {
		item := sentTo(pk, digest)
		item.Revision = new(event.Decimal)
		return item
	}
	client := &table{items: map[string]byte{"a": 1, "b": 1, "c": 9}, grows: func(round int, items map[string]byte) {
		switch round {
		case 3:
			items["a"] = 3 // a newer one than was sent
		case 5:
			items["b"] = 2
		}
	}}
	var judged []string
	judge := func(_ context.Context, item *event.Item) (event.Verdict, error) {
		there := client.items[item.Key.PK]
		judged = append(judged, fmt.Sprint(item.Key.PK, there))
		switch {
		case there == 9:
			return event.Conflict, nil
		case item.Digest[0] < there:
			return event.Stale, nil
		}
		return event.Updated, nil
	}
	w, err := send.Wait(context.Background(), client, "events", waitingFor(revised("a", 2), revised("b", 2), revised("c", 2)), judge,
		time.Minute, noSleep, func(send.Waited) {})
	slices.Sort(judged)
	if err != nil || w != (send.Waited{Stored: 2, Other: 1}) || !slices.Equal(judged, []string{"a1", "a3", "b1", "c9"}) {
		t.Errorf("%+v, %v; judged %q", w, err, judged)
	}
}

// An event is stored when all its parts are. If one of its keys holds something else, it never will
// be.
func TestWaitForParts(t *testing.T) {
	sent := waitingFor(withPartsAt(sentTo("a", 1), sentTo("p", 2), sentTo("q", 3)), withPartsAt(sentTo("b", 4), sentTo("r", 5)),
		sentTo("c", 6))
	client := &table{items: map[string]byte{}, grows: func(round int, items map[string]byte) {
		switch round {
		case 1:
			maps.Copy(items, map[string]byte{"a": 1, "p": 2, "c": 6})
		case 3:
			items["r"] = 9
		case 4:
			items["q"] = 3
		}
	}}
	var told []send.Waited
	w, err := send.Wait(context.Background(), client, "events", sent, nil, time.Minute, noSleep, func(w send.Waited) {
		told = append(told, w)
	})
	want := []send.Waited{{Stored: 1, Left: 2}, {Stored: 1, Left: 2}, {Stored: 1, Other: 1, Left: 1}, {Stored: 2, Other: 1}}
	if err != nil || w != want[3] || !slices.Equal(told, want) {
		t.Errorf("%+v, %v; told %+v", w, err, told)
	}
}

// An event that a total refuses is not waited for, but only after it has had some time. One that is
// stored by then counts as stored.
func TestWaitForFloors(t *testing.T) {
	sent := waitingFor(moving(sentTo("a", 1)), moving(sentTo("b", 1)), withPartsAt(sentTo("w", 1), moving(sentTo("p", 2))), sentTo("c", 3))
	client := &table{items: map[string]byte{"w": 1}, grows: func(round int, items map[string]byte) {
		if round == 6 {
			items["a"] = 1
		}
	}}
	waited, asked := time.Duration(0), map[string]int{}
	judge := func(_ context.Context, item *event.Item) (event.Verdict, error) {
		if waited < 5*time.Second {
			t.Errorf("%s is asked about after %v", item.ID, waited)
		}
		asked[item.ID]++
		if item.ID == "w" || item.ID == "b" && asked["b"] > 1 {
			return event.Rejected, nil
		}
		return event.Inserted, nil
	}
	sleep := func(_ context.Context, d time.Duration) error {
		waited += d
		return nil
	}
	w, err := send.Wait(context.Background(), client, "events", sent, judge, time.Minute, sleep, func(send.Waited) {})
	if err != nil || w != (send.Waited{Stored: 1, Rejected: 2, Left: 1}) || asked["a"] != 0 || asked["w"] != 1 || asked["b"] != 2 {
		t.Errorf("%+v, %v, asked %v", w, err, asked)
	}
	broken := errors.New("no such table")
	if _, err := send.Wait(context.Background(), &table{items: map[string]byte{}, grows: func(int, map[string]byte) {}}, "events",
		sent, func(context.Context, *event.Item) (event.Verdict, error) {
			return 0, broken
		}, 0, sleep, func(send.Waited) {}); err != broken {
		t.Errorf("%v", err)
	}
}

const declared = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order.placed:
    id: "{order.id}"
    at: "{placed_at}"
    key: {pk: "ORDER#{order.id}", sk: "X"}
    mode: latest
    revision: "version number"
aggregates:
  daily:
    since: 1
    onExpire: subtract
    by: {currency: "{currency}"}
    from:
      order.placed: {values: {orders: count, revenue: sum total}}
`

// A sample is an event that the pipeline stores.
func TestSample(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(declared)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	text, err := send.Sample(p, "order.placed", map[string]any{"currency": "EUR", "order": map[string]any{"note": "x"},
		"total": json.RawMessage("2.50")}, now, 7)
	if err != nil {
		t.Fatal(err)
	}
	item, err := p.Plan(envelope.Message{Body: text})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !item.At.Equal(now) || item.ID != "id-7" || !strings.Contains(text, `"currency":"EUR"`) || !strings.Contains(text, `"total":2.50`) ||
		!strings.Contains(text, `"note":"x"`) {
		t.Errorf("%s: %+v", text, item)
	}
	if _, err := send.Sample(p, "order", nil, now, 7); err == nil ||
		err.Error() != `there is no event type "order"; there are order.placed` {
		t.Error(err)
	}
}
