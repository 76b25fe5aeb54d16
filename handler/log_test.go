package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// requestLog is a log that records which request each line belongs to. lambdacontext's log also
// takes the request from ctx.
type requestLog struct{ lines map[string][]string } // requests by log message

func (l *requestLog) Enabled(context.Context, slog.Level) bool { return true }
func (l *requestLog) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *requestLog) WithGroup(string) slog.Handler            { return l }

func (l *requestLog) Handle(ctx context.Context, r slog.Record) error {
	request := "none"
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		request = lc.AwsRequestID
	}
	l.lines[r.Message] = append(l.lines[r.Message], request)
	return nil
}

// Without its request, nobody could find a line from the batch that failed, or the batch from the
// line.
func TestEveryLineNamesItsRequest(t *testing.T) {
	w := newWorld(t).started()
	log := &requestLog{map[string][]string{}}
	w.ingest.Log, w.streams.Log = slog.New(log), slog.New(log)
	ctx := lambdacontext.NewContext(deadline(t), &lambdacontext.LambdaContext{AwsRequestID: "r-1"})
	refuse := func(apis ...string) {
		w.faults = nil
		for _, api := range apis {
			w.faults = append(w.faults, fault{API: api, Before: errDenied, Always: true})
		}
	}
	ingest := func(bodies ...string) {
		_, err := w.handleQueue(ctx, messages(bodies...))
		must.Succeed(t, err)
	}
	streams := func(e map[string]any) {
		_, err := w.handleStream(ctx, marshal(t, e))
		must.Succeed(t, err)
	}

	ingest("poison")
	refuse("SendMessageBatch")
	ingest("poison")
	refuse("PutItem")
	ingest(order("1", 1))
	refuse()
	keep := w.ingest.Quarantine
	w.ingest.Quarantine = nil
	ingest("poison")
	w.ingest.Quarantine = keep

	a, odd, behind := w.image(order("1", 5)), w.inserted(2, "2", 5), w.image(order("3", 5)).with("epoch", "N", "1")
	odd["eventName"] = "UPSERT"
	refuse()
	streams(batch(odd))
	refuse("SendMessageBatch")
	streams(batch(odd))
	refuse("PutObject")
	streams(batch(expiry(3, a)))
	refuse("UpdateItem")
	streams(batch(insert(4, behind)))
	w.streams.OnChange = func(context.Context, event.Change) error { return errors.New("no") }
	streams(batch(insert(5, a)))

	for _, text := range []string{"quarantined", "quarantine failed; the message stays in its queue",
		"delivered again; the first of its batch",
		"no quarantine queue is configured; the message goes back, and in the end to the dead-letter queue",
		"record not quarantined; the batch goes on from there", "expired item not archived; the batch goes on from there",
		"generation not marked behind; the batch goes on from there", "aggregates not proven; the batch goes on from there",
		"OnChange failed; the batch goes on from there"} {
		if len(log.lines[text]) == 0 {
			t.Errorf("no line says %q", text)
		}
	}
	for text, requests := range log.lines {
		if slices.ContainsFunc(requests, func(r string) bool { return r != "r-1" }) {
			t.Errorf("%q is said of the requests %q", text, requests)
		}
	}
}

// A shard that waits is found by its name. The name is in the lines of a batch that is delivered
// again, in the error of a batch that fails whole, and in the report. If the event names no shard,
// no name is made up.
func TestFailingBatchesNameTheirShard(t *testing.T) {
	w := newWorld(t, counting(aggregate.Receipts)).started()
	var log bytes.Buffer
	w.streams.Log = slog.New(slog.NewJSONHandler(&log, nil))
	img := w.image(order("1", 5))
	odd := insert(2, img)
	odd["eventName"] = "UPSERT"
	nameless := insert(3, img)
	delete(nameless["dynamodb"].(map[string]any), "SequenceNumber")
	for _, c := range []struct {
		name   string
		api    string
		record map[string]any
		line   string // what is logged; empty: only the error says it
		whole  string // what the error says; empty: there is no error
	}{
		{"aggregates", "TransactWriteItems", insert(1, img), "aggregates not proven", ""},
		{"head", "UpdateItem", insert(1, img.with("epoch", "N", "1")), "generation not marked behind", ""},
		{"archive", "PutObject", expiry(1, img), "expired item not archived", ""},
		{"quarantine", "SendMessageBatch", odd, "record not quarantined", ""},
		{"quarantine of a record without a number", "SendMessageBatch", nameless, "record not quarantined", "record not quarantined"},
		{"stamp", "", insert(1, img.with("epoch", "N", "4")), "", "carries epoch 4"},
	} {
		w.faults = []fault{{API: c.api, Before: errDenied, Always: true}}
		for _, e := range []map[string]any{batch(c.record), plain(c.record)} {
			shard, _ := e["shardId"].(string)
			log.Reset()
			response, err := w.handleStream(deadline(t), marshal(t, e))
			if rep := w.counted[len(w.counted)-1]; !rep.Unproven || rep.ShardID != shard || err == nil &&
				len(response.BatchItemFailures) != 1 {
				t.Errorf("%s of shard %q: %+v, %+v", c.name, shard, response, rep)
			}
			if (err != nil) != (c.whole != "") || err != nil &&
				(!strings.HasPrefix(err.Error(), "streams: ") || !strings.Contains(err.Error(), c.whole) ||
					strings.HasSuffix(err.Error(), " (shard shardId-1)") != (shard != "") ||
					strings.Contains(err.Error(), "(shard") != (shard != "")) {
				t.Errorf("%s of shard %q: %v", c.name, shard, err)
			}
			found := false
			for line := range strings.Lines(log.String()) {
				var members map[string]any
				must.Succeed(t, json.Unmarshal([]byte(line), &members))
				text, _ := members["msg"].(string)
				ending := map[bool]string{true: "; the whole batch fails", false: "; the batch goes on from there"}[c.whole != ""]
				if !strings.HasSuffix(text, ending) {
					continue
				}
				found = found || strings.HasPrefix(text, c.line)
				if got, there := members["shardId"]; there != (shard != "") || there && got != shard {
					t.Errorf("%s of shard %q: %s", c.name, shard, line)
				}
			}
			if found != (c.line != "") {
				t.Errorf("%s of shard %q: %s", c.name, shard, log.String())
			}
		}
	}
}
