package handler_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/store/query"
)

// FuzzStreams gives the streams function any JSON. Data never fails a batch. With a quarantine the
// answer names nothing, and without one it names a record of the batch. The state is there if there
// is a window. The same batch again adds nothing. A batch adds what its records add one by one.
func FuzzStreams(f *testing.F) {
	corpus.Add(f)
	for _, name := range []string{"streams-insert.json", "streams-undecodable.json", "streams-ttl-removal.json", "streams-no-shard.json",
		"streams-pipe.json"} {
		sample := must.Read(f, "../events/"+name)
		f.Add(sample, true)
	}
	w := newWorld(f)
	one, two := w.image(order("1", 5)), w.image(order("2", 7))
	for _, e := range []any{
		batch(), plain(), batch(insert(1, one), changed(2, one, one.with("epoch", "N", "9")), expiry(3, two)),
		batch(insert(1, one), insert(2, one.with("digest", "S", "x")), insert(3, two.with("tags", "SS", []string{"a"})),
			removed(4, two)),
	} {
		payload := marshal(f, e)
		f.Add(payload, true)
		f.Add(payload, false)
	}
	for _, array := range []string{`[]`, `[{"eventName":"INSERT","dynamodb":{}}]`, `[{"eventName":"INSERT","dynamodb":{"a":1,"a":2}}]`,
		`[{"messageId":"m","body":"{}"}]`} {
		f.Add([]byte(array), false)
	}
	f.Fuzz(func(t *testing.T, payload []byte, marks bool) {
		if !json.Valid(payload) {
			t.Skip("Lambda sends no such event")
		}
		way := aggregate.Receipts
		if marks {
			way = aggregate.Marks
		}
		w := newWorld(t, counting(way)).started()
		answer, err := w.invokeStreams(payload)
		if err != nil {
			if !slices.ContainsFunc(wholeBatch, func(text string) bool { return strings.Contains(err.Error(), text) }) {
				t.Fatalf("the batch failed as a whole, and no reason for that is known: %v", err)
			}
			return
		}
		if answer != done && answer != `{"batchItemFailures":[]}` || strings.Contains(answer, "state") != hasWindow(payload) {
			t.Errorf("answer %s, and the event has a window: %v", answer, hasWindow(payload))
		}
		sums, odd := w.sumsOf(), 0
		for _, rep := range w.counted {
			odd += rep.Quarantined
		}
		if again, err := w.invokeStreams(payload); again != answer || err != nil || !reflect.DeepEqual(w.sumsOf(), sums) {
			t.Errorf("the same batch again: answer %s %v, totals %v; before %s and %v", again, err, w.sumsOf(), answer, sums)
		}
		checkOneByOne(t, payload, way, sums)
		checkWithoutQuarantine(t, payload, way, odd)
	})
}

// wholeBatch lists the reasons for which a batch fails as a whole. None of them is the fault of one
// record.
var wholeBatch = []string{"is not a stream batch", "names no shard", "in one batch; counting out of order would lose changes",
	"in one batch; one function call counts one stream", "deploy the streams function with the newer"}

func (w *world) invokeStreams(payload []byte) (string, error) {
	answer, err := lambda.NewHandler(w.streams.Handle).Invoke(iam.As(deadline(w.t), w.StreamsRole), payload)
	return strings.TrimSpace(string(answer)), err
}

// streamPayload is a second way to read an event.
type streamPayload struct {
	Records []json.RawMessage `json:"Records"`
	Window  *struct{}         `json:"window,omitempty"`
	Shard   string            `json:"shardId,omitempty"`
}

// isArray reports whether the payload is an array, as EventBridge Pipes sends it.
func isArray(payload []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(payload), []byte("[")) }

func hasWindow(payload []byte) bool {
	var e streamPayload
	return json.Unmarshal(payload, &e) == nil && (e.Window != nil || e.Shard != "")
}

// sumsOf returns what all totals say.
func (w *world) sumsOf() map[string]query.Total {
	all := map[string]query.Total{}
	for _, def := range w.plan.Definitions() {
		total := w.total(def.Name)
		total.Flags = total.Flags[:min(1, len(total.Flags))] // which of two reasons comes first depends on the batches
		for i := range total.Flags {
			total.Flags[i] = "flagged"
		}
		all[def.Name] = total
	}
	return all
}

func checkOneByOne(t *testing.T, payload []byte, way aggregate.Counting, want map[string]query.Total) {
	t.Helper()
	var e streamPayload
	err := json.Unmarshal(payload, &e)
	if isArray(payload) {
		err = json.Unmarshal(payload, &e.Records)
	}
	must.Succeed(t, err)
	w := newWorld(t, counting(way)).started()
	for i, record := range e.Records {
		one := e
		one.Records = []json.RawMessage{record}
		text := marshal(t, one)
		if isArray(payload) {
			text = marshal(t, one.Records)
		}
		if answer, err := w.invokeStreams(text); err != nil || strings.Contains(answer, "itemIdentifier") {
			t.Fatalf("record %d of a batch that did not fail fails alone: %s %v", i, answer, err)
		}
	}
	must.Match(t, w.sumsOf(), want)
}

// checkWithoutQuarantine checks that what cannot be kept is named, or fails the batch. It is never
// let go.
func checkWithoutQuarantine(t *testing.T, payload []byte, way aggregate.Counting, odd int) {
	t.Helper()
	w := newWorld(t, counting(way)).started()
	w.streams.Quarantine = nil
	answer, err := w.invokeStreams(payload)
	if err != nil {
		if !strings.Contains(err.Error(), "no quarantine queue is configured") {
			t.Errorf("without quarantine: %v", err)
		}
		return
	}
	var response struct {
		BatchItemFailures []struct{ ItemIdentifier string }
	}
	if err := json.Unmarshal([]byte(answer), &response); err != nil || (isArray(payload) && odd > 0) ||
		(odd > 0) != (len(response.BatchItemFailures) == 1) {
		t.Fatalf("answer %s, and %d things go to quarantine where there is one; %v", answer, odd, err)
	}
	for _, failure := range response.BatchItemFailures {
		if !strings.Contains(string(payload), failure.ItemIdentifier) && !strings.Contains(string(payload), `\u`) {
			t.Errorf("%s is named, and not in the batch", failure.ItemIdentifier)
		}
	}
}
