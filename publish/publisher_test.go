package publish_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

const (
	declared = `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{order}"
    at: "{at}"
    mode: latest
    revision: version number
    retain: 90d
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  report: {id: "{order}", at: "{at}", retain: 90d, offload: {over: 1KB}, key: {pk: "REPORT#{order}", sk: "REPORT"}}
`
	publishing = `publish: 1
source: shop
publications:
  orders: {from: [order, report], on: [stored, changed, removed], to: "arn:aws:sqs:eu-west-1:000000000000:next.fifo"}
`
)

var start = must.Time("2031-05-05T06:00:00Z")

// world is a deployment whose stream the publisher reads, and a target that keeps what it takes.
type world struct {
	*testing.T
	*testworld.World
	plan      *publish.Plan
	store     *store.Store
	publisher *publish.Publisher
	stream    *esm.Stream
	done      publish.Published
	response  publish.Response
	sent      []publish.Message
	sizes     []int // of the requests
	refuse    func(publish.Message) error
	whole     bool   // a refusal is one of the whole request
	away      string // the ARN of a target that refuses everything
	letters   []quarantine.Letter
	unkept    error // of quarantine
	largest   int
	batch     []byte    // the last one
	role      *iam.Role // of the function
}

func newWorld(t *testing.T) *world { return newWorldOf(t, declared) }

func newWorldOf(t *testing.T, declared string) *world {
	t.Helper()
	w := &world{T: t, largest: 1 << 20}
	var err error
	w.World, err = testworld.New(t.Context(), testworld.Config{Start: start, Stack: stack.Config{Offload: true}})
	must.Succeed(t, err)
	files := fstest.MapFS{"pipeline.yaml": {Data: []byte(declared)}, "publish.yaml": {Data: []byte(publishing)}}
	p, err := pipeline.Load(files, "pipeline.yaml")
	if err == nil {
		w.store, err = w.World.Store(p)
	}
	if err == nil {
		w.plan, err = publish.Load(files, "publish.yaml", p)
	}
	must.Succeed(t, err)
	w.role = iam.Publish(p)
	t.Cleanup(func() { must.Match(t, w.role.Denied(), []string(nil)) })
	w.open(w.StoreConfig(p))
	w.stream, err = esm.NewStream(esm.StreamConfig{Client: w.Engine.Streams(), ARN: w.StreamARN, BatchSize: 1000,
		ReportBatchItemFailures: true,
		Function:                esm.Function{Timeout: time.Minute, Now: w.Clock.Now, Handler: w.handle}})
	must.Succeed(t, err)
	return w
}

func (w *world) open(c tables.Config) {
	w.Helper()
	var err error
	w.publisher, err = publish.New(w.plan, c, func(arn string) publish.Target {
		return publish.Target{ARN: arn, Largest: w.largest, Send: func(ctx context.Context, list []publish.Message) []error {
			if arn == w.away {
				return slices.Repeat([]error{errors.New("it is away")}, len(list))
			}
			return w.take(ctx, list)
		}}
	})
	must.Succeed(w, err)
	w.publisher.Quarantine = w
	w.publisher.OnBatch = func(_ context.Context, done publish.Published) { w.done = done }
}

// publishes gives the publisher another publish.yaml.
func (w *world) publishes(text string) {
	w.Helper()
	p := w.store.Config().Pipeline
	var err error
	w.plan, err = publish.Load(fstest.MapFS{"publish.yaml": {Data: []byte(text)}}, "publish.yaml", p)
	must.Succeed(w, err)
	w.open(w.StoreConfig(p))
}

func (w *world) handle(ctx context.Context, payload []byte) ([]byte, error) {
	var err error
	w.batch = payload
	if w.response, err = w.publisher.Handle(iam.As(ctx, w.role), payload); err != nil {
		return nil, err
	}
	return json.Marshal(w.response)
}

// take is the target.
func (w *world) take(_ context.Context, list []publish.Message) []error {
	errs := make([]error, len(list))
	w.sizes = append(w.sizes, len(list))
	for i, m := range list {
		if w.refuse != nil {
			errs[i] = w.refuse(m)
		}
		if errs[i] == nil {
			w.sent = append(w.sent, m)
		} else if w.whole {
			w.sent = w.sent[:len(w.sent)-i]
			return slices.Repeat(errs[i:i+1], len(list))
		}
	}
	return errs
}

// Send is quarantine.
func (w *world) Send(_ context.Context, list []quarantine.Letter) []error {
	w.letters = append(w.letters, list...)
	return slices.Repeat([]error{w.unkept}, len(list))
}

func body(order string, version int, note string) string {
	return fmt.Sprintf(`{"type":"order","order":%q,"at":"2031-05-05T06:00:00Z","version":%d,"note":%q}`, order, version, note)
}

// put stores events.
func (w *world) put(bodies ...string) {
	w.Helper()
	var items []*event.Item
	for _, text := range bodies {
		item, err := w.store.Config().Pipeline.Plan(envelope.Message{Body: text})
		must.Succeed(w, err)
		items = append(items, item)
	}
	results, _ := w.store.Put(w.Context(), items)
	for _, r := range results {
		if !r.Verdict.Stored() {
			w.Fatal(r)
		}
	}
}

// poll lets the mapping send what it may.
func (w *world) poll() {
	w.Helper()
	w.sent, w.sizes, w.letters, w.done, w.response = nil, nil, nil, publish.Published{}, publish.Response{}
	for range 10 {
		_, err := w.stream.Poll(w.Context())
		must.Succeed(w, err)
		if w.stream.Drained() || len(w.response.BatchItemFailures) > 0 {
			return
		}
	}
}

// says lists what was sent: change, key and version of each.
func (w *world) says() (list []string) {
	for _, m := range w.sent {
		var c struct {
			Change, PK string
			Data       struct {
				Order   string
				Version int
			}
		}
		if err := json.Unmarshal([]byte(m.Body), &c); err != nil {
			w.Fatalf("%s: %v", m.Body, err)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s%s %d", c.Change, c.PK, c.Data.Order, c.Data.Version)))
	}
	slices.Sort(list)
	return list
}

func (w *world) want(list ...string) {
	w.Helper()
	if got := w.says(); !slices.Equal(got, list) {
		w.Errorf("sent %q, want %q", got, list)
	}
}

func (w *world) delete(order string) {
	w.Helper()
	w.Delete(w, stack.Events, testworld.Key("ORDER#"+order, "ORDER"))
}

// What is stored, changed and removed is sent, once each while nothing goes wrong. Expiry is no
// removal.
func TestWhatIsPublished(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""), body("b", 1, ""))
	w.put(body("a", 2, ""))
	w.delete("b")
	w.poll()
	w.want("changed a 2", "removed ORDER#b 0", "stored a 1", "stored b 1")
	w.Clock.Pass(91 * 24 * time.Hour)
	must.Equal(t, w.Engine.SweepExpired(), 1)
	w.poll()
	if w.done.Received != 1 || len(w.sent) != 0 {
		t.Errorf("of %d records, %q is sent", w.done.Received, w.says())
	}
}

// What is stored again within five minutes has the id of its first time. Its deduplication id is
// its own, so that a FIFO target takes it, and is the same when its record comes twice.
func TestStoredAgain(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""))
	w.delete("a")
	w.put(body("a", 1, ""))
	w.poll()
	first := w.sent
	if len(first) != 3 || first[0].ID != first[2].ID || first[0].Once == first[2].Once || first[1].Once == first[0].Once {
		t.Errorf("%+v", first)
	}
	w.sent = nil
	if _, err := w.handle(t.Context(), w.batch); err != nil || !slices.Equal(w.sent, first) {
		t.Errorf("%v: the second time, %+v is sent, not %+v", err, w.sent, first)
	}
}

// Ten messages are one request, and four requests are under way at most.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	for n := range 95 {
		w.put(body(fmt.Sprint("o", n), 1, ""))
	}
	w.poll()
	if len(w.sent) != 95 || len(w.sizes) > 12 || slices.Max(w.sizes) != 10 {
		t.Errorf("%d messages, requests of %v", len(w.sent), w.sizes)
	}
}

// A refused message comes again, and with it what came later of its key. What else was taken stays
// taken as long as it comes before.
func TestRefused(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""))
	w.put(body("b", 1, ""))
	w.put(body("c", 1, ""))
	w.put(body("b", 2, ""))
	refusals := 0
	w.refuse = func(m publish.Message) error {
		if strings.Contains(m.Body, `"order":"b"`) {
			refusals++
			return errors.New("it is full")
		}
		return nil
	}
	w.poll()
	w.want("stored a 1", "stored c 1")
	if refusals != 3 || w.done.Refused != 2 || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%d refusals, %+v, %+v", refusals, w.done, w.response)
	}
	w.refuse = nil
	w.poll()
	w.want("changed b 2", "stored b 1", "stored c 1")
	w.poll()
	w.want()
}

// A service refuses a request as a whole for one message of it. The others are sent one by one.
func TestRefusedAsAWhole(t *testing.T) {
	for code, want := range map[string]int{"ValidationException": 11, "ThrottlingException": 9} {
		w := newWorld(t)
		for n := range 12 {
			w.put(body(fmt.Sprint("o", n), 1, ""))
		}
		w.whole = true
		w.refuse = func(m publish.Message) error {
			if strings.Contains(m.Body, `"order":"o3"`) {
				return &smithy.GenericAPIError{Code: code}
			}
			return nil
		}
		w.poll()
		if got := slices.Compact(w.says()); len(got) != want || slices.Contains(w.sizes, 1) != (want == 11) {
			t.Errorf("%s: %q are sent in requests of %v", code, got, w.sizes)
		}
	}
}

// Only a person can mend a denial, so nothing is tried again in the same call.
func TestDenied(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""))
	w.refuse = func(publish.Message) error { return &types.ResourceNotFoundException{} }
	w.poll()
	if len(w.sizes) != 1 || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%d requests, %+v", len(w.sizes), w.response)
	}
}

// A key that is denied stops, also if others are tried again in the meantime.
func TestDeniedBesideOthers(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""), body("b", 1, ""))
	w.put(body("a", 2, ""))
	tries := 0
	w.refuse = func(m publish.Message) error {
		switch {
		case strings.Contains(m.Body, `"order":"a","at":"2031-05-05T06:00:00Z","version":1`):
			return &types.ResourceNotFoundException{}
		case strings.Contains(m.Body, `"order":"b"`):
			if tries++; tries == 1 {
				return errors.New("slow")
			}
		}
		return nil
	}
	w.poll()
	w.want("stored b 1")
	if w.done.Refused != 2 || tries != 2 {
		t.Errorf("%+v after %d tries", w.done, tries)
	}
}

// What was refused for 12 hours goes to quarantine, by its key, and the rest of the shard goes on.
func TestGivenUp(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, "private"), body("b", 1, ""))
	w.refuse = func(m publish.Message) error {
		if strings.Contains(m.Body, `"order":"a"`) {
			return errors.New("it is full")
		}
		return nil
	}
	w.Clock.Pass(12*time.Hour - time.Minute)
	if w.poll(); len(w.letters) != 0 || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%d letters, %+v", len(w.letters), w.response)
	}
	w.Clock.Pass(2 * time.Minute)
	w.poll()
	w.want("stored b 1")
	if len(w.letters) != 1 || len(w.response.BatchItemFailures) != 0 || w.done.Quarantined != 1 {
		t.Fatalf("%+v, %+v, %+v", w.letters, w.response, w.done)
	}
	text := w.letters[0].Body
	note, is := quarantine.ReadNote(aws.ToString(w.letters[0].Attributes[quarantine.Attribute].StringValue))
	if !is || note.PK != "ORDER#a" || note.Reason != "unpublished" || !strings.Contains(text, `"pk":"ORDER#a"`) ||
		!strings.Contains(text, "it is full") || strings.Contains(text, "private") {
		t.Errorf("%s, %+v", text, note)
	}
	w.refuse = nil
	sent, _, err := w.publisher.Again(t.Context(), start, nil, nil)
	if err != nil || sent != 2 {
		t.Errorf("%d, %v", sent, err)
	}
}

// A removal that was given up is in its letter, and Again sends it as it would have been sent. It
// does not send it if an event is stored under the key again.
func TestRemovalGivenUp(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""), body("b", 1, ""))
	w.poll()
	w.delete("a")
	w.delete("b")
	refused := map[string]publish.Message{}
	w.refuse = func(m publish.Message) error {
		refused[m.Body] = m
		return errors.New("it is full")
	}
	w.Clock.Pass(13 * time.Hour)
	w.poll()
	var letters []quarantine.Record
	for _, l := range w.letters {
		var r quarantine.Record
		must.Succeed(t, json.Unmarshal([]byte(l.Body), &r))
		letters = append(letters, r)
	}
	w.refuse = nil
	w.put(body("b", 2, ""))
	if sent, _, err := w.publisher.Again(t.Context(), start, nil, letters); err != nil || sent != 2 {
		t.Errorf("%d, %v", sent, err)
	}
	w.want("removed ORDER#a 0", "stored b 2")
	for _, m := range w.sent {
		was := refused[m.Body]
		if was.Once = m.Once; m.Change == publish.Removed && m != was {
			t.Errorf("%+v is sent, and was %+v", m, was)
		}
	}
	for _, removals := range []map[string]json.RawMessage{{"orders": json.RawMessage("{}")}, {"others": letters[0].Removals["orders"]}} {
		letters[0].Removals = removals
		_, _, err := w.publisher.Again(t.Context(), start, nil, letters)
		must.Fail(t, err, "the letter of ORDER#")
	}
	if sent, _, err := w.publisher.Again(t.Context(), start, []string{"orders"}, letters); err != nil || sent != 1 {
		t.Errorf("%d, %v", sent, err)
	}
}

// Again says which letters still hold what nobody was told.
func TestLettersThatAreLeft(t *testing.T) {
	const late, odd = "its event has the time 2031-05-05T06:00:00Z, and what is sent begins later", "cannot be read"
	removed := func(pk string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"orders": json.RawMessage(`{"id":"7","change":"removed","pk":"` + pk + `","sk":"ORDER"}`)}
	}
	for name, c := range map[string]struct {
		letter quarantine.Record
		since  time.Duration // after start
		on     string
		want   string
	}{
		"stored":                       {letter: quarantine.Record{PK: "ORDER#a", Change: "INSERT"}},
		"changed":                      {letter: quarantine.Record{PK: "ORDER#a", Change: "MODIFY"}},
		"before since":                 {letter: quarantine.Record{PK: "ORDER#a", Change: "INSERT"}, since: time.Second, want: late},
		"stored again before since":    {letter: quarantine.Record{PK: "ORDER#a", Change: "REMOVE"}, since: time.Second},
		"stored again, in old letters": {letter: quarantine.Record{PK: "ORDER#a", Removals: removed("ORDER#a")}, since: time.Second},
		"removed since":                {letter: quarantine.Record{PK: "ORDER#gone", Change: "INSERT"}},
		"a removal":                    {letter: quarantine.Record{PK: "ORDER#gone", Change: "REMOVE", Removals: removed("ORDER#gone")}},
		"a removal that was not read": {letter: quarantine.Record{PK: "ORDER#gone", Change: "REMOVE"},
			want: "does not hold the message"},
		"a removal that nobody hears of": {letter: quarantine.Record{PK: "ORDER#gone", Change: "REMOVE"}, on: "[stored, changed]"},
		"what it was is not known":       {letter: quarantine.Record{PK: "ORDER#gone"}, want: "does not hold the message of a removal"},
		"the item is broken":             {letter: quarantine.Record{PK: "ORDER#odd", Change: "MODIFY"}, want: odd},
		"a change that alone is sent": {letter: quarantine.Record{PK: "ORDER#a", Change: "MODIFY"}, on: "[changed]",
			want: "orders sends what has changed, and not what is stored"},
		"another version may have met when": {letter: quarantine.Record{PK: "ORDER#a", Change: "INSERT"},
			on: "[stored], when: 'version > 1'", want: "does not meet when of orders"},
		"it meets when":     {letter: quarantine.Record{PK: "ORDER#a", Change: "MODIFY"}, on: "[stored], when: 'version = 1'"},
		"its first version": {letter: quarantine.Record{PK: "ORDER#a", Change: "INSERT"}, on: "[changed]"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(body("a", 1, ""))
			broken := rows.KeyImage(event.Key{PK: "ORDER#odd", SK: "ORDER"})
			broken["type"] = rows.Text("order")
			w.Put(t, stack.Events, broken)
			if c.on != "" {
				w.publishes(strings.Replace(publishing, "[stored, changed, removed]", c.on, 1))
			}
			c.letter.SK = "ORDER"
			_, left, err := w.publisher.Again(t.Context(), start.Add(c.since), nil, []quarantine.Record{c.letter})
			if err != nil || (left[0] != "") != (c.want != "") || !strings.Contains(left[0], c.want) {
				t.Errorf("%v, %v, want %q", left, err, c.want)
			}
			if _, advice, is := strings.Cut(left[0], "begin with "); is {
				since, bad := time.Parse(time.RFC3339, advice)
				_, left, err := w.publisher.Again(t.Context(), since, nil, []quarantine.Record{c.letter})
				if bad != nil || err != nil || len(left) > 0 {
					t.Errorf("it begins with %s: %v, %v", advice, left, err)
				}
			}
		})
	}
}

// A second publication to the same target waits for the first one of its record. The record is
// given up all the same, for the reason of the first.
func TestGivenUpOfTwoPublications(t *testing.T) {
	w := newWorld(t)
	w.publishes(publishing + `  again: {from: [order], to: "arn:aws:sqs:eu-west-1:000000000000:next.fifo"}` + "\n")
	w.put(body("a", 1, ""))
	w.refuse = func(publish.Message) error { return errors.New("it is full") }
	w.Clock.Pass(13 * time.Hour)
	if w.poll(); len(w.letters) != 1 || !strings.Contains(w.letters[0].Body, "it is full") || len(w.response.BatchItemFailures) != 0 {
		t.Errorf("%+v, %+v", w.letters, w.response)
	}
}

// A record is not given up before each of its messages has been tried: the one to the second target
// waits for the record before it.
func TestGivenUpIsTried(t *testing.T) {
	w := newWorld(t)
	w.publishes(publishing + `  audit: {from: [order], to: "arn:aws:sqs:eu-west-1:000000000000:audit.fifo"}` + "\n")
	w.put(body("a", 1, ""))
	w.put(body("a", 2, ""))
	w.away = "arn:aws:sqs:eu-west-1:000000000000:audit.fifo"
	w.refuse = func(m publish.Message) error {
		if strings.Contains(m.Body, `"version":2`) && w.away != "" {
			return errors.New("it is full")
		}
		return nil
	}
	w.Clock.Pass(13 * time.Hour)
	if w.poll(); len(w.letters) != 1 || !strings.Contains(w.letters[0].Body, "it is away") || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%+v, %+v", w.letters, w.response)
	}
	w.away = ""
	w.poll()
	w.want("changed a 2", "changed a 2")
}

// Without quarantine, nothing is given up.
func TestNoQuarantine(t *testing.T) {
	w := newWorld(t)
	w.publisher.Quarantine = nil
	w.put(body("a", 1, ""))
	w.refuse = func(publish.Message) error { return errors.New("no") }
	w.Clock.Pass(20 * time.Hour)
	if w.poll(); len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%+v", w.response)
	}
}

// A payload in the payload bucket is sent like any other. If it is gone, its event was erased. If
// it is too large for the target, the message says where it is.
func TestOffloaded(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 2000)
	w.put(report("a", long))
	w.poll()
	w.want("stored a 0")
	must.Say(t, w.sent[0].Body, long)
	w.largest = 1500
	w.open(w.StoreConfig(w.store.Config().Pipeline))
	w.put(report("b", long))
	w.poll()
	w.want("stored REPORT#b 0")
	var pointer struct{ Dataref, PK, SK, Digest string }
	if err := json.Unmarshal([]byte(w.sent[0].Body), &pointer); err != nil || w.done.Pointers != 1 ||
		!strings.HasPrefix(pointer.Dataref, "s3://"+stack.Payloads+"/report/") || pointer.SK != "REPORT" || len(pointer.Digest) != 64 {
		t.Errorf("%+v, %v", pointer, err)
	}
	w.put(report("c", long))
	key := event.Key{PK: "REPORT#c", SK: "REPORT"}
	_, err := repair.Of(w.store).Erase(t.Context(), key)
	must.Succeed(t, err)
	_, err = (&payloads.Bucket{Client: w.Engine.S3(), Name: stack.Payloads}).Clear(t.Context(), w.Env, "report", key)
	must.Succeed(t, err)
	w.poll()
	w.want("removed REPORT#c 0")
	if w.done.Dropped != 1 {
		t.Errorf("%+v", w.done)
	}
}

func report(order, note string) string {
	return fmt.Sprintf(`{"type":"report","order":%q,"at":"2031-05-05T06:00:00Z","note":%q}`, order, note)
}

// The bucket cannot be asked: the message is not sent, and comes again.
func TestNoBucket(t *testing.T) {
	w := newWorld(t)
	w.put(report("a", strings.Repeat("x", 2000)))
	c := w.StoreConfig(w.store.Config().Pipeline)
	c.Objects, c.PayloadBucket = nil, ""
	w.open(c)
	if w.poll(); len(w.sent) != 0 || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%q, %+v", w.says(), w.response)
	}
}

// A request never exceeds what the target takes.
func TestFullRequests(t *testing.T) {
	w := newWorld(t)
	w.largest = 2500
	w.open(w.StoreConfig(w.store.Config().Pipeline))
	for n := range 9 {
		w.put(body(fmt.Sprint("o", n), 1, strings.Repeat("x", 500)))
	}
	w.poll()
	if len(w.sent) != 9 || slices.Max(w.sizes) > 2 {
		t.Errorf("%d sent in requests of %v", len(w.sent), w.sizes)
	}
}

// In another Region than the home, nothing is sent. The first to start makes its Region the home.
func TestAnotherRegion(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""))
	c := w.StoreConfig(w.store.Config().Pipeline)
	c.Region = "eu-west-1"
	w.open(c)
	w.poll()
	w.want("stored a 1")
	c.Region = "us-east-1"
	w.open(c)
	_, err := w.publisher.Handle(t.Context(), json.RawMessage(`{"Records":[]}`))
	if away := (*tables.HomeError)(nil); !errors.As(err, &away) || away.Home != "eu-west-1" {
		t.Errorf("%v", err)
	}
}

// What is not a batch fails as a whole.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"", "[]", `{"Records":3}`, `{"Records":[3]}`, `{"Records":[{"dynamodb":{}}]}`} {
		if _, err := w.publisher.Handle(t.Context(), json.RawMessage(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// A record that cannot be read goes to quarantine at once. A value of it is in its letter alone,
// also while quarantine does not answer.
func TestUnreadIsNotLogged(t *testing.T) {
	w := newWorld(t)
	var log strings.Builder
	w.publisher.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.unkept = errors.New("quarantine is away")
	odd := json.RawMessage(records(strings.Replace(good, "2031-05-05T06:00:00.000000000Z", "private", 1)))
	if out, err := w.publisher.Handle(t.Context(), odd); err != nil || len(out.BatchItemFailures) != 1 ||
		!strings.Contains(w.letters[0].Body, "private") {
		t.Errorf("%+v, %v, %v", out, err, w.letters)
	}
	if strings.Contains(log.String(), "private") || !strings.Contains(log.String(), "quarantine is away") {
		t.Errorf("the log has %s", log.String())
	}
	w.unkept = nil
	if out, err := w.publisher.Handle(t.Context(), odd); err != nil || len(out.BatchItemFailures) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

// What a newer pipeline has stored, and this function cannot read, waits for a newer function, and
// so does what comes behind it. After 12 hours it is given up.
func TestNewerRecordWaits(t *testing.T) {
	w := newWorld(t)
	batch := json.RawMessage(records(good, `"type":{"S":"order"},"epoch":{"N":"2"},"data":{"M":{}}`,
		`"type":{"S":"order"},"epoch":{"N":"1"},"at":{"S":"odd"}`))
	for n, pass := range []time.Duration{0, 13 * time.Hour} {
		w.Clock.Pass(pass)
		out, err := w.publisher.Handle(t.Context(), batch)
		if err != nil || len(w.letters) != n || len(w.sent) != n+1 || len(out.BatchItemFailures) != 1 ||
			out.BatchItemFailures[0].ItemIdentifier != fmt.Sprint("10000000000000000000", n+1) {
			t.Errorf("after %s: %+v, %v, %d letters, %d sent", pass, out, err, len(w.letters), len(w.sent))
		}
	}
}

// A young record is not given up together with an old one, and no patience is longer than the
// stream remembers.
func TestYoungIsNotGivenUp(t *testing.T) {
	for patience, age := range map[time.Duration]time.Duration{0: 12 * time.Hour, 48 * time.Hour: 23 * time.Hour} {
		w := newWorld(t)
		w.publisher.Patience = patience
		w.refuse = func(publish.Message) error { return errors.New("it is full") }
		w.Clock.Pass(age + time.Minute)
		out, err := w.publisher.Handle(t.Context(), json.RawMessage(records(good, good)))
		if err != nil || len(w.letters) != 1 || len(out.BatchItemFailures) != 1 {
			t.Errorf("%s: %+v, %v, %d letters", patience, out, err, len(w.letters))
		}
	}
}

// good is the image of an event.
const good = `"type":{"S":"order"},"epoch":{"N":"1"},"id":{"S":"a"},"at":{"S":"2031-05-05T06:00:00.000000000Z"},"data":{"S":"{}"},` +
	`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`

// records returns a batch of records, an hour apart, each of a key of its own and with an image.
func records(images ...string) string {
	var list []string
	for n, image := range images {
		list = append(list, fmt.Sprintf(`{"eventSourceARN":"arn","eventName":"INSERT","dynamodb":{`+
			`"SequenceNumber":"10000000000000000000%[1]d","ApproximateCreationDateTime":%[2]d,"Keys":{"PK":{"S":"p%[1]d"},"SK":{"S":"s"}},`+
			`"NewImage":{"PK":{"S":"p%[1]d"},"SK":{"S":"s"},%[3]s}}}`, n, start.Unix()+int64(n)*3600, image))
	}
	return `{"Records":[` + strings.Join(list, ",") + `]}`
}

// Again sends what is stored, from a time on, with the ids of the first time.
func TestAgain(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""), body("b", 1, ""))
	w.put(body("a", 2, ""))
	w.poll()
	known := map[string]bool{}
	for _, m := range w.sent {
		known[m.ID] = true
	}
	w.sent = nil
	if sent, _, err := w.publisher.Again(t.Context(), start, nil, nil); err != nil || sent != 2 {
		t.Errorf("%d, %v", sent, err)
	}
	w.want("stored a 2", "stored b 1")
	for _, m := range w.sent {
		if !known[m.ID] {
			t.Errorf("%s has another id", m.Body)
		}
	}
	for _, c := range []struct {
		since time.Time
		names []string
		want  int
	}{{start.Add(time.Second), nil, 0}, {start, []string{"orders"}, 2}, {start, []string{"others"}, 0}} {
		if sent, _, err := w.publisher.Again(t.Context(), c.since, c.names, nil); err != nil || sent != c.want {
			t.Errorf("since %s, of %v: %d, %v", c.since, c.names, sent, err)
		}
	}
	w.refuse = func(publish.Message) error { return errors.New("it is full") }
	if sent, _, err := w.publisher.Again(t.Context(), start, nil, nil); err == nil || sent != 0 {
		t.Errorf("%d, %v", sent, err)
	}
	w.refuse = nil
	w.Clock.Pass(91 * 24 * time.Hour)
	if sent, _, err := w.publisher.Again(t.Context(), start, nil, nil); err != nil || sent != 0 {
		t.Errorf("of what has expired, %d are sent, %v", sent, err)
	}
}

// A turn and its rebuild publish nothing of what was moved. After them, Again sends it.
func TestMoved(t *testing.T) {
	w := newWorldOf(t, strings.Replace(declared, "    mode: latest", "    migrated: orders\n    mode: latest", 1))
	item, err := w.store.Config().Pipeline.Plan(envelope.Message{Body: body("a", 1, "")})
	if err = errors.Join(err, w.store.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	item.Epoch = 0
	control := rows.KeyImage(rows.ControlKey("orders"))
	control["state:order"] = rows.Text("new")
	for table, img := range map[string]rows.Image{stack.Events: rows.Encode(item), stack.Aggregates: control} {
		w.Put(t, table, img)
	}
	if n, err := repair.Of(w.store).Touch(t.Context()); err != nil || n.Touched != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	w.poll()
	w.want()
	if sent, _, err := w.publisher.Again(t.Context(), start, nil, nil); err != nil || sent != 1 {
		t.Errorf("%d are sent again, %v", sent, err)
	}
}

// When its time is nearly over, the function sends nothing more.
func TestDeadline(t *testing.T) {
	w := newWorld(t)
	w.put(body("a", 1, ""), body("b", 1, ""))
	w.refuse = func(publish.Message) error { w.Clock.Pass(time.Minute); return errors.New("slow") }
	w.poll()
	if len(w.sizes) != 1 || len(w.response.BatchItemFailures) != 1 {
		t.Errorf("%d requests, %+v", len(w.sizes), w.response)
	}
}

func FuzzHandle(f *testing.F) {
	corpus.Add(f)
	p := written.Pipeline(f, declared)
	plan, err := publish.Load(fstest.MapFS{"p.yaml": {Data: []byte(publishing)}}, "p.yaml", p)
	must.Succeed(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		sent := 0
		config := tables.Config{Client: (*dynamodb.Client)(nil), Events: "events"}
		publisher, err := publish.New(plan, config, func(arn string) publish.Target {
			return publish.Target{ARN: arn, Largest: 1 << 20, Send: func(_ context.Context, list []publish.Message) []error {
				for _, m := range list {
					if !json.Valid([]byte(m.Body)) {
						t.Errorf("%q is not JSON", m.Body)
					}
				}
				sent += len(list)
				return make([]error, len(list))
			}}
		})
		must.Succeed(t, err)
		var done publish.Published
		publisher.OnBatch = func(_ context.Context, d publish.Published) { done = d }
		out, err := publisher.Handle(t.Context(), json.RawMessage(text))
		if err == nil && (done.Sent != sent || len(out.BatchItemFailures) > 1) {
			t.Errorf("%+v, %+v, %d sent", done, out, sent)
		}
	})
}
